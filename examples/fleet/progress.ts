const countEveryMs = 10_000;

/** A line for each stack: kept up to date in a terminal, and printed when it changes elsewhere. */
export class Progress {
  private readonly lines: Map<string, string>;
  private readonly printedAt = new Map<string, number>();
  private isDrawn = false;

  constructor(names: readonly string[]) {
    this.lines = new Map(names.map((name) => [name, "waiting"]));
  }

  show(name: string, text: string): void {
    this.lines.set(name, text);
    this.printedAt.set(name, Date.now());
    if (process.stdout.isTTY) this.draw();
    else console.log(lineOf(name, text));
  }

  /** Shows something that changes all the time, so that a log gets a line of it every ten seconds. */
  count(name: string, text: string): void {
    if (process.stdout.isTTY || Date.now() - (this.printedAt.get(name) ?? 0) >= countEveryMs)
      this.show(name, text);
  }

  /** What is printed after this stands below the lines. */
  end(): void {
    this.isDrawn = false;
  }

  private draw(): void {
    // Up to the first line; then each line is cleared before it is written.
    const up = this.isDrawn ? `\u001b[${this.lines.size}A` : "";
    const lines = [...this.lines].map(([name, text]) => `\u001b[2K${lineOf(name, text)}\n`);
    process.stdout.write(up + lines.join(""));
    this.isDrawn = true;
  }
}

const lineOf = (name: string, text: string): string => `${name.padEnd(12)} ${text}`;
