import type { settings } from "../definitions/settings";
import { counted } from "../definitions/text";
import { systemClock, type Clock } from "./clock";

/** Nothing, a summary at the end, a line for each request too, or both as JSON lines. */
export type LogLevel = (typeof settings.logLevel.allowed)[number];

/** A request that has ended. It is printed, so it has no query, header or field that could be secret. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** The status, or one word for the failure. */
  readonly outcome: number | string;
  /** From the start of the request to the end of its answer. */
  readonly milliseconds: number;
  /** 1, then 2 for the first retry, and so on. */
  readonly attempt: number;
  /** Milliseconds that it waited for its turn, for a rate limit, or before a retry. */
  readonly waited: number;
}

/** Pulumi shows what a dynamic provider prints. */
export const printLine = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** The request log and its summary, which Pulumi shows under "Diagnostics". */
export class Log {
  private readonly methods = new Map<string, number>();
  private readonly outcomes = new Map<string, number>();
  private retries = 0;
  readonly isOn: boolean;

  constructor(
    private readonly level: LogLevel,
    private readonly write: (line: string) => unknown = printLine,
    private readonly clock: Pick<Clock, "date"> = systemClock,
  ) {
    this.isOn = level !== "off";
  }

  addRequest(request: SentRequest): void {
    add(this.methods, request.method);
    add(this.outcomes, String(request.outcome));
    if (request.attempt > 1) this.retries++;
    const { method, path, outcome, attempt } = request;
    const milliseconds = Math.round(request.milliseconds);
    const waited = Math.round(request.waited);
    const text = [
      `${method} ${path} ${outcome}, ${milliseconds} ms`,
      attempt > 1 && `attempt ${attempt}`,
      waited > 0 && `after ${waited} ms`,
    ];
    this.line("request", { method, path, outcome, milliseconds, attempt, waited }, text);
  }

  /** The search for the record of a lost create has ended; undefined if nothing was found. */
  addSearch(id: string | undefined): void {
    this.line("lostAnswer", { found: id ?? null }, [
      `the answer to a create was lost; its record is ${id ?? "not found"}`,
    ]);
  }

  end(): void {
    if (!this.isOn) return;
    const requests = total(this.methods);
    const failures = [...this.outcomes].filter(([outcome]) => !/^[23]\d\d$/.test(outcome));
    const values = {
      requests,
      methods: Object.fromEntries(this.methods),
      outcomes: Object.fromEntries(this.outcomes),
      retries: this.retries,
    };
    const text = [
      requests === 0 ? "no requests" : `${counted(requests, "request")} (${listCounts(this.methods)})`,
      failures.length > 0 && `of which ended badly: ${listCounts(new Map(failures))}`,
      this.retries > 0 && `${this.retries} sent again`,
    ];
    this.print("summary", values, text);
  }

  private line(event: string, values: object, text: readonly (string | false)[]): void {
    if (this.level === "requests" || this.level === "json") this.print(event, values, text);
  }

  private print(event: string, values: object, text: readonly (string | false)[]): void {
    const time = new Date(this.clock.date()).toISOString();
    if (this.level === "json") this.write(JSON.stringify({ log: "uptime", time, event, ...values }));
    else this.write(`uptime: ${text.filter(Boolean).join(", ")}`);
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

const listCounts = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
