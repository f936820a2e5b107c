import { styleText } from "node:util";

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

/** A line that is rewritten as work goes on, on a terminal only. */
export class Progress {
  private isShown = false;

  constructor(private readonly stream: OutputStream) {}

  show(text: string): void {
    if (!this.stream.isTTY) return;
    this.stream.write(`\r\u001B[K${text}`);
    this.isShown = true;
  }

  end(): void {
    if (this.isShown) this.stream.write("\r\u001B[K");
    this.isShown = false;
  }
}

type Style = "bold" | "green" | "red" | "yellow";

/** A text in colour, if it goes to a terminal that shows colours and nobody has switched them off. */
export function styled(style: Style, text: string, stream: OutputStream, env: NodeJS.ProcessEnv): string {
  const isPlain = !stream.isTTY || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return isPlain ? text : styleText(style, text, { validateStream: false });
}
