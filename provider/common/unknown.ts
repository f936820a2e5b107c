/** Stands for a value that is not known yet in a preview, at any depth. Each front translates the engine's form to this one. */
export const notYetKnown: unique symbol = Symbol("not yet known");

/** Whether a value, or a part of it, is not known yet. */
export function isUnknown(value: unknown): boolean {
  if (value === notYetKnown) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isUnknown);
}
