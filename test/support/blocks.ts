import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "..", "..");

/** A fenced block of a page, with what its first line says: the language, and perhaps the file that it is. */
export interface Block {
  page: string;
  line: number;
  language: string;
  file: string | undefined;
  code: string;
}

/** Every page that a person reads, by its path. */
export const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["docs", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => join(folder, name)),
  ),
];

export function blocksOf(page: string, text = readFileSync(join(root, page), "utf8")): Block[] {
  return [...text.matchAll(/^( *)```(\w*) *(\S*)\n(.*?)^ *```$/gms)].map((match) => {
    const [, indent = "", language = "", file = "", code = ""] = match;
    return {
      page,
      line: text.slice(0, match.index).split("\n").length,
      language,
      file: file || undefined,
      code: code
        .split("\n")
        .map((line) => line.slice(indent.length))
        .join("\n"),
    };
  });
}

/** The commands in a shell block: one array of words for each, without comments and redirections. */
export function commandsIn(code: string): string[][] {
  return code
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, ""))
    .flatMap((line) => line.split(/&&|\|\||;|\|/))
    .map((command) => (command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).filter((word) => !/^\d?[<>]/.test(word)))
    .filter((words) => words.length > 0);
}

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  `#${heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-")}`;
