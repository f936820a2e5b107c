import { Agent, request } from "undici";
import type { Dispatcher } from "undici";

import { complaintIn, excerpt, parseJson } from "./answer";
import type { Pair } from "./codec";
import { ApiError, UptimeError } from "./errors";
import type { Address, Settings } from "./settings";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the address, beginning with `/api/v1`. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Sent as `application/x-www-form-urlencoded`. (API reference, section 4) */
  readonly form?: readonly Pair[];
  /** Ends the request when the operation it belongs to has no time left. */
  readonly deadline: AbortSignal;
}

/** An answer with a status below 300. */
export interface Answer {
  readonly status: number;
  /** The parsed JSON; undefined when the answer is empty. */
  readonly body: unknown;
  readonly location: string | undefined;
  /** The request and its address, for messages. */
  readonly request: string;
}

const bodyLimit = 32 * 1024 * 1024;

/** HTTP to one address: keep-alive connections, the key in the header, a deadline on everything, errors as sentences. */
export class Client {
  private readonly dispatcher: Dispatcher;

  constructor(
    readonly address: Address,
    private readonly settings: Settings,
  ) {
    this.dispatcher = new Agent({
      connections: settings.maxConcurrency,
      keepAliveTimeout: 10_000,
      maxResponseSize: bodyLimit,
    });
  }

  /** Throws {@link ApiError} for a status of 300 and above, and {@link UptimeError} when there is no usable answer. */
  async send(message: ApiRequest): Promise<Answer> {
    const query = message.query?.toString();
    const url = `${this.address.url}${message.path}${query ? `?${query}` : ""}`;
    const name = `${message.method} ${this.address.url}${message.path}`;
    const { statusCode: status, headers, text } = await this.exchange(message, url, name);
    if (status >= 300) {
      const source = this.withoutKey(text);
      const { said, fields } = complaintIn(parsed(source), source);
      throw new ApiError(name, status, said, fields, this.hint(status));
    }
    const body = parsed(text);
    if (text.trim() !== "" && body === undefined)
      throw new UptimeError(
        `${name} was answered with status ${status} and something that is not JSON: "${excerpt(this.withoutKey(text))}". ` +
          `Check ${this.address.source}: does it lead to the API?`,
      );
    const { location } = headers;
    return { status, body, location: typeof location === "string" ? location : undefined, request: name };
  }

  private async exchange({ method, form, deadline }: ApiRequest, url: string, name: string) {
    const timeout = AbortSignal.timeout(this.settings.timeoutSeconds * 1000);
    try {
      const response = await request(url, {
        method,
        dispatcher: this.dispatcher,
        signal: AbortSignal.any([timeout, deadline]),
        headers: {
          accept: "application/json",
          authorization: `Bearer ${this.settings.apiKey}`,
          ...(form && { "content-type": "application/x-www-form-urlencoded" }),
        },
        body: form ? encodeForm(form) : null,
      });
      return { ...response, text: await response.body.text() };
    } catch (error) {
      throw new UptimeError(`${name} ${this.whatWentWrong(error, timeout, deadline)}`, { cause: error });
    }
  }

  private whatWentWrong(error: unknown, timeout: AbortSignal, deadline: AbortSignal): string {
    if (deadline.aborted)
      return "was given up: the operation has used its time (see the option customTimeouts)";
    if (timeout.aborted)
      return `was not answered within ${this.settings.timeoutSeconds} seconds (uptime:timeoutSeconds)`;
    const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
    const where = `Check ${this.address.source} and the network`;
    switch (code) {
      case "ECONNREFUSED":
        return `failed: nothing accepts connections there. ${where}`;
      case "ENOTFOUND":
      case "EAI_AGAIN":
        return `failed: the host's name is not known. ${where}`;
      case "UND_ERR_RES_EXCEEDED_MAX_SIZE":
        return `was answered with more than ${bodyLimit / 1024 / 1024} MiB. Check ${this.address.source}`;
      default:
        return `failed: ${[code, message].filter(Boolean).join(", ")}. ${where}`;
    }
  }

  private hint(status: number): string {
    if (status === 401)
      return (
        `The API does not accept the key from ${this.settings.apiKeySource}. If the key was changed lately: \`pulumi refresh\` ` +
        "and `pulumi destroy` use the settings of the last `up`, unless they run with --run-program"
      );
    if (status === 403) return `The key from ${this.settings.apiKeySource} may not do this`;
    if (status >= 300 && status < 400)
      return `A redirect is not followed; set ${this.address.source} to the address it leads to`;
    return "";
  }

  private withoutKey(source: string): string {
    return source.replaceAll(this.settings.apiKey, "[key]");
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
