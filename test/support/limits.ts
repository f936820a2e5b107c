/** The ways in which a server may limit the number of requests in a period; each says how long to wait when it refuses. */
export const limitKinds = {
  /** So many in each period by the clock. */
  window: (count: number, period: number): Limit => {
    let current = -1;
    let taken = 0;
    return (now) => {
      const index = Math.floor(now / period);
      if (index !== current) [current, taken] = [index, 0];
      const resets = (index + 1) * period - now;
      return taken < count
        ? { wait: 0, remaining: count - ++taken, resets }
        : { wait: resets, remaining: 0, resets };
    };
  },
  /** So many in any period. */
  sliding: (count: number, period: number): Limit => {
    const taken: number[] = [];
    return (now) => {
      while (taken[0] !== undefined && taken[0] <= now - period) taken.shift();
      if (taken.length < count) taken.push(now);
      else return { wait: (taken[0] ?? now) + period - now, remaining: 0, resets: period };
      return { wait: 0, remaining: count - taken.length, resets: (taken[0] ?? now) + period - now };
    };
  },
  /** A bucket of a given size that fills up evenly in a period. */
  bucket: (count: number, period: number): Limit => {
    let tokens = count;
    let filled: number | undefined;
    return (now) => {
      tokens = Math.min(count, tokens + ((now - (filled ?? now)) * count) / period);
      filled = now;
      const untilNext = (): number => (Math.max(0, 1 - tokens) * period) / count;
      if (tokens < 1) return { wait: untilNext(), remaining: 0, resets: untilNext() };
      tokens--;
      return { wait: 0, remaining: Math.floor(tokens), resets: untilNext() };
    };
  },
} as const;

interface Verdict {
  /** Milliseconds after which it is taken; 0: it is taken now. */
  readonly wait: number;
  readonly remaining: number;
  /** Milliseconds until there is more than `remaining`. */
  readonly resets: number;
}

/** Takes a request at a moment in milliseconds, or refuses it. */
type Limit = (now: number) => Verdict;

type Headers = Record<string, string>;
const seconds = (milliseconds: number): string => String(Math.ceil(milliseconds / 1000));
const whole = (milliseconds: number): string => String(Math.ceil(milliseconds));

/** What a server may say of it in its answers, at a moment in milliseconds. */
export const limitTellings = {
  "Retry-After in seconds": ({ wait }: Verdict): Headers =>
    wait > 0 ? { "retry-after": seconds(wait) } : {},
  nothing: (): Headers => ({}),
  "X-RateLimit in milliseconds": ({ remaining, resets }: Verdict): Headers => ({
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": whole(resets),
  }),
  "X-RateLimit as a Unix time": ({ remaining, resets }: Verdict, now: number): Headers => ({
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": seconds(now + resets),
  }),
} as const;

/** Milliseconds that a number of requests take if each is sent as soon as it is accepted. */
export function neededTime(limit: Limit, requests: number): number {
  let now = 0;
  for (let taken = 0; taken < requests;) {
    const { wait } = limit(now);
    if (wait === 0) taken++;
    else now += wait;
  }
  return now;
}
