// Builds what Pulumi starts as bundles, because it waits while they are loaded: plugin/, the provider plugin for all languages, as
// a folder that needs nothing but Node.js, and the provider of the dynamic resources.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { pluginSchemaOf } from "./schema.mjs";
import { readManifest, root } from "./shared.mjs";

const folder = join(root, "plugin");
const bundle = "provider.cjs";
const manifest = readManifest();
const schemaFile = join(root, "provider", "engine", "plugin", "schema.json");
const schema = `${JSON.stringify(pluginSchemaOf(JSON.parse(readFileSync(schemaFile, "utf8")), manifest), undefined, 2)}\n`;

/** Bundles a module of the provider with all that it imports. What it requires in a function is run when that is called. */
const bundled = (entry, outfile) =>
  build({
    entryPoints: [join(root, "provider", entry)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [
      {
        name: "schema",
        setup: ({ onLoad }) =>
          onLoad({ filter: /[\\/]schema\.json$/ }, () => ({ contents: schema, loader: "json" })),
      },
    ],
  });

const provider = join(root, "dist", "provider", "provider.js");
await bundled("provider.ts", provider);
// That of the module that it was made of.
rmSync(`${provider}.map`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
await bundled(join("engine", "plugin", "main.ts"), join(folder, bundle));
const needsNode = `pulumi-resource-uptime needs Node.js ${manifest.engines.node.replace(">=", "")} or later, and there is no node on PATH.`;
// A shell replaces itself by Node.js, so the engine holds the standard input of the plugin itself.
writeFileSync(
  join(folder, "pulumi-resource-uptime"),
  `#!/bin/sh
command -v node >/dev/null || { echo "${needsNode}" >&2; exit 1; }
exec node "\${0%/*}/${bundle}" "$@"
`,
);
writeFileSync(
  join(folder, "pulumi-resource-uptime.cmd"),
  [
    "@where node >nul 2>nul || (echo " + needsNode + " 1>&2 & exit /b 1)",
    `@node "%~dp0\\${bundle}" %*`,
    "",
  ].join("\r\n"),
);
chmodSync(join(folder, "pulumi-resource-uptime"), 0o755);
// For `pulumi package add`. Given the executable, it would note a package in Pulumi.yaml that Pulumi then looks for in its registry.
writeFileSync(join(folder, "schema.json"), schema);
