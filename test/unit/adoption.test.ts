import { FrontSession } from "../../provider/engine/front-session";
import type { Kind } from "../support/calls";
import type { ModelResource } from "../support/model";
import { fronts, Program, type Front } from "../support/program";
import { isList, lists, posts, storedIds } from "../support/sent";
import { urnOf } from "../support/simulated/engine";
import { answer, clock, emulator, failureOf, on, withServer } from "../support/server";
import { secret } from "../support/marks";
import { home } from "../support/monitors";

const adopting = { "uptime:adoptExisting": "true" };

withServer();

const add = (fields: Record<string, unknown> = {}): string =>
  String(emulator.monitors.add({ ...home, ...fields }).id);

const resource = (front: Front, settings = {}): ModelResource =>
  new Program(front, { ...adopting, ...settings }).resource();

async function expectAdoption(front: Front, id: string, inputs = home): Promise<void> {
  const one = resource(front);
  await one.up(inputs);
  expect([one.state?.id, emulator.writes()]).toEqual([id, []]);
}

test.each(fronts)(
  "nothing is created if the list is cut at per_page and its other pages cannot be asked for (%s)",
  async (front) => {
    const all = Array.from({ length: 150 }, (_, index) =>
      emulator.monitors.add({ ...home, name: `m-${index}` }),
    );
    on(isList, ({ query }) => {
      const { sort } = Object.fromEntries(query);
      return answer(200, (sort === "asc" ? all : all.toReversed()).slice(0, 100));
    });
    expect(await failureOf(resource(front).up({ ...home, name: "m-0" }))).toContain(
      "cannot be read completely",
    );
    expect(posts()).toBe(0);
  },
);

test.each(fronts)(
  "a list without paging is whole, also if a record is made while it is read (%s)",
  async (front) => {
    Array.from({ length: 10 }, (_, index) => add({ name: `m-${index}` }));
    on(isList, () => {
      const all = emulator.monitors.all();
      // After the first page, and pages 1 and 2, which repeat it.
      if (lists() === 3) add({ name: "Another" });
      return answer(200, all);
    });
    await expectAdoption(front, "1", { ...home, name: "m-0" });
    expect(lists()).toBe(4);
  },
);

describe.each([400, 404, 422])("if the server answers %i to the parameter page", (status) => {
  /** The list has at most 100 records. */
  const refusePages = (oppositeOrder: "shown" | "ignored" | "refused" = "shown"): void => {
    on(isList, (request) => {
      const { page, ...query } = Object.fromEntries(request.query);
      const sort = oppositeOrder === "ignored" ? "desc" : query.sort;
      if (page !== undefined || (sort === "asc" && oppositeOrder === "refused"))
        return answer(status, { message: ["property page should not exist"] });
      const all = emulator.monitors.all();
      return answer(200, (sort === "asc" ? all : all.toReversed()).slice(0, 100));
    });
  };

  // Servers that ignore the order and answer 404 after the last page have no other sign of the end.
  const ways = status === 404 ? (["shown", "ignored"] as const) : (["shown"] as const);
  test.each(ways.flatMap((way) => [10, 25, 50, 100].map((count) => [count, way] as const)))(
    "a list of %i records is whole (opposite order: %s)",
    async (count, oppositeOrder) => {
      Array.from({ length: count }, (_, index) => add({ name: `m-${index}` }));
      refusePages(oppositeOrder);
      await expectAdoption("dynamic", "1", { ...home, name: "m-0" });
    },
  );

  test.each(status === 404 ? (["shown", "refused"] as const) : (["shown", "ignored", "refused"] as const))(
    "nothing is created if the list is cut (opposite order: %s)",
    async (oppositeOrder) => {
      Array.from({ length: 101 }, (_, index) => add({ name: `m-${index}` }));
      refusePages(oppositeOrder);
      expect(await failureOf(resource("dynamic").up(home))).toContain("cannot be read completely");
      expect(posts()).toBe(0);
    },
  );
});

test.each(fronts)("nothing is created if a record of the same name cannot be read (%s)", async (front) => {
  const path = `/api/v1/monitors/${add()}`;
  on((request) => request.path === path, answer(403));
  expect(await failureOf(resource(front).up(home))).toContain("status 403");
  expect(posts()).toBe(0);
});

test("a monitor with a very long name is created, and nothing of it is lost", async () => {
  add({ name: "Another" });
  const name = "A long name. ".repeat(2500).trim();
  const one = resource("dynamic");
  await one.up({ ...home, name });
  expect(emulator.monitors.get(one.state?.id ?? "")).toMatchObject({ name });
});

test.each(fronts)(
  "nothing is created if the list is empty although a record is known (%s)",
  async (front) => {
    const one = resource(front);
    await one.up(home);
    const other = one.beside();
    one.nextRun();
    await one.preview(home);
    on(isList, answer(200, { data: [] }));
    emulator.forget();
    expect(await failureOf(other.up({ ...home, name: "Other" }))).toContain(
      "The list of monitors is empty, although this run knows of some",
    );
    expect(emulator.writes()).toEqual([]);
    // After a refresh that finds it gone, it is known no more.
    emulator.fault = undefined;
    emulator.monitors.remove(1);
    one.nextRun();
    await one.refresh();
    await other.up({ ...home, name: "Other" });
    expect(other.state?.id).toBe("2");
  },
);

test.each(fronts)(
  "the last record of an account is created again after a replacement that has only deleted it (%s)",
  async (front) => {
    const program = new Program(front, adopting);
    const one = program.resource();
    await one.up(home);
    program.nextRun();
    on("POST", answer(422));
    expect(await failureOf(one.replace(home))).toContain("status 422");
    emulator.fault = undefined;
    program.nextRun();
    expect(await failureOf(one.up(home))).toContain(
      "A refresh skips a resource whose replacement is not finished: for that one, run once with uptime:adoptExisting set to false.",
    );
    program.nextRun({ "uptime:adoptExisting": "false" });
    await one.up(home);
    expect([one.state?.id, storedIds()]).toEqual(["2", ["2"]]);
  },
);

test.each(fronts)(
  "a replacement adopts what its resource has in state if the engine has kept it (%s)",
  async (front) => {
    const program = new Program(front, adopting);
    const one = program.resource("domain");
    await one.up({ name: "shop.example" });
    program.nextRun();
    if (!one.state) throw new Error("Nothing is in state.");
    const { id, inputs } = one.state;
    await one.preview({ name: "shop.example" });
    // With retainOnDelete, the engine calls no delete before it.
    const made = await program.providers.domain.create(urnOf({ kind: "domain", name: one.name }), inputs);
    expect([made.id, storedIds("domain")]).toEqual([id, [id]]);
  },
);

/** The error of a create that finds records and adopts none. */
async function refusalOf(front: Front, inputs = home): Promise<string> {
  const one = resource(front);
  const failure = await failureOf(one.up(inputs));
  expect([one.state, emulator.writes()]).toEqual([undefined, []]);
  return failure;
}

describe.each(fronts)("with uptime:adoptExisting, a record of the same name and URL (%s)", (front) => {
  const headers = [{ key: "X-A", value: "secret" }];
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["in all that is declared", {}, {}],
    ["and has more than that", { ssl_alert_days: 7, alert_channel_ids: [3] }, {}],
    ["whatever the letter case of the host", { url: "https://EXAMPLE.com" }, {}],
    ["in lists, in any order", { alert_channel_ids: [2, 1] }, { alertChannelIds: [1, 2] }],
  ])("that is equal %s is adopted, and nothing is written", async (_, fields, inputs) => {
    await expectAdoption(front, add(fields), { ...home, ...inputs });
  });

  test.each([["id"], ["id", "url"]])("is adopted if the list shows only %s %s", async (...shown) => {
    const id = add();
    add({ name: "Other" });
    emulator.fault = (request) => {
      const records = emulator.monitors.all().map((one) => Object.entries(one));
      const data = records.map((one) => Object.fromEntries(one.filter(([key]) => shown.includes(key))));
      return isList(request) ? answer(200, { data }) : undefined;
    };
    await expectAdoption(front, id);
  });

  test("is found without reading all records for each create if the list shows only ids", async () => {
    on(isList, () => answer(200, { data: emulator.monitors.all().map(({ id }) => ({ id })) }));
    const names = Array.from({ length: 20 }, (_, index) => `Home ${index}`);
    for (const name of names) add({ name });
    const program = new Program(front, adopting);
    for (const name of names.toReversed()) await program.resource().up({ ...home, name });
    // Each is read to learn its name, and again when it is adopted.
    expect(emulator.requests.length).toBeLessThanOrEqual(2 * names.length + 1);
    expect(emulator.writes()).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["pause", { pause: true }, { pause: true }],
    ["requestAuthPassword", { requestAuthPassword: "secret" }, { request_auth_password: "secret" }],
    ["sslAlertDays", { sslAlertDays: 7 }, { ssl_alert_days: 7 }],
    ["requestHeaders", { requestHeaders: headers }, { request_headers: headers }],
  ])(
    "is adopted, and an update sends what a create does not send or the record does not show: %s",
    async (name, inputs, stored) => {
      const hidden = Object.keys(stored);
      emulator.dialect = { hidden: name === "pause" ? [] : hidden };
      const id = add();
      const one = resource(front);
      await one.up({ ...home, ...inputs });
      expect(one.state?.id).toBe(id);
      expect(emulator.monitors.all()).toMatchObject([{ ...home, ...stored }]);
      expect(posts()).toBe(0);
    },
  );

  test("is adopted, and the next up sends what it does not show if this one could not", async () => {
    const id = add();
    const one = resource(front);
    const inputs = { ...home, requestAuthPassword: "secret" };
    emulator.fault = ({ method }) => (method === "GET" ? undefined : answer(422));
    expect(await failureOf(one.up(inputs))).toContain("422");
    emulator.fault = undefined;
    await one.refresh();
    await one.up(inputs);
    expect(one.state?.id).toBe(id);
    expect(emulator.monitors.all()).toMatchObject([{ request_auth_password: "secret" }]);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ["in a declared field", { interval: 900 }, {}, ["interval"]],
    ["in a default", { alert_condition: "url_text", alert_text_lookup: "ok" }, {}, ["alertCondition"]],
    ["in several", { interval: 300, ssl_alert_days: 7 }, { sslAlertDays: 14 }, ["interval", "sslAlertDays"]],
  ])("that differs %s is an error that names it, and nothing is created", async (_, fields, inputs, keys) => {
    const id = add(fields);
    const failure = await refusalOf(front, { ...home, ...inputs });
    expect(failure).toMatch(new RegExp(`\\b${id}\\b`));
    for (const key of keys) expect(failure).toContain(key);
    for (const way of [/\bimport\b/, /\bname\b/, /uptime:adoptExisting/]) expect(failure).toMatch(way);
  });

  test.each([
    ["Q&amp;A", false],
    ["Q&amp;A", true],
    ["Q&A", false],
  ])(
    "whose name is shown with an HTML entity is adopted: declared %s, escaped %j",
    async (name, escapeHtml) => {
      emulator.dialect = { escapeHtml };
      await expectAdoption(front, add({ name: "Q&amp;A" }), { ...home, name });
    },
  );

  test("that differs in a field of ignoreChanges, which a create sends, is an error that names it", async () => {
    add({ interval: 900 });
    const one = new Program(front, adopting).resource("monitor", { ignoreChanges: ["interval"] });
    expect(await failureOf(one.up(home))).toContain("interval is 900 and would be 60");
    expect(emulator.writes()).toEqual([]);
  });

  test("that differs in a URL with a password is an error that shows neither URL", async () => {
    emulator.domains.add({ name: "shop.example", homepage_url: "https://probe:canary@shop.example/" });
    const one = new Program(front, adopting).resource("domain");
    const failure = await failureOf(one.up({ name: "shop.example", homepageUrl: "https://shop.example/" }));
    expect(failure).toContain('domain 1 ("shop.example") (homepageUrl differs)');
    expect(failure).not.toContain("canary");
  });

  test("that is equal is adopted, also beside others that differ", async () => {
    add({ interval: 900 });
    await expectAdoption(front, add());
  });

  test("that is not the only equal one is an error that names them, and nothing is created", async () => {
    const ids = [add(), add()];
    const failure = await refusalOf(front);
    for (const id of ids) expect(failure).toMatch(new RegExp(`\\b${id}\\b`));
  });

  test.each<Record<string, unknown>>([
    { name: "Other" },
    { url: "https://other.example/" },
    { name: { en: home.name } },
    { name: true },
  ])("is not one with %j, and a new one is created", async (fields) => {
    add(fields);
    const one = resource(front);
    await one.up(home);
    expect(one.state?.id).toBe("2");
  });

  test("that another resource has is not adopted", async () => {
    const [one, two, three] = new Program(front).resources();
    await one.up(home);
    one.nextRun(adopting);
    expect(await one.up(home)).toBe("same");
    await two.up(home);
    await three.up({ ...home, interval: 300 });
    expect([one, two, three].map(({ state }) => state?.id)).toEqual(["1", "2", "3"]);
  });

  test("that two resources could adopt is adopted by one of them", async () => {
    add();
    const program = new Program(front, adopting);
    const all = [program.resource(), program.resource()];
    await Promise.all(all.map((one) => one.up(home)));
    expect(all.map(({ state }) => state?.id).sort()).toEqual(["1", "2"]);
  });

  test("is read by itself if the list shows less than the record", async () => {
    emulator.dialect = { listBrief: true };
    const id = add({ interval: 900 });
    expect(await refusalOf(front)).toContain("interval");
    emulator.monitors.edit(id, { interval: 60 });
    await expectAdoption(front, id);
  });

  test("is ignored without the setting", async () => {
    add({ interval: 900 });
    const one = resource(front, { "uptime:adoptExisting": "false" });
    await one.up(home);
    expect(one.state?.id).toBe("2");
  });
});

describe.each(fronts)("with uptime:adoptExisting, a domain of the same name (%s)", (front) => {
  test.each<[string, Record<string, unknown>, string | undefined, RegExp]>([
    ["adopted if it is equal", {}, "1", /^$/],
    ["an error if it differs", { homepageUrl: "https://b.example/" }, undefined, /homepageUrl/],
  ])("is %s", async (_, inputs, id, failure) => {
    emulator.domains.add({ name: "shop.example", homepage_url: "https://shop.example/" });
    const one = new Program(front, adopting).resource("domain");
    expect(await failureOf(one.up({ name: "Shop.Example", ...inputs }))).toMatch(failure);
    expect(one.state?.id).toBe(id);
    expect(emulator.writes()).toEqual([]);
  });
});

test.each<[Kind, number, object, boolean]>([
  ["monitor", 409, {}, true],
  ["monitor", 422, { message: "No more monitors in your plan." }, false],
  ["domain", 409, {}, true],
  ["domain", 422, { message: "Already there." }, true],
  ["domain", 422, { errors: { homepage_url: ["cannot be reached"] } }, false],
])("a create of a %s that is refused with %i %j may be about a name that is taken: %j", async (...row) => {
  const [kind, status, body, mayBeTaken] = row;
  on("POST", answer(status, body));
  const declared = kind === "domain" ? { name: "a.example", homepageUrl: "https://a.example/" } : home;
  const failure = await failureOf(new Program("dynamic").resource(kind).up(declared));
  const advice = `If a ${kind} with this name exists, set uptime:adoptExisting, or name its id`;
  expect([failure.includes(`status ${status}`), failure.includes(advice)]).toEqual([true, mayBeTaken]);
});

test("the end of a run names what a killed run may have made, if the setting is not there, and nothing else", async () => {
  const before = new Program("dynamic").resource();
  await before.up({ ...home, name: "mine" });
  add();
  add({ name: "other", url: "https://other.example/" });
  const printed: string[] = [];
  const session = new FrontSession({ clock, print: (line) => printed.push(line) });
  const stack = new Program("dynamic", {}, { session });
  const [mine, twin, other] = stack.resources();
  mine.state = before.state;
  await mine.refresh();
  await twin.up({ ...home, name: "mine" });
  await other.up({ ...home, name: "other" });
  session.printSummary();
  expect(printed).toEqual([]);

  await stack.resource("monitor", { name: "new" }).up(home);
  session.printSummary();
  session.printSummary();
  expect(printed).toEqual([
    'uptime: Created new records, although records with the same name exist that no resource of this run manages: monitor 2 ("Home", "https://example.com/"). ' +
      "If a killed run has made them, delete them; with uptime:adoptExisting, equal ones are adopted instead.",
  ]);
});

test("the end of a run names such a record also if lists show no URLs", async () => {
  add();
  on(isList, () =>
    answer(
      200,
      emulator.monitors.all().map(({ id, name }) => ({ id, name })),
    ),
  );
  const printed: string[] = [];
  const session = new FrontSession({ clock, print: (line) => printed.push(line) });
  await new Program("dynamic", {}, { session }).resource().up(home);
  session.printSummary();
  expect(printed).toEqual([expect.stringContaining('manages: monitor 1 ("Home").')]);
});

test.each([
  [19, ""],
  [21, " and 2 more"],
])(
  "the end of a run names nineteen such records, and has the number of the others: of %i",
  (count, others) => {
    const printed: string[] = [];
    const session = new FrontSession({ print: (line) => printed.push(line) });
    for (let id = 0; id <= count; id++)
      session.noteNamesake({
        text: `monitor ${id}`,
        isStillFree: () => id > 0,
        adoptSetting: "adoptExisting",
      });
    session.printSummary();
    expect(printed).toEqual([
      expect.stringMatching(new RegExp(`: monitor 1, .*, monitor 19${others}\\. If a killed run`)),
    ]);
  },
);

test("with an explicit provider, the end of a run and the refusal of an import name its argument", async () => {
  add();
  const id = add({ name: "Other" });
  const printed: string[] = [];
  const options = { print: (line: string) => printed.push(line), providerName: "eu" };
  const stack = new Program("plugin", {}, options);
  const argument = "adoptExisting of the provider eu";
  const imported = stack
    .resource("monitor", { name: "imported" })
    .import(id, { ...home, name: "Other", url: secret(home.url) });
  expect(await failureOf(imported)).toContain(`run once with ${argument} set to true`);
  await stack.resource().up(home);
  await stack.cancel();
  expect(printed.join()).toContain(`with ${argument}, equal ones are adopted instead.`);
});
