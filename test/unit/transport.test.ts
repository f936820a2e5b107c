import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";

import type * as Undici from "undici";

import { Client } from "../../provider/api/client";
import { LostAnswerError } from "../../provider/api/errors";
import { Operation } from "../../provider/api/operation";
import { readSettings } from "../../provider/api/settings";
import { httpTransport } from "../../provider/api/transport";
import { Emulator } from "../../provider/emulator";

const key = "canary-key";
let emulator: Emulator;
let received: IncomingMessage[];
let proxyUrl: string;
/** The status with which the proxy answers a CONNECT. */
let status: number;
const { env } = process;
const proxy = createServer();
proxy.on("connect", (request, socket) => {
  received.push(request);
  if (status !== 200) return void socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
  // Whatever the name, it leads to the emulator.
  const target = connect(Number(new URL(emulator.url).port), "127.0.0.1");
  socket.write("HTTP/1.1 200 Connected\r\n\r\n");
  target.pipe(socket).pipe(target);
  for (const end of [socket, target]) end.on("error", () => undefined);
});

beforeAll(async () => {
  emulator = await Emulator.start({ apiKey: key });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  proxyUrl = `http://me:proxy-password@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
beforeEach(() => {
  received = [];
  status = 200;
  process.env = { ...env };
});
afterEach(() => (process.env = env));
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await emulator.stop();
});

function send(url: string, method: "GET" | "POST" = "GET") {
  const config: Record<string, string> = {
    "uptime:baseUrl": url,
    "uptime:apiKey": key,
    "uptime:allowHttp": "true",
    "uptime:maxRetries": "1",
  };
  const settings = readSettings({ get: (name) => config[name] }, {});
  const client = new Client(settings.baseUrl, settings);
  return client.send({ method, path: "/api/v1/domains", operation: new Operation() });
}

describe("a proxy that the environment names", () => {
  test.each(["HTTP_PROXY", "http_proxy"])("(%s) is used, and its CONNECT holds no key", async (name) => {
    process.env[name] = proxyUrl;
    expect((await send("http://api.example")).status).toBe(200);
    const [{ url, headers } = {}] = received;
    expect(url).toBe("api.example:80");
    expect(headers?.["proxy-authorization"]).toMatch(/^Basic /);
    expect(headers).not.toHaveProperty("authorization");
  });

  test("is not used for this machine, nor for what NO_PROXY names", async () => {
    process.env.HTTP_PROXY = proxyUrl;
    await send(emulator.url);
    await send(emulator.url.replace("127.0.0.1", "localhost"));
    process.env.NO_PROXY = "api.example";
    await expect(send("http://api.example")).rejects.toThrow("the host name");
    expect(received).toEqual([]);
  });

  test.each([
    [407, 1],
    [503, 2],
  ])("that refuses with %i is named; no create was sent, so %i are tried", async (refusal, tries) => {
    process.env.HTTP_PROXY = proxyUrl;
    status = refusal;
    const error: unknown = await send("http://api.example", "POST").catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(LostAnswerError);
    expect(String(error)).toContain(
      `the proxy refused the connection with status ${refusal}. Check uptime:baseUrl, the network and the proxy`,
    );
    expect(String(error)).not.toContain("proxy-password");
    expect(received).toHaveLength(tries);
  });

  test("by something that is no address is an error that says so", async () => {
    process.env.HTTP_PROXY = "proxy-password@:";
    const error: unknown = await send("http://api.example", "POST").catch((reason: unknown) => reason);
    expect(String(error)).toContain("the proxy's address is not a URL");
    expect(String(error)).not.toContain("proxy-password");
  });
});

test("nothing but its signal ends a request, and connecting may take as long as the request", async () => {
  const undici = jest.requireActual<typeof Undici>("undici");
  const { Agent } = undici;
  const agents = jest.spyOn(undici, "Agent").mockImplementation((options) => new Agent(options));
  const answer = await httpTransport()({
    url: new URL(`${emulator.url}/api/v1/domains`),
    method: "GET",
    headers: { accept: "application/json", authorization: `Bearer ${key}` },
    body: null,
    signal: new AbortController().signal,
    timeout: 3_600_000,
  });
  expect(answer.status).toBe(200);
  expect(agents.mock.calls[0]?.[0]).toMatchObject({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 3_600_000 },
  });
  agents.mockRestore();
});
