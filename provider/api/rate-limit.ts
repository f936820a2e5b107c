import type { Clock } from "./clock";
import type { Operation } from "./operation";
import { announcedWait } from "./rate-limit-headers";
import type { Headers } from "./transport";
import type { Backlog, WaitNotices } from "./wait-notices";

interface Limits {
  readonly maxConcurrency: number;
  /** The setting `uptime:requestsPerMinute`. */
  readonly requestsPerMinute: number | undefined;
}

/** A request that has ended; `response` is absent if there is none. */
export interface EndedRequest<T> {
  readonly result: T;
  readonly response?: { readonly status: number; readonly headers: Headers } | undefined;
}

/**
 * Why a request is not sent: its operation has ended, or would end before it could be sent; or the server has refused
 * everything for ten minutes.
 */
export type Denial = "ended" | "too late" | "refused";

/** A request that wants to be sent. */
export interface PendingRequest {
  readonly operation: Operation;
  readonly isWrite: boolean;
  /** The error of a request that is not sent. */
  readonly denialError: (reason: Denial) => Error;
}

interface Waiter extends PendingRequest {
  readonly go: () => void;
  readonly deny: (reason: Denial) => void;
}

const minute = 60_000;
/** How long a server may refuse everything before waiting requests fail. */
const giveUpAfter = 10 * minute;

/**
 * Limits how many requests to one account run at once and how many are sent in a minute, and sends nothing while the server
 * refuses. Requests keep their order, except that those of operations that have already written go first. After a refusal one
 * request runs at a time, and one more with each that is accepted.
 */
export class RateLimiter {
  private running = 0;
  /** How many were answered, other than by a refusal. */
  private done = 0;
  private readonly queue: Waiter[] = [];
  /** How many may run at the same time at present. */
  private width: number;
  /** When the server is asked again, on the clock. */
  private opensAt = -Infinity;
  /** The number of refusals in a row, and when the first of them came. */
  private refusals = 0;
  private refusedSince = 0;
  private isGivenUp = false;
  /** When the requests of the last minute ended, because a server may count a request when it ends. */
  private readonly ended: number[] = [];
  /** The timer after which waiting requests are looked at again. */
  private waking: { readonly at: number; readonly cancel: AbortController } | undefined;
  /** Since when requests have been held back without a break; infinite if they are not. */
  private blockedSince = Infinity;

  constructor(
    private readonly limits: Limits,
    private readonly clock: Pick<Clock, "now" | "date" | "sleep">,
    private readonly notices?: WaitNotices,
  ) {
    this.width = limits.maxConcurrency;
    notices?.watch(() => this.backlog());
  }

  /** Waits for its turn, then runs. Throws {@link PendingRequest.denialError} if its turn does not come. */
  async run<T>(pending: PendingRequest, request: () => Promise<EndedRequest<T>>): Promise<T> {
    await this.enter(pending);
    const begun = this.clock.now();
    try {
      const { result, response } = await request();
      if (response && isTooSoon(response.status, response.headers)) this.close(response.headers, begun);
      // A 503 that names no time says nothing of the limit.
      else if (response && response.status !== 503) {
        this.open(begun);
        this.done++;
      }
      return result;
    } finally {
      this.running--;
      if (this.limits.requestsPerMinute !== undefined) this.ended.push(this.clock.now());
      this.admit();
    }
  }

  /**
   * After a refusal nothing is sent for as long as the server says, or for a time that doubles with each refusal, whichever
   * is longer. Before waiting requests fail, one more is sent.
   */
  private close(headers: Headers, begun: number): void {
    const now = this.clock.now();
    if (this.refusals === 0) this.refusedSince = now;
    const end = this.refusedSince + giveUpAfter;
    const announced = announcedWait(headers, this.clock.date()) ?? 0;
    // A request that was sent before the limiter reopened does not count as another refusal, but the time that it names does.
    const isLate = begun < this.opensAt;
    const least = isLate ? 0 : Math.min(minute, 1000 * 2 ** this.refusals);
    const opensAt = Math.max(this.opensAt, now + Math.max(announced, least));
    this.opensAt = now < end ? Math.min(opensAt, end) : opensAt;
    // If the server refuses again, only one request is sent in vain.
    this.width = 1;
    if (isLate) return;
    this.refusals++;
    this.isGivenUp = now >= end;
  }

  private open(begun: number): void {
    if (begun < this.opensAt) return;
    this.refusals = 0;
    this.isGivenUp = false;
    this.width = Math.min(this.width + 1, this.limits.maxConcurrency);
  }

  private enter(pending: PendingRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const signal = pending.operation.waitSignal;
      const leaveQueue = (): void => {
        signal?.removeEventListener("abort", end);
        this.queue.splice(this.queue.indexOf(waiter), 1);
      };
      const waiter: Waiter = {
        ...pending,
        go: () => {
          leaveQueue();
          this.running++;
          resolve();
        },
        deny: (reason) => {
          leaveQueue();
          reject(pending.denialError(reason));
        },
      };
      const end = (): void => {
        if (!pending.operation.mayBegin(pending.isWrite)) waiter.deny("ended");
        this.admit();
      };
      const { hasWritten } = pending.operation;
      const place = hasWritten ? this.queue.findIndex((other) => !other.operation.hasWritten) : -1;
      this.queue.splice(place < 0 ? this.queue.length : place, 0, waiter);
      signal?.addEventListener("abort", end, { once: true });
      end();
    });
  }

  /** Lets the next requests run, and sets the timer if they must wait. */
  private admit(): void {
    for (let first = this.queue[0]; first; first = this.queue[0]) {
      const wait = this.waitTime();
      if (wait === Infinity) return;
      if (wait === 0) {
        first.go();
        continue;
      }
      for (const waiter of [...this.queue]) {
        const reason = this.denialOf(waiter, wait);
        if (reason) waiter.deny(reason);
      }
      if (this.queue.length === 0) break;
      if (this.blockedSince === Infinity) {
        this.blockedSince = this.clock.now();
        this.notices?.begin();
      }
      this.wake(this.clock.now() + wait);
      return;
    }
    if (this.blockedSince < Infinity) {
      this.blockedSince = Infinity;
      this.notices?.end();
    }
    // A running timer would keep the process alive.
    this.waking?.cancel.abort();
    this.waking = undefined;
  }

  private backlog(): Backlog {
    const isOfServer = this.opensAt > this.clock.now() || this.limits.requestsPerMinute === undefined;
    return {
      since: this.blockedSince,
      reason: isOfServer ? "the server's rate limit" : "uptime:requestsPerMinute",
      done: this.done,
      waiting: this.queue.length,
      urn: this.queue[0]?.operation.urn,
    };
  }

  /** Why a request fails now instead of waiting; undefined if it waits. */
  private denialOf({ operation }: Waiter, wait: number): Denial | undefined {
    if (operation.isInterrupted) return "ended";
    if (operation.timeLeft < wait) return "too late";
    return this.isGivenUp ? "refused" : undefined;
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

  /** Milliseconds until the next request may begin; infinite if a running one must end first. */
  private waitTime(): number {
    if (this.running >= this.width) return Infinity;
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

/** A request that came too soon had no effect. */
function isTooSoon(status: number, headers: Headers): boolean {
  return status === 429 || (status === 503 && headers["retry-after"] !== undefined);
}
