/** How one attempt at a request ended, when it did not end well. */
export type Failure =
  /** Connecting failed, so the request was not sent and had no effect. */
  | { readonly kind: "unreachable" }
  /** The connection broke before the whole answer was there. */
  | { readonly kind: "cut" }
  /** Our own time for one request ran out; the server may still be at work. */
  | { readonly kind: "timeout" }
  /** The API answered with this status; `retryAfter` is whether it says when to send the request again. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfter: boolean }
  /** The API has accepted the request, and what it says of it cannot be read. */
  | { readonly kind: "unreadable" }
  /** Something that sending it again does not mend, such as a certificate or a host name; the request had no effect. */
  | { readonly kind: "final" };

export type Step =
  /** Send it again. */
  | "repeat"
  /** Send it again as soon as the API allows; this does not count as a retry. */
  | "wait"
  /** The effect is not known: look for it before anything is sent again. */
  | "look up"
  /** Look for the effect, and never send it again in this run: the server may still be at work. */
  | "look up only"
  /** Look for the effect a few times, and give up if there is none: the same request would get the same answer. */
  | "look up briefly"
  | "fail";

/**
 * What to do after a failed attempt, by the method and what is known of the effect. GET, DELETE and updates with absolute
 * values may be repeated; a create only if it surely had no effect.
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
    case "unreadable":
      return repeatable ? "fail" : "look up only";
    case "final":
      return "fail";
    case "status":
      if (failure.status === 429) return "wait";
      if (failure.status === 503 && failure.retryAfter) return "wait";
      // The server, or a proxy before it, has timed out: it may still be at work.
      if ([408, 504, 524].includes(failure.status)) return repeatable ? "repeat" : "look up only";
      // A redirect after a form is sent may follow a success, or a refusal that a person would be shown.
      if (!repeatable && (failure.status === 302 || failure.status === 303)) return "look up briefly";
      if (failure.status < 500) return "fail";
      // Not implemented, and the version of HTTP: the same request will fail again.
      if (failure.status === 501 || failure.status === 505) return repeatable ? "fail" : "look up briefly";
      return repeatable ? "repeat" : "look up";
  }
}

/** Milliseconds to wait before a retry, the first one being 1: exponential, at most ten seconds, with full jitter. */
export function backoff(retry: number, random: () => number = Math.random): number {
  return Math.round(Math.min(10_000, 250 * 2 ** (retry - 1)) * (0.5 + random() / 2));
}
