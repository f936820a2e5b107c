/** The screen of a terminal, as far as Pulumi's progress display uses one. */
export class Screen {
  private readonly lines: string[];
  private row = 0;
  private column = 0;

  constructor(rows: number) {
    this.lines = Array.from({ length: rows }, () => "");
  }

  /** What a person sees. */
  get text(): string {
    return this.lines.join("\n");
  }

  print(output: string): void {
    // A control sequence, a control character, or text.
    for (const [part, count, command] of output.matchAll(
      /[^\P{Cc}\r\n]\[\??([\d;]*)([A-Za-z])|\p{Cc}|\P{Cc}+/gu,
    )) {
      if (part === "\r") this.column = 0;
      else if (part === "\n") this.nextLine();
      else if (command === "A") this.row = Math.max(0, this.row - Number(count));
      else if (command === "K") this.write("", "");
      else if (command === undefined) this.write(part, this.line.slice(this.column + part.length));
    }
  }

  private get line(): string {
    return this.lines[this.row] ?? "";
  }

  /** Writes at the cursor, and what the line has after it. */
  private write(text: string, rest: string): void {
    this.lines[this.row] = this.line.slice(0, this.column).padEnd(this.column) + text + rest;
    this.column += text.length;
  }

  private nextLine(): void {
    // The lower end scrolls.
    if (this.row < this.lines.length - 1) this.row++;
    else this.lines.push((this.lines.shift(), ""));
  }
}
