/** Cuts a string to `most` characters. The result is well-formed Unicode, as the engine requires. */
export function shorten(text: string, most: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= most) return whole;
  // A character is one or two UTF-16 units, so the slice has more than `most` characters if the text has.
  const characters = Array.from(whole.slice(0, 2 * most + 2));
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : whole;
}

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
