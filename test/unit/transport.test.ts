import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import type * as Undici from "undici";

import { LostAnswerError } from "../../provider/api/errors";
import { isConnectError } from "../../provider/api/network-errors";
import { Operation } from "../../provider/api/operation";
import { httpTransport, newDispatcher } from "../../provider/api/transport";
import { clientOf, errorOf } from "../support/client";
import { listen } from "../support/http-server";
import { fronts, Program } from "../support/program";
import { posts, storedIds } from "../support/sent";
import { clock, emulator, failureOf, myKey, settingsOf, withServer } from "../support/server";
import { host, Proxy } from "../support/proxy";
import { home } from "../support/monitors";

const plain = `http://${host}`;
const encrypted = `https://${host}`;
let proxy: Proxy;
const { env } = process;

withServer({ hosts: [host] });

beforeEach(async () => {
  process.env = { ...env };
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"])
    for (const variable of [name, name.toLowerCase()]) Reflect.deleteProperty(process.env, variable);
  proxy = await Proxy.start(emulator.url);
});
afterEach(() => {
  process.env = env;
  proxy.stop();
});

function send(url: string, method: "GET" | "POST" = "GET") {
  const given = settingsOf({ "uptime:baseUrl": url, "uptime:allowHttp": "true", "uptime:maxRetries": "1" });
  const operation = new Operation({ clock });
  return clientOf(given, clock).send({ method, plural: "domains", operation });
}

/** What a create is told that fails and surely had no effect. */
async function refusalOf(url: string): Promise<string> {
  const error = await errorOf(send(url, "POST"));
  expect(error).not.toBeInstanceOf(LostAnswerError);
  expect(posts()).toBe(0);
  expect(String(error)).not.toContain(proxy.password);
  return String(error);
}

describe("a proxy from the environment", () => {
  test.each(["HTTP_PROXY", "http_proxy"])("(%s) gets the whole address in plain http", async (name) => {
    process.env[name] = proxy.url;
    expect((await send(plain)).status).toBe(200);
    expect(proxy.received).toMatchObject([
      { method: "GET", url: `${plain}/api/v1/domains`, headers: { authorization: `Bearer ${myKey}` } },
    ]);
    expect(proxy.received[0]?.headers["proxy-authorization"]).toMatch(/^Basic /);
  });

  test.each(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY"])(
    "(%s) opens a tunnel for https without the key, in which the server's certificate is checked",
    async (name) => {
      process.env[name] = proxy.url;
      expect(await refusalOf(encrypted)).toContain("the server's certificate is not trusted");
      expect(proxy.received).toMatchObject([{ method: "CONNECT", url: `${host}:443` }]);
      expect(proxy.received[0]?.headers).toHaveProperty("proxy-authorization");
      expect(JSON.stringify(proxy.received[0]?.headers)).not.toContain(myKey);
      expect(proxy.received[0]?.headers).not.toHaveProperty("authorization");
    },
  );

  test("is never used for this machine", async () => {
    process.env.HTTP_PROXY = proxy.url;
    for (const name of ["127.0.0.1", "localhost"])
      expect((await send(emulator.url.replace("127.0.0.1", name))).status).toBe(200);
    expect(proxy.received).toEqual([]);
  });

  test.each([host, ".example", "other.test, API.example", `${host}:80`, "*"])(
    "is not used for a host in NO_PROXY (%s)",
    async (names) => {
      Object.assign(process.env, { HTTP_PROXY: proxy.url, NO_PROXY: names });
      await expect(send(plain)).rejects.toThrow("the host name");
      expect(proxy.received).toEqual([]);
    },
  );

  test.each([`${host}:81`, "pi.example", "other.test"])(
    "is used for a host that is not in NO_PROXY (%s)",
    async (names) => {
      Object.assign(process.env, { HTTP_PROXY: proxy.url, NO_PROXY: names });
      expect((await send(plain)).status).toBe(200);
    },
  );
});

describe("a create that did not get through a proxy had no effect", () => {
  beforeEach(() => void (process.env.HTTP_PROXY = proxy.url));

  test.each([plain, encrypted])("if the proxy wants another password (407): %s", async (url) => {
    proxy.refusal = () => ({ status: 407, body: "<h1>Authenticate</h1>" });
    expect(await refusalOf(url)).toContain(
      "the proxy refused the connection with status 407. Check uptime:baseUrl, the network and the proxy",
    );
    expect(proxy.received).toHaveLength(1);
  });

  test("if the proxy does not allow the tunnel (403)", async () => {
    proxy.refusal = () => ({ status: 403 });
    expect(await refusalOf(encrypted)).toContain("the proxy refused the connection with status 403");
    expect(proxy.received).toHaveLength(1);
  });

  test.each([502, 503, 504])(
    "if the proxy cannot open the tunnel (%i), which is tried for a minute",
    async (status) => {
      proxy.refusal = () => ({ status });
      const begun = clock.now();
      expect(await refusalOf(encrypted)).toContain(`the proxy refused the connection with status ${status}`);
      expect(clock.now() - begun).toBe(60_000);
      expect(proxy.received.length).toBeGreaterThan(2);
    },
  );

  test.each([
    ["closes the connection", (socket: Socket) => socket.end()],
    ["closes it within the answer", (socket: Socket) => socket.end("HTTP/1.1 20")],
    ["resets it", (socket: Socket) => socket.resetAndDestroy()],
  ])("if the proxy %s, which is tried for a minute", async (_, close) => {
    let connections = 0;
    const closing = createServer((socket) => {
      connections++;
      socket.once("data", () => close(socket));
    });
    process.env.HTTP_PROXY = await listen(closing);
    const begun = clock.now();
    expect(await refusalOf(encrypted)).toContain(
      "could not connect (ECONNRESET). Check uptime:baseUrl, the network and the proxy",
    );
    expect(clock.now() - begun).toBe(60_000);
    expect(connections).toBeLessThan(20);
  });

  test("if the proxy does not open the tunnel in the time of the request", async () => {
    process.env.HTTP_PROXY = await listen(createServer());
    const error: unknown = await httpTransport()({
      url: new URL(encrypted),
      method: "POST",
      headers: {},
      body: null,
      signal: AbortSignal.timeout(100),
      timeout: 100,
    }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "UND_ERR_CONNECT_TIMEOUT" });
    expect(isConnectError(error)).toBe(true);
  });

  test("if the proxy cannot be reached", async () => {
    proxy.stop();
    for (const url of [plain, encrypted])
      expect(await refusalOf(url)).toContain("the connection was refused");
  });

  test.each([
    "proxy-password@:",
    "proxy.example:3128",
    "me:proxy-password@proxy.example:3128",
    "http://me:proxy-password%@proxy.example:3128",
  ])("if the proxy's address is not a URL (%s)", async (address) => {
    process.env.HTTP_PROXY = address;
    for (const url of [plain, encrypted])
      expect(await refusalOf(url)).toContain("the proxy's address is not a URL that begins with http://");
  });
});

describe.each(fronts)("a create that a proxy answers in plain http may have had an effect (%s)", (front) => {
  const creating = () =>
    new Program(front, { "uptime:baseUrl": plain, "uptime:allowHttp": "true" }).resource();

  test.each([
    [502, true],
    [502, false],
    [504, true],
  ])("with status %i, so it is looked for; stored before: %j", async (status, effect) => {
    process.env.HTTP_PROXY = proxy.url;
    let refused = 0;
    proxy.refusal = ({ method }) => (method === "POST" && refused++ === 0 ? { status, effect } : undefined);
    const one = creating();
    await one.up(home);
    expect(storedIds()).toEqual([one.state?.id]);
    expect(posts()).toBe(1);
  });

  test.each(["me", "me@example.com"])(
    "and the error does not show the proxy's password: %s",
    async (user) => {
      process.env.HTTP_PROXY = proxy.url.replace("me", user);
      const body = `<p>me:${proxy.password} may not do this</p>`;
      proxy.refusal = () => ({ status: 403, body });
      const failure = await failureOf(creating().up(home));
      expect(failure).toContain("status 403: (the server repeats a secret)");
      expect(failure).not.toContain(proxy.password);
    },
  );
});

test("a tunnel stays open for longer than the time in which it must open", async () => {
  process.env.HTTP_PROXY = proxy.url;
  const undici = jest.requireActual<typeof Undici>("undici");
  const connect = { timeout: 300, ca: proxy.certificate.authority };
  const dispatcher = newDispatcher(undici, true, connect);
  const headers = { accept: "application/json", authorization: `Bearer ${myKey}` };
  for (const pause of [0, 500]) {
    await sleep(pause);
    const answer = await undici.request(`${encrypted}/api/v1/domains`, { dispatcher, headers });
    expect(answer.statusCode).toBe(200);
    await answer.body.dump();
  }
  expect(proxy.received).toMatchObject([{ method: "CONNECT" }]);
  await dispatcher.destroy();
});

test("each request's own timeoutSeconds alone limits connecting, headers and body, with a proxy and without", async () => {
  process.env.HTTP_PROXY = proxy.url;
  const undici = jest.requireActual<typeof Undici>("undici");
  const { Agent, EnvHttpProxyAgent, Pool } = undici;
  const agents = jest.spyOn(undici, "Agent").mockImplementation((options) => new Agent(options));
  const envAgents = jest
    .spyOn(undici, "EnvHttpProxyAgent")
    .mockImplementation((options) => new EnvHttpProxyAgent(options));
  const pools = jest.spyOn(undici, "Pool").mockImplementation((...args) => new Pool(...args));
  const transport = httpTransport();
  const timeouts = [2000, 3_600_000];
  for (const timeout of timeouts)
    for (const url of [emulator.url, plain]) {
      const answer = await transport({
        url: new URL(`${url}/api/v1/domains`),
        method: "GET",
        headers: { accept: "application/json", authorization: `Bearer ${myKey}` },
        body: null,
        signal: new AbortController().signal,
        timeout,
      });
      expect(answer.status).toBe(200);
    }
  const endless = { headersTimeout: 0, bodyTimeout: 0 };
  // Node.js would give each of several addresses a quarter of a second, and one that leads nowhere must leave time for the next.
  const connects = timeouts.map((timeout, index) => ({
    timeout,
    autoSelectFamilyAttemptTimeout: [500, 2000][index],
  }));
  expect(agents.mock.calls).toMatchObject(connects.map((connect) => [{ ...endless, connect }]));
  expect(envAgents.mock.calls).toMatchObject(
    connects.map((connect) => [{ ...endless, connect, proxyTls: connect, requestTls: connect }]),
  );
  expect(pools.mock.calls.length).toBeGreaterThan(0);
  for (const [, options] of pools.mock.calls) expect(options).toMatchObject(endless);
  jest.restoreAllMocks();
});
