import dns from "node:dns";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer } from "node:net";
import os from "node:os";
import { dirname, join } from "node:path";
import tls from "node:tls";

import { whileListening as listenForResources } from "../../provider/cli/shared/collecting-preview";
import { isLinkLocal } from "../../provider/cli/try/link-local";
import { unwrapSecrets } from "../../provider/common/marks";
import { collectVariable, type CollectedResource } from "../../provider/engine/collecting-front";
import { Sender } from "../../provider/cli/try/sender";
import { canary, leaksIn } from "../support/canary.cjs";
import { certificateFor } from "../support/certificate";
import { cli, emulator, folder, type Outcome, stateOf, withCli, withStack } from "../support/cli";
import type { Dialect } from "../../provider/emulator";
import { answer } from "../support/emulator";
import { answering, listen, serve } from "../support/http-server";
import { secretMark } from "../support/marks";
import { home } from "../support/monitors";
import { isList } from "../support/sent";
import { Program } from "../support/program";
import { Proxy } from "../support/proxy";
import { settingsOf } from "../support/server";

withCli();

type Properties = Record<string, unknown>;

test("the socket for what a preview declares is in its own folder, also if the temporary folder has a long path", async () => {
  const long = join(folder, "x".repeat(100));
  mkdirSync(long);
  jest.spyOn(os, "tmpdir").mockReturnValue(long);
  await listenForResources(
    () => undefined,
    ({ [collectVariable]: socket = "" }) => {
      expect(statSync(socket).isSocket()).toBe(true);
      expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
      return Promise.resolve();
    },
  ).finally(() => jest.restoreAllMocks());
  expect(readdirSync(long)).toEqual([]);
});

/** A state's resource. Like the engine, it keeps what is always secret as a secret. */
function monitor(name: string, properties: Properties, form: "plaintext" | "ciphertext" = "plaintext") {
  const type = "pulumi-nodejs:dynamic/uptime:Monitor";
  const seal = (key: string, value: unknown): unknown =>
    ["requestHeaders", "requestAuthPassword"].includes(key)
      ? { ...secretMark, [form]: JSON.stringify(value) }
      : value;
  const sealed = Object.entries({ ...home, ...properties }).map(([key, value]) => [key, seal(key, value)]);
  const outputs = { ...Object.fromEntries(sealed), attributes: {} } as Properties;
  return { urn: `urn:pulumi:test::site::${type}::${name}`, type, custom: true, id: "7", outputs };
}

/** Tries the monitors of a state. */
function tryState(resources: readonly object[], ...args: string[]): Promise<Outcome> {
  writeFileSync(join(folder, "state.json"), stateOf(resources));
  return cli({ url: "", apiKey: "" }, folder, ["try", "--state", "state.json", ...args]);
}

const tried = (properties: Properties, ...args: string[]): Promise<Outcome> =>
  tryState([monitor("shop", properties)], ...args);

const fine = "1 monitor tried, none would alert at once.";

/** What is said of one monitor. The exit code is 2 if it would alert. */
async function said(properties: Properties, ...args: string[]): Promise<string> {
  const { code, stdout } = await tried(properties, ...args);
  const [, line = stdout] = /^Monitor shop +(.*)$/m.exec(stdout) ?? [];
  expect(code).toBe(line.startsWith("alerts") ? 2 : 0);
  return line.replace(/ {2,}/, " ").trim();
}

interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

/** A server that keeps what it has received. */
async function recording(
  listener: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.end("Hi"),
) {
  const received: Received[] = [];
  const url = await serve((request, response) => {
    const { method = "", url: path = "", headers } = request;
    received.push({ method, path, headers });
    listener(request, response);
  });
  return { url, received };
}

/** Redirects every path, or those that are named; the others are answered with a status. */
const redirectTo =
  (locations: string | Readonly<Record<string, string>>, status = 302, otherwise = 200) =>
  ({ url = "" }: IncomingMessage, response: ServerResponse): void => {
    const location = typeof locations === "string" ? locations : locations[url];
    if (location === undefined) response.writeHead(otherwise).end();
    else response.writeHead(status, { location }).end();
  };

/** All names lead to this machine, or to another address. Nothing is asked of a network. */
function resolveNames(addresses: Record<string, string> = {}): void {
  type Done = (error: null, ...found: unknown[]) => void;
  // A server that starts to listen gives no options.
  const lookup = (host: string, ...[options, given]: [dns.LookupOptions, Done] | [Done]): void => {
    const done = typeof options === "function" ? options : given;
    const address = addresses[host] ?? "127.0.0.1";
    const family = address.includes(":") ? 6 : 4;
    if (typeof options === "object" && options.all) done?.(null, [{ address, family }]);
    else done?.(null, address, family);
  };
  jest.spyOn(dns, "lookup").mockImplementation(lookup as typeof dns.lookup);
}

const named = (url: string, host: string): string => url.replace("127.0.0.1", host);

afterEach(() => {
  jest.restoreAllMocks();
  for (const name of ["HTTP_PROXY", "NO_PROXY"]) Reflect.deleteProperty(process.env, name);
});

describe("what is sent", () => {
  test("is the method, headers and authentication of the monitor, and nothing of the API's", async () => {
    const { url, received } = await recording();
    const requestHeaders = [
      { key: "X-Probe", value: canary("try-header") },
      { key: "User-Agent", value: "Uptime/1" },
    ];
    const auth = { requestAuthUsername: "probe", requestAuthPassword: canary("try-password") };
    expect(await tried({ url: `${url}/health?deep=1`, requestHeaders, ...auth })).toEqual({
      code: 0,
      stdout: "1 monitor tried, none would alert at once.\n",
      stderr: "",
    });
    const basic = Buffer.from(`probe:${canary("try-password")}`).toString("base64");
    expect(received).toEqual([
      {
        method: "GET",
        path: "/health?deep=1",
        headers: {
          host: new URL(url).host,
          connection: expect.any(String) as string,
          accept: "*/*",
          "x-probe": canary("try-header"),
          "user-agent": "Uptime/1",
          authorization: `Basic ${basic}`,
        },
      },
    ]);
  });

  test("is the authentication in the URL, if there is no other, and nothing of it is printed", async () => {
    const { url, received } = await recording();
    const secret = canary("try-url");
    const { stdout } = await tried({ url: url.replace("//", `//me:${secret}@`) }, "--json");
    const basic = Buffer.from(`me:${secret}`).toString("base64");
    expect(received[0]?.headers.authorization).toBe(`Basic ${basic}`);
    expect(leaksIn(stdout)).toEqual([]);
    const declared = [{ key: "Authorization", value: "Bearer a" }];
    await tried({ url: url.replace("//", `//me:${secret}@`), requestHeaders: declared });
    expect(received[1]?.headers.authorization).toBe("Bearer a");
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS"])(
    "is a %s, but one that may change something only with --any-method",
    async (requestMethod) => {
      const { url, received } = await recording();
      const mayChange = requestMethod.startsWith("P") || requestMethod === "DELETE";
      const expected = mayChange ? `skipped ${requestMethod} is only sent with --any-method` : fine;
      expect(await said({ url, requestMethod })).toBe(expected);
      if (mayChange) expect(received).toEqual([]);
      expect(await said({ url, requestMethod }, "--any-method")).toBe(fine);
      expect(received.map(({ method }) => method)).toContain(requestMethod);
    },
  );

  test("is nothing if a header cannot be sent", async () => {
    const { url, received } = await recording();
    expect(await said({ url, requestHeaders: [{ key: "Expect", value: "100-continue" }] })).toBe(
      "skipped requestHeaders has a header that cannot be sent from here",
    );
    expect(received).toEqual([]);
  });

  test("is one request a host at a time, and eight in all", async () => {
    resolveNames();
    const inFlight = new Map<string, number>();
    let [most, mostAtOneHost] = [0, 0];
    const held: (() => void)[] = [];
    const { url, received } = await recording(({ headers: { host = "" } }, response) => {
      inFlight.set(host, (inFlight.get(host) ?? 0) + 1);
      most = Math.max(
        most,
        [...inFlight.values()].reduce((sum, count) => sum + count, 0),
      );
      mostAtOneHost = Math.max(mostAtOneHost, ...inFlight.values());
      held.push(() => {
        inFlight.set(host, (inFlight.get(host) ?? 0) - 1);
        response.end();
      });
      // Nobody is answered before eight wait, or before all of them have come.
      if (held.length >= 8 || received.length > 22) for (const answer of held.splice(0)) answer();
    });
    const monitors = Array.from({ length: 30 }, (_, index) =>
      monitor(`m${index}`, { url: named(url, `host-${index % 10}.example`) }),
    );
    expect((await tryState(monitors)).stdout).toBe("30 monitors tried, none would alert at once.\n");
    expect([received.length, most, mostAtOneHost]).toEqual([30, 8, 1]);
  });
});

describe("would alert at once", () => {
  test.each([400, 404, 500, 503, 200, 204, 304])(
    "for the status %i, if it is 400 or more",
    async (status) => {
      const url = await answering("", {}, status);
      expect(await said({ url })).toBe(status < 400 ? fine : `alerts status ${status}`);
    },
  );

  test("where nothing listens, and where the name does not exist", async () => {
    expect(await said({ url: "http://127.0.0.1:1/" })).toBe("alerts failed: the connection was refused");
    const nowhere = (_host: string, _options: object, done: (error: Error) => void): void => {
      done(Object.assign(new Error(), { code: "ENOTFOUND", syscall: "getaddrinfo" }));
    };
    jest.spyOn(dns, "lookup").mockImplementation(nowhere as unknown as typeof dns.lookup);
    expect(await said({ url: "http://nowhere.example/" })).toBe(
      "alerts failed: the host name does not exist",
    );
  });

  test.each(["SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 abc\r\n\r\n"])(
    "where the server does not speak HTTP: %j",
    async (greeting) => {
      const url = await listen(createServer((socket) => socket.end(greeting)));
      expect(await said({ url })).toMatch(/^alerts failed: /);
    },
  );

  test.each(["never", "in part"])("where the server answers %s within the time", async (how) => {
    const url = await serve((_request, response) => {
      if (how === "in part") response.write("Wel");
    });
    const request = { url: new URL(url), method: "GET", headers: [], needsText: true };
    await expect(new Sender(300).send(request)).rejects.toMatchObject({
      code: "unreachable",
      reason: ["no complete response within 0.3 s"],
    });
  });

  const text = (alertCondition: string) => ({ alertCondition, alertTextLookup: "Grüße & Welcome" });
  test.each([
    ["url_text", "Oh: Grüße & Welcome!", 'alerts the response contains "Grüße & Welcome"'],
    ["url_text", "Oh no", fine],
    ["url_no_text", "Oh no", 'alerts the response does not contain "Grüße & Welcome"'],
    ["url_no_text", "Oh: Grüße & Welcome!", fine],
    ["url_unavailable", "Oh no", fine],
  ])("by its text (%s: %s)", async (alertCondition, body, expected) => {
    expect(await said({ url: await answering(body), ...text(alertCondition) })).toBe(expected);
  });

  test("by its text in another character set, or compressed because a header asks for it", async () => {
    const { gzipSync, brotliCompressSync } = await import("node:zlib");
    const latin = Buffer.from("Grüße & Welcome", "latin1");
    const utf8 = Buffer.from("Grüße & Welcome");
    for (const [body, headers] of [
      [latin, { "content-type": 'text/html; charset="ISO-8859-1"' }],
      [latin, { "content-type": "text/html; charset=iso-8859-1", "content-encoding": "identity" }],
      [utf8, { "content-type": "text/html; charset=unheard-of" }],
      [gzipSync(utf8), { "content-encoding": "gzip" }],
      [brotliCompressSync(utf8), { "content-encoding": "br" }],
    ] as const)
      expect((await tried({ url: await answering(body, headers), ...text("url_text") })).code).toBe(2);
  });

  test("by its text only if that can be read", async () => {
    const zstd = Buffer.from("28b52ffd2010810000477265657469", "hex");
    const compressed = { "content-encoding": "zstd" };
    const unread = "skipped the response cannot be decompressed here";
    for (const condition of ["url_text", "url_no_text"])
      expect(await said({ url: await answering(zstd, compressed), ...text(condition) })).toBe(unread);
    expect(await said({ url: await answering(zstd, compressed, 500), ...text("url_text") })).toBe(
      "alerts status 500",
    );
    // Some servers name what is no compression.
    const plain = await answering("Grüße & Welcome", { "content-encoding": "utf-8" });
    expect((await tried({ url: plain, ...text("url_text") })).code).toBe(2);
  });

  test("by its text, which a response to HEAD has not", async () => {
    const url = await answering("Grüße & Welcome");
    expect((await tried({ url, requestMethod: "HEAD", ...text("url_no_text") })).code).toBe(2);
  });

  const inDays = (days: number): Date => new Date(Date.now() + days * 24 * 60 * 60 * 1000);

  async function secureServer(end?: Date): Promise<string> {
    const certificate = certificateFor("shop.example", end);
    jest.restoreAllMocks();
    resolveNames();
    const connect = tls.connect.bind(tls) as (options: tls.ConnectionOptions) => tls.TLSSocket;
    jest
      .spyOn(tls, "connect")
      .mockImplementation(((options: tls.ConnectionOptions) =>
        connect({ ...options, ca: certificate.authority })) as typeof tls.connect);
    const server = createSecureServer(certificate, (_request, response) => response.end());
    return named((await listen(server)).replace("http:", "https:"), "shop.example");
  }

  test.each([
    [14, true],
    [30, true],
    [7, false],
    [0, false],
    [null, false],
  ])("by its certificate of nine more days, if sslAlertDays is %s: %s", async (sslAlertDays, alerts) => {
    const url = await secureServer(inDays(9));
    const { code, stdout } = await tried({ url, sslAlertDays }, "--json");
    const { monitors } = JSON.parse(stdout) as { monitors: object[] };
    expect([code, monitors]).toMatchObject([alerts ? 2 : 0, [{ status: 200, certificateDays: 9 }]]);
    if (alerts)
      expect(await said({ url, sslAlertDays })).toBe(
        `alerts the certificate ends in 9 days, sslAlertDays is ${sslAlertDays}`,
      );
  });

  test("by a certificate that has ended, that is another's, or that nobody knows", async () => {
    expect(await said({ url: await secureServer(inDays(-2)) })).toBe(
      "alerts failed: the server's certificate is not trusted (CERT_HAS_EXPIRED)",
    );
    const url = await secureServer();
    expect(await said({ url: url.replace("shop", "blog") })).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
    jest.restoreAllMocks();
    resolveNames();
    expect(await said({ url })).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  });
});

describe("redirects", () => {
  const requestHeaders = [{ key: "X-Probe", value: canary("try-header") }];
  const secrets = { requestHeaders, requestAuthUsername: "me", requestAuthPassword: canary("try-password") };

  test("are followed and told, and send headers and authentication to no other origin, nor back", async () => {
    let back = "";
    const other = await recording((request, response) => redirectTo(back)(request, response));
    const away = `${other.url}/there?${canary("try-query")}`;
    const last = await recording(redirectTo({ "/start": "/away", "/away": away }, 301, 401));
    back = `${last.url}/back`;
    const { code, stdout } = await tried({ url: `${last.url}/start`, ...secrets });
    expect(code).toBe(2);
    expect(stdout).toContain(
      "alerts  status 401 from another origin, which gets neither headers nor authentication; " +
        `redirected to ${last.url}/away, ${other.url}/there, ${last.url}/back\n`,
    );
    expect(leaksIn(stdout)).toEqual([]);
    const isKnown = ({ headers }: Received) => ["x-probe", "authorization"].map((name) => name in headers);
    expect(last.received.map(isKnown)).toEqual([
      [true, true],
      [true, true],
      [false, false],
    ]);
    expect(other.received.map(isKnown)).toEqual([[false, false]]);
  });

  test("are told of a monitor that would not alert", async () => {
    const end = await answering("Hi");
    const { url } = await recording(redirectTo(end));
    expect(await said({ url })).toBe(`ok status 200; redirected to ${end}/`);
  });

  test.each([
    ["a header", "X-Probe", (secret: string) => secret],
    ["a token without its scheme", "Authorization", (secret: string) => `Bearer ${secret}`],
    ["a cookie's value", "Cookie", (secret: string) => `session=${secret}; theme=dark`],
    [
      "the password of a Basic pair",
      "Authorization",
      (secret: string) => `Basic ${Buffer.from(`me:${secret}`).toString("base64")}`,
    ],
  ])("do not repeat %s", async (_, key, valueOf) => {
    const secret = canary("try-part");
    const { url } = await recording(redirectTo({ "/": `/${secret}` }, 302, 404));
    const requestHeaders = [{ key, value: valueOf(secret) }];
    for (const args of [[], ["--json"]]) {
      const { stdout } = await tried({ url: `${url}/`, requestHeaders }, ...args);
      expect(stdout).toContain("(the server repeats a secret)");
      expect(leaksIn(stdout)).toEqual([]);
    }
  });

  test.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "PUT", "GET"],
    [307, "POST", "POST"],
    [308, "DELETE", "DELETE"],
    [303, "HEAD", "HEAD"],
    [301, "PUT", "PUT"],
  ])("(%i) of a %s send a %s", async (status, requestMethod, next) => {
    const { url, received } = await recording(redirectTo({ "/": "/next" }, status));
    await tried({ url: `${url}/`, requestMethod }, "--any-method");
    expect(received.map(({ method }) => method)).toEqual([requestMethod, next]);
  });

  test("are followed ten times", async () => {
    const { url, received } = await recording(redirectTo("/again"));
    expect(await said({ url })).toMatch(/^alerts more than 10 redirects; redirected to \S+, .* and 5 more$/);
    expect(received).toHaveLength(11);
  });

  test("to something else than a web page are not followed", async () => {
    expect((await tried({ url: await answering("", { location: "ftp://127.0.0.1/" }, 302) })).code).toBe(0);
  });
});

describe("link-local addresses", () => {
  const linkLocal = `169.254.169.254 fe80::1 fe80::1%eth0 [fe80::1] ::ffff:169.254.169.254 64:ff9b::169.254.169.254
    fd00:ec2::254 fd20:ce::254 100.100.100.200 ::ffff:100.100.100.200 64:ff9b::100.100.100.200
    168.63.129.16 64:ff9b::168.63.129.16 192.0.0.192 64:ff9b::192.0.0.192`;
  const others = `168.63.129.17 192.0.0.170 169.253.0.1 100.100.100.201 fd00:ec3::254 127.0.0.1 ::1 169.254.example`;

  test("are known in every form", () => {
    expect(linkLocal.split(/\s+/).filter((address) => !isLinkLocal(address))).toEqual([]);
    expect(others.split(" ").filter(isLinkLocal)).toEqual([]);
  });

  const refusal = "skipped leads to a link-local address, which is never contacted";
  // The spelling of a number is the URL parser's to know.
  test.each(["169.254.169.254", "0xA9FEA9FE", "[::ffff:a9fe:a9fe]", "[fe80::1]"])(
    "are not asked if the URL names one (%s)",
    async (host) => {
      expect(await said({ url: `http://${host}/latest/meta-data` })).toBe(refusal);
    },
  );

  test.each(["169.254.169.254", "fe80::1"])(
    "are not asked if a name stands for one (%s), or a redirect leads there",
    async (address) => {
      resolveNames({ "cloud.example": address });
      expect(await said({ url: "http://cloud.example/" })).toBe(refusal);
      expect(await said({ url: "https://cloud.example/" })).toBe(refusal);
      for (const place of [
        "http://cloud.example/",
        `http://${address.includes(":") ? "[fe80::1]" : address}/`,
      ]) {
        const { url } = await recording(redirectTo(place));
        expect(await said({ url })).toBe(`${refusal}; redirected to ${place}`);
      }
    },
  );

  test("are not asked of a proxy, which gets other requests", async () => {
    resolveNames({ "cloud.example": "169.254.169.254" });
    const { url, received } = await recording();
    const proxy = await Proxy.start(url);
    process.env.HTTP_PROXY = proxy.url;
    try {
      expect(await said({ url: "http://cloud.example/" })).toBe(refusal);
      expect(await said({ url: "http://169.254.169.254/" })).toBe(refusal);
      expect(proxy.received).toEqual([]);
      expect((await tried({ url: "http://shop.example/" })).code).toBe(0);
      expect([proxy.received.length, received.length]).toEqual([1, 1]);
    } finally {
      proxy.stop();
    }
  });
});

describe("what is not tried is named", () => {
  const hours = (count: number): string =>
    new Date(Date.now() + count * 60 * 60 * 1000).toISOString().slice(0, 19);

  test("paused monitors and open maintenance windows, but not those of other times", async () => {
    const { url, received } = await recording();
    const [before, earlier, later] = [hours(-2), hours(-1), hours(1)];
    const window = (start: string, end: string) => ({ maintenanceStartAt: start, maintenanceEndAt: end });
    expect(
      await tryState([
        monitor("paused", { url, pause: true }),
        monitor("serviced", { url, ...window(earlier, later) }),
        monitor("past", { url, ...window(before, earlier) }),
        monitor("coming", { url, ...window(later, hours(2)) }),
        monitor("half", { url, maintenanceStartAt: earlier, maintenanceEndAt: null }),
        { ...monitor("site", {}), type: "pulumi-nodejs:dynamic/uptime:Domain" },
      ]),
    ).toEqual({
      code: 0,
      stdout: [
        "Monitor           Result   Why",
        "Monitor paused    skipped  paused",
        `Monitor serviced  skipped  its maintenance window is open until ${later}, if that is UTC`,
        "",
        "3 monitors tried, none would alert at once, 2 skipped.",
        "",
      ].join("\n"),
      stderr: "",
    });
    expect(received).toHaveLength(3);
  });

  // PostgreSQL shows whole hours as `+02`.
  test.each([
    ["T", "+02:00"],
    [" ", "+02"],
  ])("a maintenance window that the server shows with %j and the offset %s", async (mark, zone) => {
    const [start, end] = [1, 3].map((count) => hours(count).replace("T", mark) + zone);
    expect(await said({ maintenanceStartAt: start, maintenanceEndAt: end })).toBe(
      `skipped its maintenance window is open until ${end}`,
    );
  });

  test("values that a state file has encrypted", async () => {
    const { url, received } = await recording();
    const { code, stdout } = await tryState([
      monitor("shop", { url, requestHeaders: [{ key: "A", value: "b" }] }, "ciphertext"),
    ]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/skipped {2}requestHeaders is encrypted in this state; `pulumi stack export/),
    ]);
    expect(received).toEqual([]);
  });

  test("values that no monitor can have", async () => {
    expect(await said({ url: "ftp://shop.example/" })).toBe(
      "skipped url has a value that a monitor cannot have",
    );
    expect(await said({ requestMethod: "TRACE" })).toBe(
      "skipped requestMethod has a value that a monitor cannot have",
    );
  });
});

describe("which monitors", () => {
  test("a preview is not run if state has other code than this package", async () => {
    const stored = monitor("shop", {});
    const inputs = { __provider: "exports.handler=()=>require('child_process')" };
    const env = withStack(folder, {}, [{ ...stored, inputs }]);
    writeFileSync(join(folder, "Pulumi.yaml"), "name: site\nruntime: yaml\n");
    const { code, stderr } = await cli({ url: "", apiKey: "" }, folder, ["try"], { env });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("Pulumi would run it, so nothing is") as string,
    ]);
    expect(readFileSync(join(folder, "bin", "calls"), "utf8")).not.toContain("preview");
  });

  test("--state alone reads the stack's", async () => {
    const url = await answering("", {}, 404);
    const env = withStack(folder, {}, [monitor("shop", { url })]);
    const outcome = await cli({ url: "", apiKey: "" }, folder, ["try", "--state"], { env });
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("no Pulumi.yaml") as string });
    writeFileSync(join(folder, "Pulumi.yaml"), "name: site\nruntime: yaml\n");
    expect(await cli({ url: "", apiKey: "" }, folder, ["try", "--state"], { env })).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^Monitor shop +alerts +status 404$/m) as string,
    });
  });

  test("--all reads the account's, and skips those whose password the API does not show", async () => {
    const { url, received } = await recording((_, response) => response.writeHead(500).end());
    const request_headers = [{ key: "X-Probe", value: canary("try-header") }];
    emulator.monitors.add({ ...home, url, request_headers });
    emulator.monitors.add({ ...home, url, request_auth_username: "me", request_auth_password: "hidden" });
    emulator.monitors.add({ ...home, url, pause: true });
    const { code, stdout } = await cli(emulator, folder, ["try", "--all"]);
    expect([code, stdout]).toEqual([
      2,
      [
        "Monitor           Result   Why",
        "Monitor 1 (Home)  alerts   status 500",
        "Monitor 2 (Home)  skipped  requestAuthPassword is not shown by the API",
        "Monitor 3 (Home)  skipped  paused",
        "",
        "1 monitor tried, 1 would alert at once, 2 skipped.",
        "",
      ].join("\n"),
    ]);
    expect(received).toMatchObject([{ headers: { "x-probe": canary("try-header") } }]);
    expect(JSON.stringify(received)).not.toContain(emulator.apiKey);
    expect(emulator.writes()).toEqual([]);
  });

  describe("--all does not judge by what the API does not show", () => {
    const header = { request_headers: [{ key: "X-Probe", value: canary("try-header") }] };
    /** What is said of an account's monitors, whose site answers only to the header. */
    async function accountSaid(dialect: Partial<Dialect>, ...fields: object[]) {
      const { url, received } = await recording((request, response) =>
        response.writeHead(request.headers["x-probe"] === undefined ? 401 : 200).end("Hi"),
      );
      emulator.dialect = dialect;
      for (const one of fields) emulator.monitors.add({ ...home, url, ...one });
      const { code, stdout } = await cli(emulator, folder, ["try", "--all"]);
      expect(leaksIn(stdout)).toEqual([]);
      const lines = [...stdout.matchAll(/^Monitor \d \(Home\) +(.*)$/gm)].map(([, line = ""]) => line);
      const reads = emulator.requests.filter(({ path }) => /\d$/.test(path));
      return { code, lines: lines.map((line) => line.replace(/ {2,}/, " ")), reads: reads.length, received };
    }

    test("reads each record if the list shows a field of none", async () => {
      // Of the record that is read as a sample, the list leaves out nothing.
      emulator.fault = (request) => {
        if (!isList(request)) return undefined;
        const listed = emulator.monitors.all().map(({ request_headers: _, ...shown }) => shown);
        return answer(200, listed);
      };
      const dialect = { emptyAs: "absent" } as const;
      const sample = { alert_text_lookup: "Hi", ssl_alert_days: 7, request_auth_username: "me" };
      const { code, lines, reads } = await accountSaid(dialect, sample, header);
      expect([code, lines]).toEqual([0, ["skipped requestAuthPassword is not shown by the API"]]);
      expect(reads).toBe(3);
    });

    test("reads one record if the list shows all fields", async () => {
      const { code, lines, reads } = await accountSaid({}, header, header, {});
      expect([code, lines, reads]).toEqual([2, ["alerts status 401"], 1]);
    });

    test.each([
      [{}, 0, "skipped not known: status 401, but the API does not show requestHeaders"],
      [{ url: "http://127.0.0.1:1/" }, 2, "alerts failed: the connection was refused"],
    ])("says that it is not known whether hidden headers matter: %j", async (fields, code, said) => {
      const shown = await accountSaid({ hidden: ["request_headers"] }, { ...header, ...fields });
      expect(shown).toMatchObject({ code, lines: [said] });
    });

    test.each(["alert_condition", "request_method"])("skips all without %s", async (field) => {
      const { code, lines, received } = await accountSaid({ hidden: [field] }, header);
      const key = field.replace(/_(.)/, (_, letter: string) => letter.toUpperCase());
      expect([code, lines, received]).toEqual([0, [`skipped ${key} is not shown by the API`], []]);
    });

    test("skips a monitor of a text that is not shown", async () => {
      const text = { alert_condition: "url_text", alert_text_lookup: "Hi" };
      const { lines, received } = await accountSaid({ hidden: ["alert_text_lookup"] }, text, header);
      expect(lines).toEqual(["skipped alertTextLookup is not shown by the API"]);
      expect(received).toHaveLength(1);
    });
  });

  test("--all of a project whose stack cannot be read takes its settings from elsewhere, and says so", async () => {
    writeFileSync(join(folder, "Pulumi.yaml"), "name: site\nruntime: yaml\n");
    const outcome = await cli(emulator, folder, ["try", "--all"], { env: { PATH: folder } });
    expect(outcome).toMatchObject({
      code: 0,
      stdout: "0 monitors tried.\n",
      stderr: expect.stringMatching(
        /^The project's stack cannot be read, so settings come only from/,
      ) as string,
    });
  });

  test("what the Pulumi CLI says of a stack that cannot be read neither controls the terminal nor commands CI", async () => {
    const env = withStack(folder, {});
    writeFileSync(join(folder, "Pulumi.yaml"), "name: site\nruntime: yaml\n");
    writeFileSync(join(folder, "bin", "pulumi"), "#!/bin/sh\nprintf 'no \\033[2J##[error]x' >&2; exit 255\n");
    const { stderr } = await cli(emulator, folder, ["try", "--all"], { env });
    expect(stderr).toContain("failed: no \\u001b[2J\\u0023#[error]x.\n");
  });

  test("errors have exit code 1: of the API, of a file, of arguments", async () => {
    const other = { url: emulator.url, apiKey: "another" };
    expect(await cli(other, folder, ["try", "--all"])).toMatchObject({ code: 1, stdout: "" });
    expect(await cli(emulator, folder, ["try", "--state", "none.json"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no file \/.*\/none\.json\.\n$/m) as string,
    });
    expect(await cli(emulator, folder, ["try", "--all", "--state"])).toMatchObject({ code: 1 });
    // The preview would use the settings of the stack.
    for (const [option, value] of [
      ["--account", "eu"],
      ["--base-url", emulator.url],
    ] as const)
      expect(await cli(emulator, folder, ["try", option, value])).toMatchObject({
        code: 1,
        stderr: `${option} needs --all.\n`,
      });
  });
});

test("in a preview, the provider tells what it refuses, and the values of secrets, which are in no file", async () => {
  const env = { ...process.env };
  const declared = { ...home, requestHeaders: [{ key: "X-Probe", value: canary("try-header") }] };
  const told: CollectedResource[] = [];
  try {
    const made = new Program("dynamic", settingsOf({ "uptime:baseUrl": emulator.url })).resource("monitor");
    await made.up(declared);
    emulator.forget();
    await listenForResources(
      (one) => told.push(one),
      async (variables) => {
        Object.assign(process.env, variables);
        const program = new Program("dynamic", settingsOf({ "uptime:baseUrl": emulator.url }));
        const moved = program.resource("monitor", { name: "moved" });
        if (made.state) {
          const outputs = { ...made.state.outputs, __server: "0815abcd" };
          moved.state = { ...made.state, outputs };
        }
        await moved.preview({ ...declared, name: "Moved" });
        for (const name of ["one", "two"]) await program.resource("monitor", { name }).preview(declared);
      },
    );
    expect(told.splice(0, 2).map(({ problems }) => problems)).toEqual([
      [],
      [expect.stringContaining("State was made with another address")],
    ]);
    expect(told.map(({ urnSuffix: name, problems }) => [name.replace(/^.*::/, ""), problems])).toEqual([
      ["one", []],
      ["two", []],
    ]);
    for (const { inputs } of told) {
      expect(unwrapSecrets(inputs)).toMatchObject(declared);
      expect(JSON.stringify(inputs)).toContain(canary("try-header"));
    }
    // If nobody hears it, the provider refuses what it must; it never writes anything.
    const unheard = async (variables: NodeJS.ProcessEnv = {}): Promise<void> => {
      Object.assign(process.env, variables);
      const program = new Program("dynamic", settingsOf({ "uptime:baseUrl": emulator.url }));
      const wrong = program.resource("monitor", { name: "wrong" }).preview({ ...declared, interval: 61 });
      await expect(wrong).rejects.toThrow("interval must be one of");
      const up = program.resource("monitor", { name: "right" }).up(declared);
      await expect(up).rejects.toThrow("PULUMI_UPTIME_COLLECT is set");
    };
    await unheard();
    await listenForResources(() => {
      throw new Error("This is of another version.");
    }, unheard);
    expect(emulator.writes()).toEqual([]);
  } finally {
    process.env = env;
  }
});

describe("what is printed", () => {
  const secretUrl = (url: string) => ({
    ...monitor("shop", {}),
    outputs: { ...home, url: { ...secretMark, plaintext: JSON.stringify(url) } },
  });

  test("names no part of a secret URL or text", async () => {
    const secret = `/${canary("try-url")}`;
    const { url } = await recording(redirectTo({ [secret]: "/next" }, 302, 404));
    const { stdout } = await tryState([secretUrl(url + secret)], "--json");
    expect(JSON.parse(stdout)).toEqual({
      monitors: [
        {
          title: "Monitor shop",
          urn: expect.stringContaining("::shop") as string,
          id: "7",
          outcome: "alerts",
          reasons: [{ code: "status", text: "status 404" }],
          status: 404,
          redirects: ["a secret address"],
        },
      ],
    });
    const lookup = { ...secretMark, plaintext: JSON.stringify(canary("try-text")) };
    const properties = { url: await answering("Hi"), alertCondition: "url_no_text", alertTextLookup: lookup };
    expect(await said(properties)).toBe("alerts the response does not contain alertTextLookup");
  });

  test("is in the order of names, because the engine plans in another order in each run", async () => {
    const names = ["m10", "m2", "m1"];
    const { stdout } = await tryState(names.map((name) => monitor(name, { pause: true })));
    expect(stdout.match(/^Monitor m\d+/gm)).toEqual(["Monitor m1", "Monitor m2", "Monitor m10"]);
  });

  test("is progress on a terminal, erased at the end", async () => {
    writeFileSync(join(folder, "state.json"), stateOf([monitor("shop", { url: await answering("") })]));
    const args = ["try", "--state", "state.json"];
    const { stderr } = await cli({ url: "", apiKey: "" }, folder, args, { isTTY: true });
    expect(stderr.endsWith("Tried 1 of 1 …\r\u001B[K")).toBe(true);
  });

  test("is a section of a comment", async () => {
    const alerting = await tried({ url: await answering("", {}, 404) }, "--json");
    writeFileSync(join(folder, "try.json"), alerting.stdout);
    const comment = async () =>
      (await cli({ url: "", apiKey: "" }, folder, ["comment", "--tried", "try.json"])).stdout;
    expect(await comment()).toContain(
      [
        "#### 1 monitor tried, 1 would alert at once.",
        "",
        "| Monitor | Would alert at once |",
        "| --- | --- |",
        "| `Monitor shop` | `status 404` |",
      ].join("\n"),
    );
    const fine = await tried({ url: await answering("") }, "--json");
    writeFileSync(join(folder, "try.json"), fine.stdout);
    expect(await comment()).toContain("#### 1 monitor tried, none would alert at once.\n");
    writeFileSync(join(folder, "try.json"), "");
    expect(await comment()).toContain("`pulumi-uptime try` printed no result; see the log of the job.");
  });
});
