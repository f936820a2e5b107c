import type { IncomingMessage } from "node:http";
import { comparableHost, type FormPair } from "../../provider/definitions/codecs";
import { createServer, type Socket } from "node:net";

import { systemClock, type Clock } from "../../provider/api/clock";
import { Collection } from "../../provider/api/collection";
import { parseError } from "../../provider/api/error-body";
import { NotFoundError, UptimeError } from "../../provider/api/errors";
import { Operation } from "../../provider/api/operation";
import { hasPassword } from "../../provider/common/url";
import { fieldOf } from "../../provider/definitions/keys";
import { monitor } from "../../provider/definitions/monitor";
import { Redactor } from "../../provider/engine/redactor";
import { compare } from "../../provider/lifecycle/difference";
import { clientOf, errorOf } from "../support/client";
import { answering, listen, serve } from "../support/http-server";

const key = "canary-key/1";
const letters = Array.from({ length: 60_000 }, (_, index) => 0x20000 + index);
const record = { id: 7, name: "Küche", url: "https://example.com/", interval: 60 };
const body = Buffer.from(JSON.stringify({ data: record }));

const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);
beforeAll(() => process.on("unhandledRejection", note));
afterEach(() => expect(rejections).toEqual([]));
afterAll(() => process.off("unhandledRejection", note));

const redirecting = (location: string, status = 302) => answering("", { location }, status);

/** A server that says what it wants, once it has seen a whole request without a body. */
const raw = (answer: (socket: Socket) => void): Promise<string> =>
  listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      let seen = "";
      socket.on("data", (chunk) => {
        seen += String(chunk);
        if (!seen.includes("\r\n\r\n")) return;
        seen = "";
        answer(socket);
      });
    }),
  );

/** Whose timeouts are over after a thousandth of the time. */
const hurriedClock: Clock = { ...systemClock, timeout: (limit) => systemClock.timeout(limit / 1000) };

function collection(url: string, clock?: Clock): Collection {
  const times = { "uptime:timeoutSeconds": "60", "uptime:maxRetries": "0" };
  const settings = { "uptime:baseUrl": url, "uptime:apiKey": key, ...times };
  return new Collection(monitor, clientOf(settings, clock));
}

const soon = (): Operation => new Operation({ clock: systemClock });

const show = (url: string, clock?: Clock) => collection(url, clock).get("7", soon());

/** The sentence that a person reads; it must hold no key. */
async function shownText(operation: Promise<unknown>): Promise<string> {
  const error = await errorOf(operation);
  const message = new Redactor([key]).error(error);
  expect(message).not.toContain("canary-key");
  expect(message.length).toBeLessThan(1500);
  return message;
}

const head = (...lines: string[]): string =>
  ["HTTP/1.1 200 OK", "Content-Type: application/json", ...lines, "", ""].join("\r\n");

describe("a body", () => {
  test("without an end is an error at 32 MiB", async () => {
    const chunk = Buffer.alloc(256 * 1024, " ");
    let sent = 0;
    const url = await serve((_request, response) => {
      response.writeHead(200);
      const pump = (): void => {
        while (!response.destroyed && (sent += chunk.length) && response.write(chunk));
        if (!response.destroyed) response.once("drain", pump);
      };
      pump();
    });
    const before = process.memoryUsage.rss();
    expect(await shownText(show(url))).toContain("returned more than 32 MiB");
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect(process.memoryUsage.rss() - before).toBeLessThan(250 * 1024 * 1024);
  });

  const dripping = (): Promise<string> =>
    serve((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(timer));
    });
  test.each([
    ["drips", dripping],
    ["never comes", () => raw(() => undefined)],
  ])("that %s is ended by the timeout", async (_, start) => {
    const url = await start();
    expect(await shownText(show(url, hurriedClock))).toContain("got no response within 60 seconds ");
  });

  test.each([`${head("Content-Length: 5000")}{"id":7`, ""])(
    "that breaks off is an error that says so: %j",
    async (bytes) => {
      const url = await raw((socket) => socket.end(bytes));
      expect(await shownText(show(url))).toContain("was cut before the whole response had arrived");
    },
  );

  test.each([
    ...["99999999999999999999", "-1", "abc", "1, 2"].map((length) => head(`Content-Length: ${length}`)),
    ...["zz\r\n{}\r\n0\r\n\r\n", "ffffffffffffffffff\r\n{}", "2\r\n{}0\r\n\r\n"].map(
      (chunks) => head("Transfer-Encoding: chunked") + chunks,
    ),
    ...["\r\n\r\n", "HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n", "\0\0\0", "HTTP/9.9 200 OK\r\n\r\n"],
    `${head().trimEnd()}\r\n${`X: ${"x".repeat(100)}\r\n`.repeat(2000)}`,
  ])("that is not HTTP is an error: %#", async (bytes) => {
    const url = await raw((socket) => socket.end(bytes));
    await shownText(show(url));
  });

  test("is read in HTTP/1.0, up to the end of the connection", async () => {
    const url = await raw((socket) => {
      socket.write("HTTP/1.0 200 OK\r\n\r\n");
      socket.end(body);
    });
    expect((await show(url)).raw.name).toBe("Küche");
  });

  test("is ignored in a 204", async () => {
    const url = await raw((socket) =>
      socket.write("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nnull"),
    );
    const monitors = collection(url);
    await monitors.delete("7", soon());
    expect(await monitors.update("7", [["name", "x"]], soon())).toMatchObject({ status: 204, id: "7" });
  });

  test("is asked for without compression", async () => {
    let encodings: unknown;
    const url = await serve((request, response) => {
      encodings = request.headers["accept-encoding"];
      response.end(body);
    });
    await show(url);
    expect(encodings).toBe("identity");
  });

  test.each(["x-unknown", "utf8", "utf-8"])("in UTF-8, called %s, is read", async (charset) => {
    const text = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]);
    const url = await answering(text, { "content-type": `application/json; charset=${charset}` });
    expect((await show(url)).raw.name).toBe("Küche");
  });

  test("in the charset that it names is read, if it is not UTF-8", async () => {
    const text = Buffer.from(body.toString(), "latin1");
    const url = await answering(text, { "content-type": "application/json;charset=ISO-8859-1" });
    expect((await show(url)).raw.name).toBe("Küche");
    expect(await shownText(show(await answering(text.subarray(9), { "content-type": "charset=x" })))).toMatch(
      /JSON/,
    );
    const wrong = await answering(body, { "content-type": "application/json; charset=latin1" });
    expect((await show(wrong)).raw.name).toBe("Küche");
    const lossy = Buffer.from(body.toString().replace("Küche", "Küche \ufffd"));
    const stored = await answering(lossy, { "content-type": "application/json; charset=latin1" });
    expect((await show(stored)).raw.name).toBe("Küche \ufffd");
  });

  test("with numbers that only Python writes is read", async () => {
    const text = JSON.stringify({ data: { ...record, name: "NaN, -Infinity \\" } });
    const url = await answering(
      text.replace('"interval"', '"up":NaN,"times":[-Infinity,Infinity],"interval"'),
    );
    const { raw: shown } = await show(url);
    expect(shown).toMatchObject({ name: "NaN, -Infinity \\", up: null, times: [null, null], interval: 60 });
  });

  const repeated = /: "\(the server repeats a secret\)"/;
  test.each([
    ["HTML", "<!doctype html><title>Log in</title><p>Log in", /not JSON: "Log in Log in"/],
    ["half a JSON text", '{"data":{"id":7,"na', /not JSON/],
    ["too deep a list", "[".repeat(100_000) + "]".repeat(100_000), /not JSON/],
    ["too deep an object", '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000), /not JSON/],
    ["an endless text of quotes", `"${'\\"'.repeat(100_000)}1234567890123456`, /not JSON/],
    ["nothing", "", /returned no monitor: an empty response/],
    ["null", "null", /returned no monitor: "null"\./],
    ["a null among others", '{"data":null,"id":0}', /returned no monitor: "\{"data":null,"id":0\}"\./],
    ["a number", "1e999", /returned no monitor/],
    ["the request, as an echo", JSON.stringify({ headers: [`Bearer ${key}`] }), /: "\{"headers":\["…"\]\}"/],
    ["its header, as an echo", JSON.stringify({ header: `Bearer ${key}` }), repeated],
    ["the request, as PHP writes it", `{"h":"Bearer ${key.replace("/", "\\/")}"}`, repeated],
    ["the request, as text", `Bearer ${key}`, repeated],
  ])("that is %s is an error", async (_what, text, message) => {
    expect(await shownText(show(await answering(text)))).toMatch(message);
  });

  test("with keys such as __proto__ pollutes no object", async () => {
    const url = await answering(
      '{"__proto__":{"polluted":1,"id":8},"constructor":{"prototype":{"polluted":1}},"data":{"id":7,"interval":60,"__proto__":{"name":"x"},' +
        '"toString":1,"hasOwnProperty":2,"valueOf":3}}',
    );
    const found = await show(url);
    expect(found.id).toBe("7");
    expect(found.raw.name).toBeUndefined();
    expect({}).not.toHaveProperty("polluted");
  });

  test("of a refusal may have keys such as __proto__", async () => {
    const text =
      '{"errors":{"__proto__":["a"],"toString":null,"x":{"message":"b"}},"message":{"toString":1}}';
    expect(await shownText(show(await answering(text, {}, 422)))).toContain("status 422");
  });
});

describe("a redirect", () => {
  const statuses = [301, 302, 303, 307, 308];

  /** A server whose API has moved to another path; tells what it was asked. */
  async function moved(status: number): Promise<{ url: string; seen: string[] }> {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      let form = "";
      request.on("data", (chunk) => (form += String(chunk)));
      request.on("end", () => {
        seen.push(`${request.method ?? ""} ${request.url ?? ""}${form && ` ${form}`}`);
        if (request.url?.startsWith("/moved")) return response.end(body);
        response.writeHead(status, { location: `/moved${request.url ?? ""}` });
        return response.end();
      });
    });
    return { url, seen };
  }

  test.each(statuses)("(%i) to the same server is followed for a read", async (status) => {
    const { url, seen } = await moved(status);
    expect((await show(url)).id).toBe("7");
    expect(seen).toEqual(["GET /api/v1/monitors/7", "GET /moved/api/v1/monitors/7"]);
  });

  test.each(statuses)(
    "(%i) to another page that has nothing does not mean that the record is gone",
    async (status) => {
      for (const [code, text] of [[404], [204], [200, "{}"]] as const) {
        const url = await serve((request, response) => {
          const isMoved = request.url === "/login";
          response.writeHead(isMoved ? code : status, isMoved ? {} : { location: "/login" });
          response.end(isMoved ? text : "");
        });
        expect(await errorOf(show(url))).not.toBeInstanceOf(NotFoundError);
      }
    },
  );

  test("that only adds a slash is followed", async () => {
    const url = await serve((request, response) => {
      const isMoved = request.url?.endsWith("/") ?? false;
      response.writeHead(isMoved ? 200 : 308, isMoved ? {} : { location: `${request.url}/` });
      response.end(isMoved ? body : "");
    });
    expect((await show(url)).id).toBe("7");
    expect((await collection(url).update("7", [["name", "x"]], soon())).record?.id).toBe("7");
  });

  test("that adds a slash and leaves out the query keeps it, so that a list is read to its end", async () => {
    const url = await serve((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
      const isMoved = pathname.endsWith("/");
      const page = Number(searchParams.get("page") ?? 1);
      response.writeHead(isMoved ? 200 : 301, isMoved ? {} : { location: `${pathname}/` });
      const ids = Array.from({ length: page < 4 ? 10 : 0 }, (_, index) => 10 * page + index);
      response.end(JSON.stringify(ids.map((id) => ({ ...record, id }))));
    });
    let count = 0;
    for await (const records of collection(url).list(soon())) count += records.length;
    expect(count).toBe(30);
  });

  test.each([307, 308])("(%i) to the same server is followed for a write, form and all", async (status) => {
    const { url, seen } = await moved(status);
    const monitors = collection(url);
    await monitors.update("7", [["name", "x"]], soon());
    await monitors.create([["name", "x"]], soon());
    await monitors.delete("7", soon());
    expect(seen).toEqual([
      "PATCH /api/v1/monitors/7 name=x",
      "PATCH /moved/api/v1/monitors/7 name=x",
      "POST /api/v1/monitors name=x",
      "POST /moved/api/v1/monitors name=x",
      "DELETE /api/v1/monitors/7",
      "DELETE /moved/api/v1/monitors/7",
    ]);
  });

  test.each([301, 302, 303])("(%i) to the same server is not followed for a write", async (status) => {
    const { url, seen } = await moved(status);
    const monitors = collection(url);
    const writes: [string, Promise<unknown>][] = [
      ["/7", monitors.update("7", [["name", "x"]], soon())],
      ["", monitors.create([["name", "x"]], soon())],
      ["/7", monitors.delete("7", soon())],
    ];
    for (const [path, write] of writes)
      expect(await shownText(write)).toContain(
        `It redirects to ${url}/moved/api/v1/monitors${path}, which is not followed; if the API is there now`,
      );
    expect(seen).toHaveLength(writes.length);
  });

  test("to the same path with a slash says whom to ask", async () => {
    const url = await redirecting("/api/v1/monitors/7/", 301);
    const update = collection(url).update("7", [["name", "x"]], soon());
    expect(await shownText(update)).toContain(
      "because a write must keep its method and body: ask the people who run the server",
    );
  });

  test.each(statuses)("(%i) to another server is refused, and the key does not reach it", async (status) => {
    const reached: IncomingMessage[] = [];
    const other = await serve((request, response) => {
      reached.push(request);
      response.end(body);
    });
    const targets = [other, other.replace("http:", ""), other.replace("127.0.0.1", "localhost")];
    for (const target of targets) {
      const location = `${target}/api/v1/monitors/7?session=hidden&back=${key}#hidden`;
      const url = await redirecting(location.replace("//", "//hidden:hidden@"), status);
      const failure = await shownText(show(url));
      expect(failure).toContain(
        `It redirects to ${new URL(target, url).href}api/v1/monitors/7, which is not followed; if the API is there now, set uptime:baseUrl`,
      );
      expect(failure).not.toContain("hidden");
    }
    expect(reached).toEqual([]);
  });

  test.each([
    ["with the key in it", `${key}/login`, "(the server repeats a secret)"],
    ["that is rewritten", "login\\bob", "https://elsewhere.example"],
  ])("to a path %s is told without it", async (_, path, told) => {
    const url = await redirecting(`https://elsewhere.example/${path}`);
    expect(await shownText(show(url))).toContain(`It redirects to ${told}, which`);
  });

  test("in a circle is an error", async () => {
    let count = 0;
    let status = 302;
    const url = await serve((request, response) => {
      count++;
      response.writeHead(status, { location: request.url });
      response.end();
    });
    const endless = `It redirects to ${url}/api/v1/monitors/7 without end`;
    expect(await shownText(show(url))).toContain(`status 302. ${endless}`);
    expect(count).toBeLessThan(6);
    status = 308;
    const update = collection(url).update("7", [["name", "x"]], soon());
    expect(await shownText(update)).toContain(`status 308. ${endless}`);
  });

  test.each(["http://[", "", "javascript:alert(1)", "//"])("to %j is refused", async (location) => {
    expect(await shownText(show(await redirecting(location)))).toMatch(
      /status 302\. This is not a response of the API: check uptime:baseUrl\.$/,
    );
  });
});

describe("the next page of a list", () => {
  test.each(["http://[", "://", "\0", "?page=2&page=3"])("is not followed endlessly to %j", async (next) => {
    const url = await answering(JSON.stringify({ data: [record], links: { next } }));
    const ids: unknown[] = [];
    const list = async (): Promise<void> => {
      for await (const page of collection(url).list(soon())) ids.push(...page);
    };
    await list().catch((error: unknown) => expect(error).toBeInstanceOf(UptimeError));
    expect(ids).toHaveLength(1);
  });

  test("is read from this server, even if another one is named", async () => {
    const hosts: (string | undefined)[] = [];
    const url = await serve(({ headers, url: path }, response) => {
      hosts.push(headers.host);
      const isLast = path?.includes("page=2");
      response.end(
        JSON.stringify({
          data: [{ ...record, id: isLast ? 8 : 7 }],
          links: { next: isLast ? null : "https://evil.example/x?page=2" },
        }),
      );
    });
    for await (const page of collection(url).list(soon())) expect(page).toHaveLength(1);
    expect(hosts).toEqual([new URL(url).host, new URL(url).host]);
  });
});

// In steps by the square of its length, each would take long.
test.each<[string, () => unknown]>([
  ["a text of colons", () => hasPassword(":".repeat(2 ** 16))],
  ["a URL of colons", () => hasPassword(`x://${":".repeat(2 ** 16)}`)],
  ["a host of as many letters as there are", () => comparableHost(String.fromCodePoint(...letters))],
  ["a refusal of one field", () => parseError({ errors: Array(2 ** 16).fill({ field: "a", msg: "b" }) }, "")],
  ["a refusal in many words", () => parseError({ errors: { a: ["b"] }, message: "c".repeat(2 ** 24) }, "")],
  [
    "a record with more secrets than anybody has",
    () => {
      const value = Array.from({ length: 20_000 }, (_, index) => `secret-${index}`).join(" ");
      const shown = { request_headers: [{ key: "X-A", value }], note: "words ".repeat(2 ** 16) };
      expect(new Redactor([key]).attributes(monitor, shown)).not.toHaveProperty("note");
    },
  ],
  [
    "a mask as long as a body",
    () =>
      compare(fieldOf(monitor, "requestHeaders"), null, {
        id: "7",
        raw: { request_headers: "x".repeat(2 ** 24) },
      }),
  ],
])("%s takes no time", (_, read) => {
  // Of the processor's time, which does not depend on what else the machine does.
  const begun = process.cpuUsage();
  read();
  expect(process.cpuUsage(begun).user / 1e6).toBeLessThan(5);
});

test("line breaks in values add no field and no request", async () => {
  const evil = "a\r\nX-Evil: 1\r\n\r\nPOST /api/v1/domains HTTP/1.1\r\n&name=x&pause=1";
  const texts = Object.values(monitor.fields).filter(({ type }) => type === "text" || type === "url");
  expect(texts.length).toBeGreaterThan(3);
  const seen: { headers: IncomingMessage["headers"]; text: string }[] = [];
  const url = await serve((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      seen.push({ headers: request.headers, text });
      response.end(body);
    });
  });
  const pairs = texts.map(({ wire }): FormPair => [wire, evil]);
  await collection(url).create([...pairs, [`headers[0][${evil}]`, evil]], soon());
  expect(seen).toHaveLength(1);
  expect([...new URLSearchParams(seen[0]?.text)]).toEqual([...pairs, [`headers[0][${evil}]`, evil]]);
  expect(seen[0]?.headers).not.toHaveProperty("x-evil");
});

test("an id with slashes stays one segment of the path", async () => {
  const seen: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    seen.push(request.url);
    response.end("{}");
  });
  for (const id of ["../domains/1", "1?x=y", "1#", "1\r\nX: y", "..", "."])
    await shownText(collection(url).get(id, soon()));
  expect(seen.every((path) => path?.startsWith("/api/v1/monitors/"))).toBe(true);
});
