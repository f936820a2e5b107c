import type { FormPair } from "../definitions/codecs";
import { parseJson } from "../common/values";
import type { Clock } from "./clock";
import { LostAnswerError, quoteId, type Message, type UptimeError } from "./errors";
import {
  errorStatusAttempt,
  notSentError,
  outcomeOf,
  unansweredAttempt,
  unreadableAttempt,
} from "./failed-attempt";
import type { AttemptedRequest, FailedAttempt, RawAnswer } from "./failed-attempt";
import { anySignal, type Operation } from "./operation";
import { RateLimiter, type Denial, type EndedRequest } from "./rate-limit";
import { couldHaveEffect, nextStep, Retries } from "./retry";
import type { Address, Settings } from "./settings";
import { decodeText, redirectOf, type Headers, type Method, type Transport } from "./transport";
import { WaitNotice, type ShowWait } from "./wait-notice";

export interface ApiRequest {
  readonly method: Method;
  /** The records in the API's path, such as `monitors`. */
  readonly plural: string;
  /** The record's id; undefined for a create or a list. */
  readonly id?: string | undefined;
  readonly query?: URLSearchParams;
  /** Sent as `application/x-www-form-urlencoded`. (docs/api.md) */
  readonly form?: readonly FormPair[];
  readonly operation: Operation;
  /** Called right before each attempt, which may have waited for long. If it throws, nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
}

/** An answer with a status below 300, or a redirect of an update or a delete. */
export interface Answer {
  readonly status: number;
  /** The parsed JSON; undefined if the answer is empty. For an update or a delete, text that is not JSON is kept as a string. */
  readonly body: unknown;
  readonly headers: Headers;
  /** The request was redirected to another path, so an empty answer says nothing about the record. */
  readonly isRedirectedElsewhere: boolean;
  /** The request and its address, for messages. */
  readonly requestText: Message;
}

/** Enough for a slash at the end and a server that has moved; more redirects count as a loop. */
const maxRedirects = 3;

/** What clients need of their process. */
export interface ClientDependencies {
  readonly clock: Clock;
  readonly transport: Transport;
  /** Shows what requests wait for. */
  readonly showWait?: ShowWait;
  /** Prints a line, such as one about each request if `uptime:logLevel` is `debug`. */
  readonly print?: (line: string) => unknown;
  /** How long a refused connection is tried again; a minute by default. */
  readonly unreachableMilliseconds?: number;
}

/** HTTP to one address: keep-alive connections, the key in the header, rate limits, retries, errors as sentences. */
export class Client {
  private readonly limiter: RateLimiter;
  private readonly unreachableNotice: WaitNotice;

  constructor(
    readonly address: Address,
    private readonly settings: Settings,
    private readonly dependencies: ClientDependencies,
  ) {
    this.limiter = new RateLimiter(settings, dependencies.clock, dependencies.showWait);
    this.unreachableNotice = new WaitNotice(dependencies.showWait);
  }

  /**
   * Returns the answer, which may be a redirect that answers an update or a delete. Throws {@link ApiError} for any other status of
   * 300 and above, {@link LostAnswerError} if a create may have had its effect, and {@link UptimeError} if there is no usable answer.
   */
  async send(request: ApiRequest): Promise<Answer> {
    const { method, operation } = request;
    const { clock, print, unreachableMilliseconds } = this.dependencies;
    const requestText = describeRequest(request, this.address);
    const { maxRetries } = this.settings;
    const retries = new Retries(maxRetries, unreachableMilliseconds, this.limiter.servedCount);
    let lastError: UptimeError | undefined;
    const since = clock.now();
    /** When the request could be sent, if there were no rate limit. */
    let readySince = since;
    const denialError = (reason: Denial): UptimeError =>
      notSentError(requestText, reason, operation, lastError);
    const pending = { operation, isWrite: method !== "GET", since, denialError };
    for (let attempt = 1; ; attempt++) {
      const result = await this.limiter.run(pending, async () => {
        const begun = clock.now();
        const ended = await this.attempt(request, requestText);
        const times = { duration: clock.now() - begun, waited: begun - readySince, attempt };
        if (this.settings.logLevel === "debug") print?.(describeAttempt(request, ended.result, times));
        return ended;
      });
      if (!("failure" in result)) return result;
      lastError = result.error;
      if (method !== "GET" && couldHaveEffect(result.failure)) operation.mayHaveEffect = true;
      const step = nextStep(method, result.failure);
      if (step === "fail") throw lastError;
      if (step !== "retry" && step !== "wait")
        throw new LostAnswerError(lastError.parts, step, { cause: lastError });
      readySince = clock.now();
      if (step === "wait") continue;
      if (this.limiter.hasGivenUp) throw denialError("throttled");
      const pause = retries.recordFailure(result.failure, readySince, this.limiter.servedCount);
      if (pause === undefined || pause > operation.timeLeft) throw lastError;
      if (retries.unreachableSince !== undefined)
        this.showUnreachable(retries.unreachableSince, pause, operation.urnOrOwner);
      await operation.sleep(pause).catch(() => {
        throw denialError("ended");
      });
    }
  }

  private showUnreachable(since: number, wait: number, resource: string | undefined): void {
    const now = this.dependencies.clock.now();
    const text = `no connection for ${Math.round((now - since) / 1000)} s, trying again`;
    this.unreachableNotice.update({ wait, since, resources: [resource], text }, now);
  }

  private async attempt(
    request: ApiRequest,
    requestText: Message,
  ): Promise<EndedRequest<Answer | FailedAttempt>> {
    const { address, settings } = this;
    const { query, operation, method, beforeSend } = request;
    const path = pathOf(request);
    const timeout = this.dependencies.clock.timeout(settings.timeoutSeconds * 1000);
    const attempted = { ...request, path, requestText, address, settings };
    const search = query?.toString();
    const url = new URL(`${address.url}${path}${search ? `?${search}` : ""}`);
    beforeSend?.();
    if (method !== "GET") operation.markWrite();
    let response: RawAnswer;
    try {
      response = await this.exchange(request, url, anySignal(timeout, operation.timeSignal));
    } catch (error) {
      return { result: unansweredAttempt(attempted, error, timeout) };
    }
    return { result: resultOf(attempted, url, response), response };
  }

  private async exchange(
    request: ApiRequest,
    url: URL,
    signal: AbortSignal,
    redirects = 0,
  ): Promise<RawAnswer> {
    const { method, form } = request;
    const { status, headers, body } = await this.dependencies.transport({
      url,
      method,
      signal,
      timeout: this.settings.timeoutSeconds * 1000,
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        authorization: `Bearer ${this.settings.apiKey}`,
        ...(form && { "content-type": "application/x-www-form-urlencoded" }),
      },
      body: form ? new URLSearchParams(form).toString() : null,
    });
    const target = redirectOf(status, headers.location, url);
    // A redirect that only adds a slash often drops the query, without which a list has no further pages.
    const losesQuery = target?.search === "" && target.pathname !== url.pathname && isPathOf(request, target);
    if (method === "GET" && losesQuery) target.search = url.search;
    // The key is sent to no other origin.
    const canFollow = target?.origin === url.origin && redirects < maxRedirects;
    // 307 and 308 keep method and body, and say that the request had no effect at the first address. A redirected write must lead to
    // the same record or collection.
    const keepsWrite = status === 307 || status === 308;
    if (canFollow && (method === "GET" || (keepsWrite && isPathOf(request, target))))
      return this.exchange(request, target, signal, redirects + 1);
    const text = decodeText(body, headers);
    return { status, headers, text, redirectTarget: target, isRedirectedElsewhere: !isPathOf(request, url) };
  }
}

/** The answer to a request, or why it has failed. */
function resultOf(
  attempted: ApiRequest & AttemptedRequest,
  url: URL,
  response: RawAnswer,
): Answer | FailedAttempt {
  const { method, requestText } = attempted;
  const { status, headers, text, isRedirectedElsewhere } = response;
  const body = parseJson(text);
  const answer = { status, body, headers, isRedirectedElsewhere, requestText };
  // If an update or a delete is answered with "OK" or a redirect, for example, the record's own address shows what it has done.
  const canBeReadBack = method !== "GET" && method !== "POST";
  if (canBeReadBack && isFormRedirect(attempted, url, response))
    return { ...answer, body: `status ${status}` };
  if (status >= 300) return errorStatusAttempt(attempted, response, body);
  if (text.trim() === "" || body !== undefined) return answer;
  return canBeReadBack ? { ...answer, body: text } : unreadableAttempt(attempted, response);
}

/**
 * A log line. It leaves out the query, headers and form, which may be secret, and any id that is not a number, because the server
 * may have put a secret in it.
 */
function describeAttempt(
  { method, plural, id }: ApiRequest,
  result: Answer | FailedAttempt,
  { duration, waited, attempt }: { duration: number; waited: number; attempt: number },
): string {
  const outcome = "failure" in result ? outcomeOf(result.failure) : result.status;
  const shown = pathOf({ plural }) + (id === undefined ? "" : `/${/^\d+$/.test(id) ? id : "[id]"}`);
  const repeated = attempt > 1 ? `, attempt ${attempt}` : "";
  const delayed = Math.round(waited) > 0 ? `, after ${Math.round(waited)} ms` : "";
  return `uptime: ${method} ${shown} ${outcome}, ${Math.round(duration)} ms${repeated}${delayed}`;
}

/** Whether an address is that of the requested record or collection, with a slash or without. */
function isPathOf(request: ApiRequest, { pathname }: URL): boolean {
  return pathname.replace(/\/$/, "").endsWith(pathOf(request));
}

/**
 * Whether an answer redirects to the record or to another page, as web frameworks redirect a form after a success, and also after a
 * refusal. A redirect to the same path below another address, or with a slash, says where the API is.
 */
function isFormRedirect(
  request: ApiRequest,
  url: URL,
  { status, redirectTarget: target }: RawAnswer,
): boolean {
  if ((status !== 302 && status !== 303) || target?.origin !== url.origin) return false;
  return target.pathname === url.pathname || !isPathOf(request, target);
}

/** The path below the address. */
export function pathOf({ plural, id }: Pick<ApiRequest, "plural" | "id">): string {
  const collection = `/api/v1/${plural}`;
  return id === undefined ? collection : `${collection}/${encodeURIComponent(id)}`;
}

/** The request and its address. An id in its path may be the server's. */
function describeRequest({ method, plural, id }: ApiRequest, { url }: Address): Message {
  const collection = `${method} ${url}${pathOf({ plural })}`;
  return id === undefined ? [collection] : [`${collection}/`, quoteId(encodeURIComponent(id))];
}
