import { parseUrl } from "../../common/url";
import { markdownHead, markdownRow } from "./quoting";

/** A part of a Markdown text: a list, a table or a code block. */
export interface Section {
  /** What its entries are, in the plural. */
  readonly noun: string;
  readonly heading: string;
  /** The lines before and after the entries of a table or a code block; "" for none. */
  readonly open: string;
  readonly close: string;
  /** Each is shown whole or not at all. */
  readonly entries: readonly string[];
  readonly isFolded?: boolean;
}

/** The sections of a text, what matters most first. */
export interface Sections {
  readonly program?: readonly Section[];
  /** Gets at least half of the space if not everything fits. */
  readonly drift?: readonly Section[];
  /** Gets the space that is left. */
  readonly details?: readonly Section[];
}

export interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function listSection(noun: string, entries: readonly string[], heading = ""): Section {
  return { noun, heading, open: "", close: "", entries };
}

export function tableSection(noun: string, { heads, rows }: Table, heading: string): Section {
  return { noun, heading, open: markdownHead(heads), close: "", entries: rows.map(markdownRow) };
}

/** In bytes. GitHub and GitLab count characters, but a text never has more characters than bytes, so this is safe. */
const size = (paragraphs: readonly string[]): number => Buffer.byteLength(paragraphs.join("\n\n")) + 2;

/**
 * Lays out a Markdown text that keeps to a limit of bytes.
 *
 * @param head paragraphs that are always shown
 * @param fullAt the address of the page that has everything
 */
export function layOut(
  head: readonly string[],
  { program = [], drift = [], details = [] }: Sections,
  limit = Infinity,
  fullAt?: string,
): string {
  const link = parseUrl(fullAt ?? "")?.href;
  const page = link === undefined ? "The log of the job" : `[The log of the job](<${link}>)`;
  const note = `${page} has everything.`;
  const all = [...program, ...drift, ...details];
  const reserve = size([note, ...all.map(({ noun, entries }) => moreLine(entries.length, noun))]);
  const space = limit - size(head) - reserve;
  const forDrift = Math.min(size(fitSections(drift, Infinity).paragraphs), space / 2);
  const fittedProgram = fitSections(program, space - forDrift);
  const spaceBelow = space - size(fittedProgram.paragraphs);
  const fittedDrift = fitSections(drift, spaceBelow);
  const fittedDetails = fitSections(details, spaceBelow - size(fittedDrift.paragraphs));
  const fitted = [fittedProgram, fittedDrift, fittedDetails];
  const isWhole = fitted.every((one) => one.isWhole);
  const paragraphs = [...head, ...fitted.flatMap((one) => one.paragraphs), ...(isWhole ? [] : [note])];
  return `${paragraphs.join("\n\n")}\n`;
}

function moreLine(count: number, noun: string): string {
  return `… and ${count} more ${inNumber(count, noun)}`;
}

/** A plural noun, in the singular if the count is 1. */
const inNumber = (count: number, noun: string): string =>
  count === 1 ? noun.replace(/ies$/, "y").replace(/s$/, "") : noun;

/** What fits into a space. */
interface FittedSections {
  /** With lines that say how much is left out. */
  readonly paragraphs: readonly string[];
  /** Nothing is left out. */
  readonly isWhole: boolean;
}

/**
 * Takes as many entries as fit. Does not count the lines that say how much is left out: the caller has reserved space for
 * them.
 */
function fitSections(sections: readonly Section[], space: number): FittedSections {
  let left = space;
  let isWhole = true;
  const paragraphs = sections.flatMap((section) => {
    const { entries, noun } = section;
    const frame = size(paragraphsOf(section, [""])) + 2;
    let room = left - frame;
    let count = 0;
    for (; count < entries.length; count++) {
      room -= Buffer.byteLength(entries[count] ?? "") + 1;
      if (room < 0) break;
    }
    const text = count > 0 ? paragraphsOf(section, entries.slice(0, count)) : [];
    if (count > 0) left -= size(text) + 2;
    if (count === entries.length) return text;
    isWhole = false;
    return [...text, moreLine(entries.length - count, noun)];
  });
  return { paragraphs, isWhole };
}

function paragraphsOf(
  { heading, open, close, noun, isFolded }: Section,
  entries: readonly string[],
): string[] {
  const body = [open, ...entries, close].filter((line) => line !== "").join("\n");
  const fold = isFolded
    ? [`<details><summary>${entries.length} ${inNumber(entries.length, noun)}</summary>`, body, "</details>"]
    : [body];
  return [heading, ...fold].filter((part) => part !== "");
}
