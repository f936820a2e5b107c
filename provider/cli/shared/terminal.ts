import { UptimeError } from "../../api/errors";
import { Redactor } from "../../engine/redactor";
import type { Session } from "../../lifecycle/session";
import { secretText } from "./preview";
import { printable } from "./quoting";

/** Where a command writes: a stream of the process, or of a test. */
interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** What a command gets from its process, or from a test. */
export interface CommandContext {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths begin in this folder. */
  readonly cwd: string;
  /** Shared by all connections of the command; its secrets are in no error. */
  readonly session: Session;
  /** Sets the exit code, which is 0 otherwise. */
  readonly setExitCode: (code: number) => void;
}

export type ProcessContext = Omit<CommandContext, "setExitCode" | "session">;

/** The message of an error that a command goes on after, without secrets. Anything but an UptimeError is a bug and is rethrown. */
export function reasonOf(error: unknown, { secrets }: Session): string {
  if (!(error instanceof UptimeError)) throw error;
  return new Redactor(secrets).error(error);
}

/** Writes a text that may have come from elsewhere, on one line. */
export function writeLine(stream: OutputStream, text: string): void {
  stream.write(`${printable(text)}\n`);
}

/** A shorter secret may be a word of the output. */
const minSecretLength = 8;

/** A stream that leaves secrets out, as they are and as a URL or JSON has them. */
export function withoutSecrets(
  stream: OutputStream,
  secrets: Iterable<string>,
  env: NodeJS.ProcessEnv,
): OutputStream {
  const clean = (text: string): string =>
    [...secrets]
      .filter(({ length }) => length >= minSecretLength)
      // One may contain another.
      .sort((a, b) => b.length - a.length)
      .flatMap((secret) => [JSON.stringify(secret).slice(1, -1), secret, encodeURIComponent(secret)])
      .reduce((result, secret) => result.replaceAll(secret, secretText), text);
  // A dumb terminal prints control sequences as they are.
  return { isTTY: stream.isTTY && env.TERM !== "dumb", write: (text) => stream.write(clean(text)) };
}

/** Runs some work and, on a terminal, shows its progress in a line that is rewritten and finally erased. */
export async function withProgress<T>(
  stream: OutputStream,
  work: (show: (text: string) => void) => Promise<T>,
): Promise<T> {
  const rewrite = (text: string): void => {
    if (stream.isTTY) stream.write(`\r\u001B[K${text}`);
  };
  try {
    return await work(rewrite);
  } finally {
    rewrite("");
  }
}
