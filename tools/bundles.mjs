// Builds what Pulumi starts as bundles, because it waits while they are loaded: plugin/, the provider plugin for all languages, as
// a folder that needs nothing but Node.js, and the provider of the dynamic resources.
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { noticesOf, packagesIn, sbomOf } from "./bundled.mjs";
import { pluginSchemaOf } from "./schema.mjs";
import { jsonText, readJson, readManifest, root, runAsCommand } from "./shared.mjs";

const folder = join(root, "plugin");
const bundle = "provider.cjs";

/** Each bundle, and the module of the provider that it is made of. */
const bundles = [
  { entry: "provider.ts", file: join(root, "dist", "provider", "provider.js") },
  { entry: join("engine", "plugin", "main.ts"), file: join(folder, bundle) },
];

/** Bundles a module with all that it imports. What it requires in a function is run when that is called. */
const bundled = ({ entry, file }, schema, write) =>
  build({
    absWorkingDir: root,
    entryPoints: [join(root, "provider", entry)],
    outfile: file,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    minify: true,
    // In plugin/ they are whole.
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    write,
    plugins: [
      {
        name: "schema",
        setup: ({ onLoad }) =>
          onLoad({ filter: /[\\/]schema\.json$/ }, () => ({ contents: schema, loader: "json" })),
      },
    ],
  });

/**
 * Bundles everything, and says what it is made of; without `write`, it only says that.
 * @returns {Promise<import("esbuild").Metafile[]>}
 */
export async function makeBundles({ schema = "{}", write }) {
  const results = await Promise.all(bundles.map((one) => bundled(one, schema, write)));
  return results.map(({ metafile }) => metafile);
}

async function main() {
  const manifest = readManifest();
  const present = readJson("provider/engine/plugin/schema.json");
  const schema = jsonText(pluginSchemaOf(present, manifest));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const metafiles = await makeBundles({ schema, write: true });
  // Those of the modules that the bundles take the place of.
  for (const { file } of bundles) rmSync(`${file}.map`, { force: true });

  const write = (name, text) => writeFileSync(join(folder, name), text);
  // For `pulumi package add`. Given the executable, it would note a package in Pulumi.yaml that Pulumi then looks for in its registry.
  write("schema.json", schema);
  const packages = packagesIn(metafiles);
  write("THIRD-PARTY-NOTICES.txt", noticesOf(packages));
  write("sbom.cdx.json", jsonText(sbomOf(packages, manifest)));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  writeExecutables(manifest, write);
}

function writeExecutables({ engines }, write) {
  const needsNode = `pulumi-resource-uptime needs Node.js ${engines.node.replace(">=", "")} or later, and there is no node on PATH.`;
  // A shell replaces itself by Node.js, so the engine holds the standard input of the plugin itself. The bundle is beside this file,
  // and not beside a link to it.
  write(
    "pulumi-resource-uptime",
    `#!/bin/sh
command -v node >/dev/null || { echo "${needsNode}" >&2; exit 1; }
folderOf() { case $1 in */*) folder=\${1%/*}/ ;; *) folder= ;; esac; }
self=$0
folderOf "$self"
while [ -h "$self" ]; do
  target=$(readlink "$self")
  case $target in /*) self=$target ;; *) self=$folder$target ;; esac
  folderOf "$self"
done
exec node "\${folder}${bundle}" "$@"
`,
  );
  write(
    "pulumi-resource-uptime.cmd",
    [
      "@where node >nul 2>nul || (echo " + needsNode + " 1>&2 & exit /b 1)",
      `@node "%~dp0\\${bundle}" %*`,
      "",
    ].join("\r\n"),
  );
  chmodSync(join(folder, "pulumi-resource-uptime"), 0o755);
}

runAsCommand(import.meta.url, main);
