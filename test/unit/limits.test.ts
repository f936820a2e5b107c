import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

import { Client } from "../../provider/api/client";
import type { Answer } from "../../provider/api/client";
import { systemClock } from "../../provider/api/clock";
import type { Clock } from "../../provider/api/clock";
import { Limiter } from "../../provider/api/limiter";
import type { Ended } from "../../provider/api/limiter";
import { deadlineAfter } from "../../provider/api/deadline";
import type { Deadline } from "../../provider/api/deadline";
import { readSettings } from "../../provider/api/settings";
import { Emulator } from "../../provider/emulator";
import type { Fault } from "../../provider/emulator";
import { limitKinds, limitTellings, neededTime } from "../../provider/emulator/limited";
import { Session } from "../../provider/lifecycle/session";
import { NetworkClock, VirtualClock } from "../support/clock";
import { dynamicProcess, ModelStack } from "../support/model";
import { sample } from "../support/size";

const home = { name: "Home", url: "https://example.com/", interval: 60 };

let clock: NetworkClock;
let emulator: Emulator;
beforeEach(async () => {
  clock = new NetworkClock();
  emulator = await Emulator.start({ sleep: clock.hold });
});
afterEach(() => {
  clock.stop();
  return emulator.stop();
});

function client(config: Record<string, string> = {}, url = emulator.url, time: Clock = clock): Client {
  const all: Record<string, string> = {
    "uptime:baseUrl": url,
    "uptime:apiKey": emulator.apiKey,
    ...config,
  };
  const settings = readSettings({ get: (name) => all[name] }, {});
  return new Client(settings.baseUrl, settings, { clock: time });
}

const within = (milliseconds: number): Deadline => deadlineAfter(milliseconds, { clock });
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
  const started = clock.now();
  await operation;
  return clock.now() - started;
}

const failureOf = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** Counts the requests that are at the emulator at the same time; each stays there for so long. */
function counted(delayMs: number): { most: number } {
  const count = { now: 0, most: 0 };
  emulator.fault = () => {
    count.most = Math.max(count.most, ++count.now);
    void clock.sleep(delayMs).then(() => count.now--);
    return { kind: "delay", delayMs };
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
    const together = dynamicProcess(new Session({ clock }));
    const monitors = new ModelStack("monitor", config, {}, undefined, together);
    const domains = new ModelStack("domain", config, {}, undefined, together);
    await Promise.all([
      ...Array.from({ length: 6 }, () => monitors.beside().up(home)),
      ...Array.from({ length: 6 }, (_, index) => domains.beside().up({ name: `d${index}.example` })),
    ]);
    expect(count.most).toBe(2);
    expect([emulator.monitors.size, emulator.domains.size]).toEqual([6, 6]);
  });

  test("there is one once the API has said that it limits, and one more with each that it takes", async () => {
    const one = client();
    await get(one);
    const most: number[] = [];
    let now = 0;
    emulator.fault = () => {
      most.push(++now);
      void clock.sleep(20).then(() => now--);
      const isFirst = most.length === 1;
      return { ...(isFirst ? answer(429, { "retry-after": "0" }) : { kind: "delay" }), delayMs: 20 };
    };
    await get(one);
    await Promise.all(Array.from({ length: 40 }, () => get(one)));
    expect(most.slice(0, 2)).toEqual([1, 1]);
    expect(Math.max(...most.slice(0, 5))).toBeLessThan(4);
    expect(Math.max(...most)).toBe(8);
  });

  test("a request that waits for its turn is given up at its deadline", async () => {
    const one = client({ "uptime:maxConcurrency": "1" });
    first({ kind: "delay", delayMs: 3000 });
    const slow = get(one);
    while (emulator.requests.length === 0) await new Promise(setImmediate);
    const started = clock.now();
    const next = get(one);
    expect(await failureOf(get(one, 200))).toContain("was given up: the operation has used its time");
    expect(clock.now() - started).toBeLessThan(2000);
    await Promise.all([slow, next]);
    expect(emulator.requests).toHaveLength(2);
  });
});

/** What a request ends with that is answered so. */
const ended = <T>(result: T, status = 200, headers: Record<string, string> = {}): Ended<T> => ({
  result,
  answer: { status, headers },
});

/** A request that is answered at once. */
const answered =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    Promise.resolve(ended(status, status, headers));

const forever = (): Deadline => ({ signal: new AbortController().signal, at: Infinity });

describe("in a minute", () => {
  test.each([
    [1, 8],
    [10, 8],
    [60, 1],
    [60, 100],
  ])(
    "begin no more than %i requests, with %i at the same time",
    async (requestsPerMinute, maxConcurrency) => {
      const clock = new VirtualClock();
      const started = clock.now();
      const limiter = new Limiter({ maxConcurrency, requestsPerMinute }, clock);
      const begun: number[] = [];
      await clock.until(
        Promise.all(
          Array.from({ length: requestsPerMinute * 3 }, () =>
            limiter.run(forever(), () => Promise.resolve(ended(begun.push(clock.now())))),
          ),
        ),
      );
      expect(begun).toHaveLength(requestsPerMinute * 3);
      for (const [index, moment] of begun.entries()) {
        const next = begun[index + requestsPerMinute];
        if (next !== undefined) expect(next - moment).toBeGreaterThanOrEqual(60_000);
      }
      expect(clock.now() - started).toBe(120_000);
    },
  );

  describe.each(Object.keys(limitKinds) as (keyof typeof limitKinds)[])(
    "a server that limits by a %s",
    (kind) => {
      const perMinute = 100;
      // What a person has set is kept to in any minute, whatever a server may allow beyond it.
      const cases = [
        ...(Object.keys(limitTellings) as (keyof typeof limitTellings)[]).map(
          (telling) => [telling, undefined, kind] as const,
        ),
        ["nothing", perMinute, "sliding"] as const,
      ];

      test.each(cases)(
        "and says %s is asked little longer than it takes (uptime:requestsPerMinute: %s)",
        async (telling, requestsPerMinute, needed) => {
          for (const requests of sample([201], [201, 500, 1000], [201, 500, 1000])) {
            const clock = new VirtualClock();
            const started = clock.now();
            const limit = limitKinds[kind](perMinute, 60_000);
            const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute }, clock);
            let sent = 0;
            const one = async (index: number): Promise<void> => {
              let isTaken: boolean | undefined = false;
              while (isTaken === false)
                isTaken = await limiter.run(forever(), async () => {
                  sent++;
                  await clock.sleep(5 + ((sent + index) % 7));
                  const verdict = limit(clock.now());
                  const isTaken = verdict.wait === 0;
                  return ended(isTaken, isTaken ? 201 : 429, limitTellings[telling](verdict, clock.date()));
                });
            };
            await clock.until(Promise.all(Array.from({ length: requests }, (_, index) => one(index))));
            const least = neededTime(limitKinds[needed](perMinute, 60_000), requests, started);
            // A limit that says nothing is found by asking, and a bucket that is empty is asked before each request.
            const isTold = telling !== "nothing" || requestsPerMinute !== undefined;
            expect((clock.now() - started) / least).toBeLessThanOrEqual(isTold ? 1.1 : 1.15);
            expect(sent / requests).toBeLessThanOrEqual(kind === "bucket" ? 2.5 : 1.15);
          }
        },
      );
    },
  );

  describe("nothing is learned of a limit", () => {
    test.each([
      ["from a refusal after a long pause", 600_000, 429],
      ["from a server that is unavailable for a moment", 0, 503],
    ])("%s", async (_when, pause, status) => {
      const clock = new VirtualClock();
      const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute: undefined }, clock);
      const send = (answered: number): Promise<unknown> =>
        limiter.run(forever(), async () => {
          await clock.sleep(50);
          return ended(undefined, answered, answered < 400 ? {} : { "retry-after": "1" });
        });
      const many = (count: number) => Promise.all(Array.from({ length: count }, () => send(200)));
      await clock.until(many(20));
      await clock.until(clock.sleep(pause));
      const started = clock.now();
      await clock.until(send(status));
      await clock.until(many(200));
      expect(clock.now() - started).toBeLessThan(5000);
    });
  });

  describe("an operation gets back", () => {
    /** An operation without a time of its own, and how much it was given back. */
    const operation = (clock: VirtualClock): { deadline: Deadline; given: () => number } => {
      const deadline = deadlineAfter(undefined, { clock });
      const { at } = deadline;
      return { deadline, given: () => deadline.at - at };
    };

    test("the time once for which all its requests have waited together", async () => {
      const clock = new VirtualClock();
      const started = clock.now();
      const limiter = new Limiter({ maxConcurrency: 1, requestsPerMinute: undefined }, clock);
      const { deadline: one, given } = operation(clock);
      const send = () =>
        limiter.run(one, async () => {
          await clock.sleep(1000);
          return ended(undefined);
        });
      await clock.until(Promise.all(Array.from({ length: 50 }, send)));
      expect(given()).toBeGreaterThan(40_000);
      expect(given()).toBeLessThanOrEqual(clock.now() - started);
    });

    test("nothing for requests that were not answered", async () => {
      const clock = new VirtualClock();
      const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute: undefined }, clock);
      const { deadline: one, given } = operation(clock);
      for (let tried = 0; tried < 3; tried++)
        await clock.until(limiter.run(one, () => clock.sleep(60_000).then(() => ({ result: undefined }))));
      await clock.until(limiter.run(one, answered(200)));
      expect(given()).toBe(0);
    });
  });

  test("a request that comes as the last one gives up is served when the server accepts again", async () => {
    const clock = new VirtualClock();
    const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute: undefined }, clock);
    const started = clock.now();
    await clock.until(limiter.run(forever(), answered(429, { "retry-after": "10" })));
    const leaving = new AbortController();
    let next: Promise<unknown> | undefined;
    const left = limiter.run({ signal: leaving.signal, at: Infinity }, answered(200));
    leaving.signal.addEventListener("abort", () => {
      next = limiter.run(forever(), answered(200));
    });
    leaving.abort();
    await clock.until(left);
    await clock.until(Promise.resolve(next));
    expect(clock.now() - started).toBe(10_000);
  });

  test("a limit that is no more is forgotten", async () => {
    const clock = new VirtualClock();
    const limit = limitKinds.window(100, 60_000);
    const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute: undefined }, clock);
    const started = clock.now();
    let most = 0;
    let running = 0;
    const send = (): Promise<boolean | undefined> =>
      limiter.run(forever(), async () => {
        running++;
        if (clock.now() > started + 60_000) most = Math.max(most, running);
        await clock.sleep(50);
        running--;
        const wait = clock.now() < started + 60_000 ? limit(clock.now()).wait : 0;
        return wait > 0 ? ended(false, 429, { "retry-after": String(Math.ceil(wait / 1000)) }) : ended(true);
      });
    const one = async (): Promise<void> => {
      while (!(await send()));
    };
    await clock.until(Promise.all(Array.from({ length: 2000 }, one)));
    expect(most).toBe(8);
    expect(clock.now() - started).toBeLessThan(120_000);
  });

  test("more are not waited for when the operation would be over by then: an error at once that says so", async () => {
    const one = client({ "uptime:requestsPerMinute": "2" });
    await get(one);
    await get(one);
    const started = clock.now();
    expect(await failureOf(get(one))).toMatch(
      /^GET .*\/api\/v1\/monitors was not sent: no more requests are allowed before the operation's time is over \(see the option customTimeouts, and the setting uptime:requestsPerMinute\)\.$/,
    );
    expect(clock.now() - started).toBe(0);
    expect(emulator.requests).toHaveLength(2);
  });
});

describe("429 is waited for", () => {
  test("as long as Retry-After says, in seconds", async () => {
    first(answer(429, { "retry-after": "1" }));
    expect(await took(get(client()))).toBe(1000);
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
      expect(await took(get(client()))).toBe(1000);
    },
  );

  test("until X-RateLimit-Reset, in seconds to go", async () => {
    first(answer(429, { "x-ratelimit-reset": "1" }));
    expect(await took(get(client()))).toBe(1000);
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
    const one = new ModelStack("monitor", config, {}, clock);
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

describe("the time of an operation that the person has not set", () => {
  test.each([
    ["and the person says so", 1, undefined],
    ["and says so when asked too much", undefined, "60"],
    ["and never says so", undefined, undefined],
  ])(
    "does not run while others are served: sixty creates where one a minute is allowed, %s",
    async (_how, set, told) => {
      const clock = new VirtualClock();
      const limit = limitKinds.sliding(1, 60_000);
      const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute: set }, clock);
      const create = async (): Promise<string> => {
        const time = deadlineAfter(undefined, { clock });
        for (let done = 0; done < 2;) {
          const status = await limiter.run(time, async () => {
            await clock.sleep(20);
            const isTaken = limit(clock.now()).wait === 0;
            return ended(
              isTaken,
              isTaken ? 200 : 429,
              told !== undefined && !isTaken ? { "retry-after": told } : {},
            );
          });
          if (status === undefined) return "given up";
          if (status) done++;
        }
        return "done";
      };
      const results = await clock.until(Promise.all(Array.from({ length: 60 }, create)));
      expect(new Set(results)).toEqual(new Set(["done"]));
    },
  );

  test("runs while nobody is served", async () => {
    const clock = new VirtualClock();
    const started = clock.now();
    const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute: undefined }, clock);
    const create = async (): Promise<undefined> => {
      const time = deadlineAfter(undefined, { clock });
      for (;;) {
        const status = await limiter.run(time, answered(429, { "retry-after": "30" }));
        if (status === undefined) return;
      }
    };
    await clock.until(Promise.all(Array.from({ length: 20 }, create)));
    expect(clock.now() - started).toBeGreaterThan(200_000);
    expect(clock.now() - started).toBeLessThanOrEqual(300_000);
  });

  test("is five minutes; what a person has set does not change", () => {
    const clock = new VirtualClock(1000);
    const free = deadlineAfter(undefined, { clock });
    expect(free.at).toBe(301_000);
    free.extend?.(2000, 5000);
    free.extend?.(3000, 6000);
    free.extend?.(2000, 4000);
    expect(free.at).toBe(305_000);
    expect(deadlineAfter(60_000, { clock }).extend).toBeUndefined();
  });
});

test("a request that is given up leaves no timer behind", async () => {
  const clock = new VirtualClock();
  const limiter = new Limiter({ maxConcurrency: 8, requestsPerMinute: 1 }, clock);
  const send = (signal: AbortSignal): Promise<unknown> =>
    limiter.run({ signal, at: Infinity }, answered(200));
  await send(new AbortController().signal);
  const over = new AbortController();
  const waiting = send(over.signal);
  expect(clock.pending).toBe(1);
  over.abort();
  expect(await waiting).toBeUndefined();
  expect(clock.pending).toBe(0);
});

describe("the deadline of an operation", () => {
  const config = (): Record<string, string> => ({
    "uptime:baseUrl": emulator.url,
    "uptime:apiKey": emulator.apiKey,
  });
  const quick = { ...home, __options: { customTimeouts: { create: "2s" } } };

  test("that a wait would exceed is an error at once, which says so", async () => {
    emulator.fault = () => answer(429, { "retry-after": "60" });
    const started = clock.now();
    expect(await failureOf(new ModelStack("monitor", config(), {}, clock).up(quick))).toMatch(
      /status 429.*Then GET .* was not sent: no more requests are allowed before the operation's time is over \(see the option customTimeouts/s,
    );
    expect(clock.now() - started).toBe(0);
    expect(emulator.requests).toHaveLength(1);
  });

  test("ends a request that is not answered", async () => {
    emulator.fault = () => ({ kind: "delay", delayMs: 5000 });
    const started = clock.now();
    expect(await failureOf(get(client(), 500))).toMatch(
      /was given up: the operation has used its time \(see the option customTimeouts\)/,
    );
    expect(clock.now() - started).toBe(500);
  });

  test("ends retries before a pause that would exceed it", async () => {
    emulator.fault = () => answer(500);
    const started = clock.now();
    expect(await failureOf(get(client({ "uptime:maxRetries": "50" }), 1000))).toContain("status 500");
    expect(clock.now() - started).toBeLessThanOrEqual(1000);
  });

  test.each(["0.07m", "1.005s", "5000h", "0.4ms"])("may be any duration (%s)", async (create) => {
    const one = new ModelStack("monitor", config(), {}, clock);
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
    const one = new ModelStack(
      "monitor",
      {
        "uptime:baseUrl": emulator.url,
        "uptime:apiKey": emulator.apiKey,
      },
      {},
      clock,
    );
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
    // In real time, which the other server needs to start.
    const one = client({ "uptime:maxRetries": "3" }, `http://127.0.0.1:${port}`, systemClock);
    const created = one.send({
      method: "POST",
      path: "/api/v1/domains",
      form: [["name", "a.example"]],
      deadline: deadlineAfter(10_000),
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
