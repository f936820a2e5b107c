// Builds plugin/: the provider plugin for all languages of Pulumi, as a folder that needs nothing but Node.js.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = join(root, "plugin");
const bundle = "provider.cjs";

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
await build({
  entryPoints: [join(root, "provider", "engine", "native", "main.ts")],
  outfile: join(folder, bundle),
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  // The engine waits while all of it is parsed.
  minify: true,
  legalComments: "none",
  logLevel: "warning",
});
// A shell replaces itself by Node.js, so the engine holds the standard input of the plugin itself.
writeFileSync(join(folder, "pulumi-resource-uptime"), `#!/bin/sh\nexec node "\${0%/*}/${bundle}" "$@"\n`);
writeFileSync(join(folder, "pulumi-resource-uptime.cmd"), `@node "%~dp0\\${bundle}" %*\r\n`);
chmodSync(join(folder, "pulumi-resource-uptime"), 0o755);
// For `pulumi package add`. Given the executable, it would note a package in Pulumi.yaml that Pulumi then looks for in its registry.
const json = (...path) => JSON.parse(readFileSync(join(root, ...path), "utf8"));
const { version } = json("package.json");
const schema = { ...json("provider", "engine", "native", "schema.json"), version };
writeFileSync(join(folder, "schema.json"), `${JSON.stringify(schema, undefined, 2)}\n`);
