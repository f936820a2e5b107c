import type { ServerResponse } from "node:http";
import type { Answer } from "./answers";

/** How long a misbehaving server takes, in milliseconds. */
interface Delays {
  /** Before the request is carried out. It is carried out even when the client has gone away meanwhile. */
  readonly delayMs?: number;
  /** After the request was carried out, before it is answered. */
  readonly answerDelayMs?: number;
}

/** One way to misbehave on one request. `effect` says whether the request is carried out nevertheless. */
export type Fault =
  /** Answered as usual, only later. */
  | (Delays & { readonly kind: "delay" })
  /** The connection is cut without an answer. */
  | (Delays & { readonly kind: "cut"; readonly effect: boolean })
  /** Carried out, and the connection is cut in the middle of the answer's body. */
  | (Delays & { readonly kind: "truncate" })
  /**
   * Answered with something else. What is left out is taken from the usual answer where there is an effect;
   * otherwise the status is 500 and the body is empty. A body that is not a string is sent as JSON.
   */
  | (Delays & {
      readonly kind: "answer";
      readonly effect: boolean;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    });

/** What is to be sent: an answer, whole or cut in the middle, or nothing but the end of the connection. */
export type Outcome = { readonly answer: Answer; readonly truncated: boolean } | "cut";

function replace(usual: Answer | undefined, fault: Fault & { kind: "answer" }): Answer {
  const { body = usual?.body ?? "", status = usual?.status ?? 500 } = fault;
  const isText = typeof body === "string";
  const contentType = isText ? "text/html; charset=UTF-8" : "application/json";
  const usualHeaders = fault.body === undefined && usual ? usual.headers : { "content-type": contentType };
  return {
    status,
    headers: { ...usualHeaders, ...fault.headers },
    body: isText ? body : JSON.stringify(body),
  };
}

/** Goes through a request as the fault asks, waiting with `wait` and having the effect with `carryOut`. */
export async function misbehave(
  fault: Fault,
  carryOut: () => Answer,
  wait: (milliseconds: number) => Promise<void>,
): Promise<Outcome> {
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
      const usual = fault.effect ? carryOut() : undefined;
      if (fault.answerDelayMs !== undefined) await wait(fault.answerDelayMs);
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
  const bytes = Buffer.from(body);
  const length = status === 204 || status === 304 ? {} : { "content-length": bytes.length };
  response.writeHead(status, { ...headers, ...length });
  if (outcome.truncated)
    response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
  else response.end(bytes);
}
