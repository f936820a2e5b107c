import { systemClock } from "../../provider/api/clock";
import { Operation } from "../../provider/api/operation";
import type { Fault } from "../../provider/emulator";
import { fronts, Program, times } from "../support/program";
import { isList, lists, posts, sentRequests, storedIds } from "../support/sent";
import { answer, clock, emulator, failureOf, on, timeOf, withServer } from "../support/server";
import { home } from "../support/monitors";

const minutes = (count: number): number => count * 60_000;

afterEach(() => jest.useRealTimers());
withServer();

/** A monitor in state, in a new run. */
async function created(settings: Record<string, string> = {}) {
  const one = new Program("dynamic", settings).resource();
  await one.up(home);
  one.nextRun();
  emulator.forget();
  return one;
}

/** The server answers every request so, up to a moment from now. */
function until(milliseconds: number, fault: Fault): void {
  const end = clock.now() + milliseconds;
  emulator.fault = () => (clock.now() < end ? fault : undefined);
}

describe("an operation may take any time", () => {
  test("if the rate limit delays it", async () => {
    const one = await created();
    until(minutes(8), answer(429, "", { "retry-after": "150" }));
    expect(await timeOf(one.up({ ...home, interval: 300 }))).toBeGreaterThan(minutes(7));
    expect(emulator.monitors.get(1)).toMatchObject({ interval: 300 });
  });

  test("if each of its requests takes long", async () => {
    emulator.dialect = { updateAnswer: "empty" };
    const one = await created({ "uptime:timeoutSeconds": "300" });
    emulator.fault = () => ({ kind: "delay", answerDelayMs: 250_000 });
    expect(await timeOf(one.up({ ...home, interval: 300 }))).toBeGreaterThan(minutes(8));
    expect(one.state?.outputs.interval).toBe(300);
  });

  test("but customTimeouts counts everything: waits, requests and verification", async () => {
    emulator.dialect = { updateAnswer: "empty" };
    const one = await created({ "uptime:timeoutSeconds": "300" });
    const inputs = { ...home, interval: 300, __options: { customTimeouts: { update: "100s" } } };
    emulator.fault = ({ method }) => ({ kind: "delay", answerDelayMs: method === "GET" ? 90_000 : 60_000 });
    expect(await timeOf(failureOf(one.up(inputs)))).toBeLessThanOrEqual(101_000);
  });
});

test("an operation is over when its timer ends, also if that is a little early on the clock", () => {
  let now = 0;
  const timer = new AbortController();
  const operation = new Operation(
    { clock: { ...systemClock, now: () => now, timeout: () => timer.signal } },
    { timeout: 100 },
  );
  expect([operation.waitSignal?.aborted, operation.mayBegin(false)]).toEqual([false, true]);
  now = 99.6;
  timer.abort();
  expect([operation.waitSignal?.aborted, operation.mayBegin(false)]).toEqual([true, false]);
});

test("an operation whose time is over does not begin to wait for work of others", async () => {
  const operation = new Operation(
    { clock: { ...systemClock, timeout: () => AbortSignal.abort() } },
    { timeout: 100 },
  );
  const endless = new Promise<never>(() => undefined);
  await expect(operation.inTime(endless)).rejects.toThrow("customTimeouts");
});

test("an update that customTimeouts ends is sent again by the next up", async () => {
  const one = new Program("dynamic").resource();
  const inputs = { ...home, __options: { customTimeouts: { update: "5s" } } };
  await one.up(inputs);
  on("PATCH", { kind: "delay", answerDelayMs: 10_000 });
  expect(await failureOf(one.up({ ...inputs, interval: 300 }))).toContain(
    "the next `pulumi up` sends the update again",
  );
  emulator.fault = undefined;
  expect(await one.up(inputs)).toBe("update");
  expect(emulator.monitors.get(1)).toMatchObject({ interval: home.interval });
});

test("customTimeouts of one create does not end another that waits for the same list", async () => {
  const [hurried, other] = new Program("dynamic", { "uptime:timeoutSeconds": "300" }).resources();
  on(isList, { kind: "delay", answerDelayMs: 60_000 });
  const failed = failureOf(hurried.up({ ...home, __options: { customTimeouts: { create: "5s" } } }));
  const made = failureOf(other.up({ ...home, name: "Other" }));
  expect(await failed).toContain("customTimeouts");
  expect(await made).toBe("");
  expect([lists(), storedIds()]).toEqual([1, ["1"]]);
});

test("timeoutSeconds is the only time of a request, also above five minutes", async () => {
  jest.useFakeTimers({
    doNotFake: [
      "Date",
      "hrtime",
      "nextTick",
      "performance",
      "queueMicrotask",
      "setImmediate",
      "clearImmediate",
    ],
  });
  const one = new Program("dynamic", { "uptime:timeoutSeconds": "600" }).resource();
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  emulator.fault = async ({ method }) => {
    if (method === "POST") await held;
    return undefined;
  };
  const done = failureOf(one.up(home));
  while (posts() === 0) await new Promise(setImmediate);
  await jest.advanceTimersByTimeAsync(400_000);
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  go();
  expect(await done).toBe("");
  // Nothing was looked for, and nothing was sent again.
  expect([lists(), posts()]).toEqual([1, 1]);
  expect(storedIds()).toEqual(["1"]);
});

describe.each(fronts)("a server that answers nothing but (%s)", (front) => {
  test.each([429, 503])("%i for ten minutes fails everything that waits for it", async (status) => {
    until(minutes(60), answer(status, "", { "retry-after": "30" }));
    const program = new Program(front);
    const all = Array.from({ length: 5 }, () => program.resource());
    const begun = clock.now();
    const failures = await Promise.all(
      all.map((one, index) => failureOf(one.up({ ...home, name: `Home ${index}` }))),
    );
    for (const failure of failures) expect(failure).toContain(`status ${status}`);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(minutes(10));
    expect(clock.now() - begun).toBeLessThanOrEqual(minutes(11));
  });
});

test.each([
  [
    "limits for ten minutes, and is unavailable in between,",
    [answer(429, "", { "retry-after": "30" }), answer(503)],
  ],
  ["is unavailable for ten minutes", [answer(503)]],
])("a server that %s fails what waits for it, however many retries there are", async (_what, faults) => {
  const one = new Program("dynamic", { "uptime:maxRetries": "100" }).resource();
  emulator.fault = () => faults[emulator.requests.length % faults.length];
  const begun = clock.now();
  expect(await failureOf(one.up(home))).toContain("for ten minutes the server has refused all requests");
  expect(clock.now() - begun).toBeLessThanOrEqual(minutes(11));
});

test.each([429, 503])(
  "%i with Retry-After: 3600 is waited for no longer than ten minutes",
  async (status) => {
    const one = await created();
    until(minutes(60), answer(status, "", { "retry-after": "3600" }));
    expect(await timeOf(failureOf(one.up({ ...home, interval: 300 })))).toBe(minutes(10));
    expect(sentRequests()).toEqual(times(2, "PATCH /api/v1/monitors/1"));
    // What comes later is not held up again.
    expect(await timeOf(failureOf(one.up({ ...home, interval: 300 })))).toBe(0);
  },
);

test("a server that limits for less than ten minutes gets the request, whatever Retry-After said", async () => {
  const one = await created();
  until(minutes(9), answer(429, "", { "retry-after": "3600" }));
  expect(await timeOf(one.up({ ...home, interval: 300 }))).toBe(minutes(10));
});

test("a refusal has nothing to do with one before it if nothing was sent in between", async () => {
  const one = await created({ "uptime:maxRetries": "0" });
  on("PATCH", answer(503));
  expect(await failureOf(one.up({ ...home, interval: 300 }))).toContain("status 503");
  await clock.sleep(minutes(11));
  until(1000, answer(429, "", { "retry-after": "5" }));
  await one.up({ ...home, interval: 300 });
  expect(emulator.monitors.get(1)).toMatchObject({ interval: 300 });
});

test("a request that is served gives the server ten more minutes", async () => {
  emulator.dialect = { updateAnswer: "empty" };
  const one = await created();
  const limited = answer(429, "", { "retry-after": "20" });
  const begun = clock.now();
  let served = 0;
  emulator.fault = () => {
    if (clock.now() - begun < minutes(9) * (served + 1)) return limited;
    served++;
    return undefined;
  };
  await one.up({ ...home, interval: 300 });
  expect(clock.now() - begun).toBeGreaterThanOrEqual(minutes(18));
});
