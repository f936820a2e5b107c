import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";

const running: (() => void)[] = [];

afterEach(() => {
  for (const stop of running.splice(0)) stop();
});

/** Starts a server that is stopped after the test; returns its address. */
export async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  running.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const serve = (listener: RequestListener): Promise<string> => listen(createServer(listener));

/** A server that answers everything so. */
export const answering = (
  body: string | Buffer | object,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Promise<string> =>
  serve((_request, response) => {
    const isRaw = typeof body === "string" || Buffer.isBuffer(body);
    response.writeHead(status, headers).end(isRaw ? body : JSON.stringify(body));
  });
