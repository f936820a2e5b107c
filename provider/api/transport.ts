import type { Agent } from "undici";
import type * as Undici from "undici";

/** One HTTP request, ready to be sent. */
export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

/** What a server answers, with lower-case names of headers. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends one request and reads the whole answer; follows no redirect. Tests have their own. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** The largest answer that is read, in bytes. */
export const bodyLimit = 32 * 1024 * 1024;

/** HTTP with connections that are kept open. */
export function httpTransport(): Transport {
  let undici: typeof Undici | undefined;
  let dispatcher: Agent | undefined;
  return async ({ url, method, headers, body, signal }) => {
    // Most runs of a provider's process send nothing, and loading it takes a tenth of a second.
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    undici ??= require("undici") as typeof Undici;
    dispatcher ??= new undici.Agent({ keepAliveTimeout: 10_000, maxResponseSize: bodyLimit });
    const response = await undici.request(url, { method, dispatcher, signal, headers, body });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: Buffer.from(await response.body.arrayBuffer()),
    };
  };
}
