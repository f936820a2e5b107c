import { brotliDecompressSync, unzipSync } from "node:zlib";

import type { Pair } from "../definitions/kinds";
import { parseUrl } from "../definitions/url";
import { complaintIn, parseJson } from "./answer";
import { systemClock } from "./clock";
import type { Clock } from "./clock";
import {
  ApiError,
  LostAnswerError,
  message,
  quote,
  TimeIsOverError,
  unfinished,
  UptimeError,
} from "./errors";
import type { Message } from "./errors";
import { Log } from "./log";
import { networkFailure } from "./network-errors";
import type { Operation } from "./operation";
import { isRefusal, RateLimiter } from "./rate-limit";
import type { Denial, Ended } from "./rate-limit";
import { backoff, nextStep } from "./retry";
import type { Failure } from "./retry";
import { defaultProvider } from "./settings";
import type { Address, Settings } from "./settings";
import { bodyLimit, httpTransport, isProxied } from "./transport";
import type { HttpResponse, Transport } from "./transport";
import { counted } from "./text";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the address, beginning with `/api/v1`. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Sent as `application/x-www-form-urlencoded`. (API reference, section 4) */
  readonly form?: readonly Pair[];
  readonly operation: Operation;
}

/** An answer with a status below 300, or one that says where the result of a POST is. */
export interface Answer {
  /** For a POST also 301, 302 or 303, if `location` is what says what it has created. */
  readonly status: number;
  /** The parsed JSON; undefined if the answer is empty. */
  readonly body: unknown;
  readonly location: string | undefined;
  /** The server's clock, as it says itself. */
  readonly date: string | undefined;
  /** The request and its address, for messages. */
  readonly request: string;
}

/** An attempt that ended badly: what is known of it, and the error if that is the end. */
interface FailedAttempt {
  readonly failure: Failure;
  readonly error: UptimeError;
}

/** What came back over HTTP. */
interface Response {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly text: string;
  /** Where it redirects to, if that was not followed. */
  readonly target: URL | undefined;
}

/** An address may be spelled otherwise and have moved; more redirects than that are a loop. */
const redirectLimit = 3;
/** For the errors of an operation that may have old settings. */
export const oldSettings =
  "`pulumi refresh`, `destroy` and `--refresh` use the settings of the last `up` unless you add --run-program";

/** HTTP to one address: keep-alive connections, the key in the header, rate limits, retries, errors as sentences. */
export class Client {
  readonly log: Log;
  private readonly clock: Clock;
  private readonly transport: Transport;
  private readonly limiter: RateLimiter;

  constructor(
    readonly address: Address,
    private readonly settings: Settings,
    {
      clock = systemClock,
      log = new Log(settings.logLevel),
      transport = httpTransport(),
    }: { readonly clock?: Clock; readonly log?: Log; readonly transport?: Transport } = {},
  ) {
    this.clock = clock;
    this.log = log;
    this.transport = transport;
    this.limiter = new RateLimiter(settings, {
      now: () => clock.now(),
      date: () => clock.date(),
      sleep: (milliseconds, signal) => {
        log.longWait(milliseconds);
        return clock.sleep(milliseconds, signal);
      },
    });
  }

  /** How many requests may be sent at the same time. */
  get maxConcurrency(): number {
    return this.settings.maxConcurrency;
  }

  /**
   * Throws {@link ApiError} for a status of 300 and above, {@link LostAnswerError} if a create may have had its effect, and
   * {@link UptimeError} if there is no usable answer.
   */
  async send(request: ApiRequest): Promise<Answer> {
    const { method, path, operation } = request;
    const name = `${method} ${this.address.url}${path}`;
    let last: UptimeError | undefined;
    let ready = this.clock.now();
    for (let retry = 0, attempt = 1; ; attempt++) {
      const denied = (reason: Denial): UptimeError => this.notSent(name, reason, operation, last);
      const result = await this.limiter.run({ operation, isWrite: method !== "GET", denied }, async () => {
        const begun = this.clock.now();
        const ended = await this.attempt(request, name);
        if (this.log.isOn)
          this.log.sent({
            method,
            path: this.withoutKey(path),
            outcome: outcomeOf(ended.result),
            milliseconds: this.clock.now() - begun,
            attempt,
            waited: begun - ready,
          });
        return ended;
      });
      if (!("failure" in result)) return result;
      last = result.error;
      const step = nextStep(method, result.failure);
      if (step === "fail") throw last;
      if (step !== "repeat" && step !== "wait") throw new LostAnswerError(last.parts, step, { cause: last });
      ready = this.clock.now();
      if (step === "wait") continue;
      const pause = backoff(++retry);
      if (retry > this.settings.maxRetries || pause > operation.timeLeft) throw last;
      // If the operation ends meanwhile, the limiter refuses the next attempt.
      await operation.sleep(pause).catch(() => undefined);
    }
  }

  /** A path or address in which the server may have put the key, as it is shown. */
  private withoutKey(source: string): string {
    const { apiKey } = this.settings;
    return source.replaceAll(apiKey, "[key]").replaceAll(encodeURIComponent(apiKey), "[key]");
  }

  private notSent(name: string, reason: Denial, operation: Operation, last?: UptimeError): UptimeError {
    if (reason === "ended") return operation.ended(`${name} was not sent`, last);
    const before = last ? message`${unfinished(last)}. Then ` : "";
    if (reason === "too late")
      return new TimeIsOverError(
        message`${before}${name} was not sent: no more requests are allowed before the operation's time is over (see the option
          customTimeouts, and the setting uptime:requestsPerMinute).`,
      );
    return new UptimeError(
      message`${before}${name} was not sent: for ten minutes the server has refused all requests of this account with 429 or
        503. Set uptime:requestsPerMinute to what it allows, or try again later.`,
    );
  }

  private async attempt(request: ApiRequest, name: string): Promise<Ended<Answer | FailedAttempt>> {
    const { method, path, query, operation } = request;
    const timeout = this.clock.timeout(this.settings.timeoutSeconds * 1000);
    const signals = [timeout, operation.timeSignal].filter((signal) => signal !== undefined);
    try {
      const search = query?.toString();
      const url = new URL(`${this.address.url}${path}${search ? `?${search}` : ""}`);
      operation.hasWritten ||= method !== "GET";
      const answer = await this.exchange(request, url, AbortSignal.any(signals));
      return { result: this.resultOf(answer, request, name), answer };
    } catch (error) {
      return { result: this.failed(error, request, name, timeout) };
    }
  }

  private resultOf(response: Response, request: ApiRequest, name: string): Answer | FailedAttempt {
    const { status, headers, text, target } = response;
    const body = parsed(text);
    const [location, date] = [headers.location, headers.date].map((value) =>
      typeof value === "string" ? value : undefined,
    );
    const answer = { status, body, location, date, request: name };
    if (request.method === "POST" && target && this.hasCreated(status, request.path, target)) return answer;
    if (status >= 300) {
      const { said, fields } = complaintIn(body, text);
      return {
        failure: { kind: "status", status, retryAfter: isRefusal(status, headers) },
        error: new ApiError(name, status, said, fields, this.hint(status, request, target)),
      };
    }
    if (text.trim() === "" || body !== undefined) return answer;
    const error = new UptimeError(
      message`${name} was answered with status ${status} and something that is not JSON: "${quote(text)}". Check
        ${this.address.source}: does it lead to the API?`,
    );
    return { failure: { kind: "unreadable" }, error };
  }

  /** Whether a redirect says that a create had its effect, and where its result is; others only name another address. */
  private hasCreated(status: number, path: string, target: URL): boolean {
    const { origin, pathname } = new URL(`${this.address.url}${path}`);
    if (target.origin !== origin) return false;
    if (status === 303) return true;
    const isRecord =
      target.pathname.startsWith(`${pathname}/`) && target.pathname.length > pathname.length + 1;
    return isRecord && (status === 301 || status === 302);
  }

  private async exchange(
    request: ApiRequest,
    url: URL,
    signal: AbortSignal,
    redirects = 0,
  ): Promise<Response> {
    const { method, form } = request;
    const { status, headers, body } = await this.transport({
      url,
      method,
      signal,
      timeout: this.settings.timeoutSeconds * 1000,
      headers: {
        accept: "application/json",
        authorization: `Bearer ${this.settings.apiKey}`,
        ...(form && { "content-type": "application/x-www-form-urlencoded" }),
      },
      body: form ? encodeForm(form) : null,
    });
    const target = redirectOf(status, headers.location, url);
    // 307 and 308 keep method and body, and say that the request had no effect where it was sent.
    const isFollowed =
      method === "GET" ||
      // A write goes to the same record or collection, and to no other.
      ((status === 307 || status === 308) && target?.pathname.endsWith(request.path) === true);
    // The key is sent to no other origin.
    if (target?.origin === url.origin && isFollowed && redirects < redirectLimit)
      return this.exchange(request, target, signal, redirects + 1);
    return { status, headers, text: decode(body, headers), target };
  }

  private failed(error: unknown, request: ApiRequest, name: string, timeout: AbortSignal): FailedAttempt {
    const { operation, method } = request;
    if (operation.timeSignal?.aborted)
      // Nothing can follow in this operation, and a create may have had its effect.
      return {
        failure: { kind: method === "POST" ? "timeout" : "final" },
        error: new TimeIsOverError(
          `${name} was given up: the operation has used its time (see the option customTimeouts).`,
          { cause: error },
        ),
      };
    if (timeout.aborted)
      return {
        failure: { kind: "timeout" },
        error: new UptimeError(
          `${name} was not answered within ${counted(this.settings.timeoutSeconds, "second")} (uptime:timeoutSeconds).`,
          { cause: error },
        ),
      };
    const { kind, text } = networkFailure(error, method === "POST");
    const network = isProxied(new URL(this.address.url))
      ? ", the network and the proxy (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)"
      : " and the network";
    return {
      failure: { kind },
      error: new UptimeError(message`${name} ${text}. Check ${this.address.source}${network}.`, {
        cause: error,
      }),
    };
  }

  private hint(status: number, { path, operation }: ApiRequest, target: URL | undefined): string | Message {
    const { source } = this.address;
    const key = this.settings.apiKeySource;
    const ifChanged = (what: string): string =>
      operation.mayHaveOldSettings ? `. If you have changed ${what}: ${oldSettings}` : "";
    if (status === 401)
      return `The API does not accept the key from ${key}${ifChanged("it")}${this.formerProvider()}`;
    if (status === 403) return `The key from ${key} may not do this${ifChanged("it")}`;
    if (status === 404 && /^\/api\/v1\/[^/]+$/.test(path))
      return `There is no API at this address: check ${source}${ifChanged("it")}`;
    if (status === 429) return "Set uptime:requestsPerMinute to what the server allows";
    if (target) {
      // What follows the path may be a secret of the server that redirects, such as a session.
      const where = quote(target.origin + target.pathname);
      return message`It redirects to ${where}, which is not followed; if the API is there now, set ${source} to that address`;
    }
    if (status >= 300 && status < 400) return `This is not an answer of the API: check ${source}`;
    return "";
  }

  /** What a provider still has that the program no longer uses is deleted with the settings in state. */
  private formerProvider(): string {
    const { provider } = this.settings;
    if (provider === undefined) return "";
    return provider === defaultProvider
      ? ". If the program no longer uses the default provider, let a lookup use it until this run succeeds"
      : `. If the program no longer has the provider ${provider}, declare it again, with a valid key, until this run succeeds`;
  }
}

/** For the log: the status, or what came in its place. */
function outcomeOf(result: Answer | FailedAttempt): number | string {
  if (!("failure" in result)) return result.status;
  const { failure } = result;
  return failure.kind === "status" ? failure.status : failure.kind === "final" ? "failed" : failure.kind;
}

function redirectOf(status: number, location: string | string[] | undefined, base: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== "string" || !location)
    return undefined;
  const target = parseUrl(location, base.href);
  return target && /^https?:$/.test(target.protocol) ? target : undefined;
}

const decoders = new Map([
  ["gzip", unzipSync],
  ["x-gzip", unzipSync],
  ["deflate", unzipSync],
  ["br", brotliDecompressSync],
]);

/** The text of a body: some servers compress without being asked. */
function decode(bytes: Buffer, headers: HttpResponse["headers"]): string {
  const encoding = String(headers["content-encoding"] ?? "").toLowerCase();
  const decompress = bytes.length > 0 ? decoders.get(encoding) : undefined;
  return new TextDecoder().decode(decompress?.(bytes, { maxOutputLength: bodyLimit }) ?? bytes);
}

function encodeForm(pairs: readonly Pair[]): string {
  const form = new URLSearchParams();
  for (const [name, value] of pairs) form.append(name, value);
  return form.toString();
}

function parsed(source: string): unknown {
  try {
    return parseJson(source);
  } catch {
    return undefined;
  }
}
