import { createHash } from "node:crypto";

/** The first hex digits of a text's SHA-256, 64 at most. */
export function hexHash(text: string, digits = 64): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}
