// `npm run docs:site` builds the site of the pages and the API's types into dist/site.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root, runAsCommand } from "./shared.mjs";

/** Builds the site into a folder. */
export function buildSite(out) {
  const typedoc = join(root, "node_modules", "typedoc", "bin", "typedoc");
  const { status, stdout, stderr } = spawnSync(process.execPath, [typedoc, "--out", out], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The site could not be built:\n${stdout}${stderr}`);
}

runAsCommand(import.meta.url, () => {
  const folder = join(root, "dist", "site");
  buildSite(folder);
  console.log(`The site is in ${folder}.`);
});
