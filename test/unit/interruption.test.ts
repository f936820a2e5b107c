import type { Fault } from "../../provider/emulator";
import { FrontSession } from "../../provider/engine/front-session";
import type { ModelResource } from "../support/model";
import { startDynamic } from "../support/calls";
import { PluginProcess } from "../support/plugin-calls";
import { Program, times } from "../support/program";
import { isList, lists, posts, sentRequests, storedIds } from "../support/sent";
import { answer, clock, emulator, failureOf, on, settingsOf, withServer } from "../support/server";
import { home } from "../support/monitors";

const slow = { kind: "delay", answerDelayMs: 5000 } as const;

withServer();

const pluginWith = (settings = {}): Program => new Program("plugin", settings);

/** Waits for the given number of requests of a method, then sends Cancel. */
async function cancelAfter(program: Program, method: string, count = 1): Promise<void> {
  const came = (): number => emulator.requests.filter((request) => request.method === method).length;
  while (came() < count) await new Promise(setImmediate);
  emulator.forget();
  await program.cancel();
}

async function created(): Promise<[ModelResource, Program]> {
  const program = pluginWith();
  const one = program.resource();
  await one.up(home);
  program.nextRun();
  emulator.forget();
  return [one, program];
}

const update = (one: ModelResource) => one.up({ ...home, interval: 300 });

function fresh(): [ModelResource, Program] {
  const program = pluginWith();
  return [program.resource(), program];
}

/** An operation, by default a create, that is cancelled once its request was sent, which has this fault. */
async function cancelled(
  method: string,
  fault: Fault,
  operation = (one: ModelResource): Promise<unknown> => one.up(home),
  [one, program] = fresh(),
): Promise<{ failure: string; waited: number; one: ModelResource; program: Program }> {
  on(method, fault);
  const running = failureOf(operation(one));
  await cancelAfter(program, method);
  const begun = clock.now();
  return { failure: await running, waited: clock.now() - begun, one, program };
}

describe("after Cancel, a request that was sent gets its answer", () => {
  test("and each of several creates in flight is in state", async () => {
    const program = pluginWith();
    const all = Array.from({ length: 4 }, () => program.resource());
    on("POST", slow);
    const names = all.map((_, index) => ({ ...home, name: `Home ${index}` }));
    const running = all.map((one, index) => failureOf(one.up(names[index] ?? home)));
    await cancelAfter(program, "POST", 4);
    expect(await Promise.all(running)).toEqual(times(4, ""));
    expect(all.map(({ state }) => state?.id).sort()).toEqual(storedIds().sort());
    program.nextRun();
    for (const [index, one] of all.entries()) expect(await one.up(names[index] ?? home)).toBe("same");
    expect(storedIds()).toHaveLength(4);
  });

  test.each(["id", "empty"] as const)(
    "and the reads that are needed to record it: %s",
    async (createAnswer) => {
      emulator.dialect = { createAnswer, createLocation: true };
      const { failure, one } = await cancelled("POST", slow);
      expect(failure).toBe("");
      expect(one.state).toMatchObject({ id: "1", unfinished: false });
    },
  );

  test("also if it is an update, which is verified", async () => {
    emulator.dialect = { updateAnswer: "empty" };
    const { failure, one } = await cancelled("PATCH", slow, update, await created());
    expect(failure).toBe("");
    expect(one.state).toMatchObject({ outputs: { interval: 300 }, unfinished: false });
  });

  test.each<[string, number, RegExp]>([
    ["and shows it", 2, /^$/],
    ["and does not show it", 9, /did not store/],
  ])(
    "also if it is an update that is only accepted, whose record is read once more %s",
    async (_, ends, failure) => {
      const [one, program] = await created();
      const before = emulator.monitors.all()[0];
      emulator.fault = ({ method }) => {
        if (method === "PATCH") return { kind: "answer", effect: true, status: 202, body: "" };
        return emulator.requests.length <= ends ? answer(200, before) : undefined;
      };
      const running = failureOf(update(one));
      while (emulator.requests.length < 2) await new Promise(setImmediate);
      await clock.sleep(500);
      await program.cancel();
      expect(await running).toMatch(failure);
      const interval = ends === 2 ? 300 : 60;
      expect(one.state).toMatchObject({ outputs: { interval }, unfinished: interval === 60 });
      expect(sentRequests()).toEqual(["PATCH", "GET", "GET"].map((method) => `${method} /api/v1/monitors/1`));
    },
  );

  test("also if it is a delete", async () => {
    const { failure, one } = await cancelled("DELETE", slow, (each) => each.destroy(), await created());
    expect(failure).toBe("");
    expect(one.state).toBeUndefined();
  });

  test("also if it is a delete whose record is gone, for which the list must be readable", async () => {
    const [one, program] = await created();
    emulator.monitors.remove(1);
    const { failure } = await cancelled("DELETE", slow, (it) => it.destroy(), [one, program]);
    expect([failure, one.state, lists()]).toEqual(["", undefined, 1]);
  });

  test("and a create whose answer is lost is looked for once, and found", async () => {
    const { failure, one } = await cancelled("POST", { kind: "cut", effect: true, answerDelayMs: 5000 });
    expect(failure).toBe("");
    expect(one.state?.id).toBe("1");
    expect(lists()).toBe(1);
  });

  test("and a create that is not found is not sent again, with an error that warns that it may exist", async () => {
    const { failure, waited } = await cancelled("POST", { kind: "cut", effect: false, answerDelayMs: 5000 });
    expect(failure).toMatch(/may exist[^]*uptime:adoptExisting/);
    expect(waited).toBeLessThanOrEqual(5000);
    expect([posts(), lists()]).toEqual([0, 1]);
  });

  test("and reads that fail are not sent again: the create is a partial failure with its id", async () => {
    emulator.dialect = { createAnswer: "id" };
    const [one, program] = fresh();
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return slow;
      return path.endsWith("/1") ? { kind: "cut", effect: true } : undefined;
    };
    const running = failureOf(one.up(home));
    await cancelAfter(program, "POST");
    expect(await running).toMatch(/interrupted/i);
    // Whether it has the id, and what is there.
    expect(sentRequests()).toEqual(times(2, "GET /api/v1/monitors/1"));
    expect(one.state).toMatchObject({ id: "1", unfinished: true });
  });

  test("and a create whose follow-up update was not sent is a partial failure with its id", async () => {
    const paused = { ...home, pause: true };
    const { failure, one, program } = await cancelled("POST", slow, (each) => each.up(paused));
    expect(failure).not.toBe("");
    expect(one.state).toMatchObject({ id: "1", unfinished: true });
    expect(emulator.writes()).toEqual([]);
    emulator.fault = undefined;
    program.nextRun();
    expect(await one.up(paused)).toBe("update");
    expect(emulator.monitors.all()).toMatchObject([{ id: 1, pause: true }]);
  });
});

describe("after Cancel, a wait ends at once", () => {
  const limited = answer(429, "", { "retry-after": "300" });

  /** Nothing is sent any more, no time passes, and the error does not speak of a time that is over. */
  async function endsAtOnce(program: Program, running: Promise<string>): Promise<void> {
    emulator.forget();
    const begun = clock.now();
    await program.cancel();
    const failure = await running;
    expect(failure).toMatch(/interrupted/i);
    expect(failure).not.toContain("customTimeouts");
    expect(clock.now()).toBe(begun);
    expect(emulator.requests).toEqual([]);
  }

  /** Waits until the clock has nothing to do but to let a wait pass. */
  async function waits(isLimited: () => boolean): Promise<void> {
    while (!isLimited()) await new Promise(setImmediate);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  }

  test.each<[string, (one: ModelResource) => Promise<unknown>]>([
    ["an update", update],
    ["a delete", (one) => one.destroy()],
    ["a refresh", (one) => one.refresh()],
  ])("for the rate limit and before a retry, of %s", async (_, operation) => {
    for (const fault of [limited, answer(500)]) {
      const [one, program] = await created();
      let isLimited = false;
      emulator.fault = () => {
        isLimited = true;
        return fault;
      };
      const running = failureOf(operation(one));
      await waits(() => isLimited);
      await endsAtOnce(program, running);
      expect(one.state).toBeDefined();
      emulator.fault = undefined;
    }
  });

  test("for the rate limit, of a create that was not sent", async () => {
    const [one, program] = fresh();
    on(isList, limited);
    const running = failureOf(one.up(home));
    await waits(() => lists() > 0);
    await endsAtOnce(program, running);
    expect(storedIds()).toEqual([]);
  });

  test.each([
    ["getMonitor", { id: "1" }],
    ["getMonitor", { name: "Home" }],
    ["getMonitors", {}],
  ])("for the rate limit, of %s(%j)", async (name, args) => {
    const plugin = new PluginProcess({ clock });
    plugin.begin(settingsOf());
    emulator.fault = () => limited;
    const running = failureOf(plugin.invoke(`uptime:index:${name}`, args));
    await waits(() => emulator.requests.length > 0);
    const begun = clock.now();
    await plugin.cancel();
    expect(await running).toMatch(/interrupted/i);
    expect(clock.now()).toBe(begun);
  });

  test("for one of the requests that uptime:maxConcurrency allows", async () => {
    const program = pluginWith({ "uptime:maxConcurrency": "1" });
    const all = Array.from({ length: 4 }, () => program.resource());
    on("POST", slow);
    const running = all.map((one, index) => failureOf(one.up({ ...home, name: `Home ${index}` })));
    await cancelAfter(program, "POST");
    const results = await Promise.all(running);
    expect(results.filter((failure) => failure === "")).toHaveLength(1);
    expect(posts()).toBe(0);
    expect(storedIds()).toHaveLength(1);
  });

  test.each([
    ["", [], /may exist[^]*uptime:adoptExisting/, undefined],
    [", and one more look finds the record", [home], /^$/, "1"],
  ])("between two looks for a lost create%s", async (_, records, failure, id) => {
    const [one, program] = fresh();
    on("POST", { kind: "cut", effect: false });
    const running = failureOf(one.up(home));
    await waits(() => lists() === 2);
    for (const record of records) emulator.monitors.add(record);
    await program.cancel();
    expect(await running).toMatch(failure);
    expect([one.state?.id, posts()]).toEqual([id, 1]);
  });
});

describe("after Cancel, nothing begins", () => {
  test.each<[string, (one: ModelResource, program: Program) => Promise<unknown>]>([
    ["create", (_, program) => program.resource().up(home)],
    ["update", update],
    ["delete", (one) => one.destroy()],
  ])("no %s", async (_, operation) => {
    const [one, program] = await created();
    await one.preview(home);
    await program.cancel();
    expect(await failureOf(operation(one, program))).toMatch(/interrupted/i);
    expect(emulator.requests).toEqual([]);
    expect(one.state).toBeDefined();
  });

  test.each([
    ["another address", undefined],
    ["the same address", "127.0.0.1:1"],
  ])("until the next run of an attached plugin, whose engine has %s", async (_, address) => {
    const [one, program] = await created();
    program.continue("127.0.0.1:1");
    await one.preview(home);
    await program.cancel();
    program.continue(address);
    await update(one);
    expect(emulator.monitors.get(1)).toMatchObject({ interval: 300 });
  });

  test("for a run whose engine was killed, once an attached plugin serves the next run", async () => {
    const [one, program] = await created();
    const limited = answer(429, "", { "retry-after": "300" });
    on("PATCH", limited);
    const running = failureOf(update(one));
    while (emulator.writes().length === 0) await new Promise(setImmediate);
    emulator.fault = undefined;
    // No Cancel came.
    program.continue();
    expect(await running).toMatch(/interrupted/i);
    emulator.forget();
    await clock.sleep(600_000);
    expect(emulator.writes()).toEqual([]);
  });
});

test("after SIGTERM, the dynamic host's check of an import ends at once", async () => {
  const host = startDynamic(settingsOf(), { clock });
  emulator.fault = () => answer(429, "", { "retry-after": "300" });
  const running = host.monitor.check("", {}, { ...home, importId: "1", __options: { owner: "type::home" } });
  while (clock.pending === 0) await new Promise(setImmediate);
  const begun = clock.now();
  await host.finish();
  expect((await running).failures).toEqual([expect.stringMatching(/interrupted/i)]);
  expect(clock.now()).toBe(begun);
});

test("an operation that has just ended is waited for until its response is sent", async () => {
  const session = new FrontSession();
  await session.track(() => undefined);
  let isSent = false;
  setImmediate(() => (isSent = true));
  // A signal that comes now ends the process as soon as the session is idle.
  await session.idle();
  expect(isSent).toBe(true);
});
