import { createServer } from "node:net";

import type * as Undici from "undici";

import type { Answer, ApiRequest, Client } from "../../provider/api/client";
import { systemClock, type Clock } from "../../provider/api/clock";
import { LostAnswerError, type UptimeError } from "../../provider/api/errors";
import { Operation } from "../../provider/api/operation";
import type { Transport } from "../../provider/api/transport";
import { clientOf, errorOf, shownText } from "../support/client";
import { instantClock } from "../support/clock";
import { answering, listen, serve } from "../support/http-server";

const undici = jest.requireActual<typeof Undici>("undici");
const { request: original } = undici;
const request = jest.spyOn(undici, "request");

const key = "12|abc/def";
afterEach(() => {
  request.mockReset().mockImplementation(original);
});

const settingsAt = (url: string) => ({
  "uptime:baseUrl": url,
  "uptime:apiKey": key,
  "uptime:maxRetries": "0",
});
const clientAt = (url: string, more: Record<string, string> = {}, clock?: Clock): Client =>
  clientOf({ ...settingsAt(url), ...more }, clock);

function send(client: Client, message: Partial<ApiRequest> = {}): Promise<Answer> {
  return client.send({
    method: "GET",
    plural: "monitors",
    operation: new Operation({ clock: systemClock }),
    ...message,
  });
}

describe("an error of the connection", () => {
  const failing = (error: object) => request.mockRejectedValue(Object.assign(new Error("it failed"), error));
  const post = (clock = instantClock(), timeout = Infinity): Promise<UptimeError> => {
    const operation = new Operation({ clock }, { timeout });
    return errorOf(send(clientAt("http://127.0.0.1:1", {}, clock), { method: "POST", form: [], operation }));
  };

  test.each([
    { code: "ECONNREFUSED", syscall: "connect" },
    { code: "EHOSTUNREACH", syscall: "connect" },
    { code: "ENETUNREACH", syscall: "connect" },
    { code: "ETIMEDOUT", syscall: "connect" },
    { code: "EAI_AGAIN", syscall: "getaddrinfo" },
    { code: "ENOTFOUND", syscall: "getaddrinfo" },
    { code: "EMFILE", syscall: "getaddrinfo" },
    { code: "UND_ERR_CONNECT_TIMEOUT" },
    { code: "ECONNREFUSED", errors: [{ code: "ECONNREFUSED", syscall: "connect" }] },
    { code: "CERT_HAS_EXPIRED" },
    { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    { code: "ERR_TLS_CERT_ALTNAME_INVALID" },
  ])("while connecting (%j) does not lose an answer", async (error) => {
    failing(error);
    expect(await post()).not.toBeInstanceOf(LostAnswerError);
  });

  test("during the TLS handshake does not lose an answer", async () => {
    const closing = createServer((socket) => socket.once("data", () => socket.end()));
    const url = (await listen(closing)).replace("http:", "https:");
    const clock = instantClock();
    const operation = new Operation({ clock });
    const error = await errorOf(send(clientAt(url, {}, clock), { method: "POST", form: [], operation }));
    expect(error).not.toBeInstanceOf(LostAnswerError);
    expect(error.message).toContain("could not connect (ECONNRESET)");
  });

  test.each([
    { code: "EHOSTUNREACH", syscall: "read" },
    { code: "ENETUNREACH", syscall: "write" },
    { code: "ETIMEDOUT", syscall: "read" },
    { code: "ECONNRESET", syscall: "read" },
    { code: "EHOSTUNREACH" },
    { code: "ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC" },
    { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" },
    { code: "UND_ERR_SOCKET" },
    {},
  ])("that may come after the request (%j) loses the answer to a create", async (error) => {
    failing(error);
    expect(await post()).toMatchObject({ constructor: LostAnswerError, next: "look and send again" });
  });

  describe.each([
    [{ code: "UND_ERR_CONNECT_TIMEOUT" }, "could not connect (UND_ERR_CONNECT_TIMEOUT)"],
    [
      { code: "UND_ERR_ABORTED", message: "Proxy response (503) !== 200 when HTTP Tunneling" },
      "the proxy refused the connection with status 503",
    ],
  ])("is that no connection was made (%j),", (failure, text) => {
    test("also if the time of the request is over at the same moment", async () => {
      failing(failure);
      const error = await post({ ...instantClock(), timeout: () => AbortSignal.abort() });
      expect(error).not.toBeInstanceOf(LostAnswerError);
      expect(error.message).toContain(text);
    });

    test("also if the time of the operation ended meanwhile", async () => {
      const time = new AbortController();
      request.mockImplementation(() => {
        time.abort();
        return Promise.reject(Object.assign(new Error(), failure));
      });
      const error = await post({ ...instantClock(), timeout: () => time.signal }, 10_000);
      expect(error).not.toBeInstanceOf(LostAnswerError);
      expect(shownText(error)).toContain(text);
      expect(shownText(error)).toContain("customTimeouts");
    });
  });

  test.each([
    [50, "201"],
    [70, "the connection was refused"],
  ])(
    "that was not made repeats a create for a minute: after %i seconds it is %s",
    async (seconds, result) => {
      const clock = instantClock();
      request.mockImplementation((...given) =>
        clock.now() < seconds * 1000
          ? Promise.reject(Object.assign(new Error(), { code: "ECONNREFUSED", syscall: "connect" }))
          : original(...given),
      );
      const client = clientAt(await answering({ id: 1 }, {}, 201), {}, clock);
      const sent = send(client, { method: "POST", form: [], operation: new Operation({ clock }) });
      const told = await sent.then(({ status }) => String(status), String);
      expect(told).toContain(result);
      expect(clock.now()).toBeLessThanOrEqual(60_000);
    },
  );

  test("that was not made is told if trying takes more than ten seconds, and every twenty seconds", async () => {
    const clock = instantClock();
    request.mockRejectedValue(Object.assign(new Error(), { code: "ECONNREFUSED", syscall: "connect" }));
    const lines: [number, string, string | undefined][] = [];
    const showWait = (line: string, row: string | undefined) => lines.push([clock.now() / 1000, line, row]);
    const client = clientOf(settingsAt("http://127.0.0.1:1"), clock, undefined, { showWait });
    const operations = ["one", "two"].map((urn) => new Operation({ clock }, { urn }));
    await Promise.all(operations.map((operation) => errorOf(send(client, { operation }))));
    expect(lines.length).toBeGreaterThan(1);
    // Five pauses take 3.9 seconds at least, and the sixth is the first one that may end after ten.
    expect(lines[0]?.[0]).toBeGreaterThan(3.8);
    expect(lines[0]?.[0]).toBeLessThan(20);
    for (const [index, [time, line, row]] of lines.entries()) {
      expect(line).toMatch(/^no connection for \d\d? s, trying again$/);
      expect(["one", "two"]).toContain(row);
      if (index > 0) expect(time - (lines[index - 1]?.[0] ?? 0)).toBeGreaterThanOrEqual(20);
    }
  });
});

test("a bug in describing a refusal is thrown, not taken for a cut connection", async () => {
  const own = new TypeError("it failed");
  const headers = {
    get "retry-after"(): string {
      throw own;
    },
  };
  const transport: Transport = () => Promise.resolve({ status: 422, headers, body: Buffer.from("{}") });
  const settings = { "uptime:baseUrl": "http://127.0.0.1:1", "uptime:apiKey": key };
  const client = clientOf(settings, undefined, transport);
  await expect(send(client, { method: "POST", form: [] })).rejects.toBe(own);
});

describe("setting the machine's clock", () => {
  /** With a date that is some hours off from a moment on. */
  function settable(): { clock: Clock; set: (hours: number) => void } {
    const clock = instantClock();
    const began = Date.now();
    let off = 0;
    return {
      clock: { ...clock, date: () => began + clock.now() + off },
      set: (hours) => (off = hours * 3_600_000),
    };
  }

  test.each([-1, 1, -24_000])("by %i hours does not affect uptime:requestsPerMinute", async (hours) => {
    const { clock, set } = settable();
    const client = clientAt(await answering([]), { "uptime:requestsPerMinute": "3" }, clock);
    const again = () => send(client, { operation: new Operation({ clock }, { timeout: 10_000 }) });
    await again();
    set(hours);
    await again();
    await again();
    const fourth = clock.now();
    await send(client, { operation: new Operation({ clock }) });
    expect(clock.now() - fourth).toBeGreaterThan(50_000);
  });

  test.each([-1, 1])(
    "by %i hours does not affect a date in Retry-After or X-RateLimit-Reset",
    async (hours) => {
      for (const headers of [
        () => ({ "retry-after": new Date(Date.now() + 1000).toUTCString() }),
        () => ({ "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 1) }),
        () => ({ "x-ratelimit-reset": String(Date.now() + 1000) }),
      ]) {
        let refused = false;
        const url = await serve((_request, response) => {
          response.writeHead(refused ? 200 : 429, refused ? {} : headers());
          refused = true;
          response.end("[]");
        });
        const { clock, set } = settable();
        set(hours);
        expect(
          (await send(clientAt(url, {}, clock), { operation: new Operation({ clock }, { timeout: 10_000 }) }))
            .status,
        ).toBe(200);
        expect(clock.now()).toBeLessThan(4000);
      }
    },
  );
});
