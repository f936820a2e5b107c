import type { IncomingMessage } from "node:http";
import type { Pairs } from "./reading";

/** A request with more bytes than this is refused before it fills the memory. */
const maxBodyBytes = 2 ** 20;

/** A request as it came in. */
export interface ReceivedRequest {
  readonly method: string;
  /** The path as it was sent, without the query. */
  readonly path: string;
  readonly query: Pairs;
  /** Under their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The media type of the body, without parameters such as the charset; "" when there is none. */
  readonly contentType: string;
  /** The body's form pairs. */
  readonly body: Pairs;
  readonly at: Date;
}

/** A request in the emulator's log, in the order of arrival. */
export interface LoggedRequest extends ReceivedRequest {
  /** The status of the answer; 0 until there is one, and if the connection was cut. */
  status: number;
}

/** Reads a request to its end; undefined if its body is longer than any form. */
export async function readRequest(incoming: IncomingMessage, at: Date): Promise<ReceivedRequest | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxBodyBytes) return undefined;
  }
  const body = Buffer.concat(chunks).toString("utf8");
  const [path = "/", ...query] = (incoming.url ?? "/").split("?");
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
  return {
    method: incoming.method ?? "GET",
    path,
    query: [...new URLSearchParams(query.join("?"))],
    headers: Object.fromEntries(headers),
    contentType: incoming.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "",
    body: [...new URLSearchParams(body)],
    at,
  };
}
