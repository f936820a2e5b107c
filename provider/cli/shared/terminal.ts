import type { Session } from "../../lifecycle/session";

/** Where a command writes: a stream of the process, or of a test. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** What a command gets from the process that runs it. */
export interface CommandContext {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
  /** The folder that relative paths begin at. */
  readonly cwd: string;
  /** What all connections of the command share; its keys are in no error. */
  readonly session: Session;
  /** Sets the exit code, which is 0 otherwise. */
  readonly exit: (code: number) => void;
}

/** Works, and shows on a terminal how far it is: in a line that is rewritten, and gone at the end. */
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
