import { setMaxListeners } from "node:events";

import { systemClock } from "./clock";
import type { Clock } from "./clock";

/** Until when an operation may go on, and what its errors must not tell. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** On the clock's {@link Clock.now}. */
  readonly at: number;
  /**
   * Gives back a time in which the server's rate limit held the operation up, from one moment to another, and once if
   * several of its requests waited. Absent if a person has set the time.
   */
  readonly extend?: (from: number, to: number) => void;
  /** The resource's secrets: errors hold none of them, even if the server repeats them. */
  readonly secrets?: readonly string[];
}

export interface DeadlineOptions {
  readonly clock?: Clock;
  /** Ends the operation early. */
  readonly cancel?: AbortSignal | undefined;
  readonly secrets?: readonly string[];
}

/** Time for a whole operation, including retries and verification, unless the option `customTimeouts` says otherwise. */
const defaultMilliseconds = 5 * 60_000;

/**
 * The end of an operation that begins now.
 *
 * @param milliseconds the time that a person has set; without it five minutes, not counting the time in which the server's
 * rate limit holds the operation up and serves others: a thousand creates may take hours
 */
export function deadlineAfter(
  milliseconds?: number,
  { clock = systemClock, cancel, secrets = [] }: DeadlineOptions = {},
): Deadline {
  const either = (signal: AbortSignal): AbortSignal =>
    shared(cancel ? AbortSignal.any([signal, cancel]) : signal);
  if (milliseconds !== undefined)
    return { signal: either(clock.timeout(milliseconds)), at: clock.now() + milliseconds, secrets };
  const over = new AbortController();
  let at = clock.now() + defaultMilliseconds;
  let givenBackTo = -Infinity;
  const check = (): void => {
    const left = at - clock.now();
    if (left > 0) clock.timeout(left).addEventListener("abort", check, { once: true });
    else over.abort();
  };
  check();
  return {
    secrets,
    signal: either(over.signal),
    get at() {
      return at;
    },
    extend: (from, to) => {
      at += Math.max(0, to - Math.max(from, givenBackTo));
      givenBackTo = Math.max(givenBackTo, to);
    },
  };
}

/** Any number of requests of an operation may wait for one signal, which is no leak. */
function shared(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}
