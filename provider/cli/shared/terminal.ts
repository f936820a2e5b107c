import { CommanderError } from "commander";

import { quote, UptimeError } from "../../api/errors";
import { Redactor } from "../../engine/redactor";
import { Session } from "../../lifecycle/session";
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

/** A person waits for the answer, so a refused connection is tried again for less time than in a deployment. */
const unreachableMilliseconds = 3000;

/** Runs a command with a session, whose secrets it does not print. Returns the exit code. Throws errors of Commander only. */
export async function runInSession(
  processContext: ProcessContext,
  run: (context: CommandContext) => Promise<unknown>,
): Promise<number> {
  const session = new Session({ unreachableMilliseconds });
  const stdout = withoutSecrets(processContext.stdout, session.secrets, processContext.env);
  const stderr = withoutSecrets(processContext.stderr, session.secrets, processContext.env);
  let code = 0;
  try {
    await run({ ...processContext, stdout, stderr, session, setExitCode: (result) => (code = result) });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) throw error;
    for (const line of explanation(error, new Redactor(session.secrets))) writeLine(stderr, line);
    return 1;
  }
}

/** An error in one sentence; of a bug also its stack. */
function explanation(error: unknown, redactor: Redactor): string[] {
  const sentence = redactor.error(error).replace(/\s*\n\s*/g, " ");
  if (error instanceof UptimeError || !(error instanceof Error)) return [sentence];
  // The stack begins with the message, which may repeat a key.
  const frames = (error.stack ?? "").split("\n").filter((line) => /^ +at /.test(line));
  const stack = frames.map((frame) => `  ${redactor.message([quote(frame)])}`);
  return [sentence, error.name, ...stack, "This is a bug in pulumi-uptime; please report it."];
}

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
function withoutSecrets(
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
