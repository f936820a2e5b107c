import fc from "fast-check";

import { domain } from "../../provider/definitions/domain";
import { FrontSession } from "../../provider/engine/front-session";
import { monitor } from "../../provider/definitions/monitor";
import { engineUnknown } from "../../provider/common/marks";
import { dialects, domainInputs, monitorInputs } from "../support/arbitraries";
import { hosted, kinds, type Kind } from "../support/calls";
import { Program, times } from "../support/program";
import { assertProperty } from "../support/property";
import { secret } from "../support/marks";
import { isList, lists, sentRequests, storedIds } from "../support/sent";
import { answer, clock, emulator, failureOf, on, settingsOf, withServer } from "../support/server";
import type { Inputs, ModelResource } from "../support/model";
import { sample } from "../support/size";
import { home } from "../support/monitors";

withServer();
let warnings: string[];
beforeEach(() => {
  warnings = [];
  jest.spyOn(console, "warn").mockImplementation((line: string) => void warnings.push(line));
});
afterEach(() => jest.restoreAllMocks());

const resource = (kind: "monitor" | "domain" = "monitor", name = "home", more = {}): ModelResource =>
  new Program("dynamic", more).resource(kind, { name });

function add(fields: Inputs = {}): string {
  return String(emulator.monitors.add({ ...home, ...fields }).id);
}

describe("many imports", () => {
  test("read the pages of the list, and not each record", async () => {
    const pages = sample(2, 2, 10);
    const numbers = Array.from({ length: 100 * pages }, (_, number) => number);
    const all = numbers.map((number) => ({ ...home, name: `Monitor ${number}` }));
    const ids = all.map(({ name }) => add({ name }));
    const first = resource();
    const stacks = numbers.map(() => first.beside());
    // The engine checks one after the other.
    for (const [number, one] of stacks.entries()) {
      const declared = { ...all[number], importId: ids[number] };
      expect(await one.up(declared)).toBe("create");
      expect(one.state).toMatchObject({ id: ids[number], outputs: all[number] });
    }
    expect(lists()).toBe(pages);
    // A handful before there are many; the model of the engine checks each twice, once for the preview.
    expect(emulator.requests.length - pages).toBeLessThanOrEqual(9);
    expect(emulator.writes()).toEqual([]);
  });

  test("read the record itself for a field that the list leaves out", async () => {
    emulator.dialect = { listBrief: true };
    const first = resource();
    for (let number = 0; number < 20; number++) {
      const importId = add({ ssl_alert_days: 7 });
      await first.beside().up({ ...home, sslAlertDays: 7, importId });
    }
    const importId = add({ ssl_alert_days: 7 });
    const other = first.beside();
    expect(await failureOf(other.preview({ ...home, sslAlertDays: 14, importId }))).toContain(
      "sslAlertDays is 14 in the program and 7 in monitor 21",
    );
  });

  test.each([
    ["leaves out an attribute", ({ note: _, ...shown }: Inputs) => shown, 24],
    ["shows every attribute", (shown: Inputs) => shown, 8],
  ])("have the attributes of the record itself, also if the list %s", async (_, listed, reads) => {
    const ids = times(12, { note: "by hand" }).map(add);
    on(isList, () => answer(200, { data: emulator.monitors.all().map(listed) }));
    const first = resource();
    for (const importId of ids) {
      const one = first.beside();
      await one.up({ ...home, importId });
      expect(one.state?.outputs.attributes).toMatchObject({ note: "by hand" });
    }
    // The first four are read by their ids, and the model of the engine checks each twice.
    expect([lists(), emulator.requests.length - lists()]).toEqual([1, reads]);
  });
});

test.each([secret, (value: unknown) => value])(
  "an import through the plugin of headers that are marked as secret, or not, changes nothing",
  async (mark) => {
    const headers = [{ key: "X-Token", value: "canary-2" }];
    const id = add({ request_headers: headers });
    const declared = { ...home, requestHeaders: mark(headers) };
    // Fails if the provider finds a difference.
    expect(await new Program("plugin").resource().import(id, declared)).toMatchObject({ id });
    expect(emulator.writes()).toEqual([]);
  },
);

test("the first nineteen imports and adoptions are announced one by one, the others in one line", async () => {
  const printed: string[] = [];
  const session = new FrontSession({ clock, print: (line) => printed.push(line) });
  const provider = hosted(monitor, settingsOf({ "uptime:adoptExisting": "true" }), session);
  for (let number = 1; number <= 21; number++) {
    const [name, owner] = [`Monitor ${number}`, `m${number}`];
    // A password in a URL is printed nowhere.
    const url = "https://probe:canary@shop.example/";
    const importId = add({ name, url });
    const declared = { ...home, name, url, __options: { owner: owner } };
    if (number === 19) {
      const { inputs = {} } = await provider.check({}, declared);
      expect((await provider.create(inputs)).id).toBe(importId);
    } else await provider.check({}, { ...declared, importId });
  }
  expect(warnings).toHaveLength(19);
  expect(warnings[17]).toMatch(
    /^Monitor m18 imports monitor 18 \("Monitor 18", "https:\/\/shop\.example\/"\)/,
  );
  expect(warnings[18]).toMatch(/\badopts\b.*\b19\b/);
  expect(printed).toEqual([]);
  session.printSummary();
  expect(printed).toEqual([
    expect.stringMatching(/\b2\b.*imported, adopted or left.* lists what the program imports\./),
  ]);
  session.printSummary();
  expect(printed).toHaveLength(1);
});

test("the line about more than nineteen of them has their number, also of one", () => {
  const printed: string[] = [];
  const session = new FrontSession({ print: (line) => printed.push(line) });
  for (let number = 1; number <= 20; number++) session.announce(() => undefined);
  session.printSummary();
  expect(printed).toEqual([
    expect.stringContaining("uptime: 1 more record is imported, adopted or left to another resource; "),
  ]);
});

test("an import that differs in a URL with a password shows neither URL", async () => {
  const importId = add({ ...home, url: "https://probe:canary@shop.example/" });
  const provider = hosted(monitor, settingsOf({}), new FrontSession({ clock }));
  const { failures = [] } = await provider.check({}, { ...home, importId, __options: { owner: "m" } });
  expect(failures.map(({ reason }) => reason).join()).toMatch(/^url differs from what monitor/);
  expect(JSON.stringify(failures)).not.toContain("canary");
});

test("a deleted resource whose record stays says for whom, and one whose record is deleted says nothing", async () => {
  const stack = new Program("dynamic");
  const [one, other] = [stack.resource(), stack.resource("monitor", { name: "other" })];
  await one.up(home);
  stack.nextRun();
  await other.up({ ...home, importId: "1" });
  warnings = [];
  await one.destroy();
  expect(warnings).toEqual([
    expect.stringMatching(/^Monitor 1 was not deleted, because \S+Monitor::other still manages it\.$/),
  ]);
  await other.destroy();
  expect(warnings).toHaveLength(1);
  expect(storedIds()).toEqual([]);
});

test("after a refusal, the last line says once which command lists everything", async () => {
  const printed: string[] = [];
  const session = new FrontSession({ clock, print: (line) => printed.push(line) });
  const provider = hosted(monitor, settingsOf(), session);
  await provider.check({}, home);
  session.printSummary();
  expect(printed).toEqual([]);
  for (const interval of [61, 62]) await provider.check({}, { ...home, interval });
  session.printSummary();
  session.printSummary();
  expect(printed).toEqual([expect.stringContaining("pulumi-uptime doctor --program")]);
});

describe("an import", () => {
  test("adds the record to state and writes nothing, with the option kept or removed", async () => {
    const importId = add({ ssl_alert_days: 7, name: "Home &amp; garden" });
    const declared = { ...home, name: "Home & garden" };
    const one = resource();
    expect(await one.up({ ...declared, importId })).toBe("create");
    expect(one.state).toMatchObject({ id: importId, outputs: { attributes: { ssl_alert_days: 7 } } });
    expect(one.state?.outputs).not.toHaveProperty("sslAlertDays");
    for (const later of [{ ...declared, importId }, declared, { ...declared, importId }]) {
      one.nextRun();
      expect(await one.up(later)).toBe("same");
      await one.refresh();
      expect(await one.up(later)).toBe("same");
    }
    expect(emulator.writes()).toEqual([]);
    one.nextRun();
    expect(await one.up({ ...declared, importId, interval: 180 })).toBe("update");
    expect(one.state?.outputs).toHaveProperty("importId");
    one.nextRun();
    expect(await one.up({ ...declared, interval: 300 })).toBe("update");
    expect(emulator.monitors.get(importId)).toMatchObject({ interval: 300, ssl_alert_days: 7 });
    // A refresh takes the inputs from the outputs, so the engine would list it as removed in each later diff.
    expect(one.state?.outputs).not.toHaveProperty("importId");
  });

  test.each([true, false])(
    "shows values of the record as they are, whatever looks like HTML in them; escaped: %j",
    async (escapeHtml) => {
      emulator.dialect = { escapeHtml };
      const name = "R&D <x> <script>alert(1)</script>";
      await resource("monitor", "same").preview({ ...home, name, importId: add({ name }) });
      expect(warnings).toEqual([expect.stringContaining(` imports monitor 1 ("${name}", `)]);
      const failure = await failureOf(
        resource("monitor", "other").preview({ ...home, importId: add({ name }) }),
      );
      expect(failure).toContain(`in the program and "${name}" in monitor 2`);
    },
  );

  test("reads the record once, and announces that nothing is created", async () => {
    const importId = add();
    await resource().up({ ...home, importId });
    // The model of the engine checks twice, once for the preview.
    expect(sentRequests()).toEqual(times(2, `GET /api/v1/monitors/${importId}`));
    expect(warnings).toEqual(times(2, expect.stringMatching(/\bimports\b.*\b1\b.*Nothing is created/)));
  });

  test("of a domain is announced with the domain's name", async () => {
    const importId = String(emulator.domains.add({ name: "first.example" }).id);
    await resource("domain").preview({ name: "first.example", importId });
    expect(warnings).toEqual([expect.stringMatching(/\bimports\b.*\b1\b.*"first\.example"/)]);
  });

  test.each<"monitor" | "domain">(["monitor", "domain"])(
    "of an equal %s succeeds in every dialect, and later previews show no changes",
    async (kind) => {
      const inputs = kind === "monitor" ? monitorInputs : domainInputs;
      const table = kind === "monitor" ? emulator.monitors : emulator.domains;
      await assertProperty(
        fc.asyncProperty(inputs, dialects, async (declared, dialect) => {
          table.clear();
          emulator.dialect = dialect;
          const before = new Program("dynamic").resource(kind);
          await before.up(declared);
          emulator.forget();
          const importId = before.state?.id;
          const one = resource(kind, "home");
          expect(await one.up({ ...declared, importId })).toBe("create");
          expect(one.state?.id).toBe(importId);
          for (const later of [{ ...declared, importId }, declared]) {
            one.nextRun();
            expect(await one.up(later)).toBe("same");
            await one.refresh();
            expect(await one.up(later)).toBe("same");
          }
          expect(emulator.writes()).toEqual([]);
        }),
        { numRuns: sample(4, 10, 1000) },
      );
    },
  );
});

describe("an import is refused in the preview", () => {
  test("with every property that differs, both values, and every invalid value", async () => {
    const importId = add({
      name: "Other",
      interval: 300,
      alert_condition: "url_text",
      alert_text_lookup: "ok",
      alert_channel_ids: [1, 2],
      request_headers: [{ key: "X-Token", value: "canary-1" }],
      cache_buster: 1,
    });
    const message = await failureOf(
      resource().preview({
        ...home,
        alertTextLookup: "ok",
        alertChannelIds: [2, 3],
        cacheBuster: false,
        requestHeaders: [{ key: "X-Token", value: "canary-2" }],
        sslAlertDays: 5,
        importId,
      }),
    );
    const lines = message.split("\n").map((line) => line.replace(/^: /, ""));
    const end = "An import changes nothing: declare the record's value, or change the record first";
    expect(lines).toEqual([
      expect.stringMatching(/^sslAlertDays must be one of 0, 1/),
      `name is "Home" in the program and "Other" in monitor 1. ${end}`,
      `interval is 60 in the program and 300 in monitor 1. ${end}`,
      `alertCondition is "url_unavailable", its default, in the program and "url_text" in monitor 1. ${end}`,
      `alertChannelIds is [2,3] in the program and [1,2] in monitor 1. ${end}`,
      `requestHeaders differs from what monitor 1 has (both are secret, so neither is shown). ${end}`,
      `cacheBuster is false, its default, in the program and true in monitor 1. ${end}`,
    ]);
    expect(message).not.toContain("canary");
    expect(warnings).toEqual([]);
    expect(emulator.writes()).toEqual([]);
  });

  test("when a property cannot be read", async () => {
    const message = await failureOf(resource().preview({ ...home, importId: add({ interval: "often" }) }));
    expect(message).toMatch(/interval .*"often"/);
  });

  test("but not for a property in ignoreChanges", async () => {
    const importId = add({ interval: 300 });
    const one = new Program("dynamic").resource("monitor", { ignoreChanges: ["interval"] });
    await one.up({ ...home, importId });
    expect(one.state?.outputs).toMatchObject({ interval: 300 });
  });

  test("when the record cannot be read, together with every invalid value", async () => {
    const one = resource("monitor", "home", { "uptime:apiKey": "other-key" });
    const message = await failureOf(one.preview({ ...home, interval: 61, importId: add() }));
    expect(message).toMatch(/^: interval .*61/m);
    expect(message).toMatch(/^: import .*monitor 1\b.*GET .*401/m);
  });

  test.each(["", " ", "1 ", "1 2", ".", "..", engineUnknown, true, [1]])(
    "for the id %j",
    async (importId) => {
      const message = await failureOf(resource().preview({ ...home, importId }));
      expect(message).toMatch(
        /^: import must be (the id of a monitor, as a string without spaces|known in the preview)/,
      );
      expect(emulator.requests).toEqual([]);
    },
  );

  test("and does not print the API key if it stands in the place of the id", async () => {
    const message = await failureOf(resource().preview({ ...home, importId: emulator.apiKey }));
    expect(message).toContain("import of monitor");
    expect(message).not.toContain(emulator.apiKey);
  });

  test("when another resource imports the record or has it, which is named with its parents' types", async () => {
    const importId = add();
    const one = resource();
    const two = one.beside({ name: "two" });
    await one.preview({ ...home, importId });
    expect(await failureOf(two.preview({ ...home, importId }))).toContain(
      `import names monitor ${importId}, which ${one.urnSuffix} already manages or imports: only one resource can manage a record`,
    );
    const old = resource().beside({ name: "web", parent: "my:site:Front" });
    await old.up({ ...home, importId });
    const late = old.beside({ name: "web", parent: "my:site:Back" });
    expect(late.urnSuffix).toBe("my:site:Back$pulumi-nodejs:dynamic/uptime:Monitor::web");
    old.nextRun();
    await old.preview(home);
    expect(await failureOf(late.preview({ ...home, importId }))).toContain(
      `import names monitor ${importId}, which ${old.urnSuffix} already manages or imports`,
    );
    old.nextRun();
    await late.preview({ ...home, importId });
    expect(await failureOf(old.preview(home))).toContain(
      `Monitor ${importId} is managed by both ${old.urnSuffix} and ${late.urnSuffix}. Remove one of them`,
    );
    expect(emulator.writes()).toEqual([]);
  });
});

test.each<[Kind, Inputs, RegExp]>([
  ["monitor", { requestHeaders: "X-A: 1" }, /requestHeaders must be a list/],
  ["monitor", { requestHeaders: [{ key: 5, value: "x" }] }, /must be a string/],
  ["monitor", { alertChannelIds: "1" }, /alertChannelIds must be a list of ids/],
  ["domain", { name: 5 }, /name must be a string/],
])(
  "a value of another type is refused, and not compared with the %s to import: %j",
  async (kind, inputs, reason) => {
    const importId = add({ request_headers: [{ key: "X", value: "y" }], alert_channel_ids: [7] });
    emulator.domains.add({ name: "shop.example" });
    const declared = kind === "monitor" ? { ...home, interval: 300, ...inputs } : inputs;
    const failure = await failureOf(resource(kind).preview({ ...declared, importId }));
    expect(failure).toMatch(reason);
    if (kind === "monitor") expect(failure).toContain("interval is 300 in the program and 60 in monitor 1");
  },
);

test.each(kinds)(
  "the error of an import that is answered with 403 does not say that state has the %s",
  async (kind) => {
    on("GET", answer(403));
    const declared = kind === "monitor" ? home : { name: "a.example" };
    const failure = await failureOf(resource(kind).import("7", declared));
    expect(failure).toMatch(/may not do this\..* If state has this record and it no longer exists/);
  },
);

test("an import is announced with the resource's whole name, which may contain `::`", async () => {
  const importId = add();
  await resource()
    .beside({ name: "team::web", parent: "my:site:Front" })
    .preview({ ...home, importId });
  expect(warnings).toEqual([expect.stringMatching(/^Monitor team::web imports monitor 1 /)]);
});

test("an id may be a number, and null is no id", async () => {
  const one = resource();
  await one.up({ ...home, importId: Number(add()) });
  expect(one.state).toMatchObject({ id: "1", inputs: { importId: "1" } });
  const two = resource();
  await two.up({ ...home, importId: null });
  expect(two.state?.id).toBe("2");
});

test("a declared field that the API does not show is announced, and sent with the first update", async () => {
  const importId = add({ request_auth_password: "old" });
  const declared = { ...home, requestAuthPassword: "canary-1" };
  const one = resource();
  await one.up({ ...declared, importId });
  expect(warnings.slice(0, 2)).toEqual([
    expect.stringMatching(/\bimports\b.*\b1\b/),
    expect.stringContaining("requestAuthPassword"),
  ]);
  expect(await one.up({ ...declared, importId })).toBe("same");
  expect(emulator.monitors.get(importId)).toMatchObject({ request_auth_password: "old" });
  await one.up({ ...declared, interval: 300, importId });
  expect(emulator.monitors.get(importId)).toMatchObject({ request_auth_password: "canary-1" });
});

test("an import of a record that a create of this run makes while it is read is an error", async () => {
  const provider = hosted(monitor, settingsOf(), new FrontSession({ clock }));
  const check = async (name: string, more = {}) => {
    const owner = `pulumi-nodejs:dynamic/uptime:Monitor::${name}`;
    const { inputs = {}, failures } = await provider.check({}, { ...home, ...more, __options: { owner } });
    expect(failures).toEqual([]);
    return inputs;
  };
  emulator.fault = ({ method }) => ({ kind: "delay", answerDelayMs: method === "POST" ? 2000 : 3000 });
  const created = provider.create(await check("created"));
  while (emulator.monitors.size === 0) await new Promise(setImmediate);
  const inputs = await check("imported", { importId: "1" });
  expect((await created).id).toBe("1");
  await expect(provider.create(inputs)).rejects.toThrow(
    "Monitor 1 was not imported, because pulumi-nodejs:dynamic/uptime:Monitor::created of this stack has it: remove the option import.",
  );
});

test("a value that is unknown in the preview is compared in the up, and nothing is written if it differs", async () => {
  const importId = add();
  const provider = hosted(monitor, settingsOf(), new FrontSession({ clock }));
  const declared = {
    ...home,
    importId,
    __options: { owner: "pulumi-nodejs:dynamic/uptime:Monitor::home" },
  };
  const checked = await provider.check({}, { ...declared, url: engineUnknown });
  expect(checked.failures).toEqual([]);
  const inputs = checked.inputs ?? {};
  const error: unknown = await provider
    .create({ ...inputs, url: "https://other.example/" })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    message: expect.stringContaining(
      `Monitor ${importId} was not imported, and nothing was written: url is "https://other.example/" in the program and`,
    ) as string,
  });
  expect(error).not.toHaveProperty("id");
  expect((await provider.create({ ...inputs, url: home.url })).id).toBe(importId);
  expect(emulator.writes()).toEqual([]);
});

describe("if the option import is kept", () => {
  const names = (): unknown[] => emulator.monitors.all().map(({ name }) => name);

  /** A resource that a former run has imported, and what its program declares. */
  async function imported(): Promise<[ModelResource, Inputs & { importId: string }]> {
    const declared = { ...home, importId: add() };
    const one = resource();
    await one.up(declared);
    one.nextRun();
    return [one, declared];
  }

  test.each([false, true])(
    "what replaces without asking imports the record again, and nothing is deleted; deleted first: %j",
    async (deleteBeforeReplace) => {
      const [one, declared] = await imported();
      await one.replace(declared, { deleteBeforeReplace });
      expect(one.state?.id).toBe("1");
      one.nextRun();
      expect(await one.up({ ...declared, interval: 300 })).toBe("update");
      one.nextRun();
      expect(await one.up({ ...declared, interval: 300 })).toBe("same");
      // Without the option, it makes a new record.
      one.nextRun();
      await one.replace(home);
      expect(storedIds()).toEqual(["2"]);
    },
  );

  test.each<["domain" | "monitor", object, Inputs, string]>([
    ["domain", {}, { name: "second.example" }, "its change of name"],
    ["monitor", { replaceOnChanges: ["interval"] }, { ...home, interval: 300 }, "its change of interval"],
    ["monitor", {}, { ...home, importId: "2" }, "another record"],
    ["monitor", {}, { ...home, account: "eu" }, "its change of account"],
  ])(
    "a diff that would replace a %s is an error that says to remove it first: %j %j",
    async (kind, options, changed, what) => {
      const first = kind === "domain" ? { name: "first.example" } : home;
      const importId = String(emulator[`${kind}s`].add(first).id);
      emulator.monitors.add(home);
      const accounts = { "uptime:accounts": '{"eu": {"apiKey": "another-key"}}' };
      const one = new Program("dynamic", accounts).resource(kind, options);
      await one.up({ ...first, importId });
      one.nextRun();
      const failure = await failureOf(one.preview({ importId, ...changed }));
      expect(failure).toContain(
        `has the option import, and ${what} would replace it. Remove the option import first.`,
      );
      const { importId: _, ...without } = { importId, ...changed };
      one.nextRun();
      expect(await one.preview(without)).toBe(what === "another record" ? "same" : "replace");
      expect(emulator.writes()).toEqual([]);
    },
  );

  test("a value that is not known in the preview is no error in it", async () => {
    const importId = String(emulator.domains.add({ name: "first.example" }).id);
    const one = resource("domain");
    await one.up({ name: "first.example", importId });
    one.nextRun();
    expect(await one.preview({ name: engineUnknown, importId })).toBe("update");
    expect(await one.up({ name: "first.example", importId })).toBe("same");
    expect(await failureOf(one.up({ name: "second.example", importId }))).toContain("would replace it");
  });

  test("it is not deleted with what it depends on, whose replacement is not known yet", async () => {
    const importId = String(emulator.domains.add({ name: "first.example" }).id);
    const program = new Program("dynamic");
    const one = program.resource("domain");
    await one.up({ name: "first.example", importId });
    program.nextRun();
    const { id = "", inputs = {}, outputs = {} } = one.state ?? {};
    const replaces = async (news: Record<string, unknown>): Promise<unknown> =>
      (await program.providers.domain.diff("urn", id, outputs, inputs, news, {})).replaces;
    expect(await replaces({ ...inputs, name: engineUnknown })).toBe(false);
    const { importId: _, ...without } = inputs;
    expect(await replaces({ ...without, name: engineUnknown })).toBe(true);
  });

  test("a replacement that was killed after its delete is found gone by a refresh, and can be created again", async () => {
    const [one, declared] = await imported();
    // The deletion was not written into state any more.
    emulator.monitors.remove(declared.importId);
    expect(await one.up(declared)).toBe("same");
    one.nextRun();
    await one.refresh();
    expect(one.state).toBeUndefined();
    one.nextRun();
    expect(await failureOf(one.up(declared))).toContain("remove the option import");
    await one.up(home);
    expect(names()).toEqual(["Home"]);
  });

  test("a resource that is renamed keeps its record, also if the run was killed before the old one was deleted", async () => {
    const [old, declared] = await imported();
    const renamed = old.beside({ name: "renamed" });
    await renamed.up(declared);
    // Killed before the old one was deleted; the option may go meanwhile.
    old.nextRun();
    expect(await renamed.up(home)).toBe("same");
    await old.destroy();
    expect(names()).toEqual(["Home"]);
    renamed.nextRun();
    await renamed.destroy();
    expect(names()).toEqual([]);
  });

  test("a new resource under the former name of an imported one keeps the record", async () => {
    const [former, declared] = await imported();
    await former.beside({ name: former.name }).up(declared);
    await former.destroy();
    expect(names()).toEqual(["Home"]);
  });

  test("a resource that was not imported can be renamed and imported in one run", async () => {
    const old = new Program("dynamic").resource();
    await old.up(home);
    const renamed = old.beside({ name: "renamed" });
    old.nextRun();
    await renamed.up({ ...home, importId: old.state?.id });
    await old.destroy();
    expect(names()).toEqual(["Home"]);
    expect(await renamed.up({ ...home, importId: renamed.state?.id })).toBe("same");
  });
});

test("with uptime:adoptExisting, no other resource adopts an imported record", async () => {
  const [first, second] = [add(), add()];
  const one = resource("monitor", "home", { "uptime:adoptExisting": "true" });
  await one.up({ ...home, importId: second });
  expect(one.state?.id).toBe(second);
  const other = one.beside({});
  await other.up(home);
  expect(other.state?.id).toBe(first);
  expect(emulator.writes()).toEqual([]);
});

const shown = {
  alertChannelIds: [3],
  cacheBuster: false,
  pause: true,
  sslAlertDays: 0,
  alertTextLookup: null,
};
const readWithGet = {
  monitor: [
    { ...home, alert_channel_ids: [3], cache_buster: 0, pause: 1, ssl_alert_days: 0 },
    { ...home, ...shown },
  ],
  domain: [
    { name: "a.example", homepage_url: "https://a.example/" },
    { name: "a.example", homepageUrl: "https://a.example/", notFoundUrl: null },
  ],
} as const;
test.each(kinds)("a %s read with `get` has every field as an output, and no inputs", async (kind) => {
  const [fields, outputs] = readWithGet[kind];
  const table = emulator[`${kind}s`];
  const definition = { monitor, domain }[kind];
  const provider = hosted(definition, settingsOf(), new FrontSession({ clock }));
  const id = String(table.add(fields).id);
  const first = await provider.read(id, {});
  const again = await provider.read(id, first.props);
  for (const { props, inputs } of [first, again]) {
    expect(props).toMatchObject(outputs);
    expect(Object.keys(props ?? {})).toEqual(expect.arrayContaining(Object.keys(definition.fields)));
    expect(inputs).toEqual({});
  }
  table.edit(id, { name: "renamed.example" });
  expect((await provider.read(id, again.props)).props).toMatchObject({ name: "renamed.example" });
});
