import { counted } from "../common/text";
import { maybeGoneAdviceFor, oldSettingsAdvice } from "./advice";
import { parseError, quoteText } from "./error-body";
import {
  afterError,
  ApiError,
  KeyRefusedError,
  message,
  OperationTimeoutError,
  quote,
  UnreachableError,
  UptimeError,
  type Message,
} from "./errors";
import { isConnectError, networkFailure, type NetworkFailure } from "./network-errors";
import type { Operation } from "./operation";
import type { Denial } from "./rate-limit";
import type { Failure } from "./retry";
import { defaultProvider, sourceOf, type Address, type Settings } from "./settings";
import { headerOf, isProxied, type Headers, type Method } from "./transport";

/** A failed attempt, and the error to throw if the request is not sent again. */
export interface FailedAttempt {
  readonly failure: Failure;
  readonly error: UptimeError;
}

/** A request, with what its errors name. */
export interface AttemptedRequest {
  /** The request and its address, for messages. */
  readonly requestText: Message;
  readonly method: Method;
  /** The record's id; undefined for a create or a list. */
  readonly id?: string | undefined;
  readonly path: string;
  readonly operation: Operation;
  readonly address: Address;
  readonly settings: Settings;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The address of a redirect that was not followed. */
  readonly redirectTarget: URL | undefined;
  /** It was redirected to the path of something else. */
  readonly isRedirectedElsewhere: boolean;
}

/** The failure in one word, or its status, for the log. */
export function outcomeOf(failure: Failure): number | string {
  if (failure.type === "status") return failure.status;
  return failure.type === "final" ? "failed" : failure.type;
}

/** The error of a request that the rate limiter did not let through; `lastError` is that of the attempt before. */
export function notSentError(
  requestText: Message,
  reason: Denial,
  operation: Operation,
  lastError: UptimeError | undefined,
): UptimeError {
  const notSent = message`${requestText} was not sent${lastError ? " again" : ""}`;
  if (reason === "ended") return operation.endError(notSent, lastError);
  return new UptimeError(
    message`${afterError(lastError)}${notSent}: for ten minutes the server has refused all requests of this account with 429 or
      503. Try again later.`,
  );
}

/** An answer with a status of 300 or above. */
export function errorStatusAttempt(
  attempted: AttemptedRequest,
  response: RawAnswer,
  body: unknown,
): FailedAttempt {
  const { status, headers, text, isRedirectedElsewhere } = response;
  const { requestText, settings } = attempted;
  const advice = adviceFor(attempted, response);
  const answer = { requestText, status, ...parseError(body, text), advice, isRedirectedElsewhere };
  return {
    failure: { type: "status", status, hasRetryAfter: headers["retry-after"] !== undefined },
    error: status === 401 ? new KeyRefusedError(settings.apiKeySource, answer) : new ApiError(answer),
  };
}

/** An answer with a good status and a body that is not JSON. */
export function unreadableAttempt(
  { requestText, address }: AttemptedRequest,
  { status, headers, text }: RawAnswer,
): FailedAttempt {
  const encoding = headerOf(headers, "content-encoding");
  const found =
    encoding === "" || encoding === "identity"
      ? message`something that is not JSON: "${quoteText(text)}"`
      : message`something that is compressed (${quote(encoding)}), although the request asks for no compression`;
  const error = new UptimeError(
    message`${requestText} returned status ${status} and ${found}. Check ${address.source}: does it lead to the API?`,
  );
  return { failure: { type: "unreadable" }, error };
}

/** No answer, or a part of one. */
export function unansweredAttempt(
  { requestText, method, operation, address, settings }: AttemptedRequest,
  error: unknown,
  timeout: AbortSignal,
): FailedAttempt {
  const failed = (
    type: NetworkFailure["type"],
    ErrorClass: typeof UptimeError,
    text: Message,
  ): FailedAttempt => ({ failure: { type }, error: new ErrorClass(text, { cause: error }) });
  // Connecting has a time of its own, and if it was not possible, nothing was sent.
  const isConnected = !isConnectError(error);
  if (isConnected && operation.timeSignal?.aborted) {
    // The time of the operation is over, so nothing is retried. A write may have had its effect, so it counts as a timeout. After a
    // create, the look for its record then reports that the time is over.
    const reason = method === "POST" ? "" : ": the operation timed out (the option customTimeouts)";
    const late = message`${requestText} got no response in time${reason}.`;
    return failed("timeout", OperationTimeoutError, late);
  }
  if (isConnected && timeout.aborted) {
    const limit = `${counted(settings.timeoutSeconds, "second")} (${sourceOf(settings, "timeoutSeconds")})`;
    return failed("timeout", UptimeError, message`${requestText} got no response within ${limit}.`);
  }
  const { type, text } = networkFailure(error, method !== "GET");
  const network = isProxied(new URL(address.url))
    ? ", the network and the proxy (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)"
    : " and the network";
  const ErrorOfType = type === "unreachable" ? UnreachableError : UptimeError;
  return failed(type, ErrorOfType, message`${requestText} ${text}. Check ${address.source}${network}.`);
}

/** Advice for an answer's status, in sentences. */
function adviceFor(
  { method, id, path, operation, address, settings }: AttemptedRequest,
  { status, redirectTarget, headers }: RawAnswer,
): (string | Message)[] {
  const { source } = address;
  const key = settings.apiKeySource;
  const settingsAdvice = oldSettingsAdvice(operation.mayHaveOldSettings);
  const providerAdvice = operation.mayHaveOldSettings ? providerAdviceFor(settings) : [];
  if (status === 401)
    return [
      `The API does not accept the key from ${key}: set a valid one.`,
      ...settingsAdvice,
      ...providerAdvice,
    ];
  const isList = id === undefined && method === "GET";
  if (status === 403) {
    // Amazon's API Gateway answers so where it has no API.
    const orAddress = isList ? `, or there is no API at this address: check ${source} too` : "";
    return [
      `The key from ${key} may not do this${orAddress}.`,
      ...settingsAdvice,
      ...maybeGoneAdviceFor({ method, id }),
    ];
  }
  if (status === 404 && isList)
    return [`There is no API at this address: check ${source}.`, ...settingsAdvice];
  if (status === 429) return [`Set ${sourceOf(settings, "requestsPerMinute")} to what the server allows.`];
  if (redirectTarget) {
    const location = headerOf(headers, "location");
    // The query may hold a secret of the other server, such as a session. A path that is written in another way in the header is not
    // shown, because a secret would not be found in it.
    const { origin, pathname } = redirectTarget;
    const where = quote(location.includes(pathname) ? origin + pathname : origin);
    // Such as a slash at the end, which some frameworks add.
    const isSameAddress = origin + pathname.replace(/\/+$/, "") === address.url + path;
    // These are followed, so they have come back.
    if (isSameAddress && (method === "GET" || status === 307 || status === 308))
      return [
        message`It redirects to ${where} without end: ask the people who run the server, and check ${source}.`,
      ];
    if (isSameAddress)
      return [
        message`It redirects to ${where}, which is not followed, because a write must keep its method and body: ask the people
          who run the server to answer without a redirect, or with status 308.`,
      ];
    return [
      message`It redirects to ${where}, which is not followed; if the API is there now, set ${source} to that address.`,
    ];
  }
  return status < 400 ? [`This is not a response of the API: check ${source}.`] : [];
}

/**
 * Advice if a refused key comes from state. Pulumi uses that key to delete the resources of a provider that the program no longer
 * declares.
 */
function providerAdviceFor({ providerName }: Settings): string[] {
  if (providerName === undefined) return [];
  return providerName === defaultProvider
    ? [
        "If the program no longer uses the default provider, keep a lookup that uses it, such as getMonitors(), until this run succeeds.",
      ]
    : [
        `If the program no longer has the provider ${providerName}, declare it again, with a valid key, until this run succeeds.`,
      ];
}
