import { distance } from "fastest-levenshtein";

/** Cuts a string to `most` characters, and adds an ellipsis. The result is well-formed Unicode, as the engine requires. */
export function shorten(text: string, most: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= most) return whole;
  // A character is one or two UTF-16 units, so the slice has more than `most` characters if the text has.
  const characters = Array.from(whole.slice(0, 2 * most + 2));
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : whole;
}

/**
 * A name or an id from a person, for a message. Somebody may have pasted an API key in its place, so a long one, or one that mixes
 * letters with five or more digits, is not shown.
 */
export function safeName(name: string): string {
  const digits = name.replace(/\D/g, "").length;
  return name.length <= 20 && (digits < 5 || digits === name.trim().length) ? name : "[not shown]";
}

/** A number with its noun: `1 record`, `2 records`. */
export function counted(number: number, singular: string): string {
  return `${number} ${singular}${number === 1 ? "" : "s"}`;
}

/** Every character that is not visible: it could control a terminal, reverse the text, or hide in a program. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** A string on one line, with its invisible characters written as in a program. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, (character) => {
    const known = JSON.stringify(character).slice(1, -1);
    if (known.length === 2) return known;
    return Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join("");
  });
}

/**
 * A text in which CI finds no commands of its own: a runner carries out `##[…]` and `##vso[…]` wherever they are in its log, and
 * `::…::` at the beginning of a line, where it also skips U+0085.
 */
export function escapeCommands(text: string): string {
  return text.replace(/##(?=\w*\[)/g, "\\u0023#").replace(/^((?:[^\S\r\n]|\u0085)*):(?=:)/gm, "$1\\u003a");
}

export const cutPeriod = (text: string): string => text.replace(/\.\s*$/, "");

/** How much of a text {@link excerpt} looks at. */
export const excerptScanLength = 4000;

/** The beginning of a text, on one line, and without HTML tags. */
export function plainLine(text: string): string {
  return text
    .slice(0, excerptScanLength)
    .toWellFormed()
    .replace(/<(style|script)\b.*?<\/\1>/gis, " ")
    .replace(/<[/!]?[a-z-][^>]*>/gi, " ")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** A text without the JSON in it. */
export const withoutJson = (text: string): string => text.replace(/[[{]\s*["[{].*/s, "…");

/**
 * The first words of a text, with invisible characters escaped. First search the text and its {@link plainLine} for secrets, because
 * this may cut a secret in two.
 */
export const excerpt = (text: string): string => shorten(escapeInvisible(plainLine(text)), 300);

/**
 * The most similar candidate or, if none is similar, the only one that begins with what was given. Ignores letter case.
 *
 * @param share the part of its letters that may differ
 */
export function nearest(given: string, candidates: readonly string[], share = 1 / 3): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, far: distance(given.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  if (best && best.far <= Math.max(2, best.candidate.length * share)) return best.candidate;
  const longer = candidates.filter((one) => one.toLowerCase().startsWith(given.toLowerCase()));
  return longer.length === 1 ? longer[0] : undefined;
}
