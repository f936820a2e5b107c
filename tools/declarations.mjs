// Part of the build: of the declarations that the compiler writes, only those are published that the package's types consist of,
// with links to the pages that their comments name.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { readManifest, root, runAsCommand } from "./shared.mjs";
import { addressOf, hasPublicAddress } from "./package.mjs";

const built = join(root, "dist", "provider");

/** A declaration whose comments link the pages that they name, in this version; without a public address they only name them. */
export function withLinks(text, manifest) {
  if (!hasPublicAddress(manifest)) return text;
  const address = `${addressOf(manifest)}/blob/v${manifest.version}`;
  return text.replace(/\bdocs\/[\w-]+\.md\b/g, (page) => `[${page}](${address}/${page})`);
}

/** The paths of declarations that a program can import, and of all that these import. */
export function publishedPaths(entries = ["index", "native", "provider"]) {
  const published = new Set(entries.map((name) => join(built, `${name}.d.ts`)));
  // A set's iteration includes what is added meanwhile.
  for (const path of published)
    for (const { fileName } of ts.preProcessFile(readFileSync(path, "utf8")).importedFiles)
      if (fileName.startsWith("."))
        published.add(join(dirname(path), `${fileName.replace(/(^|\/)\.\.$/, "$&/index")}.d.ts`));
  return published;
}

function main() {
  const published = publishedPaths();
  const manifest = readManifest();
  for (const path of published) writeFileSync(path, withLinks(readFileSync(path, "utf8"), manifest));
  for (const name of readdirSync(built, { recursive: true, encoding: "utf8" }))
    if (name.endsWith(".d.ts") && !published.has(join(built, name))) rmSync(join(built, name));
}

runAsCommand(import.meta.url, main);
