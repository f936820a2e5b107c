import { Emulator } from "../../provider/emulator";
import type { Fault } from "../../provider/emulator";
import { NetworkClock } from "../support/clock";
import { ModelStack } from "../support/model";
import type { Inputs } from "../support/model";

/** Milliseconds between two looks for a lost create. */
const lookPause = 5000;
const shortTimeout = { "uptime:timeoutSeconds": "20" };

const declared = {
  monitor: { name: "Home", url: "https://example.com/", interval: 60 },
  domain: { name: "example.com" },
};
const kinds = ["monitor", "domain"] as const;

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

function stack(kind: "monitor" | "domain" = "monitor", config: Record<string, string> = {}): ModelStack {
  const settings = { "uptime:baseUrl": emulator.url, "uptime:apiKey": emulator.apiKey };
  return new ModelStack(kind, { ...settings, "uptime:timeoutSeconds": "600", ...config }, {}, clock);
}

const posts = (): number => emulator.writes().filter(({ method }) => method === "POST").length;
const ids = (kind: "monitor" | "domain" = "monitor"): string[] =>
  emulator[`${kind}s`].all().map(({ id }) => String(id));
const looks = (): number =>
  emulator.requests.filter(({ method, path }) => method === "GET" && path.endsWith("s")).length;

/** The first create misbehaves, or the first ones, each in its way. */
function onCreate(...faults: (Fault | undefined)[]): void {
  const left = [...faults];
  emulator.fault = ({ method }) => (method === "POST" ? left.shift() : undefined);
}

async function failureOf(operation: Promise<unknown>): Promise<string> {
  return operation.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe.each(kinds)("a lost answer to the create of a %s", (kind) => {
  const lost: [string, Fault][] = [
    ["the connection is cut", { kind: "cut", effect: true }],
    ["a proxy answers 504", { kind: "answer", effect: true, status: 504, body: "<h1>Gateway Timeout</h1>" }],
    ["the server fails with 500", { kind: "answer", effect: true, status: 500, body: { message: "boom" } }],
    ["a proxy answers 503 without Retry-After", { kind: "answer", effect: true, status: 503, body: "" }],
    ["the body is truncated", { kind: "truncate" }],
    ["the answer is not JSON", { kind: "answer", effect: true, status: 200, body: "<html>Hello</html>" }],
  ];

  test.each(lost)("where %s after the effect: found, one record, no second POST", async (_how, fault) => {
    onCreate(fault);
    const one = stack(kind);
    await one.up(declared[kind]);
    expect(ids(kind)).toEqual([one.state?.id]);
    expect(posts()).toBe(1);
    expect(await one.preview(declared[kind])).toBe("same");
  });

  test.each<[string, Fault]>([
    ["the connection is cut", { kind: "cut", effect: false }],
    ["a proxy answers 502", { kind: "answer", effect: false, status: 502 }],
  ])("where %s before the effect: sent again after two looks, one record", async (_how, fault) => {
    onCreate(fault);
    const one = stack(kind);
    const started = clock.now();
    await one.up(declared[kind]);
    expect(clock.now() - started).toBeGreaterThanOrEqual(lookPause);
    expect(ids(kind)).toEqual([one.state?.id]);
    expect(emulator.requests.slice(0, 5).map(({ method }) => method)).toEqual([
      "GET",
      "POST",
      "GET",
      "GET",
      "POST",
    ]);
  });

  test("is not looked for where the API refused the create", async () => {
    onCreate({ kind: "answer", effect: false, status: 422, body: { message: "No." } });
    await expect(stack(kind).up(declared[kind])).rejects.toThrow("status 422");
    expect([posts(), looks()]).toEqual([1, 1]);
  });

  test("that comes after our own timeout: looked for, found, never sent twice", async () => {
    onCreate({ kind: "delay", answerDelayMs: 32_000 });
    const one = stack(kind, shortTimeout);
    await one.up(declared[kind]);
    expect(ids(kind)).toEqual([one.state?.id]);
    expect(posts()).toBe(1);
  });

  test("whose effect comes after our own timeout is waited for", async () => {
    onCreate({ kind: "delay", delayMs: 28_000 });
    const one = stack(kind, shortTimeout);
    await one.up(declared[kind]);
    expect(ids(kind)).toEqual([one.state?.id]);
    expect(posts()).toBe(1);
    expect(looks()).toBeGreaterThan(2);
  });
});

test("a create that is cut again and again is sent again a few times, then it is an error", async () => {
  emulator.fault = ({ method }) => (method === "POST" ? { kind: "cut", effect: false } : undefined);
  expect(await failureOf(stack().up(declared.monitor))).toMatch(
    /POST .* failed: .* Whether the monitor was created is not known: look for it/s,
  );
  expect(posts()).toBeLessThanOrEqual(6);
  expect(emulator.monitors.size).toBe(0);
});

describe("two equal creates at the same time", () => {
  const home = declared.monitor;
  const cases: [string, Fault, Fault | undefined][] = [
    ["cut after the effect", { kind: "cut", effect: true }, { kind: "delay", answerDelayMs: 4000 }],
    ["cut before the effect", { kind: "cut", effect: false }, { kind: "delay", answerDelayMs: 4000 }],
    [
      "cut after the effect, late",
      { kind: "cut", effect: true, answerDelayMs: 1200 },
      { kind: "delay", answerDelayMs: 4000 },
    ],
    [
      "cut before the effect, late",
      { kind: "cut", effect: false, answerDelayMs: 1200 },
      { kind: "delay", answerDelayMs: 4000 },
    ],
    [
      "answered with 504",
      { kind: "answer", effect: true, status: 504 },
      { kind: "delay", delayMs: 3000, answerDelayMs: 1000 },
    ],
    ["cut, and the other is cut", { kind: "cut", effect: true }, { kind: "cut", effect: true }],
    ["cut, and the other without effect", { kind: "cut", effect: true }, { kind: "cut", effect: false }],
    ["cut, and the other is quick", { kind: "cut", effect: true }, undefined],
  ];

  test.each(cases)(
    "one answer is lost (%s), the other slow: two records, two ids",
    async (_how, ...faults) => {
      for (const order of [faults, faults.toReversed()]) {
        onCreate(...order);
        const one = stack();
        const two = one.beside();
        const before = ids();
        await Promise.all([one.up(home), two.up(home)]);
        const made = ids().filter((id) => !before.includes(id));
        expect(made).toHaveLength(2);
        expect([one.state?.id, two.state?.id].sort()).toEqual(made.sort());
      }
    },
  );

  test("and six of them, four lost in four ways", async () => {
    onCreate(
      { kind: "cut", effect: true },
      { kind: "delay", answerDelayMs: 6000 },
      { kind: "cut", effect: false, answerDelayMs: 2000 },
      { kind: "answer", effect: true, status: 502, answerDelayMs: 1000 },
      { kind: "truncate", answerDelayMs: 4000 },
    );
    const first = stack();
    const all = [first, ...Array.from({ length: 5 }, () => first.beside())];
    await Promise.all(all.map((one) => one.up(home)));
    expect(all.map(({ state }) => state?.id).sort()).toEqual(ids().sort());
    expect(emulator.monitors.size).toBe(6);
  });
});

describe("what somebody else creates meanwhile", () => {
  const home = declared.monitor;

  test.each([{ name: "Other" }, { interval: 300 }])(
    "is not taken where it differs (%j)",
    async (difference) => {
      let left = 1;
      emulator.fault = ({ method }) => {
        if (method !== "POST" || left-- === 0) return undefined;
        emulator.monitors.add({ ...home, ...difference });
        return { kind: "cut", effect: false };
      };
      const one = stack();
      await one.up({ ...home, alertChannelIds: [4] });
      expect(emulator.monitors.size).toBe(2);
      expect(one.state?.id).toBe("2");
      expect(emulator.monitors.get(2)).toMatchObject({ name: "Home", interval: 60, alert_channel_ids: [4] });
    },
  );

  test("is taken where only what is not required differs: the API may not have stored it", async () => {
    emulator.fault = ({ method }) => {
      if (method !== "POST") return undefined;
      emulator.monitors.add({ ...home, alert_channel_ids: [5] });
      return { kind: "cut", effect: false };
    };
    const one = stack();
    expect(await failureOf(one.up({ ...home, alertChannelIds: [4] }))).toContain(
      "The Monitor was created with the id 1, but the API took these properties and did not store them: " +
        "alertChannelIds was sent as [4] and is [5].",
    );
    expect(one.state?.id).toBe("1");
    expect(posts()).toBe(1);
  });

  test("and what was there before, is not taken even where it is equal", async () => {
    emulator.monitors.add(home);
    onCreate({ kind: "cut", effect: false });
    const one = stack();
    await one.up(home);
    expect(one.state?.id).toBe("2");
  });
});

describe("when nothing is found", () => {
  const home: Inputs = {
    ...declared.monitor,
  };
  const withTime = (create: string): Inputs => ({ ...home, __options: { customTimeouts: { create } } });
  const unknown =
    /Whether the monitor was created is not known: look for it in the web UI before you run `pulumi up` again/;

  test("after our own timeout: an error that says what to do, within the deadline, and no second POST", async () => {
    onCreate({ kind: "cut", effect: false, answerDelayMs: 60_000 });
    const started = clock.now();
    const failure = await failureOf(stack("monitor", shortTimeout).up(withTime("40s")));
    expect(clock.now() - started).toBeLessThanOrEqual(40_000);
    expect(failure).toMatch(/was not answered within 20 seconds \(uptime:timeoutSeconds\)/);
    expect(failure).toMatch(unknown);
    expect(posts()).toBe(1);
    expect(looks()).toBeGreaterThan(3);
  });

  test("and the deadline ends the create itself: time is left to find what it has made", async () => {
    onCreate({ kind: "delay", answerDelayMs: 60_000 });
    const started = clock.now();
    const one = stack();
    await one.up(withTime("30s"));
    expect(clock.now() - started).toBeLessThan(30_000);
    expect(ids()).toEqual([one.state?.id]);
    expect(posts()).toBe(1);
  });

  test("because the list cannot be read: an error with both reasons, and no second POST", async () => {
    let sent = false;
    emulator.fault = ({ method }) => {
      if (method === "POST") sent = true;
      if (method === "POST") return { kind: "cut", effect: true };
      return sent ? { kind: "answer", effect: false, status: 403, body: { message: "Not you." } } : undefined;
    };
    const failure = await failureOf(stack().up(withTime("42s")));
    expect(failure).toMatch(/POST .* was cut .*Then looking for it failed: GET .* status 403: Not you\./s);
    expect(failure).toMatch(unknown);
    expect(posts()).toBe(1);
  });

  test("because an equal create in flight may have made it, and takes longer: an error within the deadline", async () => {
    onCreate({ kind: "delay", answerDelayMs: 50_000 }, { kind: "cut", effect: true });
    const slow = stack();
    const hurried = slow.beside();
    const first = slow.up(home);
    while (posts() === 0) await new Promise(setImmediate);
    const failure = await failureOf(hurried.up(withTime("20s")));
    // The other one is still waiting for its answer.
    expect(slow.state).toBeUndefined();
    expect(failure).toMatch(/POST .* was cut .*Then looking for it failed: The operation has used its time/s);
    expect(failure).toMatch(unknown);
    await first;
    expect(posts()).toBe(2);
  });

  test("a create is not sent at all where the list before it cannot be read", async () => {
    emulator.fault = () => ({ kind: "answer", effect: false, status: 403 });
    await expect(stack().up(home)).rejects.toThrow("status 403");
    expect(posts()).toBe(0);
  });
});

describe("gone", () => {
  const home = declared.monitor;

  /** So many monitors in state, all deleted at the API but some. */
  async function stacks(count: number, kept: number): Promise<ModelStack[]> {
    const first = stack();
    const all = [first, ...Array.from({ length: count - 1 }, () => first.beside())];
    await Promise.all(all.map((one, index) => one.up({ ...home, name: `Home ${index}` })));
    const keep = new Set(all.slice(0, kept).map(({ state }) => state?.id));
    for (const id of ids()) if (!keep.has(id)) emulator.monitors.remove(Number(id));
    // Another process: the one that created them knows them to be its own.
    const next = stack();
    return all.map(({ state }) => {
      const one = next.beside();
      one.state = state;
      return one;
    });
  }

  test("is not believed of more than three where none is found: an error names the settings", async () => {
    const all = await stacks(6, 0);
    const failures = await Promise.all(all.map((one) => failureOf(one.refresh())));
    for (const failure of failures) {
      expect(failure).toMatch(/More than 3 records that state knows do not exist, and none .* was found/);
      expect(failure).toContain(`uptime:baseUrl (${emulator.url}) and the API key`);
    }
    expect(all.every(({ state }) => state !== undefined)).toBe(true);
  });

  test("is believed of any number where one is found", async () => {
    const all = await stacks(6, 1);
    await Promise.all(all.map((one) => one.refresh()));
    expect(all.map(({ state }) => state !== undefined)).toEqual([true, false, false, false, false, false]);
  });

  test("is believed of three where none is found", async () => {
    const all = await stacks(3, 0);
    await Promise.all(all.map((one) => one.refresh()));
    expect(all.every(({ state }) => state === undefined)).toBe(true);
  });

  test("is not success for many deletes either", async () => {
    const all = await stacks(5, 0);
    const failures = await Promise.all(all.map((one) => failureOf(one.destroy())));
    for (const failure of failures) expect(failure).toContain("More than 3 records");
  });
});
