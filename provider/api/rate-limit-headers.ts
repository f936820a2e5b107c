import type { Clock } from "./clock";

/** The headers of an answer, with lower-case names. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What one server's answers say of its rate limit; all times are returned as milliseconds from now. */
export class RateLimitHeaders {
  /** The last number of `X-RateLimit-Reset` that counts down, and when it came. */
  private last: { readonly value: number; readonly at: number } | undefined;
  /** Whether these numbers have been seen to count milliseconds. */
  private isMilliseconds = false;

  constructor(private readonly clock: Pick<Clock, "now" | "date">) {}

  /** How long to wait after a refusal; undefined if the answer does not say. */
  wait(headers: Headers, refusals: number): number | undefined {
    return retryAfter(textOf(headers["retry-after"]), this.date(headers)) ?? this.reset(headers, refusals);
  }

  /** `X-RateLimit-Remaining` */
  remaining(headers: Headers): number | undefined {
    const text = textOf(headers["x-ratelimit-remaining"]);
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  }

  /**
   * `X-RateLimit-Reset`: a time since the epoch or the time to go, in seconds or milliseconds. Time to go is in
   * milliseconds if it has been seen to pass faster than seconds do. Until then, a number that would be more than a minute
   * is tried as milliseconds, each refusal without success makes the wait longer, and seconds are the limit.
   */
  reset(headers: Headers, refusals: number): number | undefined {
    const text = textOf(headers["x-ratelimit-reset"]);
    if (text === undefined || !/^\d+$/.test(text)) return undefined;
    const value = Number(text);
    if (value > 1e12) return Math.max(0, value - this.date(headers));
    if (value > 1e9) return Math.max(0, value * 1000 - this.date(headers));
    const now = this.clock.now();
    if (this.last && this.last.value - value > (now - this.last.at) / 1000 + 2) this.isMilliseconds = true;
    this.last = { value, at: now };
    if (!this.isMilliseconds && value <= 60) return value * 1000;
    const longer = refusals > 0 ? 1000 * 2 ** (refusals - 1) : 0;
    return Math.min(value * 1000, Math.max(value, longer));
  }

  /** The time on the clock that the server's times refer to: its own if it differs from this machine's. */
  private date(headers: Headers): number {
    const here = this.clock.date();
    const there = Date.parse(textOf(headers.date) ?? "");
    // A server's date is in whole seconds, so this machine's is better if both agree.
    return Math.abs(there - here) > 2000 ? there : here;
  }
}

/** Milliseconds until a `Retry-After`, in seconds or as a date; undefined if there is none that can be read. */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  // Date.parse finds a date in "-5" too.
  const date = /\d:\d\d/.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
