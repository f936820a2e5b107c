import type { ServerResponse } from "node:http";
import type { Answer } from "./answers";

/** How long a misbehaving server takes, in milliseconds. */
interface Delays {
  /** Before the request is carried out. It is carried out even if the client has disconnected. */
  readonly delayMs?: number;
  /** After the request was carried out, before it is answered. */
  readonly answerDelayMs?: number;
}

/** When a request that is not answered as usual takes effect: at once (true), some time after its answer, or never (false). */
type Effect = boolean | { readonly afterMs: number };

/** One way to misbehave on one request. */
export type Fault =
  /** Answered as usual, only later. */
  | (Delays & { readonly kind: "delay" })
  /** The connection is cut without an answer. */
  | (Delays & { readonly kind: "cut"; readonly effect: Effect })
  /** Carried out, and the connection is cut in the middle of the answer's body. */
  | (Delays & { readonly kind: "truncate" })
  /**
   * Answered with something else. What is left out is taken from the usual answer if the effect comes before it;
   * otherwise the status is 500 and the body is empty. Bytes are sent as they are, and any other body that is not a
   * string as JSON.
   */
  | (Delays & {
      readonly kind: "answer";
      readonly effect: Effect;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    });

/** What is to be sent: an answer, whole or cut in the middle, or nothing but the end of the connection. */
export type Outcome = { readonly answer: Answer; readonly truncated: boolean } | "cut";

/** What a fault needs to handle a request. */
interface Doing {
  /** Carries the request out. */
  readonly carryOut: () => Answer;
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Continues with some work while the request is answered. */
  readonly inBackground: (work: Promise<void>) => void;
}

function replace(usual: Answer | undefined, fault: Fault & { kind: "answer" }): Answer {
  const { body = usual?.body ?? "", status = usual?.status ?? 500 } = fault;
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const contentType = isRaw ? "text/html; charset=UTF-8" : "application/json";
  const usualHeaders = fault.body === undefined && usual ? usual.headers : { "content-type": contentType };
  return {
    status,
    headers: { ...usualHeaders, ...fault.headers },
    body: isRaw ? body : JSON.stringify(body),
  };
}

/** Handles a request as the fault says. */
export async function misbehave(fault: Fault, { carryOut, wait, inBackground }: Doing): Promise<Outcome> {
  if (fault.delayMs !== undefined) await wait(fault.delayMs);
  switch (fault.kind) {
    case "delay":
    case "truncate": {
      const answer = carryOut();
      if (fault.answerDelayMs !== undefined) await wait(fault.answerDelayMs);
      return { answer, truncated: fault.kind === "truncate" };
    }
    case "cut":
    case "answer": {
      const { effect } = fault;
      const usual = effect === true ? carryOut() : undefined;
      if (fault.answerDelayMs !== undefined) await wait(fault.answerDelayMs);
      if (typeof effect === "object") inBackground(wait(effect.afterMs).then(() => void carryOut()));
      return fault.kind === "cut" ? "cut" : { answer: replace(usual, fault), truncated: false };
    }
  }
}

/** Sends the outcome of a request. */
export function send(response: ServerResponse, outcome: Outcome): void {
  if (outcome === "cut") {
    response.socket?.destroy();
    return;
  }
  const { status, headers, body } = outcome.answer;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const length = status === 204 || status === 304 ? {} : { "content-length": bytes.length };
  response.writeHead(status, { ...headers, ...length });
  if (outcome.truncated)
    response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
  else response.end(bytes);
}
