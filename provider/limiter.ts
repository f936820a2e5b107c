import { setTimeout as sleep } from "node:timers/promises";

import { retryAfter } from "./retry";

/** Until when an operation may go on. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface Limits {
  readonly maxConcurrency: number;
  /** What the person knows of the install's limit; undefined when nothing. */
  readonly requestsPerMinute: number | undefined;
}

/** What tells the time, and lets it pass. */
export interface Clock {
  now(): number;
  sleep(milliseconds: number): Promise<unknown>;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** All requests of the process to one install pass through here: so many at once, so many a minute, none while it says no. */
export class Limiter {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** Moments at which requests of the last minute began. */
  private readonly begun: number[] = [];
  private notBefore = 0;
  private concurrency: number;
  /** What was waited for because the install limits, and how often. */
  readonly waits = { count: 0, milliseconds: 0 };

  constructor(
    private readonly limits: Limits,
    private readonly clock: Clock = { now: Date.now, sleep },
  ) {
    this.concurrency = limits.maxConcurrency;
  }

  /** Waits for its turn, then runs. Undefined when the deadline would pass before the turn comes. */
  async run<T>(deadline: Deadline, request: () => Promise<T>): Promise<T | undefined> {
    while (this.running >= this.concurrency && !deadline.signal.aborted) {
      await this.turn(deadline.signal);
    }
    if (deadline.signal.aborted) return undefined;
    this.running++;
    try {
      for (let pause = this.pause(); pause > 0; pause = this.pause()) {
        if (this.clock.now() + pause > deadline.at) return undefined;
        this.waits.count++;
        this.waits.milliseconds += pause;
        await this.clock.sleep(pause);
      }
      this.begun.push(this.clock.now());
      return await request();
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }

  /** Takes in what an answer says of limits. */
  learn(status: number, headers: Headers): void {
    const header = (name: string): string | undefined => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    const now = this.clock.now();
    if (status === 429 || status === 503) {
      const told = retryAfter(header("retry-after"), now) ?? untilReset(header("x-ratelimit-reset"), now);
      if (told === undefined && status === 503) return;
      this.notBefore = Math.max(this.notBefore, now + (told ?? 1000));
      // Whatever is in flight when a limit is reached is sent in vain, so from now on little is.
      this.concurrency = Math.min(this.concurrency, 2);
    } else if (header("x-ratelimit-remaining") === "0") {
      const told = untilReset(header("x-ratelimit-reset"), now);
      if (told !== undefined) this.notBefore = Math.max(this.notBefore, now + told);
    }
  }

  /** Until a request has ended, or the time of the one that waits. */
  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(wake), 1);
        resolve();
      };
      signal.addEventListener("abort", leave, { once: true });
      this.waiting.push(wake);
    });
  }

  /** Milliseconds to wait before the next request may begin. */
  private pause(): number {
    const now = this.clock.now();
    const { requestsPerMinute } = this.limits;
    while (this.begun[0] !== undefined && this.begun[0] <= now - 60_000) this.begun.shift();
    const full = requestsPerMinute === undefined ? undefined : this.begun.at(-requestsPerMinute);
    return Math.max(this.notBefore - now, full === undefined ? 0 : full + 60_000 - now, 0);
  }
}

/** `X-RateLimit-Reset` is seconds to go, or seconds since the epoch. */
function untilReset(header: string | undefined, now: number): number | undefined {
  if (header === undefined || !/^\d+$/.test(header)) return undefined;
  const seconds = Number(header);
  return seconds > 1_000_000_000 ? Math.max(0, seconds * 1000 - now) : seconds * 1000;
}
