import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

import { Agent, request } from "undici";
import type { Dispatcher } from "undici";
import { setTimeout as sleep } from "node:timers/promises";

import { complaintIn, excerpt, parseJson } from "./answer";
import { isObject } from "../definitions/kinds";
import type { Pair } from "../definitions/kinds";
import { ApiError, LostAnswer, UptimeError } from "./errors";
import { Limiter } from "./limiter";
import type { Deadline, Turn } from "./limiter";
import { logOf } from "./log";
import type { Log } from "./log";
import { backoff, nextStep } from "./retry";
import type { Failure } from "./retry";
import type { Address, Settings } from "./settings";
import { parseUrl } from "../definitions/url";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the address, beginning with `/api/v1`. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Sent as `application/x-www-form-urlencoded`. (API reference, section 4) */
  readonly form?: readonly Pair[];
  /** Ends the request when the operation it belongs to has no time left. */
  readonly deadline: Deadline;
}

/** An answer with a status below 300. */
export interface Answer {
  readonly status: number;
  /** The parsed JSON; undefined when the answer is empty. */
  readonly body: unknown;
  readonly location: string | undefined;
  /** The server's clock, as it says itself. */
  readonly date: string | undefined;
  /** The request and its address, for messages. */
  readonly request: string;
}

/** An attempt that ended badly: what is known of it, and what the person is told when that is the end. */
interface Failed {
  readonly failure: Failure;
  readonly error: UptimeError;
}

interface Exchanged {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly text: string;
  /** Where a redirect that was not followed leads. */
  readonly target: URL | undefined;
}

const bodyLimit = 32 * 1024 * 1024;
const redirectLimit = 3;

/** HTTP to one address: keep-alive connections, the key in the header, limits, retries, errors as sentences. */
export class Client {
  private readonly dispatcher: Dispatcher;
  private readonly limiter: Limiter;

  constructor(
    readonly address: Address,
    private readonly settings: Settings,
    readonly log: Log = logOf(settings.logLevel),
  ) {
    this.dispatcher = new Agent({ keepAliveTimeout: 10_000, maxResponseSize: bodyLimit });
    this.limiter = new Limiter(settings, {
      now: Date.now,
      sleep: (pause, signal) => log.wait(sleep(pause, undefined, { signal })),
    });
  }

  /**
   * Throws {@link ApiError} for a status of 300 and above, {@link LostAnswer} when a create may have had its effect, and
   * {@link UptimeError} when there is no usable answer.
   */
  async send(message: ApiRequest): Promise<Answer> {
    const name = `${message.method} ${this.address.url}${message.path}`;
    let last: UptimeError | undefined;
    let ready = performance.now();
    for (let retry = 0, attempt = 1; ; attempt++) {
      const result = await this.limiter.run(message.deadline, async (turn) => {
        const begun = performance.now();
        const ended = await this.attempt(message, name, turn);
        this.log.sent({
          method: message.method,
          path: this.withoutKey(message.path),
          outcome: outcomeOf(ended),
          milliseconds: performance.now() - begun,
          attempt,
          waited: begun - ready,
        });
        return ended;
      });
      ready = performance.now();
      if (!result) {
        const before = last ? `${last.message.replace(/\.$/, "")}. Then ` : "";
        const reason = message.deadline.signal.aborted
          ? "given up: the operation has used its time (see the option customTimeouts)."
          : "not sent: no more requests are allowed before the operation's time is over (see the option customTimeouts, " +
            "and the setting uptime:requestsPerMinute).";
        throw new UptimeError(`${before}${name} was ${reason}`);
      }
      if (!("failure" in result)) return result;
      last = result.error;
      const next = nextStep(message.method, result.failure);
      const step =
        !message.deadline.signal.aborted || next === "fail"
          ? next
          : next.startsWith("look up")
            ? "look up only"
            : "fail";
      if (step === "look up" || step === "look up only")
        throw new LostAnswer(result.error.message, step === "look up", { cause: result.error });
      if (step === "fail" || (step === "repeat" && ++retry > this.settings.maxRetries)) throw result.error;
      if (step === "repeat") {
        const pause = backoff(retry);
        if (Date.now() + pause > message.deadline.at) throw result.error;
        await this.log.wait(sleep(pause));
      }
    }
  }

  private async attempt(message: ApiRequest, name: string, turn: Turn): Promise<Answer | Failed> {
    const { method, path, deadline } = message;
    const query = message.query?.toString();
    const timeout = AbortSignal.timeout(this.settings.timeoutSeconds * 1000);
    let response: Exchanged;
    try {
      const url = new URL(`${this.address.url}${path}${query ? `?${query}` : ""}`);
      response = await this.exchange(message, url, AbortSignal.any([timeout, deadline.signal]));
    } catch (error) {
      return this.failed(error, name, timeout, deadline.signal);
    }
    const { status, headers } = response;
    this.limiter.learn(status, headers, turn);
    if (status >= 300) {
      const text = this.withoutKey(response.text);
      const { said, fields } = complaintIn(parsed(text), text);
      return {
        failure: { kind: "status", status, retryAfter: headers["retry-after"] !== undefined },
        error: new ApiError(name, status, said, fields, this.hint(status, response.target)),
      };
    }
    const body = parsed(response.text);
    if (response.text.trim() !== "" && body === undefined) {
      const error = new UptimeError(
        `${name} was answered with status ${status} and something that is not JSON: "${excerpt(this.withoutKey(response.text))}". ` +
          `Check ${this.address.source}: does it lead to the API?`,
      );
      // A create may well have had its effect.
      return { failure: { kind: method === "POST" ? "cut" : "final" }, error };
    }
    const [location, date] = [headers.location, headers.date].map((value) =>
      typeof value === "string" ? value : undefined,
    );
    return { status, body, location, date, request: name };
  }

  private async exchange(
    message: ApiRequest,
    url: URL,
    signal: AbortSignal,
    redirects = 0,
  ): Promise<Exchanged> {
    const { method, form } = message;
    const response = await request(url, {
      method,
      dispatcher: this.dispatcher,
      signal,
      headers: {
        accept: "application/json",
        authorization: `Bearer ${this.settings.apiKey}`,
        ...(form && { "content-type": "application/x-www-form-urlencoded" }),
      },
      body: form ? encodeForm(form) : null,
    });
    const { statusCode: status, headers } = response;
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const target = redirectOf(status, headers.location, url);
    // The key goes nowhere but to the address that was set, and only what is safe to repeat is sent again.
    if (target?.origin === url.origin && method === "GET" && redirects < redirectLimit)
      return this.exchange(message, target, signal, redirects + 1);
    return { status, headers, text: await decode(bytes, headers), target };
  }

  private failed(error: unknown, name: string, timeout: AbortSignal, deadline: AbortSignal): Failed {
    const { code, message } = (isObject(error) ? error : {}) as Partial<NodeJS.ErrnoException>;
    const where = `Check ${this.address.source} and the network.`;
    const result = (kind: "unreachable" | "cut" | "timeout" | "final", text: string): Failed => ({
      failure: { kind },
      error: new UptimeError(`${name} ${text}`, { cause: error }),
    });
    if (deadline.aborted)
      return result(
        "timeout",
        "was given up: the operation has used its time (see the option customTimeouts).",
      );
    if (timeout.aborted)
      return result(
        "timeout",
        `was not answered within ${this.settings.timeoutSeconds} seconds (uptime:timeoutSeconds).`,
      );
    switch (code) {
      case "ECONNREFUSED":
        return result("unreachable", `failed: nothing accepts connections there. ${where}`);
      case "UND_ERR_CONNECT_TIMEOUT":
      case "EHOSTUNREACH":
      case "ENETUNREACH":
        return result("unreachable", `failed: no connection came about (${code}). ${where}`);
      case "EAI_AGAIN":
        return result("unreachable", `failed: the host's name could not be looked up. ${where}`);
      case "ENOTFOUND":
        return result("final", `failed: the host's name does not exist. ${where}`);
      case "UND_ERR_RES_EXCEEDED_MAX_SIZE":
      case "ERR_BUFFER_TOO_LARGE":
        // A create may well have had its effect.
        return result(
          name.startsWith("POST") ? "cut" : "final",
          `was answered with more than ${bodyLimit / 1024 / 1024} MiB. ${where}`,
        );
      case "ECONNRESET":
      case "EPIPE":
      case "UND_ERR_SOCKET":
      case "UND_ERR_BODY_TIMEOUT":
      case "UND_ERR_HEADERS_TIMEOUT":
        return result("cut", `failed: the connection was cut before the whole answer was there. ${where}`);
      default:
        // Certificates have many codes (CERT_HAS_EXPIRED, DEPTH_ZERO_SELF_SIGNED_CERT, …); none is mended by repeating.
        if (/CERT|SIGNATURE|ERR_TLS|ERR_SSL/.test(code ?? ""))
          return result(
            "final",
            `failed: the server's certificate is not trusted (${String(code)}). ${where}`,
          );
        return result("cut", `failed: ${[code, message].filter(Boolean).join(", ")}. ${where}`);
    }
  }

  private hint(status: number, target: URL | undefined): string {
    if (status === 401)
      return (
        `The API does not accept the key from ${this.settings.apiKeySource}. If the key was changed lately: \`pulumi refresh\` ` +
        "and `pulumi destroy` use the settings of the last `up`, unless they run with --run-program"
      );
    if (status === 403) return `The key from ${this.settings.apiKeySource} may not do this`;
    if (status === 429) return "Set uptime:requestsPerMinute to what the install allows";
    if (target) {
      // What stands behind the path may be a secret of the one who redirects, such as a session.
      const where = excerpt(this.withoutKey(target.origin + target.pathname));
      return `It redirects to ${where}, which is not followed; if the API is there now, set ${this.address.source} to that address`;
    }
    if (status >= 300 && status < 400) return `That is no answer of the API; check ${this.address.source}`;
    return "";
  }

  /** A text without the key, as it is, and as JSON may hold it. */
  withoutKey(source: string): string {
    const { apiKey } = this.settings;
    const quoted = JSON.stringify(apiKey).slice(1, -1);
    return [quoted.replaceAll("/", "\\/"), quoted, apiKey].reduce(
      (text, form) => text.replaceAll(form, "[key]"),
      source,
    );
  }
}

/** For the log: the status, or what came in its place. */
function outcomeOf(ended: Answer | Failed): number | string {
  if (!("failure" in ended)) return ended.status;
  const { failure } = ended;
  return failure.kind === "status" ? failure.status : failure.kind === "final" ? "failed" : failure.kind;
}

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
async function decode(bytes: Buffer, headers: Dispatcher.ResponseData["headers"]): Promise<string> {
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
