import { escapeUTF8 } from "entities";

import { codeBlock, visible } from "../shared/quoting";

/** One thing that a comment says, whole or not at all. */
export interface CommentEntry {
  /** Its lines. */
  readonly text: string;
  /** Long values, each folded. */
  readonly folded?: readonly FoldedText[];
}

/** Lines that a reader unfolds. */
export interface FoldedText {
  readonly title: string;
  readonly lines: readonly string[];
}

/** A part of a comment. */
export interface CommentSection {
  /** What its entries are, in the plural, for the line that says what was left out. */
  readonly noun: string;
  readonly heading: string;
  /** The line before and the line after the entries: of a table or a code block. */
  readonly open: string;
  readonly close: string;
  readonly entries: readonly CommentEntry[];
}

/** A section with more lines is folded as a whole. */
const longSection = 200;

/** Space for the lines that say what was left out. */
const reserve = 600;

/** Forges count characters, of which there are never more than bytes. */
const size = (text: string): number => Buffer.byteLength(text);

/** Lays out a comment that keeps to a limit: first all entries in their order, then the folded texts that still fit. */
export class CommentLayout {
  private readonly head: string[] = [];
  private readonly sections: CommentSection[] = [];

  constructor(
    private readonly limit: number,
    /** The address of the page that has everything. */
    private readonly fullAt: string | undefined,
  ) {}

  /** Adds paragraphs that are always shown. */
  add(...paragraphs: readonly string[]): void {
    this.head.push(...paragraphs.filter((paragraph) => paragraph !== ""));
  }

  addSection(section: CommentSection): void {
    if (section.entries.length > 0) this.sections.push(section);
  }

  render(): string {
    let left = this.limit - size(this.head.join("\n\n")) - reserve - size(this.fullAt ?? "");
    const take = (text: string): boolean => {
      if (size(text) > left) return false;
      left -= size(text);
      return true;
    };
    const leftOut: string[] = [];
    const shown = this.sections.map((section) => {
      // With the lines of a fold, which not every section has.
      const frame = `\n\n${section.heading}\n\n<details><summary>${section.noun} 00000</summary>\n\n${section.open}\n\n${section.close}\n\n</details>`;
      const isFramed = take(frame);
      const entries = isFramed ? section.entries.filter(({ text }) => take(`${text}\n`)) : [];
      const missing = section.entries.length - entries.length;
      if (missing > 0) leftOut.push(`${missing} of ${section.entries.length} ${section.noun}`);
      return { section, entries };
    });
    let longValues = 0;
    const parts = shown.flatMap(({ section, entries }) => {
      const folded = entries
        .flatMap((entry) => entry.folded ?? [])
        .map(foldedBlock)
        .filter((block) => {
          const fits = take(`\n\n${block}`);
          if (!fits) longValues++;
          return fits;
        });
      return entries.length === 0 ? [] : [...sectionParts(section, entries), ...folded];
    });
    if (longValues > 0) leftOut.push(`${longValues} long ${longValues === 1 ? "value" : "values"}`);
    return `${[...this.head, ...this.noteOf(leftOut), ...parts].join("\n\n")}\n`;
  }

  private noteOf(leftOut: readonly string[]): string[] {
    if (leftOut.length === 0) return [];
    const page =
      this.fullAt === undefined ? "the log of the job" : `[the log of the job](<${encodeURI(this.fullAt)}>)`;
    return [
      `⚠️ Too long for one comment (${this.limit.toLocaleString("en")} bytes), so this is left out: ${leftOut.join(", ")}. ` +
        `Everything is in ${page}.`,
    ];
  }
}

function sectionParts(
  { heading, open, close, noun }: CommentSection,
  entries: readonly CommentEntry[],
): string[] {
  const body = [open, ...entries.map(({ text }) => text), close].filter((line) => line !== "").join("\n");
  const isLong = body.split("\n").length > longSection;
  const fold = isLong
    ? [`<details><summary>${entries.length} ${noun}</summary>`, body, "</details>"]
    : [body];
  return [heading, ...fold].filter((part) => part !== "");
}

function foldedBlock({ title, lines }: FoldedText): string {
  const summary = `<code>${escapeUTF8(visible(title))}</code>`;
  return [`<details><summary>${summary}</summary>`, codeBlock(lines, "diff"), "</details>"].join("\n\n");
}
