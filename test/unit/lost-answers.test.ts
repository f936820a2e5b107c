import { readSettings, type Settings } from "../../provider/api/settings";
import { monitor } from "../../provider/definitions/monitor";
import type { Fault, ReceivedRequest } from "../../provider/emulator";
import { create } from "../../provider/lifecycle/create";
import { Session } from "../../provider/lifecycle/session";
import { errorOf, shownText } from "../support/client";
import type { ModelResource } from "../support/model";
import { Program, times } from "../support/program";
import { isList, lists, posts, storedIds, storedNames } from "../support/sent";
import {
  answer,
  clock,
  emulator,
  failureOf,
  myKey,
  on,
  onCreates,
  settingsOf,
  stored,
  withServer,
} from "../support/server";
import { kinds, type Kind } from "../support/calls";
import { noteOf, type Notes } from "../support/simulated/process";
import { home } from "../support/monitors";

/** Milliseconds between two looks for a lost create, and for how long one is looked for after a timeout. */
const lookPause = 5000;
const lookTime = 60_000;

const declared = { monitor: home, domain: { name: "example.com" } };

withServer();

const program = (settings: Record<string, string> = {}): Program =>
  new Program("dynamic", { "uptime:timeoutSeconds": "600", ...settings });
const resource = (kind?: Kind, settings?: Record<string, string>): ModelResource =>
  program(settings).resource(kind);
/** How every error after a lost create ends. */
const mayExist = /may exist[^]*uptime:adoptExisting/;
/** The record that a create of `home` makes. */
const made1 = { ...home, id: 1, alert_condition: "url_unavailable", request_method: "GET" };
const shortTimeout = { "uptime:timeoutSeconds": "20" };

/** What a lost create comes to: the id that state has, and all that the server has; or the error. */
async function made(one: ModelResource, inputs: Record<string, unknown> = home): Promise<string> {
  return (await failureOf(one.up(inputs))) || `made ${String(one.state?.id)}`;
}

const cut = { kind: "cut", effect: true } as const;
const cutBefore = { kind: "cut", effect: false } as const;
/** A create is answered with the id of a job, and has no effect. */
const queued = { kind: "answer", effect: false, status: 202, body: { id: 1, status: "queued" } } as const;
/** A monitor that is not like `home`, and one that a server could have made of it. */
const elsewhere = { ...home, name: "Other", url: "https://other.example/" };
const similar = { ...home, name: "Hom" };

/** Somebody else's create has its effect at the same moment, and ours is cut before it has one. */
function insteadOfOurs(...records: Record<string, unknown>[]): void {
  const before = posts();
  emulator.fault = ({ method }) => {
    if (method !== "POST" || posts() > before + 1) return undefined;
    for (const record of records) emulator.monitors.add(record);
    return cutBefore;
  };
}

/** The creates misbehave, and the requests after the first of them. */
function afterCreate(
  onCreate: () => Fault | undefined,
  later: (request: ReceivedRequest) => Fault | undefined,
): void {
  emulator.fault = (request) => {
    if (request.method === "POST") return onCreate();
    return posts() > 0 ? later(request) : undefined;
  };
}

/** The list does not show new records for the given number of looks after the first create. */
function lagging(looks: number, onCreate: () => Fault | undefined): void {
  afterCreate(onCreate, (request) =>
    isList(request) && looks-- > 0 ? answer(200, { data: [] }) : undefined,
  );
}

describe.each(kinds)("a create of a %s whose answer is lost", (kind) => {
  const lost: [string, Fault][] = [
    ["the connection is cut", cut],
    ["a proxy answers 504", stored(504, "<h1>Gateway Timeout</h1>")],
    ["the server answers 408", stored(408, "")],
    ["the server fails with 500", stored(500, { message: "boom" })],
    ["a proxy answers 503", stored(503, "")],
    ["a cache answers 503 with Retry-After", stored(503, "", { "retry-after": "5" })],
    ["the body is truncated", { kind: "truncate" }],
    ["the answer is not JSON", stored(200, "<html>Hello</html>")],
  ];

  test.each(lost)("because %s after the effect is found, and not sent again", async (_how, fault) => {
    onCreates(fault);
    const one = resource(kind);
    await one.up(declared[kind]);
    expect(storedIds(kind)).toEqual([one.state?.id]);
    expect(posts()).toBe(1);
    expect(await one.preview(declared[kind])).toBe("same");
  });

  test.each<[string, Fault]>([
    ["the connection is cut", cutBefore],
    ["a proxy answers 502", answer(502)],
  ])("because %s before the effect is sent again after two looks", async (_how, fault) => {
    onCreates(fault);
    const one = resource(kind);
    const started = clock.now();
    await one.up(declared[kind]);
    expect(clock.now() - started).toBeGreaterThanOrEqual(lookPause);
    expect(storedIds(kind)).toEqual([one.state?.id]);
    const methods = emulator.requests.slice(0, 5).map(({ method }) => method);
    expect(methods.join(" ")).toBe("GET POST GET GET POST");
  });

  test("is not looked for if the API refused it", async () => {
    onCreates(answer(422));
    expect(await failureOf(resource(kind).up(declared[kind]))).toContain("status 422");
    expect([posts(), lists()]).toEqual([1, 1]);
  });

  test("and may be refused, in a 2xx that names no id, is an error with the server's words", async () => {
    onCreates(answer(200, { code: 1, message: "The name is taken" }));
    const failure = await failureOf(resource(kind).up(declared[kind]));
    expect(failure).toContain("returned status 200 and no id: ");
    expect(failure).toContain("The name is taken");
    expect(posts()).toBe(1);
  });

  test.each([
    ["before", { answerDelayMs: 32_000 }, 1],
    ["after", { delayMs: 50_000 }, 2],
  ])("and takes effect %s our own timeout is found, and not sent again", async (_, delay, looks) => {
    onCreates({ kind: "delay", ...delay });
    const one = resource(kind, shortTimeout);
    await one.up(declared[kind]);
    expect(storedIds(kind)).toEqual([one.state?.id]);
    expect(posts()).toBe(1);
    expect(lists()).toBeGreaterThan(looks);
  });

  test.each([409, 422])("is looked for longer if the second one is answered with %i", async (status) => {
    // Four looks find nothing, because the list lags: two for the first one, and two for the second.
    const answers = [cut, answer(status, { message: "The name has already been taken." })];
    lagging(4, () => answers.shift());
    const one = resource(kind);
    await one.up(declared[kind]);
    expect(storedIds(kind)).toEqual([one.state?.id]);
    expect(posts()).toBe(2);
  });

  test("fails without a third create if the duplicate cannot be found", async () => {
    const answers = [cut, answer(422, { message: "The name has already been taken." })];
    lagging(99, () => answers.shift());
    expect(await made(resource(kind), declared[kind])).toContain("The name has already been taken");
    expect(posts()).toBe(2);
  });
});

test("a create that gets the id of a record that this run has deleted is found if its answer is lost", async () => {
  const [old, other, one] = program().resources();
  await old.up(home);
  old.nextRun();
  await other.up({ ...home, name: "Other" });
  await old.destroy();
  insteadOfOurs(made1);
  expect(await made(one)).toBe("made 1");
  expect(storedIds().sort()).toEqual(["1", "2"]);
});

test.each([0, 1])(
  "a create is found by an id that is no number, beside %i equal records from before",
  async (count) => {
    const [old, one] = ["7d2c", "b1f0"].map((id) => ({ ...made1, id }));
    emulator.fault = (request) => {
      if (request.method === "POST") return cut;
      if (!isList(request)) return answer(200, request.path.endsWith("b1f0") ? one : old);
      return answer(200, { data: [...(posts() > 0 ? [one] : []), ...times(count, old)] });
    };
    expect(await made(resource())).toBe("made b1f0");
    expect(posts()).toBe(1);
  },
);

test("a create is found though it gets the id of a record that another resource could not import", async () => {
  const [other, one] = program().resources();
  expect(await made(other, { ...home, importId: "1" })).toContain("Monitor 1 does not exist");
  onCreates(cut);
  expect(await made(one)).toBe("made 1");
  expect(posts()).toBe(1);
});

test("a create that sends empty lists in the other form is found if its answer is lost", async () => {
  onCreates(answer(422), cut);
  const one = resource();
  await one.up({ ...home, alertChannelIds: [] });
  expect(storedIds()).toEqual([one.state?.id]);
  expect(posts()).toBe(2);
});

test.each<[string, () => void, number]>([
  ["the list is oldest first, and has more than one page", () => (emulator.dialect = { order: "byId" }), 1],
  ["others have filled the first page with new records meanwhile", () => undefined, 150],
])("a create is found by the first look, although %s", async (_, prepare, creates) => {
  prepare();
  for (const index of times(150, 0).keys()) emulator.monitors.add({ ...elsewhere, name: `Old ${index}` });
  onCreates(stored(504));
  const together = program();
  const all = [...times(creates, 0).keys()].map((index) => ({
    one: together.resource(),
    inputs: { ...home, name: `New ${index}`, url: `https://${index}.example/` },
  }));
  const started = clock.now();
  await Promise.all(all.map(({ one, inputs }) => one.up(inputs)));
  expect(clock.now()).toBe(started);
  expect(storedIds()).toHaveLength(150 + creates);
});

describe("after a timeout", () => {
  test.each<[string, Fault, RegExp]>([
    ["ours", { kind: "cut", effect: false, answerDelayMs: 30_000 }, /20 seconds.*uptime:timeoutSeconds/],
    ["408", answer(408), /408/],
    ["504", answer(504, ""), /504/],
    ["524", answer(524, ""), /524/],
  ])("(%s) a create is looked for during one minute and never sent again", async (_, fault, reason) => {
    onCreates(fault);
    const started = clock.now();
    const failure = await made(resource("monitor", shortTimeout));
    expect(failure).toMatch(mayExist);
    expect(failure).toMatch(reason);
    const took = clock.now() - started - (fault.kind === "cut" ? 20_000 : 0);
    expect(took).toBeGreaterThanOrEqual(lookTime - lookPause);
    expect(took).toBeLessThanOrEqual(lookTime + lookPause);
    expect(posts()).toBe(1);
    expect(lists()).toBeGreaterThan(3);
  });

  test("it is looked for twice if the server hangs from then on", async () => {
    const hang: Fault = { kind: "cut", effect: false, answerDelayMs: 30_000 };
    emulator.fault = () => (posts() > 0 ? hang : undefined);
    expect(await made(resource("monitor", { ...shortTimeout, "uptime:maxRetries": "1" }))).toMatch(mayExist);
    // The list before the create, then each look and its retry.
    expect(lists()).toBe(1 + 4);
  });

  test("it is looked for at least twice, however long the rate limit delays that", async () => {
    const limited = answer(429, "", { "retry-after": "50" });
    const looks = [limited, undefined, limited];
    afterCreate(
      () => answer(504),
      (request) => (isList(request) ? looks.shift() : undefined),
    );
    expect(await made(resource())).toMatch(mayExist);
    // The first one that is answered is that of before.
    expect(emulator.requests.filter((one) => isList(one) && one.status === 200).length).toBeGreaterThan(2);
    expect(posts()).toBe(1);
  });
});

test("an error after a lost create does not advise to set adoptExisting if it is set", async () => {
  on("POST", cutBefore);
  const failure = await made(resource("monitor", { "uptime:adoptExisting": "true" }));
  expect(failure).toMatch(/adopts it if the setting uptime:adoptExisting stays true; otherwise/);
});

test("a create that is always cut is sent five times, and then fails", async () => {
  on("POST", cutBefore);
  expect(await made(resource())).toMatch(mayExist);
  expect(posts()).toBe(5);
  expect(storedIds()).toEqual([]);
});

describe("equal creates", () => {
  const cases: [string, Fault, Fault | undefined][] = [
    ["cut after the effect", cut, { kind: "delay", answerDelayMs: 4000 }],
    ["cut before the effect", cutBefore, { kind: "delay", answerDelayMs: 4000 }],
    ["cut after the effect, late", { ...cut, answerDelayMs: 1200 }, { kind: "delay", answerDelayMs: 4000 }],
    ["cut before the effect, late", { ...cutBefore, answerDelayMs: 1200 }, undefined],
    ["answered with 504", stored(504), { kind: "delay", delayMs: 3000, answerDelayMs: 1000 }],
    ["cut, and the other is cut", cut, cut],
    ["cut, and the other without effect", cut, cutBefore],
    ["cut, and the other is quick", cut, undefined],
  ];

  test.each(cases)("get a record each if one answer is lost (%s)", async (_how, ...faults) => {
    for (const order of [faults, faults.toReversed()]) {
      onCreates(...order);
      const [one, two] = program().resources();
      const before = storedIds();
      await Promise.all([one.up(home), two.up(home)]);
      const made = storedIds().filter((id) => !before.includes(id));
      expect(made).toHaveLength(2);
      expect([one.state?.id, two.state?.id].sort()).toEqual(made.sort());
    }
  });

  test.each<[string, object[], Fault[]]>([
    [
      "what one has made is all that the other declares, and both wait for a third",
      [{}, { sslAlertDays: 14 }, { name: "Third" }],
      [cutBefore, cut, { kind: "delay", answerDelayMs: 10_000 }],
    ],
    [
      "there are six, and four answers are lost in four ways",
      times(6, {}),
      [
        cut,
        { kind: "delay", answerDelayMs: 6000 },
        { ...cutBefore, answerDelayMs: 2000 },
        { ...stored(502), answerDelayMs: 1000 },
        { kind: "truncate", answerDelayMs: 4000 },
      ],
    ],
  ])("get a record each if %s", async (_, declared, faults) => {
    onCreates(...faults);
    const together = program();
    const all = declared.map((more) => ({ one: together.resource(), inputs: { ...home, ...more } }));
    await Promise.all(all.map(({ one, inputs }) => one.up(inputs)));
    expect(all.map(({ one }) => one.state?.id).sort()).toEqual(storedIds().sort());
    expect(storedIds()).toHaveLength(declared.length);
  });

  /** Counts the creates that wait for their answers at the same time, of one name or of all. */
  function counted(name?: string): { most: number } {
    const count = { open: 0, most: 0 };
    emulator.fault = ({ method, body }) => {
      if (method !== "POST" || (name && !body.some(([, value]) => value === name))) return undefined;
      count.most = Math.max(count.most, ++count.open);
      void clock.sleep(900).then(() => count.open--);
      return { kind: "delay", answerDelayMs: 1000 };
    };
    return count;
  }

  const hurried = { ...home, __options: { customTimeouts: { create: "500ms" } } };
  test.each<[string, number, number, Record<string, unknown>[]]>([
    ["one after the other", 1, 4, times(4, home)],
    [
      "at the same time if they are different",
      4,
      4,
      [1, 2, 3, 4].map((name) => ({ ...home, name: `${name}` })),
    ],
    ["one after the other, also if customTimeouts ends one that waits", 1, 2, [home, hurried, home]],
  ])("are sent %s", async (_, atOnce, made, declared) => {
    const together = program();
    const all = declared.map((inputs) => ({ inputs, one: together.resource() }));
    const count = counted();
    await Promise.allSettled(all.map(({ inputs, one }) => one.up(inputs)));
    expect([count.most, storedIds().length]).toEqual([atOnce, made]);
    for (const { inputs, one } of all) expect(one.state === undefined).toBe(inputs === hurried);
  });

  test("are sent one after the other, also if the form of empty lists is learned meanwhile", async () => {
    emulator.dialect = { emptyLists: "bracketsRefused" };
    const together = program();
    const inputs = { ...home, alertChannelIds: [] };
    const count = counted(home.name);
    const [first, other, second] = together.resources();
    const slow = first.up(inputs);
    await other.up({ ...inputs, name: "Other" });
    await Promise.all([slow, second.up(inputs)]);
    expect(count.most).toBe(1);
  });
});

describe("a new record in the list, after a create whose answer was lost,", () => {
  test.each([
    { name: "Other" },
    { name: "Other", interval: 300 },
    { url: "https://other.example/" },
    { interval: 300 },
    { alert_channel_ids: [5] },
    { request_method: "POST" },
    { name: "Ho", url: "https://other.example/" },
  ])("is an error that names it if it is only similar, and nothing is sent again: %j", async (difference) => {
    insteadOfOurs({ ...home, ...difference });
    const one = resource();
    expect(await made(one, { ...home, alertChannelIds: [4] })).toMatch(/\b1\b.*uptime:adoptExisting/s);
    expect(one.state).toBeUndefined();
    expect(posts()).toBe(1);
    expect(emulator.monitors.all()).toMatchObject([{ ...home, ...difference }]);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["www.", { name: "www.shop.example" }, { name: "shop.example" }],
    ["repeated spaces and letter case", { name: "Home  Page" }, { name: "home page" }],
    ["the end of a name", { name: "A long name" }, { name: "A lo" }],
    ["a fragment", { url: "https://example.com/#top" }, { url: "https://example.com/", name: "Other" }],
  ])("is named if the server may have left out %s, and nothing is sent again", async (_, ours, theirs) => {
    insteadOfOurs({ ...home, url: "https://other.example/", ...theirs });
    expect(await made(resource(), { ...home, ...ours })).toMatch(
      /so nothing is sent again: 1 \(.*may exist: if it is one of these, .*option import/,
    );
    expect(posts()).toBe(1);
  });

  test.each([
    ["neither its name nor its URL is ours", "Other", home],
    ["both names have neither letters nor digits, and differ", "🔥", { ...home, name: "🚀" }],
    ["its name is a small part of ours", "shop", { ...home, name: "Front page of the shop" }],
  ])("is ignored if %s", async (_, name, inputs) => {
    insteadOfOurs({ ...home, name, url: "https://other.example/" });
    expect(await made(resource(), inputs)).toBe("made 2");
    expect(posts()).toBe(2);
    expect(emulator.monitors.get(1)).toMatchObject({ name });
  });

  test("is found if the answer has properties that no text can be made of", async () => {
    const odd = { toString: 1, valueOf: 1 };
    on("POST", () => {
      const { id } = emulator.monitors.add(home);
      return answer(200, { id, success: odd, code: odd, maintenance_start_at: odd });
    });
    expect(await made(resource())).toBe("made 1");
  });

  test("becomes the resource if it is the only equal one, also beside similar ones", async () => {
    on("POST", () => {
      emulator.monitors.add({ ...home, interval: 300 });
      return cut;
    });
    expect(await made(resource())).toBe("made 2");
    expect(posts()).toBe(1);
  });

  test("is an error that names all if several are equal", async () => {
    insteadOfOurs(home, home);
    const one = resource();
    expect(await made(one)).toMatch(/\b[12]\b.*\b[12]\b.*uptime:adoptExisting/s);
    expect(one.state).toBeUndefined();
    expect(posts()).toBe(1);
  });

  test("is left to another create in flight that made it", async () => {
    const [one, two] = program().resources();
    onCreates(cutBefore, { kind: "delay", answerDelayMs: 8000 });
    await Promise.all([one.up(home), two.up({ ...home, interval: 300 })]);
    expect(emulator.monitors.get(two.state?.id ?? "")).toMatchObject({ interval: 300 });
    expect(emulator.monitors.get(one.state?.id ?? "")).toMatchObject({ interval: 60 });
    expect(storedIds()).toHaveLength(2);
  });

  test("is no error if a create that was sent during the look made it", async () => {
    const [one, two] = program().resources();
    const faults: Fault[] = [cutBefore, { kind: "delay", answerDelayMs: 8000 }];
    emulator.fault = (request) => {
      if (request.method === "POST") return faults.shift();
      return posts() === 1 && isList(request) ? { kind: "delay", delayMs: 3000 } : undefined;
    };
    const first = made(one);
    while (lists() < 2) await new Promise(setImmediate);
    const second = made(two, { ...home, name: "Another with the same URL" });
    expect((await Promise.all([first, second])).sort()).toEqual(["made 1", "made 2"]);
    expect(storedIds()).toHaveLength(2);
  });

  test("is left to another lost create that it is equal to, though its URL is ours", async () => {
    const [one, two] = program().resources();
    // The second is sent after the first look for the first, and is lost while the second look waits for its answer.
    onCreates(cutBefore, { ...cut, answerDelayMs: 6000 });
    const second = clock.sleep(2000).then(() => made(two, { ...home, name: "Another with the same URL" }));
    expect((await Promise.all([made(one), second])).sort()).toEqual(["made 1", "made 2"]);
    expect(storedIds()).toHaveLength(2);
  });

  test("is left to another create in flight that made it under another name of the same account", async () => {
    const named = JSON.stringify({ named: { apiKey: myKey } });
    const together = program({ "uptime:accounts": named });
    // The first is cut before it has an effect, while the second is at work.
    onCreates(cutBefore, { kind: "delay", answerDelayMs: 15_000 });
    const [one, two] = together.resources();
    const results = await Promise.all([one.up(home), two.up({ ...home, account: "named" })]);
    expect(results).toEqual(["create", "create"]);
    expect(new Set([one.state?.id, two.state?.id])).toEqual(new Set(storedIds()));
    expect(storedIds()).toHaveLength(2);
  });

  test("is ignored if it was there before", async () => {
    emulator.monitors.add(home);
    onCreates(cutBefore);
    expect(await made(resource())).toBe("made 2");
  });

  test("is an error that names it if its id is lower than one that was there before, because ids may not rise", async () => {
    for (const id of [5, ...Array.from({ length: 230 }, (_, index) => index + 100)])
      emulator.monitors.add({ ...elsewhere, id });
    insteadOfOurs({ ...home, id: 3 });
    expect(await made(resource())).toMatch(/so nothing is sent again: 3 \("Home", .*may exist/);
    expect(posts()).toBe(1);
  });

  test("is ignored if its id is lower, and neither its name nor its URL is ours", async () => {
    emulator.monitors.add({ ...elsewhere, id: 5 });
    insteadOfOurs({ ...elsewhere, id: 3 });
    expect(await made(resource())).toBe("made 6");
  });

  test("is an error that names it if it is equal, and another resource had its id: servers use ids again", async () => {
    const [one, two] = program().resources();
    await one.up(home);
    one.nextRun();
    await one.preview(home);
    emulator.monitors.remove(1);
    emulator.monitors.add({ ...elsewhere, id: 9 });
    insteadOfOurs(made1);
    expect(await made(two)).toMatch(/so nothing is sent again: 1 \("Home", .*may exist/);
    expect(posts()).toBe(2);
  });

  test("is ignored if another resource has it", async () => {
    const [one, two] = program().resources();
    await one.up(home);
    onCreates(cutBefore);
    expect(await made(two)).toBe("made 2");
    expect(one.state?.id).toBe("1");
  });
});

describe("every error after a lost create warns that the record may exist, and names uptime:adoptExisting", () => {
  const withTime = (create: string) => ({ ...home, __options: { customTimeouts: { create } } });
  test("if the list cannot be read, with both reasons", async () => {
    emulator.fault = ({ method }) =>
      method === "POST" ? cut : posts() > 0 ? answer(403, { message: "Not you." }) : undefined;
    const failure = await made(resource());
    expect(failure).toMatch(/POST .* cut [^]*GET .*403.*Not you\./);
    expect(failure).toMatch(mayExist);
    expect(posts()).toBe(1);
  });

  test.each([409, 422, 400, 401])("if the second create is answered with %i", async (status) => {
    onCreates(cutBefore, answer(status));
    const started = clock.now();
    const failure = await made(resource());
    expect(failure).toMatch(mayExist);
    expect(failure).toContain(`status ${status}`);
    expect(clock.now() - started >= lookTime).toBe([409, 422].includes(status));
  });

  test("if customTimeouts ends it", async () => {
    onCreates({ kind: "delay", answerDelayMs: 60_000 });
    const started = clock.now();
    expect(await made(resource(), withTime("30s"))).toMatch(mayExist);
    expect(clock.now() - started).toBeLessThanOrEqual(31_000);
    expect(posts()).toBe(1);
  });

  test("if customTimeouts ends it while another create is waited for", async () => {
    onCreates({ kind: "delay", answerDelayMs: 50_000 }, cut);
    const [slow, hurried] = program().resources();
    const first = slow.up({ ...home, name: "Other" });
    while (posts() === 0) await new Promise(setImmediate);
    expect(await made(hurried, withTime("20s"))).toMatch(mayExist);
    // The other one is still waiting for its answer.
    expect(slow.state).toBeUndefined();
    await first;
    expect(posts()).toBe(2);
  });

  test("and the next up with adoptExisting finds it", async () => {
    onCreates(stored(504));
    const hidden = emulator.fault;
    emulator.fault = (request) => (isList(request) ? answer(200, { data: [] }) : hidden?.(request));
    const one = program().resource();
    expect(await made(one)).toMatch(mayExist);
    emulator.fault = undefined;
    one.nextRun({ "uptime:adoptExisting": "true" });
    expect(await made(one)).toBe("made 1");
    expect(storedIds()).toEqual(["1"]);
  });
});

test("two lost creates of one name that differ in a password are not mistaken for each other", async () => {
  on("POST", ({ body }) => {
    // The first one has no effect.
    return { kind: "cut", effect: !body.some(([, value]) => value === "a") || posts() > 2 };
  });
  const [one, two] = program().resources();
  await Promise.all([
    made(one, { ...home, requestAuthPassword: "a" }),
    made(two, { ...home, requestAuthPassword: "b" }),
  ]);
  for (const [each, password] of [
    [one, "a"],
    [two, "b"],
  ] as const)
    expect(emulator.monitors.get(each.state?.id ?? "")?.request_auth_password).toBe(password);
});

test("a create that is answered with a record that was there before fails, wherever the list holds it", async () => {
  for (let number = 1; number <= 250; number++) emulator.monitors.add({ ...home, name: `Home ${number}` });
  for (const old of [5, 150, 250]) {
    onCreates(answer(200, { data: { ...home, id: old } }));
    const one = resource();
    expect(await made(one)).toContain(`monitor ${old}, which was there before`);
    expect(one.state).toBeUndefined();
  }
  expect(storedIds()).toHaveLength(250);
});

describe("a record that `get` has read", () => {
  const get = ({ providers }: Program, id: string): Promise<unknown> =>
    providers.monitor.read("urn", id, {}, {});

  test("was there before a later create, also if a person made it after the first one", async () => {
    const run = program();
    const [one, other] = run.resources();
    await one.up(elsewhere);
    const byHand = emulator.monitors.add(home);
    await get(run, String(byHand.id));
    onCreates(answer(200, { data: byHand }));
    expect(await made(other)).toContain(`monitor ${byHand.id}, which was there before`);
    expect(other.state).toBeUndefined();
  });

  test("may be that of a create which is not answered yet", async () => {
    onCreates({ kind: "delay", answerDelayMs: 5000 });
    const run = program();
    const created = made(run.resource());
    while (emulator.monitors.size === 0) await new Promise(setImmediate);
    await get(run, "1");
    expect(await created).toBe("made 1");
  });
});

test("a create may be answered with a lower id that no record had", async () => {
  for (let id = 301; id <= 450; id++) emulator.monitors.add({ ...home, id });
  on("POST", () => {
    emulator.monitors.add({ ...home, id: 7 });
    return answer(201, { data: { ...home, id: 7 } });
  });
  expect(await made(resource())).toBe("made 7");
});

test("after a create with a lower id than an older record's, a lost one with such an id is found", async () => {
  emulator.monitors.add({ ...home, id: 300 });
  const other = { ...home, name: "Other", url: "https://other.example/" };
  const records = [
    { ...home, id: 7 },
    { ...other, id: 8 },
  ];
  emulator.fault = ({ method }) => {
    const record = method === "POST" ? records.shift() : undefined;
    if (record) emulator.monitors.add(record);
    return record && (record.id === 7 ? answer(201, { data: record }) : cutBefore);
  };
  const [one, lost] = program().resources();
  await one.up(home);
  await lost.up(other);
  expect([one.state?.id, lost.state?.id]).toEqual(["7", "8"]);
});

test("a create is not sent if the list cannot be read first", async () => {
  emulator.fault = () => answer(403);
  expect(await made(resource())).toContain("status 403");
  expect(posts()).toBe(0);
});

test("a create whose look comes late is looked for a second time before it is sent again", async () => {
  // The cache's Retry-After delays the first look by more than a minute, and the list lags by one look.
  const answers = [stored(503, "", { "retry-after": "90" })];
  lagging(1, () => answers.shift());
  const one = resource();
  await one.up(home);
  expect(storedIds()).toEqual([one.state?.id]);
  expect(posts()).toBe(1);
});

test("a create whose look waits a minute for another one is looked for a second time", async () => {
  const faults: Fault[] = [{ kind: "delay", answerDelayMs: 65_000 }, cut];
  let looks = 1;
  emulator.fault = (request) => {
    if (request.method === "POST") return faults.shift();
    return posts() >= 2 && isList(request) && looks-- > 0 ? answer(200, { data: [] }) : undefined;
  };
  const [slow, one] = program().resources();
  const first = slow.up({ ...home, name: "Slow", url: "https://slow.example/" });
  while (posts() === 0) await new Promise(setImmediate);
  await Promise.all([first, one.up(home)]);
  expect(storedIds().sort()).toEqual([slow.state?.id, one.state?.id].sort());
  expect(posts()).toBe(2);
});

describe("a record that may be that of a lost create is an error that names it", () => {
  test("if its own address does not show it yet", async () => {
    const answers: Fault[] = [cut];
    afterCreate(
      () => answers.shift(),
      ({ path }) => (path.endsWith("/monitors/1") ? answer(404) : undefined),
    );
    const failure = await made(resource());
    expect(failure).toMatch(/1 \("Home"/);
    expect(failure).toMatch(mayExist);
    expect(posts()).toBe(1);
  });

  test("if the list does not show the URL, which alone is the same", async () => {
    let isFirst = true;
    afterCreate(
      () => {
        if (!isFirst) return undefined;
        isFirst = false;
        emulator.monitors.add({ ...home, name: "Else" });
        return cutBefore;
      },
      (request) => {
        if (!isList(request)) return undefined;
        return answer(200, { data: emulator.monitors.all().map(({ id, name }) => ({ id, name })) });
      },
    );
    expect(await made(resource())).toMatch(/"Else"/);
    expect(posts()).toBe(1);
  });
});

test("a lost create is found behind the deleted records of a list that begins with the oldest", async () => {
  for (let number = 1; number <= 99; number++) emulator.monitors.add({ ...home, name: `dead ${number}` });
  emulator.monitors.add({ ...home, name: "alive" });
  const answers: Fault[] = [cut];
  emulator.fault = (request) => {
    if (request.method === "POST") return answers.shift();
    if (!isList(request)) return undefined;
    const page = Number(request.query.find(([name]) => name === "page")?.[1] ?? 1);
    const dead = { deleted_at: "2030-01-01T00:00:00Z" };
    const all = emulator.monitors.all().map((one) => ({
      ...one,
      ...(String(one.name).startsWith("dead") && dead),
    }));
    const sorted = all.sort((a, b) => a.id - b.id);
    const last = Math.max(1, Math.ceil(sorted.length / 100));
    const data = sorted.slice((page - 1) * 100, page * 100);
    return answer(200, { data, meta: { current_page: page, last_page: last } });
  };
  const one = resource();
  await one.up(home);
  expect(one.state?.id).toBe("101");
  expect(posts()).toBe(1);
});

test("a look that is not the last one ends at the first page without a new record", async () => {
  emulator.dialect = { paging: "meta" };
  const add = (count: number, name: string): void => {
    for (let number = 1; number <= count; number++)
      emulator.monitors.add({ ...home, name: `${name} ${number}` });
  };
  add(250, "old");
  afterCreate(
    () => {
      add(120, "of somebody else");
      return cut;
    },
    () => undefined,
  );
  const one = resource();
  await one.up(home);
  expect(one.state?.id).toBe("371");
  // Three before the create, and the first three of four after it.
  expect(lists()).toBe(3 + 3);
});

describe("the id in an answer to a create is kept", () => {
  beforeEach(() => {
    emulator.dialect = { createAnswer: "id" };
  });
  const hidden = (delay?: Fault): void => {
    afterCreate(
      () => delay,
      (request) => {
        if (request.path.endsWith("/1")) return answer(404);
        return isList(request) ? answer(200, { data: [] }) : undefined;
      },
    );
  };

  test("if neither its address nor the list shows the record within a minute", async () => {
    hidden();
    const one = resource();
    expect(await made(one)).toContain("was created with the id 1, but");
    expect(one.state?.id).toBe("1");
    emulator.fault = undefined;
    one.nextRun();
    await one.up(home);
    expect(storedIds()).toEqual(["1"]);
  });

  test("if Pulumi is interrupted before the record is shown", async () => {
    hidden({ kind: "delay", answerDelayMs: 5000 });
    const run = new Program("plugin", {});
    const one = run.resource();
    const failed = made(one);
    while (posts() === 0) await new Promise(setImmediate);
    await run.cancel();
    expect(await failed).toContain("was created with the id 1, but");
    expect(one.state?.id).toBe("1");
  });

  test("and is confirmed by a read that shows the record, even if an update of it is refused afterwards", async () => {
    let reads = 0;
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return stored(202, { id: 1 });
      if (method === "PATCH") return answer(422, { errors: { pause: ["Not in your plan."] } });
      return path.endsWith("/1") && ++reads === 1 ? answer(403) : undefined;
    };
    const one = resource();
    const failure = await made(one, { ...home, pause: true });
    expect(failure).toMatch(/was created with the id 1, but .*pause: Not in your plan\.$/);
    emulator.fault = undefined;
    emulator.monitors.remove(1);
    one.nextRun();
    await one.refresh();
    expect(one.state).toBeUndefined();
  });

  test("also if it is that of a job, and the error says how to find the record then", async () => {
    lagging(99, () => stored(202, { id: 77, status: "queued" }));
    const one = program().resource();
    expect(await made(one)).toMatch(
      /was created with the id 77, but GET .* If 77 is the id of something else,.*`pulumi up --refresh --run-program`.*adoptExisting/,
    );
    expect(one.state?.id).toBe("77");
    emulator.fault = undefined;
    one.nextRun({ "uptime:adoptExisting": "true" });
    await one.refresh();
    await one.up(home);
    expect([one.state?.id, ...storedIds()]).toEqual(["1", "1"]);
  });

  describe("although it may be that of a job, and the record is made later:", () => {
    /** What a run with these verbs says, after one that has kept such an id. */
    const later = async (verb: "up" | "refresh" | "destroy", settings = {}): Promise<string> => {
      onCreates({ ...queued, body: { id: 77, status: "queued" } });
      const one = resource();
      await failureOf(one.up(home));
      emulator.monitors.add(home);
      one.nextRun(settings);
      const warn = jest.spyOn(console, "warn");
      const failure = await failureOf(one[verb](home));
      const told = warn.mock.calls.map(String).join();
      expect([storedIds(), posts()]).toEqual([["1"], 1]);
      return failure || told;
    };
    const adopting = { "uptime:adoptExisting": "true" };

    test.each([{}, adopting])("an update says how to find it (%j)", async (settings) => {
      expect(await later("up", settings)).toMatch(
        /^Monitor 77 does not exist \(.*If 77 is .* `pulumi up --refresh --run-program` with the setting uptime:adopt/,
      );
    });

    test("a refresh keeps the id, and says how to find it", async () => {
      expect(await later("refresh")).toMatch(
        /^Monitor 77 does not exist \(.*uptime:adoptExisting.*state delete URN/,
      );
    });

    test("a delete says that it may be there", async () => {
      expect(await later("destroy")).toContain(
        "The monitor may exist with another id, and state no longer has it",
      );
    });
  });
});

test("a list without records shows nothing of a lost create if the run knows of some", async () => {
  const run = program();
  const [known, one] = run.resources();
  await known.up({ ...home, name: "Known" });
  emulator.forget();
  lagging(99, () => cut);
  const failure = await made(one);
  expect(failure).toMatch(mayExist);
  expect(failure).toContain("the list of monitors is empty, although this run knows of some");
  expect([posts(), storedIds()]).toEqual([1, ["1", "2"]]);
});

test("after an empty list, although the run knows of some, a lost create is not looked for: an older record may be equal", async () => {
  const run = program();
  const [known, one] = run.resources();
  await known.up({ ...home, name: "Known" });
  emulator.monitors.add(home);
  run.nextRun();
  await known.preview({ ...home, name: "Known" });
  emulator.forget();
  emulator.fault = (request) => {
    if (request.method === "POST") return cutBefore;
    return isList(request) && posts() === 0 ? answer(200, { data: [] }) : undefined;
  };
  const failure = await made(one);
  expect(failure).toContain("was not looked for: before the create the list of monitors was empty, although");
  expect(failure).toMatch(mayExist);
  expect([one.state, posts(), lists()]).toEqual([undefined, 1, 1]);
});

test("nor does it if only an earlier list had some, as the error says", async () => {
  emulator.monitors.add({ ...home, name: "By hand" });
  lagging(99, () => cut);
  const failure = await made(program().resource());
  expect(failure).toContain(
    "the list of monitors is empty, although it was not before the first create of this run",
  );
  expect(posts()).toBe(1);
});

test("a list that is empty counts while the run knows of no record, but only of the id of a job", async () => {
  onCreates({ ...queued, body: { id: 77, status: "queued" } }, cutBefore);
  const [one, other] = program().resources();
  const results = await Promise.all([made(one), made(other, elsewhere)]);
  expect(results).toEqual([expect.stringContaining("was created with the id 77, but"), "made 1"]);
});

test("nor does one count once a record was read under an id that only an answer had shown", async () => {
  const run = program({ "uptime:maxRetries": "0" });
  const [known, one] = run.resources();
  let reads = 0;
  on(
    () => true,
    (request) => {
      if (request.method === "POST") return stored(201, { id: 1 });
      return request.path.endsWith("/1") && ++reads === 1 ? answer(500) : undefined;
    },
  );
  expect(await made(known, elsewhere)).toBe("made 1");
  emulator.forget();
  lagging(99, () => cut);
  expect(await made(one)).toContain("the list of monitors is empty, although this run knows of some");
  expect([posts(), storedIds()]).toEqual([1, ["1", "2"]]);
});

describe("a create that is answered with a record that is deleted", () => {
  test("by its mark is an error, and state has its id", async () => {
    const record = { ...emulator.monitors.add(made1) };
    emulator.monitors.remove(1);
    onCreates(answer(201, { ...record, deleted_at: "2026-11-27T10:00:00Z" }));
    const one = resource();
    expect(await made(one)).toContain("with the id 1, but");
    expect(one.state?.id).toBe("1");
  });

  test.each(["in this run", "by hand"])("%s, from a cache, is an error", async (how) => {
    const run = program();
    const one = run.resource();
    await one.up(home);
    const record = { ...emulator.monitors.get(1) };
    run.nextRun();
    emulator.monitors.remove(1);
    if (how === "in this run") await one.destroy();
    else await one.refresh();
    onCreates(answer(201, record));
    const other = run.resource();
    expect(await made(other)).toMatch(/with the id 1, but/);
    expect(other.state?.id).toBe("1");
  });
});

test.each(kinds)("a %s whose name is taken says how to adopt the record", async (kind) => {
  onCreates(answer(422, { message: "The given data was invalid.", errors: { name: ["is taken"] } }));
  expect(await failureOf(resource(kind).up(declared[kind]))).toContain(
    `If a ${kind} with this name exists, set uptime:adoptExisting, or name its id`,
  );
});

test("a lost create whose name the server has cut short is named with adoptExisting too, and no second one is made", async () => {
  const long = { ...home, name: "A monitor with a name that is longer than the server keeps it" };
  insteadOfOurs({ ...long, name: long.name.slice(0, 40) });
  const run = program();
  const one = run.resource();
  expect(await made(one, long)).toMatch(mayExist);
  run.nextRun({ "uptime:adoptExisting": "true" });
  emulator.fault = undefined;
  expect(await made(one, long)).toMatch(
    /no monitor with the same name and url is equal.*A monitor with a name/,
  );
  expect(storedIds()).toHaveLength(1);
  const accented = { ...home, name: "\u00dcberwachungsmonitor-f\u00fcr-den-Bezahldienst-Europa" };
  emulator.monitors.add({ ...accented, name: accented.name.slice(0, 40) });
  run.nextRun();
  expect(await made(run.resource(), accented)).toMatch(/no monitor with the same name and url is equal/);
  emulator.monitors.remove(2);
  // A short name is often the beginning of another one.
  emulator.monitors.add({ ...home, name: "m-1" });
  const other = run.resource();
  await other.up({ ...home, name: "m-10" });
  expect(storedIds()).toHaveLength(3);
});

test.each<[string, object]>([
  ["is that of an existing record", { id: 1 }],
  ["has a url like a monitor", { id: 77, url: "https://uptime.example.com/jobs/77" }],
  ["has a name like a monitor", { id: 77, name: "create-monitor" }],
])("the id of a job that %s is not taken for the record's, and the new one is found", async (_, job) => {
  emulator.monitors.add(elsewhere);
  onCreates(stored(202, { status: "queued", ...job }));
  const one = resource();
  expect(await made(one)).toBe("made 2");
  expect(await one.preview(home)).toBe("same");
});

test("a record that the server has changed beyond recognition is kept, also if it is not at its own address yet", async () => {
  let reads = 0;
  emulator.fault = ({ method, path }) => {
    if (method === "POST") return answer(201, { data: emulator.domains.add({ name: "acme" }) });
    return path.endsWith("/1") && ++reads < 3 ? answer(404) : undefined;
  };
  const one = resource("domain");
  expect(await made(one, declared.domain)).toContain("did not store them: name was sent as");
  expect(one.state?.id).toBe("1");
});

test.each([400, 422])("the id of a job that the server refuses with %i is not kept", async (status) => {
  afterCreate(
    () => stored(202, { id: "b7e2-11aa", status: "queued" }),
    ({ path }) => (path.endsWith("/b7e2-11aa") ? answer(status, { message: "Not a number." }) : undefined),
  );
  expect(await made(resource())).toBe("made 1");
});

describe("while the id of a job is read, another create", () => {
  /** The creates are answered in these ways, and the record of the id is read slowly. */
  const readSlowly = (id: number, ...answers: Fault[]): void =>
    afterCreate(
      () => answers.shift(),
      ({ path }) => (path.endsWith(`/${id}`) ? { kind: "delay", answerDelayMs: 1000 } : undefined),
    );
  const renamed = { ...home, name: "Other" };
  const both = (one: ModelResource, other: ModelResource, inputs: Record<string, unknown>) =>
    Promise.all([made(one), made(other, inputs)]);

  test.each([elsewhere, renamed])(
    "may be answered with a record of that id, which it keeps (%j)",
    async (inputs) => {
      readSlowly(2, stored(202, { id: 2, status: "queued" }));
      const [one, other] = program().resources();
      expect(await both(one, other, inputs)).toEqual(["made 1", "made 2"]);
      expect(await failureOf(other.destroy())).toBe("");
      expect(storedIds()).toEqual(["1"]);
    },
  );

  test("may get a record of that id, which is not found as the job's", async () => {
    readSlowly(1, queued);
    const [one, other] = program().resources();
    const results = await both(one, other, renamed);
    expect(results).toEqual([expect.stringContaining("and none was found"), "made 1"]);
  });

  test("may be answered with the same id alone: the one whose record it is has it", async () => {
    readSlowly(1, ...times(2, stored(202, { id: 1, status: "queued" })));
    const [one, other] = program().resources();
    expect(await both(one, other, renamed)).toEqual(["made 1", "made 2"]);
  });
});

test("the id of a job does not end the refresh of a record that has it, and that a list has left out", async () => {
  const run = program();
  const [one, other] = run.resources();
  expect(await made(one)).toBe("made 1");
  run.nextRun();
  let reads = 0;
  emulator.fault = ({ method, path }) => {
    if (method === "POST") return queued;
    return path.endsWith("/1") ? { kind: "delay", answerDelayMs: 1000 * ++reads } : answer(200, { data: [] });
  };
  const creating = made(other, elsewhere);
  while (reads === 0) await clock.sleep(20);
  await Promise.all([one.refresh(), creating]);
  expect(one.state?.id).toBe("1");
});

test("creates that get each other's answers, as of a proxy that mixes them up, get their own records", async () => {
  const answerOf = (id: number, inputs: object): Fault => ({
    ...stored(201, { data: { ...inputs, id } }),
    answerDelayMs: 1000,
  });
  onCreates(answerOf(2, elsewhere), answerOf(1, home));
  const [one, other] = program().resources();
  expect(await Promise.all([made(one), made(other, elsewhere)])).toEqual(["made 1", "made 2"]);
  expect(posts()).toBe(2);
});

test("an id in an answer that a read has confirmed is no new record in the answer to a later create", async () => {
  onCreates(stored(201, { id: 1 }), { ...stored(200, { id: 1, ...home }), effect: false });
  const [one, other] = program().resources();
  expect(await made(one)).toBe("made 1");
  expect(await made(other, { ...home, name: "Other" })).toContain("monitor 1, which was there before");
});

test.each([0, 3000])(
  "the ids of jobs, each of another create's record, are not kept (%d ms)",
  async (afterMs) => {
    let job = 1;
    on("POST", () => ({ ...stored(202, { id: ++job }), effect: afterMs ? { afterMs } : true }));
    const together = program();
    const all = ["A", "B", "C"].map((name) => ({ name, one: together.resource() }));
    await Promise.all(
      all.map(({ name, one }) => failureOf(one.up({ ...home, name, url: `https://${name}.example/` }))),
    );
    emulator.fault = undefined;
    for (const { name, one } of all)
      if (one.state) expect(emulator.monitors.get(one.state.id)).toMatchObject({ name });
    expect(emulator.writes().filter(({ method }) => method !== "POST")).toEqual([]);
    expect(storedNames()).toEqual(["A", "B", "C"]);
  },
);

test.each<[string, number, (made: object) => Fault]>([
  ["is found", 6000, () => cutBefore],
  ["is answered", 500, (made) => answer(201, made)],
])(
  "the id of a job and of a record that is being deleted may be a new record's, which %s",
  async (...[, after, how]) => {
    const together = program();
    const [old, job, created] = together.resources();
    await old.up(home);
    together.nextRun();
    // The first create of the run lists the record that is deleted later.
    await together.resource().up(elsewhere);
    const creates = [
      () => answer(202, { id: 1 }),
      () => how(emulator.monitors.add({ ...home, name: "B", id: 1 })),
    ];
    emulator.fault = ({ method }) => {
      if (method === "DELETE") return { kind: "delay", answerDelayMs: 25_000 };
      return method === "POST" ? creates.shift()?.() : undefined;
    };
    const deleted = failureOf(old.destroy());
    await clock.sleep(1000);
    const failed = made(job, { ...home, name: "A", url: "https://a.example/" });
    await clock.sleep(after);
    expect(await made(created, { ...home, name: "B" })).toBe("made 1");
    expect([await deleted, storedIds()]).toEqual(["", ["2", "1"]]);
    await failed;
  },
);

test.each<[string, number, (made: object) => Fault]>([
  ["is found after the job's create has ended", 500, () => cutBefore],
  ["is answered after the job's create has let the id go", 500, (made) => answer(201, made)],
  ["is answered before", 0, (made) => answer(201, made)],
])(
  "the id of a job and of a record that was deleted may be a new record's, which %s",
  async (...[, after, how]) => {
    const together = program();
    const [old, job, created] = together.resources();
    await old.up(home);
    together.nextRun();
    // The first create of the run lists the record that is deleted later.
    await together.resource().up(elsewhere);
    await old.destroy();
    const creates = [
      () => answer(202, { id: 1 }),
      () => how(emulator.monitors.add({ ...home, name: "B", id: 1 })),
    ];
    let reads = 0;
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return creates.shift()?.();
      const isSlow = after === 0 && path.endsWith("/1") && ++reads === 1;
      return isSlow ? { kind: "delay", answerDelayMs: 200 } : undefined;
    };
    const failed = made(job, { ...home, name: "A", url: "https://a.example/" });
    await clock.sleep(after + 100);
    expect(await made(created, { ...home, name: "B" })).toBe("made 1");
    expect([storedIds(), posts()]).toEqual([["2", "1"], 4]);
    await failed;
  },
);

test.each<[string, Fault]>([
  ["was lost is sent again", cutBefore],
  ["comes later counts", { kind: "delay", answerDelayMs: 300 }],
])("a delete whose record has the id of a job, and whose answer %s", async (_, fault) => {
  const together = program();
  const [old, job, created] = together.resources();
  await old.up(home);
  together.nextRun();
  // The first create of the run lists the record that is deleted later.
  await together.resource().up(elsewhere);
  const faults: Record<string, Fault[]> = { DELETE: [fault], POST: [stored(202, { id: 1 })] };
  emulator.fault = ({ method, path }) =>
    faults[method]?.shift() ??
    (method === "GET" && path.endsWith("/1") ? { kind: "delay", answerDelayMs: 3000 } : undefined);
  const deleted = failureOf(old.destroy());
  expect(await made(job, { ...home, name: "A", url: "https://a.example/" })).toBe("made 3");
  expect([await deleted, storedIds()]).toEqual(["", ["2", "3"]]);
  // Now the server uses the id again.
  emulator.fault = ({ method }) => {
    if (method !== "POST" || posts() > 4) return undefined;
    emulator.monitors.add({ ...home, id: 1 });
    return cutBefore;
  };
  expect(await made(created)).toBe("made 1");
});

describe("the id of a job that is kept", () => {
  test.each([404, 500])(
    "because its address answered %i does not stop a later create that is answered with that id alone",
    async (status) => {
      const answers: Fault[] = [queued, stored(201, { id: 1 })];
      afterCreate(
        () => answers.shift(),
        ({ path }) => (posts() === 1 && path.endsWith("/1") ? answer(status) : undefined),
      );
      const [one, other] = program().resources();
      expect(await made(one)).toContain("was created with the id 1, but");
      expect(await made(other, elsewhere)).toBe("made 1");
      const warn = jest.spyOn(console, "warn").mockClear();
      expect(await failureOf(one.destroy())).toBe("");
      expect(warn.mock.calls.join()).toMatch(/still manages it\. [^]*The monitor may exist with another id/);
      expect(storedIds()).toEqual(["1"]);
    },
  );

  test.each([
    [undefined, elsewhere],
    [undefined, { ...home, name: "Other" }],
    [cut, elsewhere],
  ])(
    "does not stop a later create whose record has that id, with the fault %j (%j)",
    async (fault, inputs) => {
      onCreates(queued, fault);
      const [one, other] = program().resources();
      expect(await made(one)).toContain("was created with the id 1, but");
      expect(await made(other, inputs)).toBe("made 1");
      expect(storedIds()).toEqual(["1"]);
    },
  );

  test("by another process hides no record of a create whose answer is lost", async () => {
    const notes: Notes<object> = [];
    const process = () => new Program("dynamic", {}, { runNote: noteOf(notes, {}) });
    onCreates(queued, cut);
    expect(await made(process().resource())).toContain("was created with the id 1, but");
    expect(await made(process().resource(), elsewhere)).toMatch(/so nothing is sent again: 1 \("Other", /);
    expect(storedIds()).toEqual(["1"]);
  });

  test("stays with its create if the record that has it may be that of either", async () => {
    onCreates(queued, queued);
    const [one, other] = program().resources();
    expect(await made(one)).toContain("was created with the id 1, but");
    emulator.monitors.add(home);
    expect(await made(other)).toMatch(mayExist);
    expect([one.state?.id, other.state, posts()]).toEqual(["1", undefined, 2]);
  });
});

describe("somebody else's record with the id of a job", () => {
  const paused = { ...home, pause: true };

  describe.each(["of this run", "of a person"])("%s", (whose) => {
    /** What a create fails with whose answer names a job, and whose id somebody else's record gets after this time. */
    const overtaken = async (one: ModelResource, other: ModelResource, milliseconds: number) => {
      onCreates(queued);
      const failed = made(one, paused);
      await clock.sleep(milliseconds);
      if (whose === "of a person") emulator.monitors.add(elsewhere);
      else expect(await made(other, elsewhere)).toBe("made 1");
      const failure = await failed;
      expect(emulator.monitors.all()).toMatchObject([elsewhere]);
      return failure;
    };

    test("is not taken if it comes before the looks end", async () => {
      const [one, other] = program().resources();
      expect(await overtaken(one, other, 20_000)).toMatch(mayExist);
      expect(one.state).toBeUndefined();
    });

    test("is not updated if it is there while the id is read", async () => {
      const [one, other] = program().resources();
      expect(await overtaken(one, other, 61_500)).toMatch(
        /was created with the id 1, but .* If 1 is the id of something else/,
      );
    });
  });

  // Between two looks it is read as the job's; after them, it is read for the last time.
  test.each([
    [elsewhere, 61_500],
    [similar, 61_500],
    [similar, 500],
    [similar, 20_000],
  ])("is not taken for the record, with what was not stored (%j, after %i ms)", async (other, after) => {
    onCreates(queued);
    const one = resource();
    const failed = made(one);
    await clock.sleep(after);
    emulator.monitors.add(other);
    expect(await failed).toMatch(/was created with the id 1, but .* If 1 is the id of something else/);
    one.nextRun();
    for (const verb of ["up", "refresh", "destroy"] as const)
      expect(await failureOf(one[verb](home))).toContain("seems to be another record");
    expect(emulator.monitors.all()).toMatchObject([other]);
  });

  test.each([home, paused])(
    "is not taken from a list that shows neither name nor URL (%j)",
    async (declared) => {
      afterCreate(
        () => queued,
        (request) =>
          isList(request)
            ? answer(200, { data: emulator.monitors.all().map(({ id }) => ({ id })) })
            : undefined,
      );
      const one = resource();
      const failed = made(one, declared);
      await clock.sleep(20_000);
      emulator.monitors.add(elsewhere);
      expect(await failed).toMatch(mayExist);
      expect([one.state, emulator.monitors.all()]).toMatchObject([undefined, [elsewhere]]);
    },
  );

  test.each([
    ["up", elsewhere],
    ["destroy", elsewhere],
    ["refresh, then up", elsewhere],
    ["destroy", similar],
    ["refresh, then up", similar],
  ])("is neither taken, updated nor deleted by a later run (%s, %j)", async (verbs, other) => {
    onCreates(queued);
    const one = resource();
    expect(await made(one)).toContain("was created with the id 1, but");
    emulator.monitors.add(other);
    one.nextRun();
    for (const verb of verbs.split(", then ") as ("up" | "destroy" | "refresh")[])
      expect(await failureOf(one[verb](home))).toMatch(
        /seems to be another record than the one in state, so it is left alone\..*Otherwise set uptime:adoptExisting/,
      );
    expect(emulator.monitors.all()).toMatchObject([other]);
  });

  test("is not taken if it shows no URL, and another name", async () => {
    const cron = { name: "Backup cron", url: null, interval: 60 };
    on("POST", () => {
      emulator.monitors.add({ ...cron, id: 1 });
      return queued;
    });
    expect(await made(resource(), paused)).toMatch(mayExist);
    expect(emulator.monitors.all()).toMatchObject([cron]);
  });

  test("is not taken from an answer that says that the create failed", async () => {
    on("POST", () => {
      emulator.monitors.add(elsewhere);
      return answer(200, { id: 1, error: "Quota exceeded" });
    });
    const one = resource();
    expect(await made(one, paused)).toContain("Quota exceeded");
    expect([one.state, emulator.monitors.all()]).toMatchObject([undefined, [elsewhere]]);
  });
});

test("the id in the body counts if Location leads to no record, although a replica shows it in the list alone", async () => {
  afterCreate(
    () => stored(201, { id: 1 }, { location: "https://elsewhere.invalid/api/v1/monitors/9" }),
    ({ path }) => (path.endsWith("/monitors/1") ? answer(404) : undefined),
  );
  expect(await made(resource())).toBe("made 1");
  expect(posts()).toBe(1);
});

test.each(["/api/v1/monitors/1", "monitors/1"])(
  "the id in Location counts before that of a job in the body: %s",
  async (location) => {
    onCreates(stored(202, { id: 77, status: "queued" }, { location }));
    expect(await made(resource())).toBe("made 1");
    expect(emulator.requests.map(({ path }) => path)).not.toContain("/api/v1/monitors/77");
  },
);

test("a list that is empty, although it was not before the create, shows nothing of it", async () => {
  emulator.monitors.add({ ...home, name: "Other" });
  lagging(2, () => (posts() === 1 ? cut : undefined));
  expect(await made(resource())).toBe("made 2");
  expect(posts()).toBe(1);
});

describe("an answer that says that the create failed, and names a record", () => {
  const words = "No mail was sent";
  const location = "/api/v1/monitors/1";

  test.each<[string, Fault, missing?: number]>([
    ["in its body", stored(200, { id: 1, error: words })],
    ["by Location", stored(201, { success: false, message: words }, { location })],
    ["with a complaint about an empty list", stored(200, { id: 1, errors: { alert_channel_ids: [words] } })],
    ["that two reads do not find", stored(200, { id: 1, error: words }), 2],
    ["only by 201, with such a complaint", stored(201, { errors: { alert_channel_ids: [words] } })],
  ])("%s has created it if the record is there, and is new", async (_where, answered, missing = 0) => {
    afterCreate(
      () => (posts() === 1 ? answered : undefined),
      ({ path }) => (path.endsWith("/1") && missing-- > 0 ? answer(404) : undefined),
    );
    const one = resource();
    await one.up({ ...home, alertChannelIds: [] });
    expect([one.state?.id, posts(), storedIds()]).toEqual(["1", 1, ["1"]]);
    expect(one.state?.outputs.attributes).not.toEqual({});
  });

  test.each<[string, Fault]>([
    ["without an id", stored(200, { error: words })],
    [
      "without an id, with a complaint about the list",
      stored(200, { errors: { alert_channel_ids: [words] } }),
    ],
    ["with 202 and such a complaint", stored(202, { errors: { alert_channel_ids: [words] } })],
    ["with such a complaint and an id", stored(200, { id: 1, errors: { alert_channel_ids: [words] } })],
  ])("%s is not sent again in the other form of an empty list", async (_where, answered) => {
    afterCreate(
      () => (posts() === 1 ? answered : undefined),
      ({ path }) => (path.endsWith("/1") ? answer(404) : undefined),
    );
    expect(await failureOf(resource().up({ ...home, alertChannelIds: [] }))).toContain(words);
    expect(posts()).toBe(1);
  });

  test.each([
    ["is not there, such as that of the request", 77],
    ["was there before", 1],
    ["is another record's", 3],
  ])("with 201 and an id that %s, is looked for", async (_what, id) => {
    emulator.monitors.add({ ...home, name: "Old", url: "https://old.example/" });
    afterCreate(
      () => stored(201, { id, success: false, message: words }),
      ({ path }) =>
        path.endsWith("/3")
          ? answer(200, { ...home, id: 3, name: "Other", url: "https://other.example/" })
          : undefined,
    );
    const one = resource();
    expect(await made(one)).toBe("made 2");
    expect([posts(), storedIds()]).toEqual([1, ["1", "2"]]);
  });

  test("whose id the server refuses, such as that of the request, is a refusal in the server's words", async () => {
    const answered = { id: "req-5", success: false, error: "This URL is taken" };
    afterCreate(
      () => ({ kind: "answer", effect: false, status: 200, body: answered }),
      ({ path }) => (path.endsWith("/req-5") ? answer(422, { message: "Not a number." }) : undefined),
    );
    const failure = await failureOf(resource().up(home));
    expect(failure).toContain("returned status 200: This URL is taken");
    expect(failure).not.toMatch(mayExist);
  });

  test.each([
    ["was there before", { id: 1, error: "This URL is taken" }],
    ["is not there", { id: 9, error: "This URL is taken" }],
  ])("that %s is a refusal in the server's words", async (_what, body) => {
    emulator.monitors.add({ ...home, name: "old" });
    onCreates(answer(200, body));
    const failure = await failureOf(resource().up(home));
    expect(failure).toContain("returned status 200: This URL is taken");
    expect(failure).not.toMatch(mayExist);
    expect([posts(), storedIds()]).toEqual([1, ["1"]]);
  });

  test("keeps its id in state if nothing can be read", async () => {
    afterCreate(
      () => stored(200, { id: 1, error: words }),
      ({ method }) => (method === "GET" ? answer(500) : undefined),
    );
    const one = resource();
    expect(await made(one)).toMatch(
      /with the id 1, but .* status 500.* status 200: No mail was sent\. If 1 is/,
    );
    expect([one.state?.id, posts()]).toEqual(["1", 1]);
    emulator.fault = undefined;
    one.nextRun();
    await one.up(home);
    expect([posts(), storedIds()]).toEqual([1, ["1"]]);
  });

  test.each([
    ["is found if it is shown eight seconds later", 8000, "made 1"],
    ["may exist if it is not shown for a minute", 90_000, expect.stringMatching(mayExist)],
  ])("by a status that may be one of its fields %s", async (_, afterMs, outcome) => {
    const answered = { id: 1, status: "failed", message: words };
    onCreates({ ...stored(200, answered), effect: { afterMs } });
    const result = await made(resource());
    expect([result, posts()]).toEqual([outcome, 1]);
    if (afterMs > lookTime) expect(result).toContain(`status 200: ${words}`);
  });

  test("that cannot be read is looked for", async () => {
    let isRefused = true;
    afterCreate(
      () => stored(200, { id: 1, error: words }),
      ({ path }) => {
        if (!path.endsWith("/1") || !isRefused) return undefined;
        isRefused = false;
        return answer(403);
      },
    );
    const one = resource();
    await one.up(home);
    expect([one.state?.id, posts(), storedIds()]).toEqual(["1", 1, ["1"]]);
  });
});

describe("with an explicit provider, an error names its argument", () => {
  const createWith = async (more: Partial<Settings>): Promise<string> => {
    const given = settingsOf();
    const settings = { ...readSettings({ get: (name) => given[name] }, {}), providerName: "eu", ...more };
    const inputs = { values: home, account: undefined, importId: undefined };
    return shownText(await errorOf(create(new Session({ clock }).connect(monitor, settings), inputs, {})));
  };

  test("if a lost create may have made a record", async () => {
    on("POST", answer(504));
    const text = await createWith({});
    expect(text).toContain("adopts it if the setting adoptExisting of the provider eu is true; otherwise it");
    expect(text).not.toContain("uptime:");
  });

  test("if nothing can be adopted", async () => {
    emulator.monitors.add({ ...home, interval: 3600 });
    const text = await createWith({ adoptExisting: true });
    expect(text).toMatch(
      /^adoptExisting of the provider eu is set, and no monitor .* adoptExisting of the provider eu set to false/,
    );
  });
});
