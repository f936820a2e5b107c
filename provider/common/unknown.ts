/** Stands for a value that is not known yet in a preview, at any depth. Each front translates the engine's form to this one. */
export const unknown: unique symbol = Symbol("unknown");

/** Whether a value, or a part of it, is not known yet. */
export function isUnknown(value: unknown): boolean {
  if (value === unknown) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isUnknown);
}
