import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

import { certificateFor, type Certificate } from "./certificate";

/** A name that nothing but the proxy can resolve. */
export const host = "api.example";

/** What the proxy answers by itself. */
interface Refusal {
  readonly status: number;
  readonly body?: string;
  /** Whether the server gets the request before; never for a CONNECT. */
  readonly effect?: boolean;
}

/**
 * A proxy as companies have it, with a password. Every name leads to one server, over TLS with a certificate for
 * {@link host} where a CONNECT asks for port 443.
 */
export class Proxy {
  readonly received: Pick<IncomingMessage, "method" | "url" | "headers">[] = [];
  /** Asked for each request; undefined to pass it on. */
  refusal: ((request: IncomingMessage) => Refusal | undefined) | undefined;
  readonly password = "proxy-password";
  readonly certificate: Certificate = certificateFor(host);
  private readonly sockets = new Set<Socket>();
  private readonly front = createServer();
  private readonly tls: TcpServer;

  private constructor(private readonly port: number) {
    this.tls = createTlsServer(this.certificate, (socket) => this.join(socket, connect(port, "127.0.0.1")));
    this.front.on("request", (request, response) => void this.pass(request, response));
    this.front.on("connect", (request, socket: Socket) => this.tunnel(request, socket));
  }

  /** @param url the server's */
  static async start(url: string): Promise<Proxy> {
    const proxy = new Proxy(Number(new URL(url).port));
    for (const server of [proxy.front, proxy.tls])
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://me:${this.password}@127.0.0.1:${portOf(this.front)}`;
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.front.closeAllConnections();
    for (const server of [this.front, this.tls]) server.close();
  }

  /** A request in the plain: its line names the whole address. */
  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.received.push(request);
    const refusal = this.refusal?.(request);
    const refuse = (): void => {
      if (refusal) response.writeHead(refusal.status).end(refusal.body);
    };
    if (refusal && !refusal.effect) {
      refuse();
      return;
    }
    const { pathname, search } = new URL(request.url ?? "");
    const { method, headers } = request;
    const sent = forward({ port: this.port, path: pathname + search, method, headers }, (answer) => {
      if (refusal) return void answer.resume().on("end", refuse);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    for await (const chunk of request) sent.write(chunk);
    sent.end();
  }

  private tunnel(request: IncomingMessage, socket: Socket): void {
    this.received.push(request);
    const refusal = this.refusal?.(request);
    if (refusal) return void socket.end(`HTTP/1.1 ${refusal.status} No\r\n\r\n${refusal.body ?? ""}`);
    const isTls = request.url?.endsWith(":443");
    socket.write("HTTP/1.1 200 Connected\r\n\r\n");
    this.join(socket, connect(isTls ? portOf(this.tls) : this.port, "127.0.0.1"));
  }

  private join(one: Socket, other: Socket): void {
    one.pipe(other).pipe(one);
    for (const socket of [one, other]) {
      this.sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => this.sockets.delete(socket));
    }
  }
}

function portOf(server: TcpServer): number {
  return (server.address() as AddressInfo).port;
}
