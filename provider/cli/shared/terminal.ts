import type { Session } from "../../lifecycle/session";

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
  readonly exit: (code: number) => void;
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
