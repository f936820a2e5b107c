import { readSettings } from "../../provider/api/settings";
import { CachedList } from "../../provider/api/cached-list";
import { Collection } from "../../provider/api/collection";
import { Operation } from "../../provider/api/operation";
import { systemClock, type Clock } from "../../provider/api/clock";
import { monitor } from "../../provider/definitions/monitor";
import { dialectChoices, type ReceivedRequest } from "../../provider/emulator";
import type { RecordScope } from "../../provider/lifecycle/record-scope";
import { FrontSession } from "../../provider/engine/front-session";
import { each } from "../support/program";
import { hosted, revealed, type HostedProvider } from "../support/calls";
import { defaults } from "../support/monitors";
import { isList, lists } from "../support/sent";
import { answer, clock, emulator, failureOf, on, settingsOf, withServer } from "../support/server";
import type { Inputs } from "../support/model";
import { sample } from "../support/size";

interface Known {
  readonly id: string;
  readonly outputs: Inputs;
}

// Its records change by themselves, from one request to the next.
withServer({ firstId: 1001 });

/** As a new run of Pulumi starts it. */
function newProcess(more: Record<string, string> = {}, time: Clock = clock): HostedProvider {
  const settings = settingsOf({ "uptime:maxRetries": "0", ...more });
  return hosted(monitor, settings, new FrontSession({ clock: time }));
}

test("a list reads its first page once, and is not used any more if it cannot be read to its end", async () => {
  const pages = async function* () {
    for (const id of ["1", "2"]) yield await Promise.resolve([{ id, raw: {} }]);
    throw new Error("cut");
  };
  const list = new CachedList(pages(), clock);
  for (let times = 0; times < 2; times++) await list.readFirstPage();
  expect([list.size, list.isFresh]).toEqual([1, true]);
  await expect(list.complete()).rejects.toThrow("cut");
  expect(list.isFresh).toBe(false);
});

const exportedOf = (number: number): Inputs => ({
  name: `Monitor ${number} & more`,
  url: `https://${number}.example.com/`,
  interval: 300,
  ...defaults,
  ...(number % 3 === 0 && { alertChannelIds: [3, 1], requestHeaders: [{ key: "X-A", value: "one-two" }] }),
  ...(number % 5 === 0 && { sslAlertDays: null, requestAuthPassword: "pass-word-1" }),
});

/** Monitors made by hand, and the outputs that state would hold of them. */
async function monitors(count: number): Promise<Known[]> {
  for (let number = 0; number < count; number++) {
    const { name, url, interval, requestHeaders = [], alertChannelIds = [] } = exportedOf(number);
    const more = { request_headers: requestHeaders, alert_channel_ids: alertChannelIds };
    emulator.monitors.add({ name, url, interval, ...more });
  }
  const [example] = emulator.monitors.all();
  if (!example) return [];
  const olds = { ...exportedOf(0), attributes: {}, __partial: true };
  const { props } = await newProcess().read(String(example.id), olds);
  const { attributes, __server, __key } = props ?? {};
  expect([attributes, __server, __key]).not.toContain(undefined);
  const known = emulator.monitors.all().map(({ id }, number) => ({
    id: String(id),
    outputs: { ...exportedOf(number), attributes, __server, __key },
  }));
  emulator.forget();
  return known;
}

/** A refresh, with as many reads at once as Pulumi's `--parallel` allows: the outputs, undefined for what is gone. */
async function refresh(known: readonly Known[], parallel = 8, provider = newProcess()): Promise<unknown[]> {
  const read = async ({ id, outputs }: Known): Promise<unknown> => {
    const { props } = await provider.read(id, outputs);
    return props && revealed(props);
  };
  return each(known, read, parallel);
}

const outputsOf = (known: readonly Known[]): Inputs[] => known.map(({ outputs }) => outputs);
const withOutputs = (known: readonly Known[], more: Inputs): Known[] =>
  known.map(({ id, outputs }) => ({ id, outputs: { ...outputs, ...more } }));
const managedOf = (outputs: unknown): Inputs =>
  Object.fromEntries(
    Object.entries(outputs as Inputs).filter(([key]) => !/^(attributes|__server|__key)$/.test(key)),
  );
const shows = (): number => emulator.requests.length - lists();
const edit = ({ id }: Known, fields: Inputs): void => {
  emulator.monitors.edit(id, fields);
};

/** One of several; it must be there. */
function at(known: readonly Known[], index: number): Known {
  const one = known[index];
  if (!one) throw new Error(`There is no ${index}.`);
  return one;
}

describe("a refresh of many", () => {
  // A thousand in one way of paging is enough for a usual run.
  test.each(
    dialectChoices.paging.flatMap((paging, index) =>
      sample(index % 2 === 0 ? [8] : [], index === 0 ? [1, 8, 64] : [8], [1, 8, 64]).map((parallel) => {
        const pages = sample(2, index === 0 && parallel === 8 ? 10 : 2, 10);
        return [paging, parallel, pages] as const;
      }),
    ),
  )(
    "reads the list instead of each record, with the paging %s, %i at once, from %i pages",
    async (paging, parallel, pages) => {
      const known = await monitors(100 * pages);
      emulator.dialect = { paging };
      expect(await refresh(known, parallel)).toEqual(outputsOf(known));
      // If the server says nothing of pages, one request more finds out whether it counts from 0.
      expect(lists()).toBe(paging === "none" ? 1 : pages + (paging === "bare" ? 1 : 0));
      // If one follows the other, the first four are read by their ids.
      expect(shows()).toBe(parallel === 1 ? 4 : 1);
    },
  );

  // Every way of showing a record, with the list and without it.
  const shown = Object.entries(dialectChoices).flatMap(([option, choices]) =>
    ["record", "list", "paging", "patch", "gone", "emptyLists", "emptyDays", "listBrief"].includes(option)
      ? []
      : choices.slice(1).map((choice) => [option, choice] as [string, unknown]),
  );
  const some = shown.filter((_, index) => index % 8 === 0);
  test.each(sample(some, shown, shown))(
    "gives what single reads give if %s is %j",
    async (option, choice) => {
      const known = await monitors(sample(12, 12, 30));
      emulator.dialect = { [option]: choice };
      edit(at(known, 7), { interval: 900 });
      const oneByOne: unknown[] = [];
      for (const one of known) oneByOne.push(...(await refresh([one])));
      emulator.forget();
      expect(await refresh(known)).toEqual(oneByOne);
      expect(lists()).toBe(1);
    },
  );

  test("finds drift, and reads singly only what differs", async () => {
    const known = await monitors(250);
    edit(at(known, 0), { interval: 900 });
    edit(at(known, 2), { name: "Else" });
    edit(at(known, 3), { request_headers: [{ key: "X-A", value: "else" }] });
    edit(at(known, 4), { request_auth_username: "not managed" });
    edit(at(known, 5), { ssl_alert_days: 7 });
    const results = await refresh(known);
    expect(results).toEqual(
      outputsOf(known).map((outputs, index) => ({
        ...outputs,
        ...(index === 0 && { interval: 900 }),
        ...(index === 2 && { name: "Else" }),
        ...(index === 3 && { requestHeaders: [{ key: "X-A", value: "else" }] }),
        ...(index === 5 && { sslAlertDays: 7 }),
      })),
    );
    expect(lists()).toBe(3);
    expect(shows()).toBe(4);
  });

  test("reads one by one if lists show less than records, and finds drift there", async () => {
    const known = await monitors(150);
    emulator.dialect = { listBrief: true };
    edit(at(known, 70), { interval: 900 });
    const results = await refresh(known);
    expect(results).toEqual(
      outputsOf(known).map((outputs, index) => (index === 70 ? { ...outputs, interval: 900 } : outputs)),
    );
    expect(shows()).toBe(150);
    expect(lists()).toBeLessThanOrEqual(2);
  });

  test("reads one by one if a field is declared that the server never shows", async () => {
    const known = withOutputs(await monitors(150), { requestAuthUsername: "me" });
    emulator.dialect = { hidden: ["request_auth_username"] };
    expect(await refresh(known)).toEqual(outputsOf(known));
    expect([lists(), shows()]).toEqual([2, 150]);
  });

  test.each([
    ["fails", answer(500)],
    ["is something else", answer(200, { hello: 1 })],
  ])("reads one by one if the list %s", async (_, fault) => {
    const known = await monitors(40);
    on(isList, fault);
    expect(await refresh(known)).toEqual(outputsOf(known));
    expect([lists(), shows()]).toEqual([1, 40]);
  });

  test("reads one by one what comes after a page that repeats", async () => {
    const known = await monitors(150);
    emulator.dialect = { paging: "meta" };
    const body: unknown = await firstPage();
    emulator.forget();
    // The server takes no notice of the page's number.
    on(isList, answer(200, body));
    expect(await refresh(known)).toEqual(outputsOf(known));
    expect(lists()).toBeLessThanOrEqual(4);
  });
});

describe("a list that shows records in another way", () => {
  /** The list's first page as it is, with records shown in another way, or not at all. */
  async function withRecords(change: (record: Inputs) => Inputs | undefined): Promise<void> {
    const { data, ...rest } = (await firstPage()) as { data: Inputs[] };
    const records = data.flatMap((record) => change(record) ?? []);
    emulator.forget();
    const isFirstPage = (one: ReceivedRequest) => isList(one) && !one.query.some(([name]) => name === "page");
    on(isFirstPage, answer(200, { ...rest, data: records }));
  }

  /** The first page with one record shown in another way, or not at all. */
  const withRecord = ({ id }: Known, change: (record: Inputs) => Inputs | undefined): Promise<void> =>
    withRecords((record) => (String(record.id) === id ? change(record) : record));

  test("makes no drift, as one behind a cache would", async () => {
    const known = await monitors(90);
    await withRecord(at(known, 40), (record) => ({ ...record, interval: 900 }));
    expect(await refresh(known)).toEqual(outputsOf(known));
    expect([lists(), shows()]).toEqual([1, 2]);
  });

  test("is ignored for a record whose managed fields it leaves out", async () => {
    const known = await monitors(90);
    await withRecord(at(known, 40), ({ interval: _, ...record }) => record);
    edit(at(known, 40), { interval: 900 });
    expect((await refresh(known))[40]).toMatchObject({ interval: 900 });
  });

  test("is enough if it shows what is managed, and nothing else", async () => {
    const known = (await monitors(90)).map(({ id, outputs: { name, url, interval, attributes } }) => ({
      id,
      outputs: { name, url, interval, attributes },
    }));
    await withRecords(({ id, name, url, interval }) => ({ id, name, url, interval }));
    expect((await refresh(known)).map(managedOf)).toEqual(outputsOf(known).map(managedOf));
    expect([lists(), shows()]).toEqual([1, 0]);
  });

  test("is not enough for a field that it never shows, which is read singly", async () => {
    const known = withOutputs(await monitors(20), { sslAlertDays: null });
    await withRecords(({ ssl_alert_days: _, ...record }) => record);
    edit(at(known, 10), { ssl_alert_days: 7 });
    expect((await refresh(known))[10]).toMatchObject({ sslAlertDays: 7 });
  });
});

async function firstPage(): Promise<unknown> {
  const answer = await fetch(`${emulator.url}/api/v1/monitors?per_page=100&sort_by=id&sort=asc`, {
    headers: { accept: "application/json", authorization: `Bearer ${emulator.apiKey}` },
  });
  return answer.json();
}

describe("a list is not read", () => {
  test("for four records", async () => {
    const known = await monitors(150);
    expect(await refresh(known.slice(0, 4))).toEqual(outputsOf(known.slice(0, 4)));
    expect([lists(), shows()]).toEqual([0, 4]);
  });

  test("beyond a page for each four records and ten more, for some among many others", async () => {
    const [all, few] = sample<[number, number]>([3000, 16], [3000, 16], [10_000, 100]);
    const some = (await monitors(all)).slice(-few);
    expect(await refresh(some)).toEqual(outputsOf(some));
    expect(shows()).toBe(few);
    expect(lists()).toBeLessThanOrEqual(few / 4 + 10);
  });

  test("beyond the newest record that is needed", async () => {
    const known = await monitors(350);
    await refresh(known.slice(0, 120));
    expect(lists()).toBe(2);
  });
});

test("a list of many pages is read once if the stack manages the whole account, also if a record is gone", async () => {
  const many = sample(600, 600, 10_000);
  const known = await monitors(many);
  const gone = many / 2;
  expect(await refresh(known)).toEqual(outputsOf(known));
  expect([lists(), shows()]).toEqual([many / 100, 1]);
  emulator.forget();
  emulator.monitors.remove(at(known, gone).id);
  const results = await refresh(known);
  expect(results).toEqual(known.map(({ outputs }, index) => (index === gone ? undefined : outputs)));
  expect(lists()).toBeLessThanOrEqual(many / 100 + 1);
});

test("a bug in reading the list is thrown, and not taken for a list that cannot be read", async () => {
  const known = await monitors(12);
  const list = jest.spyOn(Collection.prototype, "list").mockImplementation(() => {
    throw new TypeError("a bug");
  });
  await expect(refresh(known)).rejects.toThrow("a bug");
  list.mockRestore();
});

describe("what a list says of a record", () => {
  test("is not used for what this process has written since", async () => {
    const known = await monitors(120);
    const provider = newProcess();
    await refresh(known, 8, provider);
    const { id, outputs } = at(known, 50);
    const { outs } = await provider.update(id, outputs, { ...managedOf(outputs), interval: 1800 });
    // Whatever state expected then, the list's old record must not come back.
    expect((await provider.read(id, outputs)).props).toMatchObject({ interval: 1800 });
    expect((await provider.read(id, outs ?? {})).props).toMatchObject({ interval: 1800 });
  });

  test.each([
    [59, 300],
    [61, 60],
  ])("is used for a minute: after %i seconds the interval is %i", async (seconds, interval) => {
    const known = await monitors(120);
    let passed = 0;
    const provider = newProcess({}, { ...systemClock, now: () => passed });
    await refresh(known, 8, provider);
    const one = at(known, 60);
    edit(one, { interval: 60 });
    passed = seconds * 1000;
    expect(await refresh([one], 1, provider)).toMatchObject([{ interval }]);
  });
});

describe("what a refresh stores", () => {
  test("is every attribute with uptime:refreshAttributes, at one request a record", async () => {
    const known = await monitors(40);
    edit(at(known, 3), { request_auth_username: "not managed", note: "a new field" });
    const results = await refresh(known, 8, newProcess({ "uptime:refreshAttributes": "true" }));
    expect(results[3]).toMatchObject({
      attributes: { request_auth_username: "not managed", note: "a new field" },
    });
    for (const [index, result] of results.entries()) {
      expect(managedOf(result)).toEqual(managedOf(at(known, index).outputs));
      expect(result).not.toHaveProperty("attributes", at(known, index).outputs.attributes);
    }
    expect([lists(), shows()]).toEqual([0, 40]);
  });

  test.each([true, false])(
    "is nothing but the key fingerprint if nothing differs, and the engine keeps its inputs; with a fingerprint before: %s",
    async (hadKey) => {
      const known = await monitors(12);
      const provider = newProcess();
      for (const { id, outputs } of known) {
        const { __key, ...rest } = outputs;
        const olds = { ...rest, ...(hadKey && { __key: "ffff" }), __provider: "text" };
        const { props = {}, ...result } = await provider.read(id, olds);
        expect(revealed(props)).toEqual(outputs);
        expect(result).toEqual({ id });
      }
    },
  );

  test("after an operation that failed half-way is the whole record, also if nothing differs", async () => {
    const known = await monitors(12);
    const provider = newProcess();
    for (const { id, outputs } of known) {
      const before = { ...outputs, attributes: {}, __partial: true };
      const { props = {}, inputs = {} } = await provider.read(id, before);
      expect(revealed(inputs)).toEqual(managedOf(outputs));
      expect(props).toMatchObject({ attributes: { status: expect.any(String) as unknown } });
      // No record shows a password, so nobody knows whether it was stored.
      expect(props.__partial).toBe("requestAuthPassword" in outputs ? true : undefined);
    }
    expect([lists(), shows()]).toEqual([0, 12]);
  });

  test("is what the record shows of a field that differs, in inputs and outputs", async () => {
    const known = await monitors(12);
    edit(at(known, 6), { interval: 900 });
    const provider = newProcess();
    await refresh(known.slice(0, 6), 8, provider);
    const { id, outputs } = at(known, 6);
    const { props = {}, inputs = {} } = await provider.read(id, outputs);
    expect(revealed(props)).toEqual({ ...outputs, interval: 900 });
    expect(revealed(inputs)).toEqual({ ...managedOf(outputs), interval: 900 });
  });
});

describe("a list that several wait for goes on when the time of the first is over", () => {
  const hurried = (): Operation => new Operation({ clock }, { timeout: 5000 });
  const connected = (): RecordScope => {
    const settings = settingsOf({ "uptime:timeoutSeconds": "300" });
    const read = () => readSettings({ get: (key) => settings[key] }, {});
    on(isList, { kind: "delay", delayMs: 20_000 });
    return new FrontSession({ clock }).connect(monitor, read());
  };

  test("the whole of it", async () => {
    await monitors(250);
    const { reader } = connected();
    const failure = failureOf(reader.wholeList(hurried()));
    expect((await reader.wholeList(new Operation({ clock }))).size).toBe(250);
    expect(await failure).toContain("customTimeouts");
    expect(emulator.requests).toHaveLength(3);
  });

  test("the first pages, which are still used afterwards", async () => {
    const known = await monitors(30);
    const { reader } = connected();
    const expected = new Map([["interval", 300]]);
    const reads = known.map(({ id }, number) =>
      failureOf(reader.get(id, expected, number === 6 ? hurried() : new Operation({ clock }))),
    );
    expect((await Promise.all(reads)).map((failure) => failure === "")).toEqual(
      known.map((_, number) => number !== 6),
    );
    expect([lists(), shows()]).toEqual([1, 0]);
  });

  test("also the record whose own address shows what the list has loaded", async () => {
    const known = await monitors(30);
    const { reader } = connected();
    emulator.fault = (request) => (isList(request) ? undefined : { kind: "delay", delayMs: 20_000 });
    const expected = new Map<string, number | null>([
      ["interval", 300],
      ["sslAlertDays", null],
    ]);
    // The first four wait for more.
    const timeout = (number: number): number => (number === 4 ? 5000 : 60_000);
    const reads = known.map(({ id }, number) =>
      failureOf(reader.get(id, expected, new Operation({ clock }, { timeout: timeout(number) }))),
    );
    expect((await Promise.all(reads)).map((failure) => failure === "")).toEqual(
      known.map((_, number) => number !== 4),
    );
    expect([lists(), shows()]).toEqual([1, 1]);
  });
});

test("after a list that could not be read, the next one is read a minute later", async () => {
  const known = await monitors(200);
  const provider = newProcess();
  emulator.fault = (request) => (isList(request) && lists() === 1 ? answer(500) : undefined);
  await refresh(known.slice(0, 20), 8, provider);
  expect([lists(), shows()]).toEqual([1, 20]);
  await clock.sleep(60_000);
  await refresh(known.slice(20), 8, provider);
  expect([lists(), shows()]).toEqual([3, 20]);
});

describe("missing records among many", () => {
  test("are read by id, and proven gone by one list for all", async () => {
    const known = await monitors(220);
    const gone = known.filter((_, index) => index % 10 === 0);
    for (const { id } of gone) emulator.monitors.remove(id);
    expect(await refresh(known)).toEqual(known.map((one) => (gone.includes(one) ? undefined : one.outputs)));
    expect(lists()).toBe(2);
    expect(shows()).toBeLessThanOrEqual(gone.length + 4);
  });

  test("do not keep the others from the list if one of them is read first", async () => {
    const known = await monitors(200);
    emulator.monitors.remove(at(known, 0).id);
    const results = await refresh(known);
    expect(results).toEqual([undefined, ...outputsOf(known.slice(1))]);
    expect([lists(), shows()]).toEqual([2, 2]);
  });
});

describe("a list that shows as empty what it has not loaded", () => {
  /** Lists have these values. */
  const listsHave = (values: object): void => {
    on(isList, () => answer(200, { data: emulator.monitors.all().map((one) => ({ ...one, ...values })) }));
  };
  const ofAll = (count: number, declared: Inputs): Promise<Known[]> =>
    Promise.resolve(
      Array.from({ length: count }, (_, index) => {
        const values = { name: `M ${index}`, url: `https://${index}.example/`, interval: 60 };
        const { id } = emulator.monitors.add(values);
        return { id: String(id), outputs: { ...values, ...declared, attributes: {} } };
      }),
    );

  test.each<[string, Inputs, Inputs, Inputs]>([
    [
      "alertCondition",
      { alertCondition: "url_unavailable" },
      { alert_condition: null },
      { alert_condition: "url_text" },
    ],
    ["alertChannelIds", { alertChannelIds: [] }, { alert_channel_ids: [] }, { alert_channel_ids: [7] }],
    ["sslAlertDays", { sslAlertDays: null }, { ssl_alert_days: 0 }, { ssl_alert_days: 14 }],
  ])("hides no drift of %s once it is known", async (key, declared, listed, edited) => {
    const known = await ofAll(12, declared);
    const others = (await ofAll(1, { ...declared, ...(key === "alertChannelIds" && { [key]: [5] }) }))[0];
    if (!others) throw new Error("There is none.");
    // What state has for it tells that the list leaves it out.
    edit(others, key === "alertChannelIds" ? { alert_channel_ids: [5] } : edited);
    edit(at(known, 11), edited);
    listsHave(listed);
    const provider = newProcess();
    await refresh([others], 1, provider);
    const refreshed = (await refresh(known, 8, provider)) as Inputs[];
    expect(refreshed[11]?.[key]).not.toEqual(known[11]?.outputs[key]);
    expect(refreshed.slice(0, 11).map((one) => one[key])).toEqual(
      known.slice(0, 11).map(({ outputs }) => outputs[key]),
    );
  });
});
