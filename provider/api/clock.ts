import { setTimeout as delay } from "node:timers/promises";

/** Tells the time and lets it pass; tests have their own. */
export interface Clock {
  /** Milliseconds on a clock that only goes forward. */
  now(): number;
  /** Milliseconds since the epoch, as this machine has it; may jump. */
  date(): number;
  /** Rejects when it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts after some time. */
  timeout(milliseconds: number): AbortSignal;
}

/** The longest time in milliseconds that a timer takes; a longer one would end at once. */
const longestTimer = 2 ** 31 - 1;

/** A timer takes whole numbers. */
const timerOf = (milliseconds: number): number =>
  Math.min(Math.max(0, Math.ceil(milliseconds)), longestTimer);

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (milliseconds, signal) => delay(timerOf(milliseconds), undefined, signal ? { signal } : {}),
  timeout: (milliseconds) => AbortSignal.timeout(timerOf(milliseconds)),
};
