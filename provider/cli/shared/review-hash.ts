import { createHash } from "node:crypto";

/** The length of a {@link reviewHash}. */
export const reviewHashLength = 10;

/** The first sixty bits of a JSON value's hash. */
export function reviewHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64").slice(0, reviewHashLength);
}
