/** Cuts a string to `most` characters. The result is well-formed Unicode, as the engine requires. */
export function shorten(text: string, most: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= most) return whole;
  // A character takes at most two units, so this has at least one character more than allowed, if there are as many.
  const characters = Array.from(whole.slice(0, 2 * most + 2));
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : whole;
}
