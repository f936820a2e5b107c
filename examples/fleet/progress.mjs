import { clearInterval, setInterval } from "node:timers";

/** In a terminal: a line for each stack that runs, and a total below them. Elsewhere only what has ended is printed. */
export class Progress {
  running = new Map();
  counts = new Map();
  drawn = 0;

  constructor(all, output) {
    this.all = all;
    this.output = output;
    if (output.isTTY) this.timer = setInterval(() => this.draw(), 500);
  }

  /** The text is asked for whenever the line is drawn. */
  begin(name, text) {
    this.running.set(name, text);
  }

  end(name, result, text) {
    this.running.delete(name);
    this.counts.set(result, (this.counts.get(result) ?? 0) + 1);
    this.print(`${name.padEnd(16)} ${text}`);
  }

  /** Prints a line above what is drawn. */
  print(line) {
    this.erase();
    this.output.write(`${line}\n`);
    this.draw();
  }

  close() {
    clearInterval(this.timer);
    this.erase();
    this.output = { write: () => undefined };
  }

  erase() {
    if (this.drawn > 0) this.output.write(`\u001b[${this.drawn}A\u001b[J`);
    this.drawn = 0;
  }

  draw() {
    const { isTTY, rows = 24, columns = 80 } = this.output;
    if (!isTTY) return;
    this.erase();
    // A line that wraps, or more lines than the terminal has, could not be erased.
    const lines = [...this.running].map(([name, text]) => `${name.padEnd(16)} ${text()}`).slice(0, rows - 2);
    lines.push(this.total());
    this.output.write(lines.map((line) => `${line.slice(0, columns - 1)}\n`).join(""));
    this.drawn = lines.length;
  }

  total() {
    const ended = [...this.counts.values()].reduce((sum, count) => sum + count, 0);
    const counts = [...this.counts].map(([result, count]) => `${count} ${result}`);
    return [`${ended} of ${this.all} stacks`, `${this.running.size} running`, ...counts].join(", ");
  }
}
