// What the files here that are run as commands have in common.
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this repository. */
export const root = join(fileURLToPath(import.meta.url), "..", "..");

/** Runs `main` with the arguments if the module with this URL is the one that Node was told to run, and prints its error. */
export async function runAsCommand(url, main) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return;
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** The JSON in a file, whose path may be relative to the root. */
export const readJson = (path) => JSON.parse(readFileSync(resolve(root, path), "utf8"));

export const readManifest = () => readJson("package.json");

export const jsonText = (value) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Writes a generated file; with `--check` among the arguments it must be there as it would be written. */
export function writeGenerated(file, wantedOf, args) {
  const path = join(root, file);
  const present = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const wanted = wantedOf(present);
  if (wanted === present) return;
  if (args.includes("--check"))
    throw new Error(`${file} does not follow from the declarations in provider/. Run \`npm run docs\`.`);
  writeFileSync(path, wanted);
  console.log(`${file} is written.`);
}

/** The text of a page with what is between two markers replaced. */
export function between(page, text, marker, content) {
  const [start, end] = [`<!-- ${marker} -->`, `<!-- /${marker} -->`];
  const [before, after] = [text.indexOf(start), text.indexOf(end)];
  if (before < 0 || after < before)
    throw new Error(`${page} has no place for what is generated: ${start} and ${end}.`);
  return `${text.slice(0, before + start.length)}\n\n${content}\n\n${text.slice(after)}`;
}
