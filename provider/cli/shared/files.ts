import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { message, messageOf, UptimeError } from "../../api/errors";

/** A file's text, in UTF-8 or, as PowerShell writes it, in UTF-16. Throws an error for the person who named the file. */
export function readText(path: string): string {
  if (!existsSync(path)) throw new UptimeError(`There is no file ${path}.`);
  const bytes = explainFailure(`${path} cannot be read`, () => readFileSync(path));
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  // This removes the byte order mark.
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

/** The text of a file that may be missing. */
export function textIfThere(path: string): string | undefined {
  return existsSync(path) ? readText(path) : undefined;
}

/** Runs some work on a file. If it fails, throws an error for the person who named the file. */
export function explainFailure<T>(failure: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    throw new UptimeError(message`${failure}: ${messageOf(error)}`, { cause: error });
  }
}

export function assertFree(path: string): void {
  if (existsSync(path))
    throw new UptimeError(
      `${path} already exists, and is not overwritten: move it away, or choose another place.`,
    );
}

/** The mode of a file that only its owner can read. */
export const ownerOnly = 0o600;

/** Writes a file, and the folders above it. */
export function writeNewFile(path: string, content: string, mode = 0o666): void {
  assertFree(path);
  explainFailure(`${path} cannot be written`, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { flag: "wx", mode });
  });
}
