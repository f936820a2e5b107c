// `npm run docs:site` builds the site of the pages and the API's types into dist/site.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
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
  if (out !== undefined) checkPages(out);
}

/** The colours of plain text in TypeDoc's themes, and of a label, whose light one is the same. */
const [plainLight, plainDark, label] = ["#000000", "#D4D4D4", "#000000 #C8C8C8"];

/**
 * The words in a page's code that have no colour of their own in light or in dark mode: the highlighter leaves the rest of a
 * line plain when a busy machine makes it slow.
 */
export function plainWords(page, css) {
  const colours = new Map(
    [...css.matchAll(/--(\w+-hl-\d+): (#\w+);/g)].map(([, name, colour]) => [name, colour]),
  );
  return [...page.matchAll(/<span class="(hl-\d+)">(.*?)<\/span>/gs)].flatMap(([, name, text]) => {
    const [light, dark] = [colours.get(`light-${name}`), colours.get(`dark-${name}`)];
    if (!/\w/.test(text.replace(/&\w+;/g, "")) || `${light} ${dark}` === label) return [];
    return [plainLight, undefined].includes(light) || [plainDark, undefined].includes(dark) ? [text] : [];
  });
}

/** The links in the header of each page, from `repository` in package.json. */
export function headerLinks(manifest = readManifest()) {
  const address = addressOf(manifest);
  return {
    Repository: address,
    Package: `https://www.npmjs.com/package/${manifest.name}`,
    Changelog: `${address}/blob/HEAD/CHANGELOG.md`,
  };
}

function checkPages(out) {
  const css = readFileSync(join(out, "assets", "highlight.css"), "utf8");
  const links = Object.entries(headerLinks()).map(([label, url]) => `<a href="${url}">${label}</a>`);
  for (const name of readdirSync(out, { recursive: true }).filter((name) => name.endsWith(".html"))) {
    const page = readFileSync(join(out, name), "utf8");
    const [word] = plainWords(page, css);
    if (word !== undefined)
      throw new Error(`The code in ${name} is not coloured at ${word.trim()}. Build the site again.`);
    const missing = links.find((link) => !page.includes(link));
    if (missing !== undefined) throw new Error(`The header of ${name} has no ${missing}.`);
  }
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
