import { isObject } from "../common/values";
import { message, quote, type Message } from "./errors";
import type { Failure } from "./retry";
import { maxBodyBytes } from "./transport";

/** Why there is no usable answer, as the end of a sentence that begins with the request. */
export interface NetworkFailure {
  readonly type: Exclude<Failure["type"], "status" | "unreadable">;
  readonly text: Message;
}

const connectProblems: ReadonlyMap<string | undefined, string> = new Map([
  ["EAI_AGAIN", "the host name could not be looked up"],
  ["ECONNREFUSED", "the connection was refused"],
]);

export function networkFailure(given: unknown, isWrite: boolean): NetworkFailure {
  // Behind a proxy undici wraps the error of a certificate for another name.
  const error = isObject(given) && given.code === "UND_ERR_PRX_TLS" ? given.cause : given;
  const { code, message: reason } = (isObject(error) ? error : {}) as Partial<NodeJS.ErrnoException>;
  // Reading again would give the same result, so it is final; but a write may have had its effect.
  const cutOrFinal = isWrite ? "cut" : "final";
  const failure = (type: NetworkFailure["type"], text: string): NetworkFailure => ({
    type,
    text: message`failed: ${text}`,
  });
  const refusedBy = proxyRefusal.exec(reason ?? "")?.[1];
  if (refusedBy !== undefined)
    return failure(
      Number(refusedBy) < 500 ? "final" : "unreachable",
      `the proxy refused the connection with status ${refusedBy}`,
    );
  // Its password may have a % that is not encoded.
  const isMalformed = code === "ERR_INVALID_URL" || error instanceof URIError;
  if (isMalformed || reason?.startsWith("Invalid URL protocol"))
    return failure("final", "the proxy's address is not a URL that begins with http:// or https://");
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return failure(cutOrFinal, `the server seems to speak http:// there, not https:// (${code})`);
  if (code?.startsWith("ERR_SSL_")) return failure(cutOrFinal, `the TLS connection broke (${code})`);
  // The certificate is checked before anything is sent.
  if (code !== undefined && /CERT|CRL|SIGNATURE|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH/.test(code))
    return failure("final", `the server's certificate is not trusted (${code})`);
  if (isConnectError(error)) {
    if (code === "ENOTFOUND") return failure("final", "the host name does not exist");
    return failure("unreachable", connectProblems.get(code) ?? `could not connect (${String(code)})`);
  }
  switch (code) {
    case "UND_ERR_RES_EXCEEDED_MAX_SIZE":
      return { type: cutOrFinal, text: [`returned more than ${maxBodyBytes / 1024 / 1024} MiB`] };
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return failure("cut", "the connection was cut before the whole response had arrived");
    default:
      return {
        type: "cut",
        text: message`failed: ${quote([code, reason].filter(Boolean).join(", "))}`,
      };
  }
}

/** A proxy refuses a CONNECT with any status but 200, and a plain http request with 407. Nothing was sent to the server. */
const proxyRefusal = /^Proxy (?:response|Authentication Required) \((\d+)\)/;

/** Whether connecting failed, so that nothing was sent. */
export function isConnectError(error: unknown): boolean {
  if (!isObject(error)) return false;
  // Node.js tries all addresses of a host, and has one error for each.
  if (Array.isArray(error.errors) && error.errors.length > 0) return error.errors.every(isConnectError);
  const { syscall, code, message: reason } = error;
  return (
    syscall === "connect" ||
    syscall === "getaddrinfo" ||
    code === "UND_ERR_CONNECT_TIMEOUT" ||
    proxyRefusal.test(String(reason)) ||
    // The error of Node.js for a connection that is closed during the TLS handshake.
    String(reason).startsWith("Client network socket disconnected before secure TLS connection")
  );
}
