import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

import { Client } from "../provider/client";
import type { Answer } from "../provider/client";
import { Limiter } from "../provider/limiter";
import type { Clock, Deadline } from "../provider/limiter";
import { readSettings } from "../provider/settings";
import { Emulator } from "./emulator";
import type { Fault } from "./emulator";
import { ModelStack } from "./model";

const home = { name: "Home", url: "https://example.com/", interval: 60 };

let emulator: Emulator;
beforeEach(async () => {
  emulator = await Emulator.start();
});
afterEach(() => emulator.stop());

function client(config: Record<string, string> = {}, url = emulator.url): Client {
  const all: Record<string, string> = {
    "uptime:baseUrl": url,
    "uptime:apiKey": emulator.apiKey,
    ...config,
  };
  const settings = readSettings({ get: (name) => all[name] }, {});
  return new Client(settings.baseUrl, settings);
}

const within = (milliseconds: number): Deadline => ({
  signal: AbortSignal.timeout(milliseconds),
  at: Date.now() + milliseconds,
});
const get = (of: Client, milliseconds = 10_000): Promise<Answer> =>
  of.send({ method: "GET", path: "/api/v1/monitors", deadline: within(milliseconds) });

const answer = (status: number, headers: Record<string, string> = {}): Fault => ({
  kind: "answer",
  effect: false,
  status,
  headers,
});

/** The first requests are answered so, all others as usual. */
function first(...faults: Fault[]): void {
  emulator.fault = () => faults.shift();
}

async function took(operation: Promise<unknown>): Promise<number> {
  const started = Date.now();
  await operation;
  return Date.now() - started;
}

const failureOf = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** Counts the requests that are at the emulator at the same time. */
function counted(milliseconds: number): { most: number } {
  const count = { now: 0, most: 0 };
  emulator.fault = async () => {
    count.most = Math.max(count.most, ++count.now);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    count.now--;
    return undefined;
  };
  return count;
}

describe("at the same time", () => {
  test.each([1, 3, 8])("there are never more than %i requests", async (maxConcurrency) => {
    const count = counted(10);
    const one = client({ "uptime:maxConcurrency": String(maxConcurrency) });
    await Promise.all(Array.from({ length: 40 }, () => get(one)));
    expect(count.most).toBe(maxConcurrency);
    expect(emulator.requests).toHaveLength(40);
  });

  test("resources of both kinds share the limit", async () => {
    const count = counted(10);
    const config = {
      "uptime:baseUrl": emulator.url,
      "uptime:apiKey": emulator.apiKey,
      "uptime:maxConcurrency": "2",
    };
    const monitors = new ModelStack("monitor", config);
    const domains = new ModelStack("domain", config);
    await Promise.all([
      ...Array.from({ length: 6 }, () => monitors.beside().up(home)),
      ...Array.from({ length: 6 }, (_, index) => domains.beside().up({ name: `d${index}.example` })),
    ]);
    expect(count.most).toBe(2);
    expect([emulator.monitors.size, emulator.domains.size]).toEqual([6, 6]);
  });

  test("there are few once the API has said that it limits", async () => {
    const one = client();
    first(answer(429, { "retry-after": "0" }));
    await get(one);
    const count = counted(10);
    await Promise.all(Array.from({ length: 20 }, () => get(one)));
    expect(count.most).toBe(2);
  });

  test("a request that waits for its turn is given up at its deadline", async () => {
    const one = client({ "uptime:maxConcurrency": "1" });
    first({ kind: "delay", delayMs: 3000 });
    const slow = get(one);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const started = Date.now();
    const next = get(one);
    expect(await failureOf(get(one, 200))).toContain("was given up: the operation has used its time");
    expect(Date.now() - started).toBeLessThan(2000);
    await Promise.all([slow, next]);
    expect(emulator.requests).toHaveLength(2);
  });
});

describe("in a minute", () => {
  /** A clock that jumps ahead where one would sleep. */
  function clock(): Clock {
    let now = 1_000_000;
    return {
      now: () => now,
      sleep: async (milliseconds) => {
        await Promise.resolve();
        now += milliseconds;
      },
    };
  }
  const forever: Deadline = { signal: new AbortController().signal, at: Infinity };

  test.each([
    [1, 8],
    [10, 8],
    [60, 1],
    [60, 100],
  ])(
    "begin no more than %i requests, with %i at the same time",
    async (requestsPerMinute, maxConcurrency) => {
      const time = clock();
      const limiter = new Limiter({ maxConcurrency, requestsPerMinute }, time);
      const begun: number[] = [];
      await Promise.all(
        Array.from({ length: requestsPerMinute * 3 }, () =>
          limiter.run(forever, () => Promise.resolve(begun.push(time.now()))),
        ),
      );
      expect(begun).toHaveLength(requestsPerMinute * 3);
      for (const [index, moment] of begun.entries()) {
        const next = begun[index + requestsPerMinute];
        if (next !== undefined) expect(next - moment).toBeGreaterThanOrEqual(60_000);
      }
      expect(limiter.waits.count).toBeGreaterThan(0);
    },
  );

  test("more are not waited for when the operation would be over by then: an error at once that says so", async () => {
    const one = client({ "uptime:requestsPerMinute": "2" });
    await get(one);
    await get(one);
    const started = Date.now();
    expect(await failureOf(get(one))).toMatch(
      /^GET .*\/api\/v1\/monitors was not sent: no more requests are allowed before the operation's time is over \(see the option customTimeouts, and the setting uptime:requestsPerMinute\)\.$/,
    );
    expect(Date.now() - started).toBeLessThan(2000);
    expect(emulator.requests).toHaveLength(2);
  });
});

describe("429 is waited for", () => {
  test("as long as Retry-After says, in seconds", async () => {
    first(answer(429, { "retry-after": "1" }));
    const time = await took(get(client()));
    expect(time).toBeGreaterThanOrEqual(990);
    expect(time).toBeLessThan(1500);
  });

  test("until the date in Retry-After", async () => {
    // A date has whole seconds: it is between one and two seconds away.
    first(answer(429, { "retry-after": new Date(Date.now() + 2000).toUTCString() }));
    const time = await took(get(client()));
    expect(time).toBeGreaterThanOrEqual(900);
    expect(time).toBeLessThan(2400);
  });

  test.each<Record<string, string>>([{}, { "retry-after": "later" }])(
    "a second where it does not say (%j)",
    async (headers) => {
      first(answer(429, headers));
      const time = await took(get(client()));
      expect(time).toBeGreaterThanOrEqual(990);
      expect(time).toBeLessThan(1500);
    },
  );

  test("until X-RateLimit-Reset, in seconds to go", async () => {
    first(answer(429, { "x-ratelimit-reset": "1" }));
    expect(await took(get(client()))).toBeGreaterThanOrEqual(990);
  });

  test("and is no retry", async () => {
    first(...Array.from({ length: 5 }, () => answer(429, { "retry-after": "0" })));
    await get(client({ "uptime:maxRetries": "0" }));
    expect(emulator.requests.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429, 200]);
  });

  test("by all requests, and by creates too: each is carried out once", async () => {
    const config = { "uptime:baseUrl": emulator.url, "uptime:apiKey": emulator.apiKey };
    let limited = 3;
    emulator.fault = ({ method }) =>
      method === "POST" && limited-- > 0 ? answer(429, { "retry-after": "0.2" }) : undefined;
    const one = new ModelStack("monitor", config);
    const two = one.beside();
    await Promise.all([one.up(home), two.up(home)]);
    expect(emulator.monitors.size).toBe(2);
    expect(one.state?.id).not.toBe(two.state?.id);
  });

  test("also as 503 with Retry-After", async () => {
    first(answer(503, { "retry-after": "0" }));
    await get(client({ "uptime:maxRetries": "0" }));
    expect(emulator.requests.map(({ status }) => status)).toEqual([503, 200]);
  });
});

describe("X-RateLimit-Remaining: 0", () => {
  const remaining = (reset: string): Fault => ({
    kind: "answer",
    effect: true,
    headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset },
  });

  test.each([
    ["in seconds to go", () => "1"],
    ["as a time", () => String(Math.ceil(Date.now() / 1000) + 1)],
  ])("holds the next request until X-RateLimit-Reset, %s", async (_how, reset) => {
    const one = client();
    first(remaining(reset()));
    expect(await took(get(one))).toBeLessThan(500);
    const time = await took(Promise.all([get(one), get(one)]));
    expect(time).toBeGreaterThanOrEqual(900);
    expect(time).toBeLessThan(2400);
    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test.each(["", "soon", "-1"])("holds nothing where it is not known until when (%j)", async (reset) => {
    const one = client();
    first(remaining(reset));
    await get(one);
    expect(await took(get(one))).toBeLessThan(500);
  });
});

describe("the deadline of an operation", () => {
  const config = (): Record<string, string> => ({
    "uptime:baseUrl": emulator.url,
    "uptime:apiKey": emulator.apiKey,
  });
  const quick = { ...home, __options: { customTimeouts: { create: "2s" } } };

  test("that a wait would exceed is an error at once, which says so", async () => {
    emulator.fault = () => answer(429, { "retry-after": "60" });
    const started = Date.now();
    expect(await failureOf(new ModelStack("monitor", config()).up(quick))).toMatch(
      /status 429.*Then GET .* was not sent: no more requests are allowed before the operation's time is over \(see the option customTimeouts/s,
    );
    expect(Date.now() - started).toBeLessThan(1800);
    expect(emulator.requests).toHaveLength(1);
  });

  test("ends a request that is not answered", async () => {
    emulator.fault = () => ({ kind: "delay", delayMs: 5000 });
    const started = Date.now();
    expect(await failureOf(get(client(), 500))).toMatch(
      /was given up: the operation has used its time \(see the option customTimeouts\)/,
    );
    expect(Date.now() - started).toBeLessThan(3000);
  });

  test("ends retries before a pause that would exceed it", async () => {
    emulator.fault = () => answer(500);
    const started = Date.now();
    expect(await failureOf(get(client({ "uptime:maxRetries": "50" }), 1000))).toContain("status 500");
    expect(Date.now() - started).toBeLessThan(1600);
  });

  test.each(["0.07m", "1.005s", "5000h", "0.4ms"])("may be any duration (%s)", async (create) => {
    const one = new ModelStack("monitor", config());
    const failure = await failureOf(one.up({ ...home, __options: { customTimeouts: { create } } }));
    expect(failure).toBe(create === "0.4ms" ? failure : "");
    expect(failure).not.toMatch(/out of range|integer/);
  });
});

describe("retries", () => {
  test.each([0, 1, 2])("are %i at the most", async (maxRetries) => {
    emulator.fault = () => answer(500);
    await failureOf(get(client({ "uptime:maxRetries": String(maxRetries) })));
    expect(emulator.requests).toHaveLength(maxRetries + 1);
  });

  test.each<[string, Fault]>([
    ["a cut connection", { kind: "cut", effect: true }],
    ["half an answer", { kind: "truncate" }],
    ["502", answer(502)],
    ["503", answer(503)],
    ["408", answer(408)],
  ])("mend %s", async (_what, fault) => {
    first(fault);
    expect((await get(client())).status).toBe(200);
    expect(emulator.requests).toHaveLength(2);
  });

  test.each([400, 401, 403, 404, 409, 422, 501])("are not made after %i", async (status) => {
    emulator.fault = () => answer(status);
    expect(await failureOf(get(client()))).toContain(`status ${status}`);
    expect(emulator.requests).toHaveLength(1);
  });

  test("of a delete and of an update have their effect once", async () => {
    const one = new ModelStack("monitor", {
      "uptime:baseUrl": emulator.url,
      "uptime:apiKey": emulator.apiKey,
    });
    await one.up(home);
    first({ kind: "cut", effect: true });
    await one.up({ ...home, interval: 300 });
    expect(emulator.monitors.get(1)).toMatchObject({ interval: 300 });
    first({ kind: "cut", effect: true });
    await one.destroy();
    expect(emulator.monitors.size).toBe(0);
  });

  test("are made where nothing accepts connections, also of a create", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const one = client({ "uptime:maxRetries": "3" }, `http://127.0.0.1:${port}`);
    const created = one.send({
      method: "POST",
      path: "/api/v1/domains",
      form: [["name", "a.example"]],
      deadline: within(10_000),
    });
    const late = await Emulator.start({ port });
    try {
      expect((await created).status).toBe(201);
      expect(late.domains.size).toBe(1);
    } finally {
      await late.stop();
    }
  });
});
