import { isUtf8 } from "node:buffer";
import type { ConnectionOptions } from "node:tls";

import type { Dispatcher } from "undici";
import type * as Undici from "undici";

import { isLoopback, parseUrl } from "../common/url";
import { getOrMake } from "../common/values";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface HttpRequest {
  readonly url: URL;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Ends the request. undici does not listen to it while it connects. */
  readonly signal: AbortSignal;
  /** Milliseconds in which to connect. */
  readonly timeout: number;
}

/** The value of a header; "" if the answer does not have it. One that is repeated is a list with commas. */
export function headerOf(headers: Headers, name: string): string {
  return [headers[name] ?? []].flat().join(", ");
}

/** The headers of an answer, with lower-case names. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The text of a body in UTF-8, or if it is not valid, in the charset that the server names. Servlets write ISO-8859-1 by default. */
export function decodeText(body: Buffer, headers: Headers): string {
  const [, charset] = /charset="?([^\s";]+)/i.exec(headerOf(headers, "content-type")) ?? [];
  try {
    return new TextDecoder(isUtf8(body) ? undefined : charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Sends one request and reads the whole answer. Follows no redirect. Tests replace it. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** A larger answer is not read. */
export const maxBodyBytes = 32 * 1024 * 1024;

interface ConnectOptions extends Pick<ConnectionOptions, "checkServerIdentity" | "lookup"> {
  /** Milliseconds. */
  readonly timeout: number;
  readonly maxCachedSessions?: number;
}

/**
 * Milliseconds for one of a host's addresses, if it has several. Node.js gives up after 250, in which a distant server cannot answer.
 * With 2000, a packet may be lost too; a shorter time for all must leave some for the other addresses.
 */
const addressMilliseconds = (timeout: number): number => Math.min(2000, Math.ceil(timeout / 4));

/** HTTP with connections that are kept open, through the proxy that the environment names. */
export function httpTransport(): Transport {
  /** By the options in which requests differ. */
  const dispatchers = new Map<string, Dispatcher>();
  return async ({ url, method, headers, body, signal, timeout }) => {
    // Loading undici takes a tenth of a second, and most provider processes send nothing.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const undici = require("undici") as typeof Undici;
    const isForProxy = isProxied(url);
    const name = `${timeout} ${isForProxy}`;
    const dispatcher = getOrMake(dispatchers, name, () =>
      newDispatcher(undici, isForProxy, { timeout }, maxBodyBytes),
    );
    const response = await undici.request(url, { method, dispatcher, signal, headers, body });
    const read = response.body.arrayBuffer();
    // undici fails if a 204, which has no body, comes with one all the same, as of older versions of FastAPI.
    const bytes = await (response.statusCode === 204 ? read.catch(() => new ArrayBuffer(0)) : read);
    return { status: response.statusCode, headers: response.headers, body: Buffer.from(bytes) };
  };
}

/**
 * New connections, without timeouts of their own: the caller ends a request by a signal.
 *
 * @param isForProxy whether they may go through a proxy that the environment names: see {@link isProxied}
 */
export function newDispatcher(
  { Agent, EnvHttpProxyAgent, Pool }: typeof Undici,
  isForProxy: boolean,
  connectOptions: ConnectOptions,
  maxResponseSize = -1,
): Dispatcher {
  const times = {
    timeout: connectOptions.timeout,
    autoSelectFamilyAttemptTimeout: addressMilliseconds(connectOptions.timeout),
  };
  const connect = { ...connectOptions, ...times };
  const options = { keepAliveTimeout: 10_000, maxResponseSize, headersTimeout: 0, bodyTimeout: 0 };
  if (!isForProxy) return new Agent({ ...options, connect });
  // undici would open its connections to the proxy without these options.
  const pool = (origin: string | URL, given: object): Dispatcher =>
    new Pool(origin, { ...given, ...options });
  return new EnvHttpProxyAgent({
    ...options,
    // For the hosts in NO_PROXY.
    connect,
    proxyTls: times,
    requestTls: connect,
    factory: pool,
    clientFactory: (proxy, given) => withConnectTime(pool(proxy, given), connect.timeout),
    // Many proxies allow CONNECT for https only.
    proxyTunnel: false,
  });
}

/**
 * Ends a CONNECT after a time, because undici gives it none. Every failure of it is an error of connecting, because nothing was sent
 * to the server.
 *
 * @param proxy connections to a proxy
 */
function withConnectTime(proxy: Dispatcher, timeout: number): Dispatcher {
  const connect = proxy.connect.bind(proxy);
  return Object.assign(proxy, {
    async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
      const signal = AbortSignal.timeout(timeout);
      try {
        return await connect({ ...options, signal });
      } catch (error) {
        const { code, name, message } = error as NodeJS.ErrnoException;
        // After an error with the code UND_ERR_SOCKET, undici would connect again at once, without end.
        const ownCode = code === "UND_ERR_SOCKET" ? "ECONNRESET" : (code ?? name);
        throw Object.assign(new Error(message, { cause: error }), {
          syscall: "connect",
          code: signal.aborted ? "UND_ERR_CONNECT_TIMEOUT" : ownCode,
        });
      }
    },
  });
}

/** Whether requests to a URL may go through a proxy that the environment names. */
export function isProxied({ hostname }: URL): boolean {
  return !isLoopback(hostname) && proxies().length > 0;
}

/** The passwords of the proxies that the environment names, encoded as they are there. */
export function proxyPasswords(): string[] {
  return proxies().flatMap((proxy) => /^(?:\w+:\/\/)?[^/:]*:([^/]+)@/.exec(proxy)?.[1] ?? []);
}

function proxies(): string[] {
  const { env } = process;
  return [env.http_proxy, env.HTTP_PROXY, env.https_proxy, env.HTTPS_PROXY].filter(
    (proxy) => proxy !== undefined && proxy !== "",
  ) as string[];
}

/** The address to which an answer redirects; undefined if it does not. */
export function redirectOf(
  status: number,
  location: string | string[] | undefined,
  base: URL,
): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== "string" || !location)
    return undefined;
  const target = parseUrl(location, base.href);
  return target && /^https?:$/.test(target.protocol) ? target : undefined;
}
