import type { LostAnswerError } from "./errors";

/** How an attempt at a request failed. */
export type Failure =
  /** Connecting failed, so the request was not sent and had no effect. */
  | { readonly type: "unreachable" }
  /** The connection broke before the whole answer was there. */
  | { readonly type: "cut" }
  /** Our own time for one request ran out; the server may still be at work. */
  | { readonly type: "timeout" }
  /** The API answered with this status; `hasRetryAfter` is whether it says when to send the request again. */
  | { readonly type: "status"; readonly status: number; readonly hasRetryAfter: boolean }
  /** The API has accepted the request, but its answer cannot be read. */
  | { readonly type: "unreadable" }
  /** The request had no effect, and sending it again would not help: a certificate or a host name, for example. */
  | { readonly type: "final" };

export type Step =
  /** Send it again. */
  | "retry"
  /** Send it again as soon as the API allows; this does not count as a retry. */
  | "wait"
  | "fail"
  /** The answer to a create is lost, so its record must be looked for; see {@link LostAnswerError.next}. */
  | LostAnswerError["next"];

/**
 * The next step after a failed attempt. GET, DELETE and updates of absolute values may be retried; a create only if it
 * surely had no effect.
 */
export function nextStep(method: string, failure: Failure): Step {
  const retryable = method !== "POST";
  switch (failure.type) {
    case "unreachable":
      return "retry";
    case "cut":
      return retryable ? "retry" : "search first";
    case "timeout":
      return retryable ? "retry" : "keep looking";
    case "unreadable":
      return retryable ? "fail" : "keep looking";
    case "final":
      return "fail";
    case "status":
      if (failure.status === 429) return "wait";
      if (failure.status === 503 && failure.hasRetryAfter) return "wait";
      // The server, or a proxy before it, has timed out: it may still be at work.
      if ([408, 504, 524].includes(failure.status)) return retryable ? "retry" : "keep looking";
      // Web frameworks redirect a form after a success, and also back to the form after a refusal.
      if (!retryable && (failure.status === 302 || failure.status === 303)) return "give up";
      if (failure.status < 500) return "fail";
      // "Not implemented" and "HTTP version not supported": the same request would fail again.
      if (failure.status === 501 || failure.status === 505) return retryable ? "fail" : "give up";
      return retryable ? "retry" : "search first";
  }
}

/** Milliseconds to wait before a retry, the first one being 1: exponential, at most ten seconds, with half of it random. */
export function backoff(retry: number, random: () => number = Math.random): number {
  return Math.round(Math.min(10_000, 250 * 2 ** (retry - 1)) * (0.5 + random() / 2));
}
