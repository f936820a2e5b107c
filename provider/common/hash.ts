import { createHash } from "node:crypto";

/** The first hex digits of a text's SHA-256, 64 at most. */
export function hexHash(text: string, digits = 64): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

/** The length of a {@link reviewHash}. */
export const reviewHashLength = 10;

/** The first sixty bits of a JSON value's hash. */
export function reviewHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64").slice(0, reviewHashLength);
}
