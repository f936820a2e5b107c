import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { message, messageOf, UptimeError } from "../../api/errors";

/** A file's text, also as PowerShell writes it. Throws an error for the person who named the file. */
export function readText(path: string): string {
  const bytes = explained(`${path} cannot be read`, () => readFileSync(path));
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  // The mark at the beginning is left out.
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

/** Tries something with a file. If that fails, throws an error for the person who named the file. */
export function explained<T>(failure: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    throw new UptimeError(message`${failure}: ${messageOf(error)}`);
  }
}

/** Writes files by name, none of which may exist. */
export function writeNewFiles(directory: string, files: ReadonlyMap<string, string>): void {
  for (const name of files.keys()) assertFree(join(directory, name));
  for (const [name, content] of files) writeNewFile(join(directory, name), content, 0o666);
}

/** Writes a file that only its owner can read. */
export function writeSecretFile(path: string, content: string): void {
  writeNewFile(path, content, 0o600);
}

/** Throws if something is at a path. */
export function assertFree(path: string): void {
  if (exists(path)) throw new UptimeError(`${path} exists already, and is not overwritten.`);
}

/** Commands and documents show paths, so a path must be one line of visible characters. */
export function assertPrintable(path: string, option: string): void {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(path))
    throw new UptimeError(
      `${option} must be a path without control characters, not ${JSON.stringify(path)}.`,
    );
}

export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function writeNewFile(path: string, content: string, mode: number): void {
  assertFree(path);
  explained(`${path} cannot be written`, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { flag: "wx", mode });
  });
}
