import type { dynamic } from "@pulumi/pulumi";

import { keyHash, readSettings } from "../../provider/api/settings";
import { importedResources } from "../../provider/cli/export/imported-state";
import { definitions } from "../../provider/definitions";
import { domain } from "../../provider/definitions/domain";
import type { Definition } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";
import { Emulator } from "../../provider/emulator";
import type { Fault, ReceivedRequest } from "../../provider/emulator";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { Session } from "../../provider/lifecycle/connection";
import type { Connect } from "../../provider/lifecycle/connection";
import { revealed } from "../support/calls";
import { NetworkClock } from "../support/clock";
import { ModelStack } from "../support/model";
import type { Inputs } from "../support/model";

type Kind = "monitor" | "domain";
type Provider = Required<dynamic.ResourceProvider<Inputs, Inputs>>;
type Run = Readonly<Record<Kind, Provider>>;
/** One resource as state has it. */
interface Resource {
  readonly kind: Kind;
  readonly id: string;
  readonly outputs: Inputs;
}

const myKey = "my-key";
const otherKey = "other-key";
const mine = { "uptime:apiKey": myKey };
const others = { "uptime:apiKey": otherKey };
const home = { name: "Home", url: "https://example.com/", interval: 60 };
const record = { ...home, alert_condition: "url_unavailable", request_method: "GET", cache_buster: 0 };

let clock: NetworkClock;
let emulator: Emulator;
beforeEach(async () => {
  clock = new NetworkClock();
  emulator = await Emulator.start({ apiKey: myKey, sleep: clock.hold });
  // All people of one account: the server takes the key of each.
  emulator.fault = accept;
  jest.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(async () => {
  jest.restoreAllMocks();
  clock.stop();
  await emulator.stop();
});

function accept({ headers }: ReceivedRequest): undefined {
  emulator.apiKey = headers.authorization?.replace("Bearer ", "") ?? "";
}

const configOf = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  "uptime:baseUrl": emulator.url,
  "uptime:maxRetries": "0",
  ...mine,
  ...more,
});

/** A run of Pulumi: one process, which both kinds share. */
function newRun(more: Readonly<Record<string, string>> = {}): Run {
  const settings = configOf(more);
  const session = new Session({ clock });
  const providerOf = (definition: Definition): Provider => {
    const provider = dynamicProvider(definition, session) as Provider;
    void provider.configure({
      config: { get: (key: string) => settings[key], require: (key: string) => settings[key] ?? "" },
    });
    return provider;
  };
  return { monitor: providerOf(monitor), domain: providerOf(domain) };
}

/** Resources that a run has created with these settings. */
async function created(
  counts: Readonly<Partial<Record<Kind, number>>>,
  more: Readonly<Record<string, string>> = {},
  inputs: Inputs = {},
): Promise<Resource[]> {
  const run = newRun(more);
  const make = async (kind: Kind, number: number): Promise<Resource> => {
    const declared = kind === "monitor" ? { ...home, name: `M${number}` } : { name: `${number}.example` };
    const checked = await run[kind].check({}, { ...declared, ...inputs });
    expect(checked.failures).toEqual([]);
    const { id, outs = {} } = await run[kind].create(checked.inputs ?? {});
    return { kind, id, outputs: { ...revealed(outs), __provider: "text" } };
  };
  const numbers = (kind: Kind): number[] => Array.from({ length: counts[kind] ?? 0 }, (_, number) => number);
  return Promise.all([
    ...numbers("monitor").map((number) => make("monitor", number)),
    ...numbers("domain").map((number) => make("domain", number)),
  ]);
}

function removeAll(): void {
  emulator.monitors.clear();
  emulator.domains.clear();
}

/** What a refresh of resources, all at once, says of each: its new outputs, "gone", or the error. */
function refresh(
  resources: readonly Resource[],
  run = newRun(),
): Promise<(Readonly<Record<string, unknown>> | string)[]> {
  return Promise.all(
    resources.map(({ kind, id, outputs }) =>
      run[kind].read(id, outputs).then(
        ({ id: found, props = {} }) => (found === undefined ? "gone" : revealed(props)),
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    ),
  );
}

const withKey = (resources: readonly Resource[], key: string | undefined): Resource[] =>
  resources.map((one) => {
    const { __key, ...outputs } = one.outputs;
    return { ...one, outputs: { ...outputs, ...(key !== undefined && { __key: key }) } };
  });

const hashOf = (key: string, url = emulator.url): string => keyHash({ url, hash: "", source: "" }, key);

const otherAccount = expect.stringMatching(
  /^More than 3 records that state knows do not exist, and none that it knows was found\. .* nothing is removed from state/,
) as unknown;
const otherState = expect.stringMatching(
  /^(Monitor|Domain) \d+ does not exist for the present API key, and state was made with another .* `pulumi state delete URN`/,
) as unknown;
const found = expect.objectContaining({ name: expect.any(String) as unknown }) as unknown;

const isList = ({ path }: { path: string }): boolean => /\/(monitors|domains)$/.test(path);
const answer = (status: number, body: unknown = { message: "No." }): Fault => ({
  kind: "answer",
  effect: false,
  status,
  body,
});

describe("404 counts as gone", () => {
  test("if the list does not hold the id", async () => {
    const all = await created({ monitor: 3 });
    emulator.monitors.remove(all[1]?.id ?? "");
    expect(await refresh(all)).toEqual([found, "gone", found]);
  });

  test("and not if it does", async () => {
    const all = await created({ monitor: 6 });
    // So that all of them are asked for by their ids.
    for (const { id } of all) emulator.monitors.edit(id, { interval: 900 });
    emulator.fault = (request) => (isList(request) ? undefined : answer(404));
    for (const [index, result] of (await refresh(all)).entries())
      expect(result).toMatch(
        new RegExp(`404.*, but the list of monitors holds ${String(all[index]?.id)}\\.$`),
      );
  });

  test("and not if the operation ends before that is known", async () => {
    const all = await created({ monitor: 1 });
    removeAll();
    const run = newRun();
    const { outputs } = all[0] ?? {};
    await expect(
      run.monitor.delete(all[0]?.id ?? "", {
        ...outputs,
        __options: { customTimeouts: { delete: "500ms" } },
      }),
    ).rejects.toThrow(/the operation ended before it was known whether monitor 1 is really gone/);
  });

  test.each<[410 | 403, Record<string, string>, boolean]>([
    [410, {}, true],
    [403, { "uptime:goneStatuses": "403" }, true],
    [403, {}, false],
  ])("and so does %i with the settings %j: %j", async (gone, more, isGone) => {
    const all = await created({ monitor: 2 });
    emulator.monitors.remove(all[0]?.id ?? "");
    emulator.dialect = { gone };
    const expected: unknown = isGone ? "gone" : expect.stringContaining(`status ${gone}`);
    expect(await refresh(all, newRun(more))).toEqual([expected, found]);
  });
});

describe("never gone", () => {
  const faults: [string, Fault][] = [
    ["401", answer(401)],
    ["403", answer(403)],
    ["500", answer(500)],
    ["502", answer(502, "<html>Bad gateway</html>")],
    ["503", answer(503)],
    ["a web page", answer(200, "<html>Hello</html>")],
    ["another record", answer(200, { data: { id: 99, ...home } })],
    ["a connection that is cut", { kind: "cut", effect: false }],
  ];

  test.each(faults)("is what is answered with %s", async (_, fault) => {
    const all = await created({ monitor: 2, domain: 1 });
    removeAll();
    emulator.fault = () => fault;
    for (const result of await refresh(all)) expect(result).toMatch(/^GET .*\/api\/v1\//);
  });

  test.each(faults)("is what is 404 if the list is answered with %s", async (_, fault) => {
    const all = await created({ monitor: 2, domain: 1 });
    removeAll();
    emulator.fault = (request) => (isList(request) ? fault : undefined);
    for (const result of await refresh(all))
      expect(result).toMatch(/^GET .*\/api\/v1\/(monitors|domains)[? ]/);
  });
});

describe("if none is found", () => {
  const keys: [string, () => string | undefined][] = [
    ["the present key", () => hashOf(myKey)],
    ["another key", () => hashOf(otherKey)],
    ["no key", () => undefined],
  ];

  test.each(keys)("more than three missing are errors, with %s in state", async (_, key) => {
    const all = withKey(await created({ monitor: 4 }), key());
    removeAll();
    emulator.monitors.add({ ...home, name: "of somebody else" });
    expect(await refresh(all)).toEqual(Array(4).fill(otherAccount));
  });

  test.each(keys)("up to three missing are judged by %s in state", async (name, key) => {
    const all = withKey(await created({ monitor: 2, domain: 1 }), key());
    removeAll();
    expect(await refresh(all)).toEqual(Array(3).fill(name === "another key" ? otherState : "gone"));
  });

  test("nothing is decided before all requests are answered, however slow the server is", async () => {
    const all = await created({ monitor: 5 });
    removeAll();
    const last = all.at(-1)?.id ?? "";
    emulator.fault = ({ path }) => ({ kind: "delay", delayMs: path.endsWith(`/${last}`) ? 6000 : 1500 });
    expect(await refresh(all, newRun())).toEqual(Array(5).fill(otherAccount));
  });

  test("both kinds count together: two domains and ten monitors at once are errors, each of them", async () => {
    const all = await created({ monitor: 10, domain: 2 });
    removeAll();
    expect(await refresh(all, newRun())).toEqual(Array(12).fill(otherAccount));
    expect(await refresh([...all].reverse(), newRun())).toEqual(Array(12).fill(otherAccount));
  });

  test("one after the other, three leave state at most, and only the first few wait", async () => {
    const all = await created({ monitor: 30 });
    removeAll();
    const run = newRun();
    const results: unknown[] = [];
    for (const one of all) results.push(...(await refresh([one], run)));
    expect(results).toEqual([...Array<string>(3).fill("gone"), ...Array<unknown>(27).fill(otherAccount)]);
  });

  test("records that are not in state count neither as missing nor as found", async () => {
    const all = await created({ monitor: 1 });
    removeAll();
    emulator.monitors.add(record);
    const run = newRun();
    const checks = ["90", "91", "92", "93"].map(async (importId) => {
      const { failures } = await run.monitor.check(
        {},
        { ...home, importId, __options: { resource: importId } },
      );
      expect(failures).toEqual([
        {
          property: "",
          reason: expect.stringContaining(`Monitor ${importId} does not exist`) as unknown,
        },
      ]);
    });
    await Promise.all(checks);
    await run.monitor.read("2", {});
    expect(await refresh(withKey(all, hashOf(otherKey)), run)).toEqual([otherState]);
    expect(await refresh(all, newRun())).toEqual(["gone"]);
  });

  test("a delete of up to three is done, and of more is an error each", async () => {
    const removed = async (all: readonly Resource[], run = newRun()): Promise<unknown[]> =>
      (await Promise.allSettled(all.map(({ kind, id, outputs }) => run[kind].delete(id, outputs)))).map(
        (result) => (result.status === "rejected" ? (result.reason as Error).message : "deleted"),
      );
    const all = await created({ monitor: 4 });
    removeAll();
    expect(await removed(all.slice(1))).toEqual(Array(3).fill("deleted"));
    expect(await removed(withKey(all.slice(1), hashOf(otherKey)))).toEqual(Array(3).fill(otherState));
    expect(await removed(all)).toEqual(Array(4).fill(otherAccount));
  });

  test("an update says how to create it again, and leaves it in state", async () => {
    const [one] = await created({ monitor: 1 });
    removeAll();
    const { id = "", outputs = {} } = one ?? {};
    await expect(newRun().monitor.update(id, outputs, { ...home, interval: 300 })).rejects.toThrow(
      /Monitor 1 does not exist .* Run `pulumi up --refresh --run-program`/,
    );
  });
});

describe("if one is found", () => {
  /** Nine, made with another key, of which all but the last are removed. */
  async function allButTheLast(): Promise<Resource[]> {
    const all = withKey(await created({ monitor: 8, domain: 1 }), hashOf(otherKey));
    emulator.monitors.clear();
    return all;
  }

  test("the others are gone, whatever their key: one of the other kind will do", async () => {
    expect(await refresh(await allButTheLast())).toEqual([...Array<string>(8).fill("gone"), found]);
  });

  test("the others are gone if it is answered later than all of them", async () => {
    const all = await allButTheLast();
    emulator.fault = ({ path }) =>
      path.endsWith(`/domains/${String(all.at(-1)?.id)}`) ? { kind: "delay", delayMs: 300 } : undefined;
    expect(await refresh(all, newRun())).toEqual([...Array<string>(8).fill("gone"), found]);
  });

  test("also by the list alone, and also after there were doubts", async () => {
    const all = await created({ monitor: 8 });
    for (const { id } of all.slice(0, 7)) emulator.monitors.remove(id);
    const run = newRun();
    expect(await refresh(all.slice(0, 5), run)).toEqual(Array(5).fill(otherAccount));
    expect(await refresh(all.slice(5), run)).toEqual(["gone", "gone", found]);
    expect(await refresh(all.slice(0, 5), run)).toEqual(Array(5).fill("gone"));
  });

  test.each(["an update", "a delete"])("by %s that has worked", async (operation) => {
    const [one, ...rest] = await created({ monitor: 6 });
    for (const { id } of rest) emulator.monitors.remove(id);
    const run = newRun();
    const { id = "", outputs = {} } = one ?? {};
    if (operation === "a delete") await run.monitor.delete(id, outputs);
    else await run.monitor.update(id, outputs, { ...home, interval: 300 });
    expect(await refresh(rest, run)).toEqual(Array(5).fill("gone"));
  });
});

describe("evidence is that of one address and account", () => {
  test("with monitors at another address", async () => {
    const elsewhere = await Emulator.start({ apiKey: myKey, firstId: 500 });
    try {
      const apart = { "uptime:monitorsBaseUrl": elsewhere.url };
      const all = await created({ monitor: 5, domain: 2 }, apart);
      emulator.domains.clear();
      // Monitors that are found say nothing of the domains' server.
      expect(await refresh(all, newRun(apart))).toEqual([...Array<unknown>(5).fill(found), "gone", "gone"]);
      expect(await refresh(withKey(all, hashOf(otherKey)), newRun(apart))).toEqual([
        ...Array<unknown>(5).fill(found),
        otherState,
        otherState,
      ]);
      // And those that are missing count apart.
      elsewhere.monitors.clear();
      expect(await refresh(all, newRun(apart))).toEqual([
        ...Array<unknown>(5).fill(otherAccount),
        "gone",
        "gone",
      ]);
    } finally {
      await elsewhere.stop();
    }
  });

  test("with accounts, each with a key of its own, at one address", async () => {
    const accounts = { "uptime:accounts": JSON.stringify({ team: { apiKey: "team-key" } }) };
    const own = await created({ monitor: 2 }, accounts);
    const team = await created({ monitor: 5 }, accounts, { account: "team" });
    expect(own.map(({ outputs }) => outputs.__key)).toEqual(Array(2).fill(hashOf(myKey)));
    expect(team.map(({ outputs }) => outputs.__key)).toEqual(Array(5).fill(hashOf("team-key")));
    const all = [...own, ...team];
    for (const { id } of team) emulator.monitors.remove(id);
    expect(await refresh(all, newRun(accounts))).toEqual([
      found,
      found,
      ...Array<unknown>(5).fill(otherAccount),
    ]);
    removeAll();
    expect(await refresh(all, newRun(accounts))).toEqual([
      "gone",
      "gone",
      ...Array<unknown>(5).fill(otherAccount),
    ]);
    expect(await refresh(withKey(team.slice(3), hashOf(myKey)), newRun(accounts))).toEqual([
      otherState,
      otherState,
    ]);
  });

  test("with a server that has moved", async () => {
    const moved = await Emulator.start({ apiKey: myKey });
    try {
      const all = await created({ monitor: 3 });
      for (const one of emulator.monitors.all()) moved.monitors.add(one);
      const now = { "uptime:baseUrl": moved.url };
      for (const result of await refresh(all, newRun(now)))
        expect(result).toMatch(/^State was made with another address/);
      const after = { ...now, "uptime:movedFrom": emulator.url };
      moved.monitors.remove(all[0]?.id ?? "");
      const results = await refresh(all, newRun(after));
      expect(results).toEqual(["gone", found, found]);
      for (const result of results.slice(1))
        expect(result).toMatchObject({ __key: hashOf(myKey, moved.url) });
      moved.monitors.clear();
      // The key in state says nothing of the new address; that of a refresh does.
      expect(await refresh(all, newRun(after))).toEqual(Array(3).fill(otherState));
      const refreshed = all.slice(1).map((one, index) => ({ ...one, outputs: results[index + 1] as Inputs }));
      expect(await refresh(refreshed, newRun(after))).toEqual(["gone", "gone"]);
    } finally {
      await moved.stop();
    }
  });
});

describe("the key in state", () => {
  test("is four hex digits that change with the address and the key", () => {
    const hashes = [hashOf(myKey), hashOf(otherKey), hashOf(myKey, "https://other.example")];
    expect(new Set(hashes).size).toBe(3);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{4}$/);
  });

  const declared = { ...home, alertCondition: "url_unavailable", requestMethod: "GET", cacheBuster: false };
  const stack = (more: Record<string, string>, options = {}): ModelStack =>
    new ModelStack("monitor", configOf(more), options, clock);

  test.each<[string, (one: ModelStack) => Promise<unknown>]>([
    ["an update", (one) => one.up({ ...declared, interval: 300 })],
    ["a quiet refresh", (one) => one.refresh()],
    [
      "a refresh that finds drift",
      (one) => {
        emulator.monitors.edit(one.state?.id ?? "", { interval: 900 });
        return one.refresh();
      },
    ],
    ["a replacement", (one) => one.replace(declared)],
  ])("is set by a create, and set anew by %s", async (_, operation) => {
    const one = stack(mine);
    await one.up(declared);
    expect(one.state?.outputs.__key).toBe(hashOf(myKey));
    const later = stack(others);
    later.state = one.state;
    await operation(later);
    expect(later.state?.outputs.__key).toBe(hashOf(otherKey));
    expect(later.state?.outputs.__server).toBe(one.state?.outputs.__server);
  });

  test("is set by an import and an adoption", async () => {
    const importId = String(emulator.monitors.add(record).id);
    const imports = stack(mine, { importer: "home" });
    await imports.up({ ...declared, importId });
    const adopts = stack({ ...others, "uptime:adoptExisting": "true" }, { importer: "home" });
    await adopts.up(declared);
    expect(adopts.state?.id).toBe(importId);
    expect(emulator.writes()).toEqual([]);
    expect(imports.state?.outputs.__key).toBe(hashOf(myKey));
    expect(adopts.state?.outputs.__key).toBe(hashOf(otherKey));
    // Both are judged by it.
    emulator.monitors.clear();
    for (const [{ state }, expected] of [
      [imports, "gone"],
      [adopts, otherState],
    ] as const)
      expect(
        await refresh([{ kind: "monitor", id: state?.id ?? "", outputs: state?.outputs ?? {} }]),
      ).toEqual([expected]);
  });

  test("is set by an operation that has failed half-way, and by the read of a record that is not managed", async () => {
    emulator.dialect = { notStored: ["request_auth_username"] };
    const one = stack(mine);
    await expect(one.up({ ...declared, requestAuthUsername: "me" })).rejects.toThrow(/requestAuthUsername/);
    expect(one.state?.outputs).toMatchObject({ __partial: true, __key: hashOf(myKey) });
    const { props } = await newRun(others).monitor.read(one.state?.id ?? "", {});
    expect(props).toMatchObject({ __readOnly: true, __key: hashOf(otherKey) });
  });

  test("is set by `export --state`", async () => {
    const ids = [1, 2].map((number) => String(emulator.monitors.add({ ...record, name: `M${number}` }).id));
    const session = new Session({ clock });
    const connectTo = (definition: Definition): Connect =>
      session.connector(definition, (account) => {
        const settings = configOf();
        return readSettings({ get: (key) => settings[key] }, {}, account);
      });
    const records = ids.map((id, index) => ({
      definition: monitor,
      name: `m${index}`,
      record: { id, shown: {} },
      declaration: { values: new Map(Object.entries({ ...declared, name: `M${index + 1}` })), problems: [] },
    }));
    const exported = (await importedResources(records, connectTo, undefined, session.keys)).map(
      ({ id, outputs }): Resource => ({ kind: "monitor", id, outputs: outputs }),
    );
    expect(exported.map(({ id, outputs }) => [id, outputs.__key])).toEqual(
      ids.map((id) => [id, hashOf(myKey)]),
    );
    expect(await refresh(exported, newRun(others))).toEqual([found, found]);
    emulator.monitors.clear();
    expect(await refresh(exported, newRun(others))).toEqual([otherState, otherState]);
    expect(await refresh(exported)).toEqual(["gone", "gone"]);
  });

  test("may be that of several people, each with one of their own", async () => {
    const [own, colleagues] = [await created({ monitor: 2 }), await created({ monitor: 1 }, others)];
    const all = [...own, ...colleagues];
    emulator.monitors.remove(all[0]?.id ?? "");
    for (const more of [mine, others])
      expect(await refresh(all, newRun(more))).toEqual(["gone", found, found]);
    removeAll();
    expect(await refresh(all, newRun(mine))).toEqual(["gone", "gone", otherState]);
    expect(await refresh(all, newRun(others))).toEqual([otherState, otherState, "gone"]);
  });

  test("follows a key that is rotated, by the first refresh that finds something", async () => {
    const all = await created({ monitor: 2 });
    const results = await refresh(all, newRun(others));
    const refreshed = all.map((one, index) => ({ ...one, outputs: results[index] as Inputs }));
    removeAll();
    expect(await refresh(all, newRun(others))).toEqual([otherState, otherState]);
    expect(await refresh(refreshed, newRun(others))).toEqual(["gone", "gone"]);
  });

  test.each<[string, string | undefined]>([
    ["missing, as in state of version 0.1.0", undefined],
    ["another one", "0000"],
  ])("is no change in any preview if it is %s", async (_, key) => {
    const one = stack(mine);
    await one.up(declared);
    for (const kind of ["preview", "up", "refresh"] as const) {
      const { __key, ...outputs } = one.state?.outputs ?? {};
      if (one.state)
        one.state = { ...one.state, outputs: { ...outputs, ...(key !== undefined && { __key: key }) } };
      one.nextRun();
      expect(await one.preview(declared)).toBe("same");
      if (kind === "refresh") await one.refresh();
      else await one[kind](declared);
      expect(await one.preview(declared)).toBe("same");
    }
    expect(one.state?.outputs.__key).toBe(hashOf(myKey));
    expect(emulator.writes()).toHaveLength(1);
  });
});

describe("a record that is only read", () => {
  test.each(definitions.map(({ singular }) => [singular as Kind]))(
    "must be there when a program asks for a %s first, and the error names its id",
    async (kind) => {
      await expect(newRun()[kind].read("77", {})).rejects.toThrow(
        new RegExp(`^${kind} 77 does not exist`, "i"),
      );
    },
  );

  test("leaves state if it is gone, however many they are, and not for any other answer", async () => {
    for (let number = 0; number < 5; number++) emulator.monitors.add(home);
    const run = newRun();
    const all = await Promise.all(
      emulator.monitors.all().map(async ({ id }): Promise<Resource> => {
        const { props = {} } = await run.monitor.read(String(id), {});
        return { kind: "monitor", id: String(id), outputs: props };
      }),
    );
    expect(await refresh(all)).toEqual(Array(5).fill(found));
    removeAll();
    emulator.fault = () => answer(500);
    for (const result of await refresh(all)) expect(result).toContain("status 500");
    emulator.fault = accept;
    const gone = newRun();
    expect(await refresh(all, gone)).toEqual(Array(5).fill("gone"));
    for (const { id, outputs } of all) expect(await gone.monitor.read(id, outputs)).toEqual({});
  });
});
