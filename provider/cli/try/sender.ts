import { isUtf8 } from "node:buffer";
import { checkServerIdentity } from "node:tls";
import { brotliDecompressSync, constants, unzipSync } from "node:zlib";

import type * as Undici from "undici";

import type { Message } from "../../api/errors";
import { networkFailure } from "../../api/network-errors";
import { decodeText, isProxied, newDispatcher, redirectOf, type Headers } from "../../api/transport";
import { isLinkLocal, leadsToLinkLocal, LinkLocalError, lookupAllowed } from "./link-local";

export interface MonitorRequest {
  readonly url: URL;
  readonly method: string;
  /** Names and values. */
  readonly headers: readonly (readonly [string, string])[];
  /** Whether the text of the response is needed. */
  readonly needsText: boolean;
}

/** The answer to a monitor's request, after all redirects. */
export interface MonitorAnswer {
  readonly status: number;
  /** The addresses that it was redirected to. */
  readonly redirects: readonly URL[];
  /** A redirect led to another origin, which gets neither headers nor authentication. */
  readonly isCrossOrigin: boolean;
  /** When the certificate of the request's own host ends. */
  readonly certificateEnd: Date | undefined;
  /** The beginning or all of the text; undefined if it was not needed. It has no content if it cannot be decompressed here. */
  readonly text: { readonly content: string | undefined; readonly isWhole: boolean } | undefined;
}

/** There is no answer: none came, or the request must not or cannot be sent from here. */
export class NoAnswerError extends Error {
  constructor(
    readonly code: "unreachable" | "link-local" | "request-headers",
    readonly reason: Message,
    readonly redirects: readonly URL[] = [],
  ) {
    super();
  }
}

/** Browsers follow twenty, curl fifty; no page that is monitored needs more than these. */
const maxRedirects = 10;
/** The most bytes of a page in which a text is looked for. */
const maxTextBytes = 8 * 1024 * 1024;

/** The most requests at a time. */
const maxRunning = 8;

/** Runs work for hosts: one piece at a time for each host. */
class Slots {
  private readonly busy = new Set<string>();
  /** Wakes what waits for its host, or for others to end. */
  private readonly waiting: (() => void)[] = [];

  async run<T>(host: string, work: () => Promise<T>): Promise<T> {
    while (this.busy.has(host) || this.busy.size >= maxRunning)
      await new Promise<void>((wake) => this.waiting.push(wake));
    this.busy.add(host);
    try {
      return await work();
    } finally {
      this.busy.delete(host);
      for (const wake of this.waiting.splice(0)) wake();
    }
  }
}

export class Sender {
  private readonly slots = new Slots();
  // Loading undici takes a tenth of a second, and only this command sends with it directly.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  private readonly undici = require("undici") as typeof Undici;

  /** @param timeout milliseconds for each request */
  constructor(private readonly timeout = 10_000) {}

  /** Sends a request and follows its redirects. Throws a {@link NoAnswerError} if there is no answer. */
  async send(request: MonitorRequest): Promise<MonitorAnswer> {
    const redirects: URL[] = [];
    let certificateEnd: Date | undefined;
    let { url, method } = request;
    let isCrossOrigin = false;
    for (;;) {
      // The other origin may redirect back to the first one to make it act on the headers.
      isCrossOrigin ||= url.origin !== request.url.origin;
      const headers = isCrossOrigin ? [] : request.headers;
      const response = await this.slots.run(url.hostname, () =>
        this.sendOne({ ...request, url, method, headers }, redirects),
      );
      if (url.hostname === request.url.hostname) certificateEnd ??= response.certificateEnd;
      const { status, location, text } = response;
      if (location === undefined) return { status, redirects, isCrossOrigin, certificateEnd, text };
      if (redirects.length === maxRedirects)
        throw new NoAnswerError("unreachable", [`more than ${maxRedirects} redirects`], redirects);
      // As browsers do.
      if (status === 303 ? method !== "HEAD" : status < 303 && method === "POST") method = "GET";
      url = location;
      redirects.push(url);
    }
  }

  /** Sends one request, whose answer may be a redirect. */
  private async sendOne(request: MonitorRequest, redirects: readonly URL[]) {
    const { url, method, needsText } = request;
    const isForProxy = isProxied(url);
    // The proxy itself looks up names.
    if (isForProxy ? await leadsToLinkLocal(url) : isLinkLocal(url.hostname))
      throw linkLocalAnswer(redirects);
    const signal = AbortSignal.timeout(this.timeout);
    let certificateEnd: Date | undefined;
    // Connections for this request alone, so that they show its certificate.
    const dispatcher = newDispatcher(this.undici, isForProxy, {
      timeout: this.timeout,
      maxCachedSessions: 0,
      lookup: lookupAllowed,
      checkServerIdentity: (host, certificate) => {
        certificateEnd = new Date(certificate.valid_to);
        return checkServerIdentity(host, certificate);
      },
    });
    try {
      const { statusCode, headers, body } = await this.undici.request(url, {
        method,
        headers: withUsualHeaders(request.headers).flat(),
        dispatcher,
        signal,
      });
      // The body is destroyed before its end if the text is not needed.
      body.on("error", () => undefined);
      const location = redirectOf(statusCode, headers.location, url);
      const isRead = needsText && location === undefined;
      const text = isRead ? await readBody(body, headers) : undefined;
      return { status: statusCode, location, certificateEnd, text };
    } catch (error) {
      throw noAnswer(error, signal.aborted, this.timeout, redirects);
    } finally {
      void dispatcher.destroy();
    }
  }
}

/** Some servers refuse requests without these. */
function withUsualHeaders(headers: MonitorRequest["headers"]): MonitorRequest["headers"] {
  const usual = [
    ["accept", "*/*"],
    ["user-agent", "pulumi-uptime"],
  ] as const;
  const isDeclared = (name: string): boolean => headers.some(([key]) => key.toLowerCase() === name);
  return [...headers, ...usual.filter(([name]) => !isDeclared(name))];
}

async function readBody(body: AsyncIterable<Buffer>, headers: Headers): Promise<MonitorAnswer["text"]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxTextBytes) break;
  }
  const bytes = decompress(Buffer.concat(chunks), headers["content-encoding"]);
  return { content: bytes && decodeText(bytes, headers), isWhole: size <= maxTextBytes };
}

/** A server compresses only if a monitor declares a header that allows it. Undefined if that cannot be undone here. */
function decompress(bytes: Buffer, encoding: Headers[string]): Buffer | undefined {
  if (encoding === undefined || encoding === "identity") return bytes;
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
  const options = { maxOutputLength: 4 * maxTextBytes };
  try {
    if (encoding === "br")
      return brotliDecompressSync(bytes, { ...options, finishFlush: BROTLI_OPERATION_FLUSH });
    return unzipSync(bytes, { ...options, finishFlush: Z_SYNC_FLUSH });
  } catch {
    // The header may name what is no compression. What is compressed is not UTF-8.
    return isUtf8(bytes) ? bytes : undefined;
  }
}

const linkLocalAnswer = (redirects: readonly URL[]): NoAnswerError =>
  new NoAnswerError("link-local", ["leads to a link-local address, which is never contacted"], redirects);

function noAnswer(error: unknown, isLate: boolean, timeout: number, redirects: readonly URL[]): unknown {
  const { name, code, errors = [] } = error as Error & { code?: unknown; errors?: readonly unknown[] };
  if ([error, ...errors].some((one) => one instanceof LinkLocalError)) return linkLocalAnswer(redirects);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED")
    return new NoAnswerError("request-headers", [
      "requestHeaders has a header that cannot be sent from here",
    ]);
  // An error without a code is a bug, and not the server's answer, unless that is not HTTP.
  if (!isLate && code === undefined && errors.length === 0 && name !== "HTTPParserError") return error;
  if (isLate || code === "UND_ERR_CONNECT_TIMEOUT")
    return new NoAnswerError("unreachable", [`no complete response within ${timeout / 1000} s`], redirects);
  return new NoAnswerError("unreachable", networkFailure(error, false).text, redirects);
}
