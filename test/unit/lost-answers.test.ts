import { readSettings, type Settings } from "../../provider/api/settings";
import { monitor } from "../../provider/definitions/monitor";
import type { Fault } from "../../provider/emulator";
import { create } from "../../provider/lifecycle/create";
import { beginOperation } from "../../provider/lifecycle/record-scope";
import { Session } from "../../provider/lifecycle/session";
import { errorOf, shownText } from "../support/client";
import { times, type Program } from "../support/program";
import { isList, lists, posts, storedIds } from "../support/sent";
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
import { kinds } from "../support/calls";
import { home } from "../support/monitors";
import {
  lookTime,
  declared,
  program,
  resource,
  mayExist,
  made1,
  made,
  cut,
  cutBefore,
  queued,
  elsewhere,
  afterCreate,
  lagging,
} from "../support/lost-creates";

/** Milliseconds between two looks. */
const lookPause = 5000;
const shortTimeout = { "uptime:timeoutSeconds": "20" };

withServer();

/** Somebody else's create has its effect at the same moment, and ours is cut before it has one. */
function insteadOfOurs(...records: Record<string, unknown>[]): void {
  const before = posts();
  emulator.fault = ({ method }) => {
    if (method !== "POST" || posts() > before + 1) return undefined;
    for (const record of records) emulator.monitors.add(record);
    return cutBefore;
  };
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
  expect(failure).toMatch(/adopts it if uptime:adoptExisting stays true; otherwise/);
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

test.each([
  "https://u:s3cret@a.example/",
  "https://u:s3cr/et@a.example/",
  "https://u:s3#cret@a.example",
  "https:/u:s3cret@a.example",
])("an error that names somebody else's record shows no password in its URL: %s", async (url) => {
  insteadOfOurs({ ...home, url });
  const failure = await failureOf(resource().up(home));
  expect(failure).toContain(
    'There is a new record that may be this one or somebody else\'s, so nothing is sent again: 1 ("Home"',
  );
  expect(failure).not.toMatch(/s3/);
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
  test.each([
    ["", 0],
    [", and the list of the next look no longer does", 2],
  ])("if its own address does not show it yet%s", async (_, emptyLook) => {
    let looks = 0;
    const answers: Fault[] = [cut];
    afterCreate(
      () => answers.shift(),
      (request) => {
        if (!isList(request)) return answer(404);
        return ++looks === emptyLook ? answer(200, { data: [] }) : undefined;
      },
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

test("a list that was not empty before the create, and is now, shows nothing of a lost create, as the error says", async () => {
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

test("an empty list does not count once a record was read under an unconfirmed id", async () => {
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

test("a list that is empty, although it was not before the create, shows nothing of it", async () => {
  emulator.monitors.add({ ...home, name: "Other" });
  lagging(2, () => (posts() === 1 ? cut : undefined));
  expect(await made(resource())).toBe("made 2");
  expect(posts()).toBe(1);
});

describe("with an explicit provider, an error names its argument", () => {
  const createWith = async (more: Partial<Settings>): Promise<string> => {
    const given = settingsOf();
    const settings = { ...readSettings({ get: (name) => given[name] }, {}), providerName: "eu", ...more };
    const inputs = { values: home, account: undefined, importId: undefined };
    return shownText(
      await errorOf(create(beginOperation(new Session({ clock }).connect(monitor, settings)), inputs)),
    );
  };

  test("if a lost create may have made a record", async () => {
    on("POST", answer(504));
    const text = await createWith({});
    expect(text).toContain("adopts it if adoptExisting of the provider eu is true; otherwise it");
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
