/** A part of a comment: a list, a table or a code block. */
export interface CommentSection {
  /** What its entries are, in the plural. */
  readonly noun: string;
  readonly heading: string;
  /** The line before and the line after the entries: of a table or a code block. */
  readonly open: string;
  readonly close: string;
  /** Each is shown whole or not at all. */
  readonly entries: readonly string[];
  readonly isFolded?: boolean;
}

/** The sections of a comment, what matters most first. */
export interface CommentSections {
  readonly program: readonly CommentSection[];
  /** Has half of the space at least, if not all fits. */
  readonly drift: readonly CommentSection[];
  /** Has what is left. */
  readonly details: readonly CommentSection[];
}

/** Forges count characters, of which there are never more than bytes. */
const size = (paragraphs: readonly string[]): number => Buffer.byteLength(paragraphs.join("\n\n")) + 2;

/**
 * Lays out a comment that keeps to a limit of bytes.
 *
 * @param head paragraphs that are always shown
 * @param fullAt the address of the page that has everything
 */
export function layOut(
  head: readonly string[],
  { program, drift, details }: CommentSections,
  limit: number,
  fullAt: string | undefined,
): string {
  const page = fullAt === undefined ? "The log of the job" : `[The log of the job](<${encodeURI(fullAt)}>)`;
  const note = `${page} has everything.`;
  const all = [...program, ...drift, ...details];
  const reserve = size([note, ...all.map(({ noun, entries }) => moreLine(entries.length, noun))]);
  const space = limit - size(head) - reserve;
  const forDrift = Math.min(size(shown(drift, Infinity)), space / 2);
  const programText = shown(program, space - forDrift);
  const driftText = shown(drift, space - size(programText));
  const detailsText = shown(details, space - size(programText) - size(driftText));
  const parts = [...head, ...programText, ...driftText, ...detailsText];
  const isWhole = parts.every((part) => !part.startsWith("… and "));
  return `${(isWhole ? parts : [...parts, note]).join("\n\n")}\n`;
}

function moreLine(count: number, noun: string): string {
  return `… and ${count} more ${inNumber(count, noun)}`;
}

/** A plural noun, in the singular if there is one. */
const inNumber = (count: number, noun: string): string =>
  count === 1 ? noun.replace(/ies$/, "y").replace(/s$/, "") : noun;

/** The paragraphs of sections that fit into a space, beside the lines that say how much is left out. */
function shown(sections: readonly CommentSection[], space: number): string[] {
  let left = space;
  return sections.flatMap((section) => {
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
    return count < entries.length ? [...text, moreLine(entries.length - count, noun)] : text;
  });
}

function paragraphsOf(
  { heading, open, close, noun, isFolded }: CommentSection,
  entries: readonly string[],
): string[] {
  const body = [open, ...entries, close].filter((line) => line !== "").join("\n");
  const fold = isFolded
    ? [`<details><summary>${entries.length} ${inNumber(entries.length, noun)}</summary>`, body, "</details>"]
    : [body];
  return [heading, ...fold].filter((part) => part !== "");
}
