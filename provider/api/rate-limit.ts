import type { Clock } from "./clock";
import type { Operation } from "./operation";
import { announcedWait } from "./rate-limit-headers";
import type { Headers } from "./transport";
import { WaitNotice, type ShowWait } from "./wait-notice";

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

/** Why a request is not sent: its operation has ended, or the server has answered nothing but 429 and 503 for ten minutes. */
export type Denial = "ended" | "throttled";

export interface PendingRequest {
  readonly operation: Operation;
  readonly isWrite: boolean;
  /** When it was first wanted, before any retry, on the clock. */
  readonly since: number;
  /** The error of a request that is not sent. */
  readonly denialError: (reason: Denial) => Error;
}

interface Waiter extends Pick<PendingRequest, "operation" | "since"> {
  readonly go: () => void;
  readonly deny: (reason: Denial) => void;
}

const minuteMilliseconds = 60_000;
/** How long a server may answer nothing but 429 and 503 before waiting requests fail. */
const giveUpMilliseconds = 10 * minuteMilliseconds;

/**
 * Limits how many requests to one address with one key run at once and how many are sent in a minute. After a 429, or a 503 with
 * Retry-After, nothing is sent for as long as the server says, and then one request at a time until the server accepts one.
 */
export class RateLimiter {
  private readonly queue = new Set<Waiter>();
  private running = 0;
  /** How many answers show that the server works: all but 408, 429 and 5xx. */
  servedCount = 0;
  /** When the requests of the last minute ended, because a server may count a request when it ends. */
  private readonly endTimes: number[] = [];
  /** When the server is asked again, on the clock. */
  private opensAt = -Infinity;
  /** Consecutive answers with 429, or with 503 and Retry-After. */
  private throttledInARow = 0;
  /** Since when the server has answered nothing but 429 and 503; infinite if it has not. */
  private throttledSince = Infinity;
  /** The timer after which waiting requests are looked at again. */
  private timer: AbortController | undefined;
  private readonly notice: WaitNotice;

  constructor(
    private readonly limits: Limits,
    private readonly clock: Pick<Clock, "now" | "date" | "sleep">,
    showWait?: ShowWait,
  ) {
    this.notice = new WaitNotice(showWait);
  }

  /** The server has answered nothing but 429 and 503 for ten minutes. */
  get hasGivenUp(): boolean {
    return this.clock.now() >= this.throttledSince + giveUpMilliseconds;
  }

  /** Waits for its turn, then runs. Throws {@link PendingRequest.denialError} if its turn does not come. */
  async run<T>(pending: PendingRequest, request: () => Promise<EndedRequest<T>>): Promise<T> {
    this.forgetThrottling();
    await this.waitForTurn(pending);
    const begun = this.clock.now();
    try {
      const { result, response } = await request();
      if (response) this.learnFrom(response.status, response.headers, begun);
      return result;
    } finally {
      this.running--;
      this.endTimes.push(this.clock.now());
      this.admit();
    }
  }

  /** If nothing was sent or waited for a minute, earlier 429 and 503 say nothing about the time since. */
  private forgetThrottling(): void {
    const isIdle = this.running === 0 && this.queue.size === 0;
    const lastEndedAt = this.endTimes.at(-1) ?? -Infinity;
    if (!isIdle || this.clock.now() <= lastEndedAt + minuteMilliseconds) return;
    this.throttledSince = Infinity;
    this.throttledInARow = 0;
  }

  /** Learns from an answer to a request that was begun at this time. */
  private learnFrom(status: number, headers: Headers, begun: number): void {
    const now = this.clock.now();
    // A request that was sent before a pause says nothing about the time after it.
    const isLate = begun < this.opensAt;
    if (status < 500 && status !== 408 && status !== 429) this.servedCount++;
    if (status !== 429 && status !== 503) {
      if (isLate) return;
      this.throttledInARow = 0;
      this.throttledSince = Infinity;
      return;
    }
    this.throttledSince = Math.min(this.throttledSince, now);
    // A 503 that names no time says nothing about a limit.
    if (status === 503 && headers["retry-after"] === undefined) return;
    const least = isLate ? 0 : Math.min(minuteMilliseconds, 1000 * 2 ** this.throttledInARow++);
    const wait = Math.max(least, announcedWait(headers, this.clock.date()) ?? 0);
    const opensAt = Math.max(this.opensAt, now + wait);
    // Before waiting requests fail, one more is sent. Later ones do not wait for longer than these did.
    const end = this.throttledSince + giveUpMilliseconds;
    this.opensAt = Math.min(opensAt, now < end ? end : now + giveUpMilliseconds);
  }

  private waitForTurn(pending: PendingRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const { operation, isWrite, since, denialError } = pending;
      const signal = operation.waitSignal;
      const leave = (): void => {
        signal?.removeEventListener("abort", look);
        this.queue.delete(waiter);
      };
      const waiter: Waiter = {
        operation,
        since,
        go: () => {
          leave();
          this.running++;
          resolve();
        },
        deny: (reason) => {
          leave();
          reject(denialError(reason));
        },
      };
      const look = (): void => {
        if (!operation.mayBegin(isWrite)) waiter.deny("ended");
        this.admit();
      };
      this.queue.add(waiter);
      signal?.addEventListener("abort", look, { once: true });
      look();
    });
  }

  /** Lets the next requests run, and sets the timer if others must wait for a limit. */
  private admit(): void {
    this.timer?.abort();
    for (const waiter of this.queue) {
      const wait = this.waitTime();
      // The next request that ends looks at the queue again.
      if (wait === Infinity) return;
      if (wait === 0) waiter.go();
      else if (waiter.operation.isInterrupted) waiter.deny("ended");
      else if (this.hasGivenUp) waiter.deny("throttled");
    }
    if (this.queue.size > 0) this.sleep(this.waitTime());
  }

  private sleep(wait: number): void {
    // A request that is sent again is at the end of the queue, although its operation may be the first of the run.
    const waiters = [...this.queue].sort((a, b) => a.since - b.since);
    const all = this.servedCount + this.running + waiters.length;
    const waiting = {
      wait,
      since: waiters[0]?.since ?? Infinity,
      resources: waiters.map(({ operation }) => operation.urnOrOwner),
      text: `rate limit: ${Math.ceil(wait / 1000)} s, ${this.servedCount} of ${all} done`,
    };
    const untilNotice = this.notice.update(waiting, this.clock.now());
    this.timer = new AbortController();
    void this.clock.sleep(Math.min(wait, untilNotice), this.timer.signal).then(
      () => {
        this.admit();
      },
      () => undefined,
    );
  }

  /** Milliseconds until the next request may begin; infinite if a running one must end first. */
  private waitTime(): number {
    const { maxConcurrency, requestsPerMinute = Infinity } = this.limits;
    if (this.running >= (this.throttledInARow > 0 ? 1 : maxConcurrency)) return Infinity;
    const now = this.clock.now();
    while (this.endTimes[0] !== undefined && this.endTimes[0] <= now - minuteMilliseconds)
      this.endTimes.shift();
    const isFull = this.running + this.endTimes.length >= requestsPerMinute;
    const [oldest = Infinity] = this.endTimes;
    return Math.max(0, this.opensAt - now, isFull ? oldest + minuteMilliseconds - now : 0);
  }
}
