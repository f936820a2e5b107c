// `npm run docs:site` builds the site of the pages and the API's types into dist/site.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readManifest, root, runAsCommand } from "./main.mjs";
import { addressOf } from "./package.mjs";

/** Builds the site into a folder, or, without one, only looks for what would be wrong in it. */
export function buildSite(out) {
  const typedoc = join(root, "node_modules", "typedoc", "bin", "typedoc");
  const where = out === undefined ? ["--emit", "none"] : ["--out", out];
  const { status, stdout, stderr } = spawnSync(process.execPath, [typedoc, ...where], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The site could not be built:\n${stdout}${stderr}`);
}

/** The links in the header of each page, from `repository` in package.json. */
export function headerLinks() {
  const manifest = readManifest();
  const address = addressOf(manifest);
  return {
    Repository: address,
    Package: `https://www.npmjs.com/package/${manifest.name}`,
    Changelog: `${address}/blob/HEAD/CHANGELOG.md`,
  };
}

function main(args) {
  const { values } = parseArgs({
    args,
    options: { out: { type: "string", default: join(root, "dist", "site") } },
  });
  buildSite(values.out);
  console.log(`The site is in ${values.out}.`);
}

runAsCommand(import.meta.url, main);
