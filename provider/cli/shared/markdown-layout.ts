import { markdownHead, markdownRow } from "./quoting";

/** A part of a Markdown text: a list, a table or a code block. */
export interface Section {
  readonly heading: string;
  /** The lines before and after the entries of a table or a code block; "" for none. */
  readonly open: string;
  readonly close: string;
  readonly entries: readonly Entry[];
}

/** It is shown whole, in its short form, or not at all. */
interface Entry {
  readonly text: string;
  /** What is shown if there is no room for more. */
  readonly short?: string;
}

export interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function listSection(entries: readonly string[], heading = ""): Section {
  return { heading, open: "", close: "", entries: entries.map((text) => ({ text })) };
}

export function tableSection({ heads, rows }: Table, heading: string): Section {
  const entries = rows.map((row) => ({ text: markdownRow(row) }));
  return { heading, open: markdownHead(heads), close: "", entries };
}

/** In bytes. GitHub and GitLab count characters, but a text never has more characters than bytes, so this is safe. */
const size = (text: string): number => Buffer.byteLength(text) + 1;

/**
 * Lays out a Markdown text that keeps to a limit of bytes. What has a short form is named before anything is shown in full. A
 * section that does not fit ends between two entries, and says how many are left out.
 *
 * @param head paragraphs that are always shown
 * @param sections what matters most first
 */
export function layOut(head: readonly string[], sections: readonly Section[], limit = Infinity): string {
  const shown = sections
    .filter(({ entries }) => entries.length > 0)
    .map((section) => ({ ...section, texts: [] as string[] }));
  const frames = shown.flatMap(({ heading, open, close, entries }) => [
    heading,
    open,
    close,
    moreText(entries.length),
  ]);
  let room = limit - [...head, ...frames].reduce((total, text) => total + size(text) + 1, 0);
  const take = ({ entries, texts }: (typeof shown)[number], most: number): void => {
    const least = room - most;
    for (const { text, short = text } of entries.slice(texts.length)) {
      if (room - size(short) < least) break;
      room -= size(short);
      texts.push(short);
    }
  };
  // A table of a thousand rows leaves room for what the lines above it have in full.
  for (const one of shown) take(one, one.entries.some(({ short }) => short !== undefined) ? room : room / 2);
  for (const { entries, texts } of shown)
    for (const [index, { text }] of entries.slice(0, texts.length).entries()) {
      const more = size(text) - size(texts[index] ?? "");
      if (more > room) continue;
      room -= more;
      texts[index] = text;
    }
  for (const one of shown) take(one, room);
  return `${[...head, ...shown.flatMap(paragraphsOf)].join("\n\n")}\n`;
}

const moreText = (count: number): string => `… and ${count} more, in the log`;

function paragraphsOf({
  heading,
  open,
  close,
  entries,
  texts,
}: Section & { texts: readonly string[] }): string[] {
  const body = texts.length > 0 ? [open, ...texts, close].filter((line) => line !== "").join("\n") : "";
  const more = entries.length - texts.length;
  return [heading, body, more > 0 ? moreText(more) : ""].filter((part) => part !== "");
}
