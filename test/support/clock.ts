import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

import type { Clock } from "../../provider/api/clock";
import type { ReceivedRequest } from "../../provider/emulator";

const nameHeader = "x-request-name";
const ends = ["undici:request:trailers", "undici:request:error"];

interface Timer {
  readonly at: number;
  readonly go: () => void;
}

/** The work waits for nothing that could still happen, or for longer than it may. */
export class Hang extends Error {}

/** A clock whose time passes only when everything waits for it, so minutes of pauses take no time. */
export class VirtualClock implements Clock {
  private readonly timers = new Set<Timer>();
  /** How far the date is from {@link now}: change it, and the machine's clock is set. */
  epoch = Date.UTC(2030, 0, 1);
  private time = 0;

  now(): number {
    return this.time;
  }

  date(): number {
    return this.epoch + this.time;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.after(milliseconds, resolve);
      signal?.addEventListener("abort", () => {
        cancel();
        reject(new Error("aborted"));
      });
    });
  }

  timeout(milliseconds: number): AbortSignal {
    const over = new AbortController();
    this.after(milliseconds, () => over.abort());
    return over.signal;
  }

  /** Does something when so much time has passed; returns what cancels it. */
  after(milliseconds: number, go: () => void): () => void {
    const wait = Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
    const timer = { at: this.time + wait, go };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  /** How many wait for the time to pass. */
  get pending(): number {
    return this.timers.size;
  }

  /**
   * Lets the time pass until something is done.
   *
   * @throws {Hang} if it can never be done, or not within `limit` milliseconds
   */
  async until<T>(done: Promise<T>, limit = Infinity): Promise<T> {
    const state = { isOver: false };
    const over = done.finally(() => (state.isOver = true));
    over.catch(() => undefined);
    const end = this.time + limit;
    for (let idle = 0; ;) {
      await new Promise(setImmediate);
      if (state.isOver) return over;
      if (this.advance()) idle = 0;
      // Pulumi's SDK, which runs a program, takes some turns of the event loop.
      else if (++idle > 100) throw new Hang("Everything waits, and nothing will happen.");
      if (this.time > end) throw new Hang(`It has not ended after ${limit / 1000} seconds.`);
    }
  }

  /** Lets the time pass until the next timer. */
  protected advance(): boolean {
    let next: Timer | undefined;
    for (const timer of this.timers) if (!next || timer.at < next.at) next = timer;
    if (!next) return false;
    this.timers.delete(next);
    this.time = Math.max(this.time, next.at);
    next.go();
    return true;
  }
}

/**
 * A clock for a client and an emulator that talk over real connections in this process: time passes when somebody sleeps
 * and no request is on its way, so pauses take no time, and a busy machine changes no result. `hold` is for the emulator.
 */
export class NetworkClock extends VirtualClock {
  /** The requests without an answer, under the name that each carries in a header. */
  private readonly sent = new Map<object, string>();
  /** Those of them that the emulator lets wait. */
  private readonly held = new Set<string>();
  private sleeping = 0;
  private isRunning = false;
  private hasStopped = false;

  constructor() {
    super();
    subscribe("undici:request:create", this.begin);
    for (const channel of ends) subscribe(channel, this.end);
  }

  /** To be called at the end of a test: what still waits then waits for ever. */
  stop(): void {
    this.hasStopped = true;
    unsubscribe("undici:request:create", this.begin);
    for (const channel of ends) unsubscribe(channel, this.end);
  }

  override async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    this.sleeping++;
    void this.run();
    await super.sleep(milliseconds, signal).finally(() => this.sleeping--);
  }

  /** The emulator's `sleep`. */
  readonly hold = async (
    milliseconds: number,
    signal: AbortSignal,
    { headers }: ReceivedRequest,
  ): Promise<void> => {
    const name = headers[nameHeader] ?? "";
    this.held.add(name);
    await this.sleep(milliseconds, signal).finally(() => this.held.delete(name));
  };

  private readonly begin = (message: unknown): void => {
    const { request } = message as { request: { addHeader(name: string, value: string): void } };
    const name = randomUUID();
    request.addHeader(nameHeader, name);
    this.sent.set(request, name);
  };

  private readonly end = (message: unknown): void => {
    this.sent.delete((message as { request: object }).request);
  };

  private async run(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    for (let quiet = 0; this.sleeping > 0 && !this.hasStopped;) {
      await new Promise(setImmediate);
      quiet = [...this.sent.values()].every((name) => this.held.has(name)) ? quiet + 1 : 0;
      // What an answer leads to in this process takes some turns of the event loop.
      if (quiet < 4) continue;
      quiet = 0;
      this.advance();
    }
    this.isRunning = false;
  }
}

/** A clock on which every pause is over at once, and the time passes all the same. */
export function instantClock(): Clock {
  let time = 0;
  return {
    now: () => time,
    date: () => 1_800_000_000_000 + time,
    sleep: async (milliseconds) => {
      time += milliseconds;
      await new Promise(setImmediate);
    },
    timeout: () => new AbortController().signal,
  };
}
