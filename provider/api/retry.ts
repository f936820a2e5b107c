import type { LostAnswerError } from "./errors";
import type { Method } from "./transport";

/** How an attempt at a request failed. */
export type Failure =
  /** Nothing has accepted a connection, so the request was not sent and had no effect. */
  | { readonly type: "unreachable" }
  /** The connection broke before the whole response had arrived. */
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

/** The next step after a failure: of a request that is safe to repeat, and of a create. */
type Steps = readonly [repeatable: Step, create: Step];

const stepsWithoutStatus: Readonly<Record<Exclude<Failure["type"], "status">, Steps>> = {
  unreachable: ["retry", "retry"],
  cut: ["retry", "look and send again"],
  timeout: ["retry", "look only"],
  unreadable: ["fail", "look only"],
  final: ["fail", "fail"],
};

function stepsAfterStatus(status: number, hasRetryAfter: boolean): Steps {
  if (status === 429) return ["wait", "wait"];
  // Caches send a 503 after the server has stored, with Retry-After too, so for a create it proves nothing.
  if (status === 503 && hasRetryAfter) return ["wait", "look and send again"];
  // The server, or a proxy before it, has timed out: it may still be at work.
  if ([408, 504, 524].includes(status)) return ["retry", "look only"];
  // Web frameworks redirect a form after a success, and also back to the form after a refusal.
  if (status < 400) return ["fail", "look only"];
  if (status < 500) return ["fail", "fail"];
  // "Not implemented" and "HTTP version not supported": the same request would fail again.
  if (status === 501 || status === 505) return ["fail", "look only"];
  return ["retry", "look and send again"];
}

/**
 * The next step after a failed attempt. All requests but creates may be repeated. A create is repeated at once only if it certainly had no
 * effect; otherwise its record is looked for first.
 */
export function nextStep(method: Method, failure: Failure): Step {
  const [repeatable, create] =
    failure.type === "status"
      ? stepsAfterStatus(failure.status, failure.hasRetryAfter)
      : stepsWithoutStatus[failure.type];
  return method === "POST" ? create : repeatable;
}

/** Whether a status says that the server does not have a method. Java's servlets answer with 501 to a PATCH. */
export const lacksMethod = (status: number): boolean => status === 405 || status === 501;

/** Whether a write that has failed like this may have taken effect anyway: if so, a create would be looked for. */
export function couldHaveEffect(failure: Failure): boolean {
  if (failure.type === "status" && lacksMethod(failure.status)) return false;
  const step = nextStep("POST", failure);
  return step === "look and send again" || step === "look only";
}

/** A server restarts in less time. */
const restartMilliseconds = 60_000;

/** Counts the failures of one request, and says how long to wait before each retry. */
export class Retries {
  private countedFailures = 0;
  private pauses = 0;
  /** Since when nothing has accepted a connection; undefined if the last failure was another one. */
  unreachableSince: number | undefined;

  /**
   * @param maxRetries how many times the request may be sent again
   * @param unreachableMilliseconds for how long a request that cannot reach the server, which does no harm, is sent again
   * @param servedBefore how many requests the server has served before this one
   */
  constructor(
    private readonly maxRetries: number,
    private readonly unreachableMilliseconds = restartMilliseconds,
    private servedBefore = 0,
  ) {}

  /**
   * Milliseconds to wait before the request is sent again after a failure at this time; undefined if it is not sent again.
   *
   * @param servedCount how many requests the server has served by now. If that has grown since the failure before, the server is not
   *   down, so a 503 is a rate limit, as of nginx, which names no time.
   */
  recordFailure(failure: Failure, now: number, servedCount = 0): number | undefined {
    const pause = backoff(++this.pauses);
    const servesOthers = servedCount > this.servedBefore;
    this.servedBefore = servedCount;
    if (failure.type !== "unreachable") {
      this.unreachableSince = undefined;
      if (servesOthers && failure.type === "status" && failure.status === 503) this.countedFailures = 0;
      return ++this.countedFailures > this.maxRetries ? undefined : pause;
    }
    this.unreachableSince ??= now;
    const left = this.unreachableSince + this.unreachableMilliseconds - now;
    return left > 0 ? Math.min(pause, left) : undefined;
  }
}

/** Milliseconds to wait before a retry, the first one being 1: exponential, at most ten seconds, with half of it random. */
export function backoff(retry: number, random: () => number = Math.random): number {
  return Math.round(Math.min(10_000, 250 * 2 ** (retry - 1)) * (0.5 + random() / 2));
}
