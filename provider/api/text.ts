/** A string of at most so many characters, cut between two of them. It is well-formed Unicode, as the engine requires. */
export function shorten(text: string, most: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= most) return whole;
  // A character takes at most two units, so this holds one character more than allowed, if there are so many.
  const characters = Array.from(whole.slice(0, 2 * most + 2));
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : whole;
}

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
