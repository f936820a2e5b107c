import { styleText } from "node:util";

/** Where the tool's words go: the process's own streams, or a test's. */
export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** What the tool has of the world. */
export interface Surroundings {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly env: NodeJS.ProcessEnv;
  /** The folder that relative paths begin at. */
  readonly cwd: string;
}

/** A line that is written over and over, on a terminal only. */
export class Progress {
  private isShown = false;

  constructor(private readonly stream: Stream) {}

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

/** A text in colour, where a person looks at a terminal that has any and has not asked for none. */
export function styled(style: Style, text: string, stream: Stream, env: NodeJS.ProcessEnv): string {
  const isPlain = !stream.isTTY || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return isPlain ? text : styleText(style, text, { validateStream: false });
}

/** Everything that is no visible character: it would steer a terminal, or hide in a program. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** A text with its invisible characters written as in a program. */
export function visible(text: string): string {
  return text.replace(invisible, (character) => {
    const known = JSON.stringify(character).slice(1, -1);
    if (known.length === 2) return known;
    return Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join("");
  });
}
