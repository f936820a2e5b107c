/** How one attempt at a request ended, when it did not end well. */
export type Failure =
  /** No connection came about: the request had no effect. */
  | { readonly kind: "unreachable" }
  /** The connection broke before the whole answer was there. */
  | { readonly kind: "cut" }
  /** Our own time for one request ran out; the server may still be at work. */
  | { readonly kind: "timeout" }
  /** The API answered with this status; `retryAfter` says whether it told when to come again. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfter: boolean }
  /** Something that repeating does not mend: a certificate, a host name, an answer that is too large. */
  | { readonly kind: "final" };

export type Step =
  /** Send it again. */
  | "repeat"
  /** Send it again as soon as the API allows; this does not count as a retry. */
  | "wait"
  /** The effect is not known: look for it before anything is sent again. */
  | "look up"
  /** As "look up", and never send it again in this run. */
  | "look up only"
  | "fail";

/**
 * What to do after a failed attempt: a pure function of the method and of what is known about the effect. GET, DELETE and
 * updates with absolute values may be repeated; a create only when it surely had no effect.
 */
export function nextStep(method: string, failure: Failure): Step {
  const repeatable = method !== "POST";
  switch (failure.kind) {
    case "unreachable":
      return "repeat";
    case "cut":
      return repeatable ? "repeat" : "look up";
    case "timeout":
      return repeatable ? "repeat" : "look up only";
    case "final":
      return "fail";
    case "status":
      if (failure.status === 429) return "wait";
      if (failure.status === 503 && failure.retryAfter) return "wait";
      if (failure.status < 500 && failure.status !== 408) return "fail";
      // Not implemented, and the version of HTTP: the same again will not do.
      if (failure.status === 501 || failure.status === 505) return "fail";
      return repeatable ? "repeat" : "look up";
  }
}

/** Milliseconds to wait before a retry, the first one being 1: exponential, at most ten seconds, with full jitter. */
export function backoff(retry: number, random: () => number = Math.random): number {
  return Math.round(Math.min(10_000, 250 * 2 ** (retry - 1)) * (0.5 + random() / 2));
}

/** Milliseconds until a `Retry-After`, in seconds or as a date; undefined when there is none that can be read. */
export function retryAfter(header: string | undefined, now: number = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  // Date.parse finds a date in "-5" too.
  const date = /\d:\d\d/.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
