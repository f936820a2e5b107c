import { escapeCommands, escapeInvisible, shorten } from "../../common/text";

/** A string on one line, with its invisible characters, and what CI would take for a command, written as in a program. */
export function printable(text: string): string {
  return escapeCommands(escapeInvisible(text));
}

/** A string literal of a program: in double quotes unless that takes more escapes. */
export function stringLiteral(text: string): string {
  const count = (mark: string): number => text.split(mark).length - 1;
  const mark = count('"') > count("'") ? "'" : '"';
  return mark + printable(text.replaceAll("\\", "\\\\")).replaceAll(mark, `\\${mark}`) + mark;
}

/** One word of a shell command, whatever it holds. */
export function shellWord(text: string): string {
  // A path that begins with a hyphen would be an option.
  const word = text.startsWith("-") ? `./${text}` : text;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A string as Markdown shows it unchanged. */
export function codeSpan(text: string): string {
  const plain = printable(text);
  if (plain === "") return "";
  const fence = fenceFor(plain, 1);
  // Markdown takes one space away at each end, so code that has any, or a backtick, gets one more.
  return /^ | $|`/.test(plain) ? `${fence} ${plain} ${fence}` : fence + plain + fence;
}

/** Backticks that no text inside them can end. */
export function fenceFor(text: string, least: number): string {
  let longest = least - 1;
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length);
  return "`".repeat(longest + 1);
}

export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => codeSpan(cell).replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Lines as a code block of Markdown, whatever they hold. */
export function codeBlock(lines: readonly string[]): string {
  const fence = fenceFor(lines.join("\n"), 3);
  return [fence, ...lines.map(printable), fence].join("\n");
}

/** The beginning of a text as one line. */
export function oneLine(text: string, limit = 500): string {
  return shorten(text.trim().replace(/\s+/g, " "), limit);
}

/** Names in a sentence: only the first few, and how many more there are. */
export function listOf(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}

/** A string as lower-case ASCII words joined by `-`; empty if it has none. */
export function slug(text: string, limit = 40): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "");
  return words.slice(0, limit).replace(/-$/, "");
}

/** The first of `name`, `name-2`, `name-3` and so on that is free. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name}-${number}`;
  return free;
}

/** In alphabetical order, with numbers by value. */
export function byName(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
