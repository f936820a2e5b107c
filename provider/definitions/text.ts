/** Cuts a string to `most` characters. The result is well-formed Unicode, as the engine requires. */
export function shorten(text: string, most: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= most) return whole;
  // A character is one or two UTF-16 units, so the slice has more than `most` characters if the text has.
  const characters = Array.from(whole.slice(0, 2 * most + 2));
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : whole;
}
