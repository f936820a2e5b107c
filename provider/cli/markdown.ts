import { visible } from "./terminal";

/** A text of anybody's as Markdown shows it unchanged. */
export function code(text: string): string {
  const plain = visible(text);
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return longest > 0 ? `${fence} ${plain} ${fence}` : fence + plain + fence;
}

/** The same in a table's cell. */
export function codeCell(text: string): string {
  return code(text).replaceAll("|", "\\|");
}
