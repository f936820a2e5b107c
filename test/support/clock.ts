import { systemClock } from "../../provider/api/clock";
import type { Clock } from "../../provider/api/clock";

interface Timer {
  readonly at: number;
  readonly go: () => void;
}

/** A clock whose time passes only when everything waits for it. */
export class VirtualClock implements Clock {
  private readonly timers = new Set<Timer>();
  /** How far the date is from {@link now}: change it, and the machine's clock is set. */
  epoch = 1_800_000_000_000;

  constructor(private time = 0) {}

  now(): number {
    return this.time;
  }

  date(): number {
    return this.epoch + this.time;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.at(milliseconds, resolve);
      signal?.addEventListener("abort", () => {
        this.timers.delete(timer);
        reject(new Error("aborted"));
      });
    });
  }

  timeout(milliseconds: number): AbortSignal {
    const over = new AbortController();
    this.at(milliseconds, () => {
      over.abort();
    });
    return over.signal;
  }

  /** How many wait for the time to pass. */
  get pending(): number {
    return this.timers.size;
  }

  /** Lets the time pass until something is done. */
  async until<T>(done: Promise<T>): Promise<T> {
    const state = { isOver: false };
    const over = done.finally(() => (state.isOver = true));
    over.catch(() => undefined);
    for (;;) {
      await new Promise(setImmediate);
      if (state.isOver) return over;
      let next: Timer | undefined;
      for (const timer of this.timers) if (!next || timer.at < next.at) next = timer;
      if (!next) throw new Error("Everything waits, and nothing will happen.");
      this.timers.delete(next);
      this.time = Math.max(this.time, next.at);
      next.go();
    }
  }

  private at(milliseconds: number, go: () => void): Timer {
    const timer = { at: this.time + Math.max(0, milliseconds), go };
    this.timers.add(timer);
    return timer;
  }
}

/** A clock on which everything takes a fraction of its time, the timeouts of requests too. */
export function fastClock(factor = 40): Clock {
  return {
    now: () => systemClock.now() * factor,
    date: () => systemClock.date(),
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / factor, signal),
    timeout: (milliseconds) => systemClock.timeout(milliseconds / factor),
  };
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
