import type { dynamic } from "@pulumi/pulumi";

import { dynamicProvider } from "../../provider/engine/dynamic";
import { monitor } from "../../provider/definitions/monitor";
import { dialectChoices, Emulator } from "../../provider/emulator";
import type { Fault } from "../../provider/emulator";
import { type Inputs, revealed } from "../support/model";
import { sample } from "../support/size";

type Provider = Required<dynamic.ResourceProvider<Inputs, Inputs>>;
interface Known {
  readonly id: string;
  readonly outputs: Inputs;
}

let emulator: Emulator;
beforeEach(async () => {
  emulator = await Emulator.start({ firstId: 1001, settled: true });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await emulator.stop();
});

/** As a new run of Pulumi starts it. */
function newProcess(): Provider {
  const settings: Record<string, string> = {
    "uptime:baseUrl": emulator.url,
    "uptime:apiKey": emulator.apiKey,
    "uptime:maxRetries": "0",
  };
  const provider = dynamicProvider(monitor) as Provider;
  void provider.configure({
    config: { get: (key: string) => settings[key], require: (key: string) => settings[key] ?? "" },
  });
  return provider;
}

const declaredOf = (number: number): Inputs => ({
  name: `Monitor ${number} & more`,
  url: `https://${number}.example.com/`,
  interval: 300,
  alertCondition: "url_unavailable",
  requestMethod: "GET",
  cacheBuster: false,
  ...(number % 3 === 0 && { alertChannelIds: [3, 1], requestHeaders: [{ key: "X-A", value: "one-two" }] }),
  ...(number % 5 === 0 && { sslAlertDays: null, requestAuthPassword: "pass-word-1" }),
});

/** Monitors made by hand, and the outputs that state would hold of them. */
async function monitors(count: number): Promise<Known[]> {
  for (let number = 0; number < count; number++) {
    const { name, url, interval, requestHeaders = [], alertChannelIds = [] } = declaredOf(number);
    const lists = { request_headers: requestHeaders, alert_channel_ids: alertChannelIds };
    emulator.monitors.add({ name, url, interval, ...lists });
  }
  const [example] = emulator.monitors.all();
  if (!example) return [];
  const { props } = await newProcess().read(String(example.id), { ...declaredOf(0), attributes: {} });
  const known = emulator.monitors.all().map(({ id }, number) => ({
    id: String(id),
    outputs: { ...declaredOf(number), attributes: props?.attributes, __server: props?.__server },
  }));
  emulator.forget();
  return known;
}

/** A refresh, with so many reads at once as Pulumi's `--parallel` says: the outputs, undefined for what is gone. */
async function refresh(known: readonly Known[], parallel = 8, provider = newProcess()): Promise<unknown[]> {
  const results: unknown[] = [];
  const queue = known.map((one, index) => ({ ...one, index }));
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { index, id, outputs } = next;
      results[index] = await provider.read(id, outputs).then(
        ({ props }) => props && revealed(props),
        (error: unknown) => String(error),
      );
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}

const managedOf = (outputs: unknown): Inputs => {
  const { attributes, __server, ...managed } = outputs as Inputs;
  return managed;
};
const isList = ({ path }: { path: string }): boolean => path.endsWith("/monitors");
const lists = (): number => emulator.requests.filter(isList).length;
const shows = (): number => emulator.requests.length - lists();
const edit = ({ id }: Known, fields: Inputs): void => {
  emulator.monitors.edit(Number(id), fields);
};

describe("many reads", () => {
  test.each(
    dialectChoices.paging.flatMap((paging) =>
      sample([8], [1, 8, 64], [1, 8, 64]).map((parallel) => [paging, parallel] as const),
    ),
  )("are served by the list with the paging %s, %i at once", async (paging, parallel) => {
    const pages = sample(2, 10, 10);
    const known = await monitors(100 * pages);
    emulator.dialect = { paging };
    const results = await refresh(known, parallel);
    expect(results.map(managedOf)).toEqual(known.map(({ outputs }) => managedOf(outputs)));
    expect(lists()).toBe(paging === "none" ? 1 : pages);
    expect(shows()).toBeLessThanOrEqual(parallel === 1 ? 5 : 2);
  });

  // Every way of showing a record, with the list and without it.
  const shown = Object.entries(dialectChoices).flatMap(([option, choices]) =>
    ["record", "list", "paging", "patch", "gone", "emptyLists"].includes(option)
      ? []
      : choices.slice(1).map((choice) => [option, choice] as [string, unknown]),
  );
  test.each(
    sample(
      shown.filter((_, index) => index % 8 === 0),
      shown,
      shown,
    ),
  )("give what one by one gives where %s is %j", async (option, choice) => {
    const known = await monitors(30);
    emulator.dialect = { [option]: choice };
    const oneByOne: unknown[] = [];
    for (const one of known) oneByOne.push(...(await refresh([one])));
    emulator.forget();
    expect(await refresh(known)).toEqual(oneByOne);
    expect(lists()).toBe(1);
  });

  test("tell drift, and ask by id for what differs and for nothing else", async () => {
    const known = await monitors(250);
    const [first, , third, fourth] = known;
    if (!first || !third || !fourth) throw new Error("there must be four");
    edit(first, { interval: 900 });
    edit(third, { request_headers: [{ key: "X-A", value: "else" }] });
    edit(fourth, { request_auth_username: "not managed" });
    const results = await refresh(known);
    expect(results[0]).toMatchObject({ interval: 900 });
    expect(results[2]).toMatchObject({ attributes: expect.anything() as unknown });
    expect(results[3]).toMatchObject({ attributes: { request_auth_username: "not managed" } });
    expect(results.slice(4).map(managedOf)).toEqual(known.slice(4).map(({ outputs }) => managedOf(outputs)));
    expect([lists(), shows()]).toEqual([3, expect.any(Number)]);
    expect(shows()).toBeLessThanOrEqual(4);
  });

  test("go one by one where lists show less than records", async () => {
    const known = await monitors(150);
    emulator.dialect = { listBrief: true };
    const results = await refresh(known);
    expect(results.map(managedOf)).toEqual(known.map(({ outputs }) => managedOf(outputs)));
    expect(shows()).toBeGreaterThanOrEqual(150);
    expect(emulator.requests.length).toBeLessThanOrEqual(160);
  });

  test("learn which fields are shown nowhere, and read the rest from the list", async () => {
    const known = await monitors(250);
    const bare = known.map(({ id, outputs }) => {
      const attributes = { ...(outputs.attributes as Inputs) };
      delete attributes.request_auth_username;
      return { id, outputs: { ...outputs, requestAuthUsername: "me", attributes } };
    });
    emulator.dialect = { hidden: ["request_auth_username"] };
    const results = await refresh(bare);
    expect(results.map(managedOf)).toEqual(bare.map(({ outputs }) => managedOf(outputs)));
    expect(emulator.requests.length).toBeLessThanOrEqual(3 + 8 + 2);
  });

  test.each([
    ["fails", { kind: "answer", effect: false, status: 500 }],
    ["is something else", { kind: "answer", effect: false, status: 200, body: { hello: 1 } }],
  ] satisfies [string, Fault][])("go one by one where the list %s", async (_, fault) => {
    const known = await monitors(40);
    emulator.fault = (request) => (isList(request) ? fault : undefined);
    const results = await refresh(known);
    expect(results.map(managedOf)).toEqual(known.map(({ outputs }) => managedOf(outputs)));
    expect(lists()).toBeLessThanOrEqual(2);
  });

  test("go one by one behind a page that repeats", async () => {
    const known = await monitors(250);
    emulator.dialect = { paging: "meta" };
    const body: unknown = await firstPage();
    emulator.forget();
    // The install takes no notice of the page's number.
    emulator.fault = (request) =>
      isList(request) ? { kind: "answer", effect: false, status: 200, body } : undefined;
    const results = await refresh(known);
    expect(results.map(managedOf)).toEqual(known.map(({ outputs }) => managedOf(outputs)));
    expect(lists()).toBeLessThanOrEqual(4);
  });
});

describe("what only the list says", () => {
  /** The list as it is, with one record shown in another way, or not at all. */
  async function withRecord({ id }: Known, change: (record: Inputs) => Inputs | undefined): Promise<void> {
    const { data, ...rest } = (await firstPage()) as { data: Inputs[] };
    const records = data.flatMap((record) => (String(record.id) === id ? (change(record) ?? []) : record));
    emulator.forget();
    emulator.fault = (request) =>
      isList(request) && !request.query.some(([name]) => name === "page")
        ? { kind: "answer", effect: false, status: 200, body: { ...rest, data: records } }
        : undefined;
  }

  test("is not drift", async () => {
    const known = await monitors(90);
    const [one] = known.slice(40);
    if (!one) throw new Error("there must be forty");
    await withRecord(one, (record) => ({ ...record, interval: 900 }));
    const results = await refresh(known);
    expect(results.map(managedOf)).toEqual(known.map(({ outputs }) => managedOf(outputs)));
  });

  test("is asked for by id where it shows less of one record than state knows", async () => {
    const known = await monitors(90);
    const [one] = known.slice(40);
    if (!one) throw new Error("there must be forty");
    await withRecord(one, ({ pause: _, ...record }) => record);
    expect((await refresh(known))[40]).toHaveProperty("attributes.pause");
  });

  test("is not believed where lists show less than state has ever seen", async () => {
    const known = (await monitors(20)).map(({ id, outputs: { name, url, interval } }) => ({
      id,
      outputs: { name, url, interval, attributes: {} },
    }));
    const { data, ...rest } = (await firstPage()) as { data: Inputs[] };
    const brief = data.map(({ id, name, url, interval }) => ({ id, name, url, interval }));
    emulator.fault = (request) =>
      isList(request)
        ? { kind: "answer", effect: false, status: 200, body: { ...rest, data: brief } }
        : undefined;
    for (const result of await refresh(known)) expect(result).toHaveProperty("attributes.request_method");
  });

  test("does not make it read on for a record that is not where it must be", async () => {
    const known = await monitors(500);
    const recent = known.slice(-90);
    const [one] = recent.slice(50);
    if (!one) throw new Error("there must be fifty");
    await withRecord(one, () => undefined);
    const results = await refresh(recent);
    expect(results.map(managedOf)).toEqual(recent.map(({ outputs }) => managedOf(outputs)));
    expect(lists()).toBe(1);
  });
});

async function firstPage(): Promise<unknown> {
  const answer = await fetch(`${emulator.url}/api/v1/monitors?per_page=100&sort_by=id&sort=desc`, {
    headers: { accept: "application/json", authorization: `Bearer ${emulator.apiKey}` },
  });
  return answer.json();
}

describe("a list is not read", () => {
  test("for a handful", async () => {
    const known = await monitors(300);
    await refresh(known.slice(0, 4));
    expect([lists(), shows()]).toEqual([0, 4]);
  });

  test("much further than it is worth: few old records among many new ones", async () => {
    const known = await monitors(3000);
    await refresh(known.slice(0, 8));
    expect(shows()).toBe(8);
    expect(lists()).toBe(1);
  });

  test("further than to the oldest that is asked for", async () => {
    const known = await monitors(500);
    await refresh(known.slice(-120));
    expect(lists()).toBe(2);
  });
});

describe("what a list says of a record", () => {
  test("is not used for what this process has written since", async () => {
    const known = await monitors(120);
    const provider = newProcess();
    await refresh(known, 8, provider);
    const [one] = known.slice(50);
    if (!one) throw new Error("there must be fifty");
    const inputs = { ...managedOf(one.outputs), interval: 1800 };
    const { outs } = await provider.update(one.id, one.outputs, inputs);
    // Whatever state expected then, the list's old record must not come back.
    expect((await provider.read(one.id, one.outputs)).props).toMatchObject({ interval: 1800 });
    expect((await provider.read(one.id, outs ?? {})).props).toMatchObject({ interval: 1800 });
  });

  test("is forgotten after a minute", async () => {
    const known = await monitors(120);
    const provider = newProcess();
    await refresh(known, 8, provider);
    const [one] = known.slice(60);
    if (!one) throw new Error("there must be sixty");
    edit(one, { interval: 60 });
    const now = Date.now();
    jest.spyOn(Date, "now").mockImplementation(() => now + 61_000);
    expect(await refresh([one], 1, provider)).toMatchObject([{ interval: 60 }]);
  });
});

describe("gone among many", () => {
  test("is asked for by id, and proven by one list for all", async () => {
    const known = await monitors(320);
    const gone = known.filter((_, index) => index % 10 === 0);
    for (const { id } of gone) emulator.monitors.remove(Number(id));
    const results = await refresh(known);
    expect(results.map((result) => result === undefined)).toEqual(known.map((one) => gone.includes(one)));
    expect(lists()).toBe(3);
    expect(shows()).toBeLessThanOrEqual(gone.length + 2);
  });

  test("the one that was read first does not keep the others from the list", async () => {
    const known = await monitors(200);
    emulator.monitors.remove(Number(known[0]?.id));
    const results = await refresh(known);
    expect(results.filter((result) => result === undefined)).toHaveLength(1);
    expect(emulator.requests.length).toBeLessThanOrEqual(5);
  });

  test.each([
    [8, 0],
    [2, 2],
    [1, 3],
  ])(
    "all of another account: with %i at once, %i are taken out of state at the most",
    async (parallel, most) => {
      const known = await monitors(12);
      for (const { id } of known) emulator.monitors.remove(Number(id));
      emulator.monitors.add({ name: "theirs", url: "https://theirs.example/", interval: 60 });
      const results = await refresh(known, parallel);
      expect(results.filter((result) => result === undefined).length).toBeLessThanOrEqual(most);
      expect(results.at(-1)).toContain("another install or another account");
    },
  );
});
