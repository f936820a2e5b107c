import type { LostAnswerError } from "./errors";

/** How one attempt at a request ended, when it did not end well. */
export type Failure =
  /** Connecting failed, so the request was not sent and had no effect. */
  | { readonly type: "unreachable" }
  /** The connection broke before the whole answer was there. */
  | { readonly type: "cut" }
  /** Our own time for one request ran out; the server may still be at work. */
  | { readonly type: "timeout" }
  /** The API answered with this status; `hasRetryAfter` is whether it says when to send the request again. */
  | { readonly type: "status"; readonly status: number; readonly hasRetryAfter: boolean }
  /** The API has accepted the request, and what it says of it cannot be read. */
  | { readonly type: "unreadable" }
  /** Something that sending it again does not mend, such as a certificate or a host name; the request had no effect. */
  | { readonly type: "final" };

export type Step =
  /** Send it again. */
  | "repeat"
  /** Send it again as soon as the API allows; this does not count as a retry. */
  | "wait"
  | "fail"
  /** The answer to a create is lost: its effect must be looked for, and this follows if there is none. */
  | LostAnswerError["next"];

/**
 * The next step after a failed attempt, by the method and what is known of the effect. GET, DELETE and updates with absolute
 * values may be repeated; a create only if it surely had no effect.
 */
export function nextStep(method: string, failure: Failure): Step {
  const repeatable = method !== "POST";
  switch (failure.type) {
    case "unreachable":
      return "repeat";
    case "cut":
      return repeatable ? "repeat" : "send again";
    case "timeout":
      return repeatable ? "repeat" : "keep looking";
    case "unreadable":
      return repeatable ? "fail" : "keep looking";
    case "final":
      return "fail";
    case "status":
      if (failure.status === 429) return "wait";
      if (failure.status === 503 && failure.hasRetryAfter) return "wait";
      // The server, or a proxy before it, has timed out: it may still be at work.
      if ([408, 504, 524].includes(failure.status)) return repeatable ? "repeat" : "keep looking";
      // A redirect after a form is sent may follow a success, or a refusal that a person would be shown.
      if (!repeatable && (failure.status === 302 || failure.status === 303)) return "give up";
      if (failure.status < 500) return "fail";
      // Not implemented, and the version of HTTP: the same request will fail again.
      if (failure.status === 501 || failure.status === 505) return repeatable ? "fail" : "give up";
      return repeatable ? "repeat" : "send again";
  }
}

/** Milliseconds to wait before a retry, the first one being 1: exponential, at most ten seconds, with full jitter. */
export function backoff(retry: number, random: () => number = Math.random): number {
  return Math.round(Math.min(10_000, 250 * 2 ** (retry - 1)) * (0.5 + random() / 2));
}
