import type { Headers } from "./transport";

/** Milliseconds that a 429 or 503 asks to wait; undefined if it does not say. `date` is this machine's. */
export function announcedWait(headers: Headers, date: number): number | undefined {
  const now = serverDate(headers, date);
  return untilRetry(firstValue(headers["retry-after"]), now) ?? untilReset(headers, now);
}

/** `X-RateLimit-Reset`: a Unix time, or a duration in seconds or milliseconds. */
function untilReset(headers: Headers, now: number): number | undefined {
  const header = firstValue(headers["x-ratelimit-reset"]) ?? "";
  if (!/^\d+$/.test(header)) return undefined;
  const reset = Number(header);
  // Most rate limits are per minute or shorter, so a larger number is taken for milliseconds.
  return untilUnixTime(reset, now) ?? (reset > 60 ? reset : reset * 1000);
}

/** Milliseconds until a `Retry-After`, in seconds or as a date; undefined if there is none that can be read. */
function untilRetry(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return untilUnixTime(Number(header), now) ?? Number(header) * 1000;
  // Date.parse finds a date in "-5" too.
  const date = /\d:\d\d/.test(header) ? parseDate(header) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Milliseconds until a Unix time in seconds or milliseconds; undefined if the number is too small to be one. */
function untilUnixTime(time: number, now: number): number | undefined {
  return time > 1e9 ? Math.max(0, (time > 1e12 ? time : time * 1000) - now) : undefined;
}

/** The present date by the server's clock, from which its dates are counted. */
function serverDate(headers: Headers, here: number): number {
  const there = parseDate(firstValue(headers.date) ?? "");
  // The header has whole seconds, so this machine's date is more exact if the two agree.
  return Math.abs(there - here) > 2000 ? there : here;
}

/** Dates in headers are in UTC. One of the three forms that HTTP allows does not say so: `Tue Jan  1 12:00:00 2030`. */
function parseDate(text: string): number {
  const namesNoZone = /:\d\d:\d\d(\.\d+)?( \d{4})?$/.test(text);
  return Date.parse(namesNoZone ? `${text}Z` : text);
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
