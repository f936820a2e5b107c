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
  let at = clock.now() + (milliseconds ?? defaultMilliseconds);
  let givenBackTo = -Infinity;
  const extend = (from: number, to: number): void => {
    at += Math.max(0, to - Math.max(from, givenBackTo));
    givenBackTo = Math.max(givenBackTo, to);
  };
  return endingAt(() => at, clock, cancel, { secrets, ...(milliseconds === undefined && { extend }) });
}

/** A deadline that is some time before another one, and moves with it. */
export function deadlineBefore(deadline: Deadline, milliseconds: number, clock: Clock): Deadline {
  const { signal, extend, secrets = [] } = deadline;
  return endingAt(() => deadline.at - milliseconds, clock, signal, { secrets, ...(extend && { extend }) });
}

/** Most reads of a refresh send nothing, so a signal and its timer are made only when something waits for them. */
function endingAt(
  at: () => number,
  clock: Clock,
  cancel: AbortSignal | undefined,
  rest: Pick<Deadline, "extend" | "secrets">,
): Deadline {
  let signal: AbortSignal | undefined;
  return {
    ...rest,
    get at() {
      return at();
    },
    get signal() {
      return (signal ??= signalAt(at, clock, cancel));
    },
  };
}

function signalAt(at: () => number, clock: Clock, cancel: AbortSignal | undefined): AbortSignal {
  const over = new AbortController();
  const check = (): void => {
    const left = at() - clock.now();
    if (left > 0) clock.timeout(left).addEventListener("abort", check, { once: true });
    else over.abort();
  };
  check();
  const signal = cancel ? AbortSignal.any([over.signal, cancel]) : over.signal;
  // Any number of requests of an operation may wait for it, which is no leak.
  setMaxListeners(0, signal);
  return signal;
}
