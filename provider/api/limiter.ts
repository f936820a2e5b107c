import { setTimeout as sleep } from "node:timers/promises";

import { retryAfter } from "./retry";

/** Until when an operation may go on. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Gives back the time that an install's limit has taken while it served. Absent where a person has set the time. */
  readonly extend?: (milliseconds: number) => void;
}

export interface Limits {
  readonly maxConcurrency: number;
  /** What the person knows of the install's limit; undefined when nothing. */
  readonly requestsPerMinute: number | undefined;
}

/** What tells the time, and lets it pass. */
export interface Clock {
  now(): number;
  /** Rejects when it is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<unknown>;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** So many requests in any so many milliseconds. */
interface Rate {
  readonly count: number;
  readonly period: number;
}

interface Waiter {
  readonly deadline: Deadline;
  /** Since when it waits and nobody has been served. */
  since: number;
  readonly go: (turn: Turn | undefined) => void;
}

/** A request that counts against a limit, in milliseconds since the epoch. */
export interface Turn {
  readonly begun: number;
  /** When it was last on its way: at its end, or at its begin while it runs. */
  seen: number;
  /** Milliseconds it has waited for since anybody was served last. */
  readonly waited: number;
  /** Whether it goes beyond what was learned of the limit. */
  readonly isTry: boolean;
  outcome: "served" | "refused" | undefined;
}

/**
 * All requests of the process to one install pass through here, in their order: so many at once, so many a minute, none
 * while it says no.
 *
 * What an install allows that refuses without saying so beforehand is learned: how many requests it took from one opening
 * to the next, and how long that was. No more are sent from then on, but for a try, one request at a time, after twice
 * that: an install that fills up a bucket had less in it when it was first asked than it takes in the long run.
 */
export class Limiter {
  private running = 0;
  private readonly queue: Waiter[] = [];
  private readonly sent: Turn[] = [];
  /** Operations that were not served in their turn, and since when they wait. */
  private readonly refused = new WeakMap<Deadline, number>();
  /** Until when operations were given back the time that they waited. */
  private readonly givenBack = new WeakMap<Deadline, number>();
  private notBefore = 0;
  private concurrency: number;
  /** How many more the install takes at present, where it says so. */
  private remaining: number | undefined;
  private learned: Rate | undefined;
  /** When the install opened, and how many requests it has taken since. */
  private opening: { at: number; taken: number } | undefined;
  /** How often it has refused without taking anything in between; of the first, whether what was learned allowed it. */
  private refusals = 0;
  private isRefuted = false;
  /** Whether that was for a limit; a 503 may be for anything. */
  private isLimited = false;
  /** How many requests were sent since then beyond what was learned. */
  private tries = 0;
  private nextTry = Infinity;
  /** When the queue is looked at again, if nothing happens before. */
  private waking: { readonly at: number; readonly abort: AbortController } | undefined;

  constructor(
    private readonly limits: Limits,
    private readonly clock: Clock = {
      now: Date.now,
      sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
    },
  ) {
    this.concurrency = limits.maxConcurrency;
  }

  /** Waits for its turn, then runs. Undefined when the deadline would pass before the turn comes. */
  async run<T>(deadline: Deadline, request: (turn: Turn) => Promise<T>): Promise<T | undefined> {
    const turn = await this.turn(deadline);
    if (!turn) return undefined;
    try {
      return await request(turn);
    } finally {
      if (turn.outcome === "served") this.giveBack(deadline, turn.begun - turn.waited, turn.begun);
      // What else ends a request, such as its timeout, is none of the limit's doing.
      if (turn.outcome === "refused") this.refused.set(deadline, turn.begun - turn.waited);
      else this.refused.delete(deadline);
      turn.seen = this.clock.now();
      this.running--;
      this.admit();
    }
  }

  /** Takes in what an answer says of limits. */
  learn(status: number, headers: Headers, turn: Turn): void {
    const header = (name: string): string | undefined => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    const now = this.clock.now();
    const reset = untilReset(header("x-ratelimit-reset"), now);
    const told = retryAfter(header("retry-after"), now) ?? reset;
    // What began before the last refusal says nothing of the time after it.
    const isLate = turn.begun < this.notBefore;
    if (status === 429 || (status === 503 && told !== undefined)) {
      turn.outcome = "refused";
      this.sent.splice(this.sent.lastIndexOf(turn), 1);
      if (!isLate && this.refusals++ === 0) [this.isRefuted, this.isLimited] = [!turn.isTry, status === 429];
      if (!isLate || told !== undefined) this.close(now + (told ?? this.guess(now)));
      return;
    }
    this.opening ??= { at: turn.begun, taken: 0 };
    if (!isLate) {
      if (this.refusals > 0) this.reopen(this.opening);
      this.concurrency = Math.min(this.concurrency + 1, this.limits.maxConcurrency);
      const left = header("x-ratelimit-remaining");
      // The others that are on their way may be counted in it, or not.
      this.remaining = left && /^\d+$/.test(left) ? Number(left) - (this.running - 1) : undefined;
      if (left === "0" && reset !== undefined) this.close(now + reset);
    }
    this.opening.taken++;
    turn.outcome = "served";
    for (const waiter of this.queue) {
      this.giveBack(waiter.deadline, waiter.since, now);
      waiter.since = now;
    }
  }

  /** Gives time back once, however many requests of an operation have waited for it. */
  private giveBack(deadline: Deadline, from: number, to: number): void {
    const begin = Math.max(from, this.givenBack.get(deadline) ?? from);
    if (to <= begin) return;
    deadline.extend?.(to - begin);
    this.givenBack.set(deadline, to);
  }

  private close(opens: number): void {
    this.notBefore = Math.max(this.notBefore, opens);
    // Whatever is on its way when the install closes again is sent in vain.
    this.concurrency = 1;
    this.remaining = undefined;
    this.tries = 0;
  }

  /** How long it may be closed that does not say so: by what was learned; else twice as long each time, or a minute. */
  private guess(now: number): number {
    const doubled = Math.min(60_000, 1000 * 2 ** (this.refusals - 1));
    // Most limits are for a minute; its end, as the install sees it, is a little after ours.
    const minute = (this.opening?.at ?? now) + 61_000 - now;
    return Math.max(this.fullFor(this.learned, now), minute > 0 ? Math.min(doubled, minute) : doubled);
  }

  /** The first request that is taken after a refusal: so much was taken since the last opening. */
  private reopen({ at, taken }: { at: number; taken: number }): void {
    const observed: Rate = { count: taken, period: this.notBefore - at };
    const isMore =
      !this.learned || observed.count * this.learned.period > 1.05 * this.learned.count * observed.period;
    // A shorter time is no period of a limit, for it is told in seconds.
    if (this.isLimited && taken > 0 && observed.period >= 1000 && (isMore || this.isRefuted))
      this.learned = observed;
    // Soon enough that no operation's time is over for what is only guessed.
    this.nextTry = this.notBefore + Math.min(2 * observed.period, 120_000);
    this.opening = { at: this.notBefore, taken: 0 };
    this.refusals = 0;
  }

  private turn(deadline: Deadline): Promise<Turn | undefined> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.queue.splice(this.queue.indexOf(waiter), 1);
        resolve(undefined);
        this.admit();
      };
      const waiter: Waiter = {
        deadline,
        since: this.refused.get(deadline) ?? this.clock.now(),
        go: (turn) => {
          deadline.signal.removeEventListener("abort", leave);
          resolve(turn);
        },
      };
      this.queue.push(waiter);
      if (deadline.signal.aborted) leave();
      else deadline.signal.addEventListener("abort", leave, { once: true });
      this.admit();
    });
  }

  /** Lets those go whose turn it is, and comes back when the next turn is. */
  private admit(): void {
    for (let head = this.queue[0]; head; head = this.queue[0]) {
      const pause = this.pause();
      if (pause === Infinity) return;
      const now = this.clock.now();
      const isInTime = now + pause <= head.deadline.at;
      if (isInTime && pause > 0) {
        this.wake(now + pause);
        return;
      }
      this.queue.shift();
      if (isInTime) {
        const isTry = this.fullFor(this.learned, now) > 0;
        if (isTry) this.tries++;
        // What was taken before a long pause says nothing of the rate at which an install refuses after it.
        const quiet = now - Math.max(this.sent.at(-1)?.seen ?? now, this.notBefore);
        if (this.running === 0 && this.refusals === 0 && quiet > 61_000) this.opening = undefined;
        this.running++;
        if (this.remaining !== undefined) this.remaining--;
        const turn = { begun: now, seen: now, waited: now - head.since, isTry, outcome: undefined };
        this.sent.push(turn);
        head.go(turn);
      } else head.go(undefined);
    }
    // Nobody waits any more: a timer would keep the process from ending.
    this.waking?.abort.abort();
    this.waking = undefined;
  }

  private wake(at: number): void {
    if (this.waking && this.waking.at <= at) return;
    const waking = { at, abort: new AbortController() };
    this.waking?.abort.abort();
    this.waking = waking;
    const end = (): void => {
      if (this.waking === waking) this.waking = undefined;
    };
    void this.clock.sleep(at - this.clock.now(), waking.abort.signal).then(() => {
      end();
      this.admit();
    }, end);
  }

  /** Milliseconds to wait before the next request may begin; infinite where one that runs must end before. */
  private pause(): number {
    if (this.running >= this.concurrency) return Infinity;
    // Nothing is known of how many more it takes, unless an answer says so.
    if (this.remaining !== undefined && this.remaining <= 0 && this.running > 0) return Infinity;
    const now = this.clock.now();
    const { requestsPerMinute: count } = this.limits;
    const given = this.fullFor(count === undefined ? undefined : { count, period: 60_000 }, now);
    const closed = Math.max(this.notBefore - now, given);
    const full = this.fullFor(this.learned, now);
    if (full <= closed) return closed;
    if (this.nextTry > now) return Math.max(closed, Math.min(full, this.nextTry - now));
    // One at a time; a few more where so much is taken that there may be no limit any more.
    return this.running > this.tries / 32 ? Infinity : closed;
  }

  private fullFor(rate: Rate | undefined, now: number): number {
    const first = rate && this.sent.at(-rate.count);
    return first ? Math.max(0, first.seen + rate.period - now) : 0;
  }
}

/** `X-RateLimit-Reset` is seconds to go, or seconds since the epoch. */
function untilReset(header: string | undefined, now: number): number | undefined {
  if (header === undefined || !/^\d+$/.test(header)) return undefined;
  const seconds = Number(header);
  return seconds > 1_000_000_000 ? Math.max(0, seconds * 1000 - now) : seconds * 1000;
}
