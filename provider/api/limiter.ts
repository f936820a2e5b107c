import type { Clock } from "./clock";
import type { Deadline } from "./deadline";
import { RateLimitHeaders } from "./rate-limit-headers";
import type { Headers } from "./rate-limit-headers";

export interface Limits {
  readonly maxConcurrency: number;
  /** What the person knows of the server's rate limit; undefined if nothing. */
  readonly requestsPerMinute: number | undefined;
}

/** What a request ended with; `answer` is absent if nothing came back. */
export interface Ended<T> {
  readonly result: T;
  readonly answer?: { readonly status: number; readonly headers: Headers } | undefined;
}

interface Waiter {
  readonly deadline: Deadline;
  /** When its wait began, or when the last time was given back for it. */
  since: number;
  readonly go: (waited: boolean) => void;
}

const minute = 60_000;

/**
 * All requests of the process to one server pass through here, in their order: so many at once, so many a minute, none
 * while the server says no. After a refusal one request goes at a time, and one more with each that is accepted.
 */
export class Limiter {
  private running = 0;
  private readonly queue: Waiter[] = [];
  /** How many may run at the same time at present. */
  private width: number;
  /** When the server accepts requests again, on the clock. */
  private opensAt = -Infinity;
  /** How many more the server accepts at present, if it tells. */
  private remaining: number | undefined;
  /** How often it has refused without accepting anything in between. */
  private refusals = 0;
  /** When the requests of the last minute ended; a server may count a request at any time while it runs. */
  private readonly ended: number[] = [];
  /** Operations whose last request was refused, and since when they wait. */
  private readonly refused = new WeakMap<Deadline, number>();
  private readonly headers: RateLimitHeaders;
  /** When the queue is looked at again, if nothing happens before. */
  private waking: { readonly at: number; readonly cancel: AbortController } | undefined;

  constructor(
    private readonly limits: Limits,
    private readonly clock: Pick<Clock, "now" | "date" | "sleep">,
  ) {
    this.width = limits.maxConcurrency;
    this.headers = new RateLimitHeaders(clock);
  }

  /** Waits for its turn, then runs. Undefined if the deadline would pass before the turn comes. */
  async run<T>(deadline: Deadline, request: () => Promise<Ended<T>>): Promise<T | undefined> {
    const since = this.refused.get(deadline) ?? this.clock.now();
    const waiter = await this.turn(deadline, since);
    if (!waiter) return undefined;
    const begun = this.clock.now();
    this.refused.delete(deadline);
    try {
      const { result, answer } = await request();
      if (answer && isRefusal(answer.status, answer.headers)) {
        this.refused.set(deadline, waiter.since);
        this.close(answer.headers, begun);
      } else if (answer) {
        deadline.extend?.(waiter.since, begun);
        this.accepted(answer.headers, begun);
      }
      return result;
    } finally {
      this.running--;
      if (this.limits.requestsPerMinute !== undefined) this.ended.push(this.clock.now());
      this.admit();
    }
  }

  private close(headers: Headers, begun: number): void {
    const told = this.headers.wait(headers, this.refusals);
    // What began before the last refusal says nothing of the time after it, unless it says until when.
    const isLate = begun < this.opensAt;
    if (isLate && told === undefined) return;
    const wait = told ?? Math.min(minute, 1000 * 2 ** this.refusals);
    if (!isLate) this.refusals++;
    this.opensAt = Math.max(this.opensAt, this.clock.now() + wait);
    // More than one request would be sent in vain if the server refuses again.
    this.width = 1;
    this.remaining = undefined;
  }

  private accepted(headers: Headers, begun: number): void {
    const now = this.clock.now();
    for (const waiter of this.queue) {
      waiter.deadline.extend?.(waiter.since, now);
      waiter.since = now;
    }
    const reset = this.headers.reset(headers, 0);
    if (begun < this.opensAt) return;
    this.refusals = 0;
    this.width = Math.min(this.width + 1, this.limits.maxConcurrency);
    const left = this.headers.remaining(headers);
    // The server may not have counted the other requests that are running.
    this.remaining = left === undefined ? undefined : left - (this.running - 1);
    if (left === 0 && reset !== undefined) this.opensAt = Math.max(this.opensAt, now + reset);
  }

  private turn(deadline: Deadline, since: number): Promise<Waiter | undefined> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.queue.splice(this.queue.indexOf(waiter), 1);
        resolve(undefined);
        this.admit();
      };
      const waiter: Waiter = {
        deadline,
        since,
        go: (isInTime) => {
          deadline.signal.removeEventListener("abort", leave);
          resolve(isInTime ? waiter : undefined);
        },
      };
      this.queue.push(waiter);
      if (deadline.signal.aborted) leave();
      else deadline.signal.addEventListener("abort", leave, { once: true });
      this.admit();
    });
  }

  /** Lets those go whose turn it is, and comes back for the next one. */
  private admit(): void {
    for (let first = this.queue[0]; first; first = this.queue[0]) {
      const pause = this.pause();
      if (pause === Infinity) return;
      const at = this.clock.now() + pause;
      const isInTime = at <= first.deadline.at;
      if (isInTime && pause > 0) {
        this.wake(at);
        return;
      }
      this.queue.shift();
      if (isInTime) {
        this.running++;
        if (this.remaining !== undefined) this.remaining--;
      }
      first.go(isInTime);
    }
    // A timer that nobody waits for would keep the process from ending.
    this.waking?.cancel.abort();
    this.waking = undefined;
  }

  private wake(at: number): void {
    if (this.waking && this.waking.at <= at) return;
    this.waking?.cancel.abort();
    const waking = (this.waking = { at, cancel: new AbortController() });
    const end = (): void => {
      if (this.waking === waking) this.waking = undefined;
    };
    void this.clock.sleep(at - this.clock.now(), waking.cancel.signal).then(() => {
      end();
      this.admit();
    }, end);
  }

  /** Milliseconds to wait before the next request may begin; infinite if one that runs must end before. */
  private pause(): number {
    if (this.running >= this.width) return Infinity;
    if (this.remaining !== undefined && this.remaining <= 0 && this.running > 0) return Infinity;
    const now = this.clock.now();
    const closed = Math.max(0, this.opensAt - now);
    const { requestsPerMinute } = this.limits;
    if (requestsPerMinute === undefined) return closed;
    while (this.ended[0] !== undefined && this.ended[0] <= now - minute) this.ended.shift();
    if (this.running + this.ended.length < requestsPerMinute) return closed;
    const [oldest] = this.ended;
    return oldest === undefined ? Infinity : Math.max(closed, oldest + minute - now);
  }
}

/** Whether an answer says that the request came too soon, so that it had no effect. */
export function isRefusal(status: number, headers: Headers): boolean {
  return status === 429 || (status === 503 && headers["retry-after"] !== undefined);
}
