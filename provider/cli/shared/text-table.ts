import { shorten } from "../../common/text";
import type { Table } from "./markdown-layout";
import { printable } from "./quoting";

/**
 * The lines of a table for a terminal.
 *
 * @param widest the most characters of a cell
 */
export function textTable({ heads, rows }: Table, widest = Infinity): string[] {
  const shown = [heads, ...rows].map((row) => row.map((cell) => shorten(printable(cell), widest)));
  const widths = heads.map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0)));
  return shown.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
