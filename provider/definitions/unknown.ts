/** Stands for a value that is not known yet, in a preview, at any depth. Each engine front translates its own form to this one. */
export const unknown: unique symbol = Symbol("unknown");

/** Whether a value is not known yet, or holds a part that is not. */
export function isUnknown(value: unknown): boolean {
  if (value === unknown) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isUnknown);
}
