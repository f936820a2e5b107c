import { shorten } from "../../common/text";
import { markdownRow, printable } from "./quoting";

export interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

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

/** A part of a Markdown text: a list, a table or a code block. */
export interface Section {
  readonly heading: string;
  /** The lines before and after the items of a table or a code block. */
  readonly open?: string;
  readonly close?: string;
  readonly items: readonly Item[];
}

/** An item is shown whole, in its short form, or not at all. */
interface Item {
  readonly text: string;
  /** All short forms get room before any item is shown whole. A row of a table has none. */
  readonly short?: string;
}

export function listSection(items: readonly string[], heading = ""): Section {
  return { heading, items: items.map((text) => ({ text, short: text })) };
}

export function tableSection({ heads, rows }: Table, heading: string): Section {
  const items = rows.map((row) => ({ text: markdownRow(row) }));
  const open = `| ${heads.join(" | ")} |\n|${" --- |".repeat(heads.length)}`;
  return { heading, open, items };
}

/** In UTF-16 units, which are never fewer than the characters that GitHub and GitLab count. */
const size = (text: string): number => text.length + 1;

/**
 * Lays out a Markdown text that keeps to a limit: first the short form of each item, then whole items. A section that
 * does not fit ends between two items, and says how many are left out.
 *
 * @param head paragraphs that are always shown
 * @param sections what matters most first
 */
export function layOut(head: readonly string[], sections: readonly Section[], limit = Infinity): string {
  const shown = sections
    .filter(({ items }) => items.length > 0)
    .map((section) => ({ ...section, texts: [] as string[] }));
  const frames = shown.flatMap((one) => [one.heading, one.open, one.close, moreText(one.items.length)]);
  let room = limit - [...head, ...frames].reduce((total, text = "") => total + size(text) + 1, 0);
  const fill = (textOf: (item: Item) => string | undefined): void => {
    for (const { items, texts } of shown)
      for (const [index, item] of items.entries()) {
        const text = textOf(item);
        const old = texts[index];
        if (text === undefined) break;
        const more = size(text) - (old === undefined ? 0 : size(old));
        if (more > room) break;
        room -= more;
        texts[index] = text;
      }
  };
  fill(({ short }) => short);
  fill(({ text }) => text);
  return `${[...head, ...shown.flatMap(paragraphsOf)].join("\n\n")}\n`;
}

const moreText = (count: number): string => `… and ${count} more, in the log`;

function paragraphsOf(section: Section & { texts: readonly string[] }): string[] {
  const { heading, open = "", close = "", items, texts } = section;
  const body = texts.length > 0 ? [open, ...texts, close].filter((line) => line !== "").join("\n") : "";
  const more = items.length - texts.length;
  return [heading, body, more > 0 ? moreText(more) : ""].filter((part) => part !== "");
}
