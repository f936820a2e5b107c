import { setTimeout as delay } from "node:timers/promises";

/** The time, and waiting. Tests replace it. */
export interface Clock {
  /** Milliseconds on a clock that only goes forward. */
  now(): number;
  /** Milliseconds since the epoch by this machine's clock, which may jump. */
  date(): number;
  /** Waits, and rejects if the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts after a whole number of milliseconds, {@link maxTimerMilliseconds} at most. */
  timeout(milliseconds: number): AbortSignal;
}

/** The longest time that a timer can have; a longer one would end at once. */
export const maxTimerMilliseconds = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: performance.now.bind(performance),
  date: Date.now,
  sleep: (milliseconds, signal) =>
    delay(Math.min(Math.ceil(milliseconds), maxTimerMilliseconds), undefined, signal ? { signal } : {}),
  timeout: AbortSignal.timeout.bind(AbortSignal),
};
