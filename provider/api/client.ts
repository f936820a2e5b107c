import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

import { isObject } from "../definitions/kinds";
import type { Pair } from "../definitions/kinds";
import { parseUrl } from "../definitions/url";
import { complaintIn, parseJson } from "./answer";
import { systemClock } from "./clock";
import type { Clock } from "./clock";
import type { Deadline } from "./deadline";
import { ApiError, LostAnswer, UptimeError } from "./errors";
import { isRefusal, Limiter } from "./limiter";
import type { Ended } from "./limiter";
import { Log } from "./log";
import { Redactor } from "./redact";
import { backoff, nextStep } from "./retry";
import type { Failure, Step } from "./retry";
import type { Address, Settings } from "./settings";
import { excerpt } from "./text";
import { bodyLimit, httpTransport } from "./transport";
import type { HttpResponse, Transport } from "./transport";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the address, beginning with `/api/v1`. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Sent as `application/x-www-form-urlencoded`. (API reference, section 4) */
  readonly form?: readonly Pair[];
  /** Ends the request when the operation that it belongs to has no time left. */
  readonly deadline: Deadline;
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

/** Of a longer text in an error only the beginning is redacted and shown, which takes less than a moment. */
const errorLimit = 64 * 1024;
const redirectLimit = 3;
const timeIsOver = "was given up: the operation has used its time (see the option customTimeouts).";
/** Nobody can see here whether the option is given, so errors that it explains always say so. */
const staleSettings =
  "`pulumi refresh`, `destroy` and `--refresh` use the settings of the last `up` unless you add --run-program";

/** HTTP to one address: keep-alive connections, the key in the header, rate limits, retries, errors as sentences. */
export class Client {
  /** Removes the key from texts; `with` adds a resource's secrets. */
  readonly redactor: Redactor;
  readonly log: Log;
  private readonly clock: Clock;
  private readonly transport: Transport;
  private readonly limiter: Limiter;

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
    this.redactor = new Redactor().with([settings.apiKey], "[key]");
    this.transport = transport;
    this.limiter = new Limiter(settings, {
      now: () => clock.now(),
      date: () => clock.date(),
      sleep: (milliseconds, signal) => this.pause(milliseconds, signal),
    });
  }

  /**
   * Throws {@link ApiError} for a status of 300 and above, {@link LostAnswer} if a create may have had its effect, and
   * {@link UptimeError} if there is no usable answer.
   */
  async send(message: ApiRequest): Promise<Answer> {
    const { method, path, deadline } = message;
    const name = `${method} ${this.address.url}${path}`;
    let last: UptimeError | undefined;
    let ready = this.clock.now();
    for (let retry = 0, attempt = 1; ; attempt++) {
      const result = await this.limiter.run(deadline, async () => {
        const begun = this.clock.now();
        const ended = await this.attempt(message, name);
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
      if (!result) throw this.notSent(name, deadline, last);
      if (!("failure" in result)) return result;
      last = result.error;
      const step = stepAfter(message, result.failure);
      if (step !== "repeat" && step !== "wait" && step !== "fail")
        throw new LostAnswer(last.message, nextAfter[step], { cause: last });
      if (step === "fail") throw last;
      ready = this.clock.now();
      if (step === "wait") continue;
      const pause = backoff(++retry);
      if (retry > this.settings.maxRetries || this.clock.now() + pause > deadline.at) throw last;
      // If the operation's time ends meanwhile, the limiter refuses the next attempt.
      await this.pause(pause, deadline.signal).catch(() => undefined);
    }
  }

  /** A text without the key. */
  withoutKey(source: string): string {
    return this.redactor.text(source);
  }

  /** A text of an answer without the key and the secrets of the operation. Only its beginning, if it is long. */
  redacted(text: string, { secrets = [] }: Deadline): string {
    const start = text.length > errorLimit ? `${text.slice(0, errorLimit)}…` : text;
    return this.redactor.with(secrets).text(start);
  }

  private async pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const end = this.log.pause();
    await this.clock.sleep(milliseconds, signal).finally(end);
  }

  private notSent(name: string, deadline: Deadline, last: UptimeError | undefined): UptimeError {
    const before = last ? `${last.message.replace(/\.$/, "")}. Then ` : "";
    const reason =
      deadline.signal.aborted || this.clock.now() >= deadline.at
        ? timeIsOver
        : "was not sent: no more requests are allowed before the operation's time is over (see the option customTimeouts, " +
          "and the setting uptime:requestsPerMinute).";
    return new UptimeError(`${before}${name} ${reason}`);
  }

  private async attempt(message: ApiRequest, name: string): Promise<Ended<Answer | FailedAttempt>> {
    const { path, query, deadline } = message;
    const timeout = this.clock.timeout(this.settings.timeoutSeconds * 1000);
    try {
      const search = query?.toString();
      const url = new URL(`${this.address.url}${path}${search ? `?${search}` : ""}`);
      const answer = await this.exchange(message, url, AbortSignal.any([timeout, deadline.signal]));
      return { result: this.resultOf(answer, message, name), answer };
    } catch (error) {
      return { result: this.failed(error, message, name, timeout) };
    }
  }

  private resultOf(response: Response, message: ApiRequest, name: string): Answer | FailedAttempt {
    const { status, headers, text, target } = response;
    const body = parsed(text);
    const [location, date] = [headers.location, headers.date].map((value) =>
      typeof value === "string" ? value : undefined,
    );
    const answer = { status, body, location, date, request: name };
    if (message.method === "POST" && target && this.hasCreated(status, message.path, target)) return answer;
    const redacted = (part: string): string => this.redacted(part, message.deadline);
    if (status >= 300) {
      const { said, fields } = complaintIn(body, text, redacted);
      return {
        failure: { kind: "status", status, retryAfter: isRefusal(status, headers) },
        error: new ApiError(name, status, said, fields, this.hint(status, message, target)),
      };
    }
    if (text.trim() === "" || body !== undefined) return answer;
    const error = new UptimeError(
      `${name} was answered with status ${status} and something that is not JSON: ` +
        `"${excerpt(redacted(text))}". Check ${this.address.source}: does it lead to the API?`,
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
    message: ApiRequest,
    url: URL,
    signal: AbortSignal,
    redirects = 0,
  ): Promise<Response> {
    const { method, form } = message;
    const { status, headers, body } = await this.transport({
      url,
      method,
      signal,
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
      ((status === 307 || status === 308) && target?.pathname.endsWith(message.path) === true);
    // The key is sent to no other origin.
    if (target?.origin === url.origin && isFollowed && redirects < redirectLimit)
      return this.exchange(message, target, signal, redirects + 1);
    return { status, headers, text: await decode(body, headers), target };
  }

  private failed(error: unknown, message: ApiRequest, name: string, timeout: AbortSignal): FailedAttempt {
    const { code, message: reason } = (isObject(error) ? error : {}) as Partial<NodeJS.ErrnoException>;
    const where = `Check ${this.address.source} and the network.`;
    const result = (kind: "unreachable" | "cut" | "timeout" | "final", text: string): FailedAttempt => ({
      failure: { kind },
      error: new UptimeError(`${name} ${text}`, { cause: error }),
    });
    if (message.deadline.signal.aborted) return result("timeout", timeIsOver);
    if (timeout.aborted)
      return result(
        "timeout",
        `was not answered within ${counted(this.settings.timeoutSeconds, "second")} (uptime:timeoutSeconds).`,
      );
    if (isConnecting(error))
      switch (code) {
        case "ENOTFOUND":
          return result("final", `failed: the host name does not exist. ${where}`);
        case "EAI_AGAIN":
          return result("unreachable", `failed: the host name could not be looked up. ${where}`);
        case "ECONNREFUSED":
          return result("unreachable", `failed: nothing accepts connections there. ${where}`);
        default:
          return result("unreachable", `failed: connecting was not possible (${String(code)}). ${where}`);
      }
    if (code?.startsWith("ERR_SSL_"))
      return result(cutOrFinal(message), `failed: the TLS connection broke (${code}). ${where}`);
    // The certificate is checked before anything is sent.
    if (code !== undefined && /CERT|CRL|SIGNATURE|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH/.test(code))
      return result("final", `failed: the server's certificate is not trusted (${code}). ${where}`);
    switch (code) {
      case "UND_ERR_RES_EXCEEDED_MAX_SIZE":
      case "ERR_BUFFER_TOO_LARGE":
        return result(
          cutOrFinal(message),
          `was answered with more than ${bodyLimit / 1024 / 1024} MiB. ${where}`,
        );
      case "ECONNRESET":
      case "EPIPE":
      case "UND_ERR_SOCKET":
      case "UND_ERR_BODY_TIMEOUT":
      case "UND_ERR_HEADERS_TIMEOUT":
        return result("cut", `failed: the connection was cut before the whole answer was there. ${where}`);
      default: {
        const what = [code, reason].filter(Boolean).join(", ");
        return result("cut", `failed: ${excerpt(this.redacted(what, message.deadline))}. ${where}`);
      }
    }
  }

  private hint(status: number, { method, path }: ApiRequest, target: URL | undefined): string {
    const { source } = this.address;
    if (status === 401)
      return `The API does not accept the key from ${this.settings.apiKeySource}. If you have changed it: ${staleSettings}`;
    if (status === 403)
      return `The key from ${this.settings.apiKeySource} may not do this. If you have changed it: ${staleSettings}`;
    if (status === 404) {
      const isList = /^\/api\/v1\/[^/]+$/.test(path);
      return [
        isList && `There is no API at this address: check ${source}`,
        method === "GET" && `If you have changed settings: ${staleSettings}`,
      ]
        .filter((part) => part !== false)
        .join(". ");
    }
    if (status === 429) return "Set uptime:requestsPerMinute to what the server allows";
    if (target) {
      // What follows the path may be a secret of the server that redirects, such as a session.
      const where = excerpt(this.withoutKey(target.origin + target.pathname));
      return `It redirects to ${where}, which is not followed; if the API is there now, set ${source} to that address`;
    }
    if (status >= 300 && status < 400) return `This is not an answer of the API: check ${source}`;
    return "";
  }
}

const nextAfter = {
  "look up": "send again",
  "look up only": "keep looking",
  "look up briefly": "give up",
} as const;

/** What to do after a failed attempt, which is nothing more if the operation's time is over. */
function stepAfter({ method, deadline }: ApiRequest, failure: Failure): Step {
  const step = nextStep(method, failure);
  if (!deadline.signal.aborted || step === "fail") return step;
  return step in nextAfter ? "look up only" : "fail";
}

/** How an attempt ended whose answer cannot be read: the same request gets no other, but a create may have had its effect. */
function cutOrFinal({ method }: ApiRequest): "cut" | "final" {
  return method === "POST" ? "cut" : "final";
}

/** Whether an error comes from connecting, so that nothing was sent. */
function isConnecting(error: unknown): boolean {
  if (!isObject(error)) return false;
  // Node.js tries all addresses of a host.
  if (Array.isArray(error.errors) && error.errors.length > 0) return error.errors.every(isConnecting);
  const { syscall, code } = error;
  return (
    syscall === "connect" || ["ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(String(code))
  );
}

/** For the log: the status, or what came in its place. */
function outcomeOf(result: Answer | FailedAttempt): number | string {
  if (!("failure" in result)) return result.status;
  const { failure } = result;
  return failure.kind === "status" ? failure.status : failure.kind === "final" ? "failed" : failure.kind;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function redirectOf(status: number, location: string | string[] | undefined, base: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== "string" || !location)
    return undefined;
  const target = parseUrl(location, base.href);
  return target && /^https?:$/.test(target.protocol) ? target : undefined;
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: bodyLimit }),
  "x-gzip": (bytes) => promisify(gunzip)(bytes, { maxOutputLength: bodyLimit }),
  deflate: (bytes) => promisify(inflate)(bytes, { maxOutputLength: bodyLimit }),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength: bodyLimit }),
};

/** The text of a body: some servers compress without being asked. */
async function decode(bytes: Buffer, headers: HttpResponse["headers"]): Promise<string> {
  const encoding = String(headers["content-encoding"] ?? "").toLowerCase();
  const plain = bytes.length > 0 ? ((await decoders[encoding]?.(bytes)) ?? bytes) : bytes;
  const charset = /charset="?([\w-]+)/i.exec(String(headers["content-type"] ?? ""))?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(plain);
  } catch {
    return new TextDecoder().decode(plain);
  }
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
