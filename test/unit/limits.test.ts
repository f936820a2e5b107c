import type { Client, Answer } from "../../provider/api/client";
import type { Clock } from "../../provider/api/clock";
import { Operation } from "../../provider/api/operation";
import { RateLimiter } from "../../provider/api/rate-limit";
import type { Denial, EndedRequest, PendingRequest } from "../../provider/api/rate-limit";
import { monitor } from "../../provider/definitions/monitor";
import type { Fault } from "../../provider/emulator";
import { FrontSession } from "../../provider/engine/front-session";
import { hosted } from "../support/calls";
import { limitKinds } from "../support/limits";
import { clientOf } from "../support/client";
import { VirtualClock } from "../support/clock";
import { Program, times } from "../support/program";
import { answer, clock, emulator, failureOf, on, settingsOf, timeOf, withServer } from "../support/server";
import { home } from "../support/monitors";

withServer();

const client = (more: Record<string, string> = {}): Client => clientOf(settingsOf(more), clock);

/** A read, in an operation for which a person has set a time or not. */
const get = (of: Client, timeout?: number): Promise<Answer> =>
  of.send({ method: "GET", plural: "monitors", operation: new Operation({ clock }, { timeout }) });

/** The first requests are answered so, all others as usual. */
function first(...faults: (Fault | undefined)[]): void {
  emulator.fault = () => faults.shift();
}

/** Counts at each request how many are at the emulator, where each stays for so long; the first have these faults. */
function counted(delayMs: number, ...faults: Fault[]): number[] {
  const counts: number[] = [];
  let now = 0;
  emulator.fault = () => {
    counts.push(++now);
    void clock.sleep(delayMs).then(() => now--);
    return { ...(faults.shift() ?? { kind: "delay" }), delayMs };
  };
  return counts;
}

describe("uptime:maxConcurrency", () => {
  test.each([1, 3, 8])("allows %i requests at the same time", async (maxConcurrency) => {
    const counts = counted(10);
    const one = client({ "uptime:maxConcurrency": String(maxConcurrency) });
    await Promise.all(Array.from({ length: 40 }, () => get(one)));
    expect(Math.max(...counts)).toBe(maxConcurrency);
    expect(emulator.requests).toHaveLength(40);
  });

  test("is shared by resources of both kinds", async () => {
    const counts = counted(10);
    const program = new Program("dynamic", { "uptime:maxConcurrency": "2" });
    await Promise.all([
      ...Array.from({ length: 6 }, () => program.resource().up(home)),
      ...Array.from({ length: 6 }, (_, index) =>
        program.resource("domain").up({ name: `d${index}.example` }),
      ),
    ]);
    expect(Math.max(...counts)).toBe(2);
    expect([emulator.monitors.size, emulator.domains.size]).toEqual([6, 6]);
  });

  test("is one after a refusal, until the API accepts a request", async () => {
    const one = client();
    const refusal = answer(429, "", { "retry-after": "0" });
    const counts = counted(20, refusal, refusal);
    await Promise.all([get(one), get(one)]);
    await Promise.all(Array.from({ length: 40 }, () => get(one)));
    // Two are refused, one is tried, and then all go.
    expect(counts.slice(0, 3)).toEqual([1, 2, 1]);
    expect(Math.max(...counts)).toBe(8);
    expect(counts).toHaveLength(44);
  });

  test("keeps a request waiting only until the time of its operation is over", async () => {
    const one = client({ "uptime:maxConcurrency": "1" });
    first({ kind: "delay", delayMs: 3000 });
    const slow = get(one);
    while (emulator.requests.length === 0) await new Promise(setImmediate);
    const started = clock.now();
    const next = get(one);
    expect(await failureOf(get(one, 200))).toContain("customTimeouts");
    expect(clock.now() - started).toBeLessThan(2000);
    await Promise.all([slow, next]);
    expect(emulator.requests).toHaveLength(2);
  });
});

/** What a request ends with that is answered so. */
const ended = <T>(result: T, status = 200, headers: Record<string, string> = {}): EndedRequest<T> => ({
  result,
  response: { status, headers },
});

/** A request that is answered at once. */
const answered =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    Promise.resolve(ended(status, status, headers));

/** The error of a request that does not get its turn. */
const denied = (reason: Denial): Error => new Error(reason);

/** A limiter, on a clock of its own. */
function limiterOf(requestsPerMinute?: number, maxConcurrency = 8) {
  const clock = new VirtualClock();
  return { clock, limiter: new RateLimiter({ maxConcurrency, requestsPerMinute }, clock) };
}

/** A read of an operation without a time of its own. */
const read = (clock: Clock, operation = new Operation({ clock })): PendingRequest => ({
  operation,
  isWrite: false,
  since: clock.now(),
  denialError: denied,
});

describe("in a minute", () => {
  test.each([
    [1, 8],
    [10, 8],
    [60, 1],
    [60, 100],
  ])("begin at most %i requests, with %i at the same time", async (requestsPerMinute, maxConcurrency) => {
    const { clock, limiter } = limiterOf(requestsPerMinute, maxConcurrency);
    const started = clock.now();
    const begun: number[] = [];
    const send = () => limiter.run(read(clock), () => Promise.resolve(ended(begun.push(clock.now()))));
    await clock.until(Promise.all(Array.from({ length: requestsPerMinute * 3 }, send)));
    expect(begun).toHaveLength(requestsPerMinute * 3);
    for (const [index, moment] of begun.entries()) {
      const next = begun[index + requestsPerMinute];
      if (next !== undefined) expect(next - moment).toBeGreaterThanOrEqual(60_000);
    }
    expect(clock.now() - started).toBe(120_000);
  });

  describe("a wait is shown", () => {
    /** A limiter, what it shows of waits, each after how many seconds, and on which resource. */
    function shownBy(requestsPerMinute?: number) {
      const clock = new VirtualClock();
      const lines: [seconds: number, line: string, ...urn: string[]][] = [];
      const show = (line: string, urn?: string) =>
        lines.push([clock.now() / 1000, line, ...(urn === undefined ? [] : [urn])]);
      const limiter = new RateLimiter({ maxConcurrency: 8, requestsPerMinute }, clock, show);
      return { clock, lines, limiter };
    }
    const all = (count: number, send: (index: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: count }, (_, index) => send(index)));

    test("a second after it begins and then every twenty, with the time that is left and the requests done", async () => {
      const { clock, lines, limiter } = shownBy(60);
      await clock.until(all(150, () => limiter.run(read(clock), answered(200))));
      // Nobody waits any more, so nothing is shown any more.
      await clock.until(clock.sleep(300_000));
      expect(lines).toEqual([
        [1, "rate limit: 59 s, 60 of 150 done"],
        [21, "rate limit: 39 s, 60 of 150 done"],
        [41, "rate limit: 19 s, 60 of 150 done"],
        [61, "rate limit: 59 s, 120 of 150 done"],
        [81, "rate limit: 39 s, 120 of 150 done"],
        [101, "rate limit: 19 s, 120 of 150 done"],
      ]);
    });

    test("on several of the resources that wait, those whose requests are the youngest", async () => {
      const { clock, lines, limiter } = shownBy(1);
      // One that was refused is queued again behind younger ones.
      const ages = { sent: 5, third: 2, fourth: 1, second: 3, first: 4 };
      const send = ([urn, age]: [string, number]): Promise<unknown> => {
        const pending = read(clock, new Operation({ clock }, { urn }));
        return limiter.run({ ...pending, since: clock.now() - age }, answered(200));
      };
      await clock.until(Promise.all(Object.entries(ages).map(send)));
      const shown = lines.slice(0, 3).map(([, , urn]) => urn);
      expect(shown).toEqual(["second", "third", "fourth"]);
    });

    test.each([
      [9, []],
      [11, [[1, "rate limit: 10 s, 0 of 1 done"]]],
    ])("if it lasts more than ten seconds: %i", async (seconds, expected) => {
      const { clock, lines, limiter } = shownBy();
      const refused = read(clock);
      await clock.until(limiter.run(refused, answered(429, { "retry-after": String(seconds) })));
      await clock.until(limiter.run(refused, answered(200)));
      expect(lines).toEqual(expected);
    });

    test("if it lasts more than ten seconds in many short pauses", async () => {
      const { clock, lines, limiter } = shownBy();
      const limit = limitKinds.bucket(60, 60_000);
      const create = async (): Promise<void> => {
        const pending = read(clock);
        for (let isTaken = false; !isTaken;)
          isTaken = await limiter.run(pending, async () => {
            await clock.sleep(20);
            const { wait } = limit(clock.now());
            return ended(wait === 0, wait === 0 ? 200 : 429, wait === 0 ? {} : { "retry-after": "1" });
          });
      };
      await clock.until(all(120, create));
      const seconds = lines.map(([time]) => time);
      expect(seconds.length).toBeGreaterThan(1);
      // The pause that makes it longer is a second.
      expect(Math.min(...seconds)).toBeGreaterThanOrEqual(9);
      for (const [index, time] of seconds.slice(1).entries())
        expect(time - (seconds[index] ?? 0)).toBeGreaterThanOrEqual(20);
    });
  });

  test("a request that is made while the last one gives up is sent when the server accepts again", async () => {
    const { clock, limiter } = limiterOf();
    const started = clock.now();
    await clock.until(limiter.run(read(clock), answered(429, { "retry-after": "10" })));
    const leaving = new AbortController();
    let next: Promise<unknown> | undefined;
    const operation = new Operation({ clock, interruption: leaving.signal });
    const left = limiter.run(read(clock, operation), answered(200));
    leaving.signal.addEventListener("abort", () => {
      next = limiter.run(read(clock), answered(200));
    });
    leaving.abort();
    await expect(clock.until(left)).rejects.toThrow("ended");
    await clock.until(Promise.resolve(next));
    expect(clock.now() - started).toBe(10_000);
  });

  test("a request waits for its turn until the time of its operation is over", async () => {
    const one = client({ "uptime:requestsPerMinute": "2" });
    await get(one);
    await get(one);
    const started = clock.now();
    expect(await failureOf(get(one, 10_000))).toContain("customTimeouts");
    expect(clock.now() - started).toBe(10_000);
    expect(emulator.requests).toHaveLength(2);
  });
});

describe.each([429, 503])("%i with Retry-After is waited for", (status) => {
  test("for as many seconds as it says", async () => {
    first(answer(status, "", { "retry-after": "7" }));
    expect(await timeOf(get(client()))).toBe(7000);
  });

  test("for a second at least, twice as long with each further refusal, and does not count as a retry", async () => {
    first(...times(5, answer(status, "", { "retry-after": "0" })));
    expect(await timeOf(get(client({ "uptime:maxRetries": "0" })))).toBe(31_000);
    expect(emulator.requests).toHaveLength(6);
  });
});

test.each([
  ["a year", "31536000"],
  ["more seconds than a number holds", "9".repeat(400)],
])(
  "a pause of %s that is asked for after ten minutes of 429 does not keep a later request for longer",
  async (_, seconds) => {
    const one = client();
    emulator.fault = () => answer(429, "", { "retry-after": seconds });
    expect(await failureOf(get(one))).toContain("for ten minutes the server has refused all requests");
    emulator.fault = undefined;
    await clock.sleep(120_000);
    expect(await timeOf(get(one))).toBeLessThanOrEqual(600_000);
  },
);

test("429 of an hour ago does not make the pause after the next one longer", async () => {
  const one = client();
  emulator.fault = () => answer(429);
  await expect(get(one, 300_000)).rejects.toThrow(
    "Set uptime:requestsPerMinute to what the server allows. Then the operation timed out",
  );
  await clock.sleep(3_600_000);
  first(answer(429));
  expect(await timeOf(get(one))).toBe(1000);
});

test("503 without Retry-After is retried as long as others are served, as by the limit of nginx", async () => {
  const servedIn = new Map<number, number>();
  emulator.fault = () => {
    const second = Math.floor(clock.now() / 1000);
    const served = servedIn.get(second) ?? 0;
    if (served === 2) return answer(503);
    servedIn.set(second, served + 1);
    return undefined;
  };
  const one = client();
  await Promise.all(Array.from({ length: 40 }, () => get(one)));
  expect(Math.max(...servedIn.keys())).toBeLessThan(40);
});

test.each([408, 500, 502, 504])(
  "503 ends its retries although others are answered with %i",
  async (status) => {
    let count = 0;
    // Only requests that are never given up get so far.
    emulator.fault = () => (++count > 5000 ? undefined : answer(count % 8 === 0 ? status : 503));
    const one = client();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => get(one)));
    expect(results.map((result) => result.status)).toEqual(times(8, "rejected"));
    expect(emulator.requests).toHaveLength(8 * 6);
  },
);

test("503 with Retry-After to a create delays the looks for its record, which is not sent again", async () => {
  const program = new Program("dynamic");
  first(undefined, { kind: "answer", effect: true, status: 503, headers: { "retry-after": "7" } });
  expect(await timeOf(program.resource().up(home))).toBe(7000);
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET", "POST", "GET", "GET"]);
  expect(emulator.monitors.size).toBe(1);
});

describe("the time that customTimeouts gives to an operation", () => {
  test("ends retries before a pause that would exceed it", async () => {
    emulator.fault = () => answer(500);
    const started = clock.now();
    expect(await failureOf(get(client({ "uptime:maxRetries": "50" }), 1000))).toContain("status 500");
    expect(clock.now() - started).toBeLessThanOrEqual(1000);
  });

  test("ends a request, and is named once", async () => {
    emulator.fault = () => ({ kind: "delay", answerDelayMs: 5000 });
    expect(await failureOf(get(client(), 1000))).toMatch(
      /got no response in time: the operation timed out \(the option customTimeouts\)\.$/,
    );
    on("POST", { kind: "delay", answerDelayMs: 5000 });
    expect((await failureWithin("1s")).split("customTimeouts")).toHaveLength(2);
  });

  const failureWithin = (create: string): Promise<string> =>
    failureOf(new Program("dynamic").resource().up({ ...home, __options: { customTimeouts: { create } } }));

  test("holds for a read of what is not managed too", async () => {
    const { read } = hosted(monitor, settingsOf(), new FrontSession({ clock }));
    const id = String(emulator.monitors.add(home).id);
    emulator.fault = () => ({ kind: "delay", answerDelayMs: 5000 });
    const properties = { __options: { customTimeouts: { read: "1s" } } };
    expect(await failureOf(Promise.resolve(read(id, properties)))).toContain("customTimeouts");
  });

  test.each(["0.07m", "1.005s", "5000h"])("may be any duration (%s)", async (create) => {
    expect(await failureWithin(create)).toBe("");
  });

  test("may be less than a millisecond, which ends the create", async () => {
    emulator.fault = () => ({ kind: "delay", delayMs: 1 });
    expect(await failureWithin("0.4ms")).toContain("customTimeouts");
  });
});

describe("retries", () => {
  test.each([0, 1, 2])("are at most %i", async (maxRetries) => {
    emulator.fault = () => answer(500);
    await failureOf(get(client({ "uptime:maxRetries": String(maxRetries) })));
    expect(emulator.requests).toHaveLength(maxRetries + 1);
  });

  test("of an update and a delete have their effect once", async () => {
    const one = new Program("dynamic").resource();
    await one.up(home);
    first({ kind: "cut", effect: true });
    await one.up({ ...home, interval: 300 });
    expect(emulator.monitors.get(1)).toMatchObject({ interval: 300 });
    one.nextRun();
    first({ kind: "cut", effect: true });
    await one.destroy();
    expect(emulator.monitors.size).toBe(0);
  });
});
