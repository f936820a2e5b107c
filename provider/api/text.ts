import { shorten } from "../definitions/text";

/** A number with its noun: `1 record`, `2 records`. */
export function counted(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}

/** The first words of a text, on one line and without HTML tags. Search it for secrets first: this cuts them in pieces. */
export function excerpt(text: string): string {
  const line = text
    .slice(0, 4000)
    .replace(/<(style|script)\b.*?<\/\1>/gis, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return shorten(line, 300);
}
