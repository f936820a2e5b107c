import { shorten } from "../definitions/text";

/** A number with its noun: `1 record`, `2 records`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The first words of a text, as one line without tags. Redact the text first: this removes parts of it. */
export function excerpt(text: string): string {
  const line = text
    .slice(0, 4000)
    .replace(/<(style|script)\b.*?<\/\1>/gis, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return shorten(line, 300);
}
