import type * as proto from "@pulumi/pulumi/proto/provider_pb";

import { whileListening as listenForResources } from "../../provider/cli/shared/collecting-preview";
import { domain } from "../../provider/definitions/domain";
import type { CollectedResource } from "../../provider/engine/collecting-front";
import { SharedFront } from "../../provider/engine/shared-front";
import { FrontSession } from "../../provider/engine/front-session";
import { OperationError } from "../../provider/engine/operation-error";
import { changedSettings, checkProviderSettings, configOf } from "../../provider/engine/provider-settings";
import { lookupName } from "../../provider/common/pulumi";
import { parseUrn } from "../../provider/common/urn";
import { parseGivenId } from "../../provider/engine/plugin/imported-record";
import { definitionOfType, functionOf } from "../../provider/engine/plugin/run";
import { fromStruct, toStruct } from "../../provider/engine/plugin/struct";
import { readSettings } from "../../provider/api/settings";
import { PartialFailureError } from "../../provider/lifecycle/resource";
import { settingNames } from "../../provider/definitions/settings";
import { asSecret, engineUnknown, type Properties } from "../../provider/common/marks";
import { definitions } from "../../provider/definitions";
import type { Emulator } from "../../provider/emulator";
import { hosted, startDynamic } from "../support/calls";
import { fronts, Program } from "../support/program";
import { answer, clock, emulator, failureOf, on, settingsOf, withServer } from "../support/server";
import { startEmulator } from "../support/emulator";
import { engineUnknowns, sigKey } from "../support/marks";
import { canary } from "../support/canary.cjs";
import { defaults, home } from "../support/monitors";
import { PluginProcess, startPlugin } from "../support/plugin-calls";
import { urnOf } from "../support/simulated/engine";
import { noteOf, type Notes } from "../support/simulated/process";
import schema from "../../provider/engine/plugin/schema.json";

const provider = "urn:pulumi:test::shop::pulumi:providers:uptime::default";
const processes = [
  ["dynamic", startDynamic],
  ["plugin", startPlugin],
] as const;

test("the plugin names the resources and functions it has if it is asked for another", () => {
  expect(parseUrn("urn:pulumi:test::shop::my:site:Front$uptime:index:Monitor::a::b").type).toBe(
    "uptime:index:Monitor",
  );
  expect(definitionOfType("uptime:index:Monitor").label).toBe("Monitor");
  expect(() => definitionOfType("uptime:index:Monitr")).toThrow(
    'has no resource type "uptime:index:Monitr"; it has uptime:index:Domain, uptime:index:Monitor.',
  );
  expect(() => definitionOfType("pulumi-nodejs:dynamic/uptime:Monitor")).toThrow(
    'A resource with the option provider must come from "pulumi-uptime/native".',
  );
  expect(functionOf("uptime:index:getDomains")).toMatchObject({ mode: "all" });
  const names = { label: "StatusPage", singular: "status_page", plural: "status-pages" };
  expect(lookupName(names, "all")).toBe("getStatusPages");
  expect(() => functionOf("uptime:index:getAll")).toThrow(
    "it has uptime:index:getDomain, uptime:index:getDomains, uptime:index:getMonitor, uptime:index:getMonitors.",
  );
});

test("settings may be strings or values, keys are secret, and unknown names are a warning", () => {
  const values = {
    baseUrl: "https://a.example",
    apiKey: "key",
    maxRetries: 3,
    allowHttp: true,
    sameAccount: ["3f9c=81d0", "0000=81d0"],
    accounts: { eu: { apiKey: "other" } },
  };
  const { apiKey, maxRetries, allowHttp, sameAccount } = values;
  expect(readSettings(configOf(values), {})).toMatchObject({ apiKey, maxRetries, allowHttp, sameAccount });
  expect(readSettings(configOf(values), {}, "eu")).toMatchObject({ apiKey: "other" });
  expect(configOf({ baseUrl: engineUnknown }).get("uptime:baseUrl")).toBeUndefined();
  const ofEngine = { version: "1.0.0", pluginDownloadURL: "https://a.example", __internal: {} };
  const given = { apiKey: "key", maxRetry: 3, ...ofEngine };
  const { settings, warnings } = checkProviderSettings(provider, given, {});
  expect(settings.apiKey).toEqual(asSecret("key"));
  expect(warnings).toEqual([
    expect.stringMatching(/: uptime:maxRetry \(did you mean uptime:maxRetries\?\)\.$/),
  ]);
  const [old, present] = [
    { apiKey: "a", maxRetries: "3" },
    { apiKey: "b", maxRetries: 3 },
  ];
  expect(changedSettings(old, present)).toEqual(["apiKey"]);
});

test("the error of an operation keeps what caused it, so that a bug has a stack", async () => {
  const front = new SharedFront({
    definition: domain,
    session: new FrontSession(),
    settingsOf: () => readSettings(configOf({}), {}),
    print: () => undefined,
  });
  const outputs = { values: {}, attributes: {} };
  for (const cause of [new TypeError("a bug"), new PartialFailureError("1", outputs, ["a failure"])]) {
    const error: unknown = await front
      .run([{}], () => Promise.reject(cause))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OperationError);
    expect(error).toMatchObject({ cause });
  }
});

test("values survive the protocol, secrets without their mark", () => {
  const values = { text: "a", number: 1, none: null, list: [1, "2", { deep: true }], unknown: engineUnknown };
  const sent = { ...values, left: undefined, secret: asSecret("plain") };
  expect(fromStruct(toStruct(sent))).toEqual({ ...values, secret: "plain" });
  expect(fromStruct(toStruct({ ...sent, __options: { secrets: ["text"] } }))).not.toHaveProperty("__options");
});

describe("with a server", () => {
  withServer();
  const urn = "urn:pulumi:test::shop::uptime:index:Monitor::home";

  /** What plugins that start meanwhile tell the command that collects what a preview would refuse. */
  const toldDuring = async (work: () => Promise<unknown>): Promise<CollectedResource[]> => {
    const env = { ...process.env };
    const told: CollectedResource[] = [];
    await listenForResources(
      (one) => told.push(one),
      (variables) => {
        Object.assign(process.env, variables);
        return work();
      },
    ).finally(() => (process.env = env));
    return told;
  };

  describe("an import", () => {
    let other: Emulator;
    beforeEach(async () => {
      other = await startEmulator({ apiKey: "other-key", firstId: 7 });
      emulator.monitors.add({ ...home, name: "Ours" });
      other.monitors.add(home);
    });

    /** The resource of a new program after its import of the record 1, which the engine puts into state. */
    const importedInto = async (program: Program, declared: Properties) => {
      const one = program.resource();
      const state = await program.providers.monitor.import?.(urnOf(one), "1", declared);
      if (state) one.state = { ...state, unfinished: false };
      return one;
    };
    const imported = async (id: string, inputs: object) => {
      const accounts = JSON.stringify({ eu: { baseUrl: other.url, apiKey: "other-key" } });
      const { monitor } = startPlugin(settingsOf({ "uptime:accounts": accounts }), {});
      return monitor.import?.(urn, id, { ...inputs });
    };

    test("that --target leaves out keeps the record of a resource that is deleted, before Pulumi 3.274", async () => {
      const { monitor } = startPlugin(settingsOf(), {});
      const { inputs } = await monitor.check(urn, {}, home);
      const { id, outputs } = await monitor.create(urn, inputs);
      const run = startPlugin(settingsOf(), {}).monitor;
      await run.import?.(`${urn}-2`, id, undefined, true);
      await run.delete(urn, id, outputs, inputs);
      expect(emulator.monitors.get(id)).toBeDefined();
    });

    test("of a record that another process has taken is an error, or is told to a command that collects refusals", async () => {
      const notes: Notes<object> = [];
      const run = () => startPlugin(settingsOf(), { runNote: noteOf(notes, {}) }).monitor;
      const declared = { ...home, name: "Ours" };
      await run().import?.(urn, "1", declared);
      const taken = "Nothing was adopted or imported, because a resource of another provider already manages";
      await expect(run().import?.(`${urn}-2`, "1", declared)).rejects.toThrow(taken);
      const told = await toldDuring(async () => run().import?.(`${urn}-3`, "1", declared));
      expect(told).toMatchObject([
        { urnSuffix: "uptime:index:Monitor::home-3", problems: [expect.stringContaining(taken)] },
      ]);
    });

    test("reads the record of the account that the id names", async () => {
      const found = await imported("eu/7", { ...home, account: "eu" });
      const inputs = { account: "eu" };
      expect(found).toMatchObject({ id: "7", inputs, outputs: { account: "eu", name: "Home" } });
      // The engine imports by itself, so the id is no input.
      expect(found?.inputs).not.toHaveProperty("importId");
      expect(await imported("1", { ...home, name: "Ours" })).toMatchObject({ id: "1" });
      expect([...emulator.writes(), ...other.writes()]).toEqual([]);
    });

    test.each<[string, object, string | RegExp]>([
      ["eu/7", home, 'account is not that of the id that is imported: import "7", or set account to "eu"'],
      [
        "1",
        { ...home, name: "Ours", account: "eu" },
        'account is not that of the id that is imported: import "eu/1", or leave account out',
      ],
      ["ue/7", home, 'uptime:accounts has no account "ue"; it has eu.'],
      [
        "https://api.example/api/v1/monitors/7",
        home,
        /^The id "https:.*\/7" names a record in the account "https:.*\/monitors"\. uptime:accounts has no account .* the last slash: "7"\.$/,
      ],
      ["eu/8", home, /^Monitor 8 does not exist .* Check the id\. .* remove the option import\.$/],
    ])("of %s is refused with the inputs %j", async (id, inputs, message) => {
      await expect(imported(id, inputs)).rejects.toThrow(message);
    });

    test("with a value that is not known yet in the preview is compared in the up", async () => {
      const news = { ...home, name: engineUnknown, url: engineUnknown, interval: engineUnknown };
      expect(await imported("1", news)).toMatchObject({ id: "1", inputs: { url: engineUnknown } });
      await expect(imported("1", { ...news, requestMethod: "PUT" })).rejects.toThrow("requestMethod is");
    });

    test.each([
      ["days of 0 that are shown as null", { sslAlertDays: 0 }, { ssl_alert_days: null }],
      [
        "a text with an entity",
        { alertCondition: "url_text", alertTextLookup: "&copy; Example" },
        { alert_condition: "url_text", alert_text_lookup: "&copy; Example" },
      ],
    ])("of %s is followed by no change", async (_, fields, shown) => {
      emulator.monitors.edit(1, shown);
      const program = new Program("plugin");
      const declared = { ...home, name: "Ours", ...fields };
      const one = await importedInto(program, declared);
      program.nextRun();
      expect([one.state?.id, await one.preview(declared)]).toEqual(["1", "same"]);
    });

    test.each([
      ["as it is, if the server does not escape", false, "&copy; Example"],
      ["unescaped, if the server escapes", true, "a & &copy;"],
    ])("reads a text with an entity %s", async (_, escapeHtml, stored) => {
      emulator.monitors.edit(1, { alert_condition: "url_text", alert_text_lookup: stored });
      emulator.monitors.add({ ...home, url: "https://example.com/?a=1&b=2" });
      emulator.dialect = { escapeHtml };
      const text = { alertCondition: "url_text", alertTextLookup: stored };
      const found = await imported("1", { ...home, name: "Ours", ...text });
      expect(found?.outputs).toMatchObject({ alertTextLookup: stored });
      const { monitor } = startPlugin(settingsOf(), {});
      expect((await monitor.read(urn, "1", {}, {}))?.inputs).toMatchObject({ alertTextLookup: stored });
    });

    test("reads a text with an entity with a key that may not read the list", async () => {
      const text = { alertCondition: "url_text", alertTextLookup: "a & b" };
      emulator.monitors.edit(1, { alert_condition: "url_text", alert_text_lookup: "a & b" });
      emulator.dialect = { escapeHtml: true };
      emulator.fault = ({ path }) => (path.endsWith("/monitors") ? answer(403) : undefined);
      const found = await imported("1", { ...home, name: "Ours", ...text });
      expect(found?.outputs).toMatchObject(text);
    });

    test("is followed by a refresh that shows nothing but what was edited by hand", async () => {
      emulator.monitors.edit(1, { alert_channel_ids: [1], request_headers: [{ key: "X", value: "y" }] });
      const program = new Program("plugin");
      const declared = { ...home, name: "Ours" };
      const one = await importedInto(program, declared);
      // In the process that has marked the secrets, this would also notice that one has lost its mark.
      await one.refresh();
      // The engine would show a field that is left out now as removed.
      expect(one.state?.outputs).toMatchObject({ alertChannelIds: [1] });
      program.nextRun();
      await one.up(declared);
      const { __provider: _, ...outputs } = one.state?.outputs ?? {};
      emulator.monitors.edit(1, { alert_channel_ids: [2], interval: 300 });
      await one.refresh();
      expect(one.state?.outputs).toEqual({ ...outputs, interval: 300 });
      program.nextRun({ "uptime:refreshAttributes": "true" });
      await one.refresh();
      expect(one.state?.outputs).toMatchObject({ attributes: { alert_channel_ids: [2] } });
      expect(one.state?.outputs).not.toHaveProperty("alertChannelIds");
    });

    describe("that was refused, and that the engine has kept", () => {
      /** The engine puts into state what it has read, before `check` refuses it. */
      const refused = async (settings = {}) => {
        const program = new Program("plugin", settings);
        const read = { ...home, name: "Ours" };
        const one = await importedInto(program, read);
        if (one.state) one.state = { ...one.state, inputs: { ...read, __imported: true } };
        program.nextRun();
        return one;
      };

      test("is no change if the program then declares what the record has", async () => {
        const one = await refused();
        expect(await one.preview({ ...home, name: "Ours" })).toBe("same");
      });

      test.each<[string, Properties]>([
        ["shows as empty", { ssl_alert_days: null }],
        ["shows otherwise", { ssl_alert_days: 14 }],
      ])("may not send what the record %s", async (_, shown) => {
        emulator.monitors.edit(1, shown);
        const declared = { ...home, name: "Ours", sslAlertDays: 7 };
        const one = await refused();
        expect(await failureOf(one.up(declared))).toContain("the program declares another sslAlertDays.");
        expect(emulator.writes()).toEqual([]);
        // The error of the import says so: declare the record's value, or change the record first.
        emulator.monitors.edit(1, { ssl_alert_days: 7 });
        expect(await one.up(declared)).toBe("update");
      });

      test("may not be replaced by a record in another account", async () => {
        const accounts = JSON.stringify({ second: { apiKey: "other-key" } });
        const one = await refused({ "uptime:accounts": accounts });
        const declared = { ...home, name: "Ours", account: "second" };
        expect(await failureOf(one.up(declared))).toContain("the program declares another account.");
        expect(emulator.writes()).toEqual([]);
      });

      test("may send what the record does not show, and what a person takes for the same", async () => {
        emulator.dialect = { hidden: ["domain_alert_days"] };
        const one = await refused();
        await one.up({
          ...home,
          name: "Ours",
          sslAlertDays: 0,
          domainAlertDays: 7,
          requestAuthPassword: "p",
        });
        expect(emulator.monitors.get(1)).toMatchObject({ domain_alert_days: 7, request_auth_password: "p" });
      });

      test("is told to a command that collects what a preview would refuse", async () => {
        const told = await toldDuring(async () => {
          const one = await refused();
          expect(await one.preview({ ...home, name: "Ours", interval: 300 })).toBe("same");
        });
        const problem = expect.stringContaining("the program declares another interval.") as string;
        expect(told.at(-1)?.problems).toEqual([problem]);
      });

      test("is compared once a value is known, and is no error if the record is gone", async () => {
        const declared = { ...home, name: "Other" };
        const one = await refused();
        expect(await one.preview({ ...home, name: engineUnknown })).toBe("update");
        expect(await failureOf(one.up(declared))).toContain("the program declares another name.");
        emulator.monitors.remove(1);
        expect(await one.preview(declared)).toBe("update");
      });
    });

    test("of a record that shows the password encrypted is followed by an update that sends it", async () => {
      emulator.dialect = { password: "plain" };
      emulator.monitors.edit(1, { request_auth_username: "u", request_auth_password: canary("encrypted") });
      const program = new Program("plugin");
      const declared = { ...home, name: "Ours", requestAuthUsername: "u", requestAuthPassword: "pass-word" };
      const one = await importedInto(program, declared);
      expect(one.state?.outputs).toMatchObject({ requestAuthPassword: null, requestAuthUsername: "u" });
      expect(JSON.stringify(one.state)).not.toContain(canary("encrypted"));
      program.nextRun();
      await one.up(declared);
      expect(emulator.monitors.get("1")).toMatchObject({ request_auth_password: "pass-word" });
      expect(await one.preview(declared)).toBe("same");
    });
  });

  test("a difference to the outputs alone is shown by its parts", async () => {
    const { monitor } = startPlugin(settingsOf(), {});
    const { inputs } = await monitor.check(urn, {}, { ...home, alertChannelIds: [1, 3] });
    const outputs = { ...inputs, alertChannelIds: [1, 2], attributes: {} };
    expect(await monitor.diff(urn, "1", outputs, inputs, inputs)).toMatchObject({
      parts: ["alertChannelIds[1]"],
    });
  });

  test("an attached plugin refuses a second provider with other settings in a run, and not in the next run", async () => {
    const plugin = new PluginProcess({});
    const others = { "uptime:maxRetries": "3" };
    const begin = (settings: object, address: string) =>
      plugin.begin(settingsOf({ ...settings }), address).monitor.check(urn, {}, home);
    await begin({}, "127.0.0.1:9");
    await begin({}, "127.0.0.1:9");
    await expect(begin(others, "127.0.0.1:9")).rejects.toThrow(
      "serves all providers of a run with the same settings, and this run has providers with different ones.",
    );
    expect(await begin(others, "127.0.0.1:10")).toMatchObject({ failures: [] });
  });

  test("what was only read is neither deleted nor changed, although Pulumi asks for it", async () => {
    const id = String(emulator.monitors.add(home).id);
    const { outputs = {} } = (await startPlugin(settingsOf(), {}).monitor.read(urn, id, {}, {})) ?? {};
    const { monitor } = startPlugin(settingsOf(), {});
    const { inputs } = await monitor.check(urn, {}, { ...home, name: "Other" });
    const changed = monitor.diff(urn, id, outputs, {}, inputs);
    await expect(changed).rejects.toThrow(
      "was only read until now, and this would change it. Run `pulumi state delete",
    );
    await monitor.delete(urn, id, outputs, {});
    expect(emulator.writes()).toEqual([]);
  });

  test("a `get` without properties, for which Pulumi asks as for an import, does not take the record", async () => {
    const { monitor } = startPlugin(settingsOf(), {});
    const { inputs } = await monitor.check(urn, {}, home);
    const { id, outputs } = await monitor.create(urn, inputs);
    const got = `${urn}-got`;
    const state = (await monitor.read(got, id, {}, {}))?.outputs ?? {};
    const again = await startPlugin(settingsOf(), {}).monitor.read(got, id, state, {});
    expect(again).toEqual({
      id,
      outputs: { ...state, name: home.name, attributes: expect.anything() as unknown },
      inputs: {},
    });
    await monitor.delete(urn, id, outputs, inputs);
    expect(emulator.monitors.all()).toEqual([]);
  });

  test("a `get` of a record that does not exist is told to a command that collects refusals", async () => {
    const told = await toldDuring(() => startPlugin(settingsOf(), {}).monitor.read(urn, "9", {}, {}));
    const problem = expect.stringMatching(
      /^import or get of monitor 9 is not possible: .* does not exist/,
    ) as string;
    expect(told).toEqual([{ urnSuffix: "uptime:index:Monitor::home", inputs: {}, problems: [problem] }]);
  });

  describe("a read with empty inputs and state, as `pulumi do` and `get` send it", () => {
    const text = {
      ...home,
      alert_condition: "url_text",
      alert_text_lookup: "ok",
      alert_channel_ids: [1, 2],
      request_headers: [{ key: "X-Probe", value: "one" }],
      request_auth_username: "probe",
      request_auth_password: "pass-word",
      ssl_alert_days: 0,
      maintenance_start_at: "2030-01-31T22:00:00",
      pause: true,
    };

    test("returns the record's inputs, so that a patch changes what it names and nothing else", async () => {
      const id = String(emulator.monitors.add(text).id);
      const before: Record<string, unknown> = { ...emulator.monitors.get(id) };
      const { monitor } = new PluginProcess({}).begin(settingsOf(), undefined, true);
      const { outputs = {}, inputs = {} } = (await monitor.read(urn, id, {}, {})) ?? {};
      expect(inputs).toEqual({
        ...home,
        alertCondition: "url_text",
        alertTextLookup: "ok",
        alertChannelIds: [1, 2],
        requestMethod: "GET",
        requestAuthUsername: "probe",
        cacheBuster: false,
        maintenanceStartAt: "2030-01-31T22:00:00",
        pause: true,
      });
      const unchanged = await monitor.check(urn, inputs, inputs);
      expect(unchanged).toEqual({ inputs, failures: [] });
      const same = await monitor.diff(urn, id, outputs, inputs, unchanged.inputs);
      expect(same).toMatchObject({ changes: false });
      const patched = await monitor.check(urn, inputs, { ...inputs, interval: 300 });
      const changed = await monitor.diff(urn, id, outputs, inputs, patched.inputs);
      expect(changed).toMatchObject({ changes: true, replaces: false });
      await monitor.update(urn, id, outputs, inputs, patched.inputs);
      const after = { ...emulator.monitors.get(id), updated_at: before.updated_at };
      expect(after).toEqual({ ...before, interval: 300 });
    });

    test("takes the id that an import takes, also to update and to delete", async () => {
      const other = await startEmulator({ apiKey: "other-key", firstId: 7 });
      other.monitors.add(home);
      const accounts = JSON.stringify({ eu: { baseUrl: other.url, apiKey: "other-key" }, us: {} });
      const { monitor } = new PluginProcess({}).begin(
        settingsOf({ "uptime:accounts": accounts }),
        undefined,
        true,
      );
      const read = await monitor.read(urn, "eu/7", {}, {});
      expect(read).toMatchObject({ id: "7", outputs: { account: "eu" }, inputs: { ...home, account: "eu" } });
      const { outputs = {}, inputs = {} } = read ?? {};
      expect(await monitor.diff(urn, "eu/7", outputs, inputs, inputs)).toMatchObject({ changes: false });
      const patched = { ...inputs, interval: 300 };
      expect(await monitor.diff(urn, "eu/7", outputs, inputs, patched)).toMatchObject({ replaces: false });
      await monitor.update(urn, "eu/7", outputs, inputs, patched);
      expect(other.monitors.get("7")).toMatchObject({ interval: 300 });
      // As a program's `get` sends it, with and without the property.
      const state = { account: "eu" };
      for (const given of ["7", "eu/7"]) {
        const got = await monitor.read(urn, given, state, state);
        expect(got).toMatchObject({ id: "7", outputs: { name: "Home" }, inputs: state });
        const again = await monitor.read(urn, "7", got?.outputs ?? {}, state);
        expect(again).toMatchObject({ id: "7", inputs: state });
      }
      for (const [inputs, outputs] of [
        [{ account: "us" }, {}],
        [{}, { account: "us" }],
      ])
        await expect(monitor.read(urn, "eu/7", outputs ?? {}, inputs ?? {})).rejects.toThrow(
          'The id "eu/7" names the account "eu", and account is "us": leave one of them out.',
        );
      await monitor.delete(urn, "eu/7", {}, {});
      expect(other.monitors.all()).toEqual([]);
      expect(emulator.requests).toEqual([]);
    });

    test("stays without inputs of its own in a later refresh", async () => {
      const id = String(emulator.monitors.add(text).id);
      const { monitor } = startPlugin(settingsOf(), {});
      const got = await monitor.read(urn, id, {}, {});
      emulator.monitors.edit(1, { interval: 900 });
      expect(await monitor.read(urn, id, got?.outputs ?? {}, {})).toMatchObject({
        inputs: {},
        outputs: { interval: 900 },
      });
    });
  });

  describe("a list", () => {
    const type = "uptime:index:Monitor";
    const start = (settings = {}): PluginProcess => {
      const plugin = new PluginProcess({});
      plugin.begin(settingsOf(settings));
      return plugin;
    };
    const addMonitors = (count: number): void => {
      for (let number = 1; number <= count; number++)
        emulator.monitors.add({ ...home, name: `Shop ${number}` });
    };
    const idsIn = (parts: proto.ListResponse.AsObject[]): string[] =>
      parts.flatMap(({ result }) => (result ? [result.id] : []));

    test("shows ids that an import takes, with the records' names, also those of a named account and what a search selects", async () => {
      const eu = await startEmulator({ apiKey: "other-key", firstId: 7 });
      eu.monitors.add({ ...home, name: "Caf&eacute;" });
      addMonitors(2);
      emulator.domains.add({ name: "shop.example" });
      const accounts = JSON.stringify({ eu: { baseUrl: eu.url, apiKey: "other-key" } });
      const plugin = start({ "uptime:accounts": accounts });
      const item = (id: string, name: string) => expect.objectContaining({ result: { id, name } }) as object;
      expect(await plugin.list(type, {})).toEqual([item("1", "Shop 1"), item("2", "Shop 2")]);
      expect(await plugin.list(type, { account: "eu" })).toEqual([item("eu/7", "Café")]);
      expect(await plugin.list("uptime:index:Domain", {})).toEqual([item("1", "shop.example")]);
      emulator.forget();
      expect(await plugin.list(type, { search: "Shop 2", searchBy: "name" })).toEqual([item("2", "Shop 2")]);
      await plugin.list(type, { statusPageId: 3 });
      const queries = emulator.requests.map(({ query }) => Object.fromEntries(query) as Properties);
      expect(queries).toMatchObject([{ search: "Shop 2", search_by: "name" }, { status_page_id: "3" }]);
    });

    test("shows a record whose name cannot be read, without a name", async () => {
      addMonitors(1);
      emulator.monitors.add({ ...home, name: { en: "Shop" } });
      expect(idsIn(await start().list(type, {}))).toEqual(["1", "2"]);
    });

    test("has pages as the engine asks for them, and reads no more of the API's than they need", async () => {
      addMonitors(250);
      const plugin = start();
      const all = Array.from({ length: 250 }, (_, index) => String(index + 1));
      expect(idsIn(await plugin.list(type, {}))).toEqual(all);
      emulator.forget();
      const few = await plugin.list(type, {}, { limit: 3 });
      expect(few.map(({ continuation }) => continuation)).toEqual([undefined, undefined, undefined]);
      expect(idsIn(few)).toEqual(["1", "2", "3"]);
      expect(emulator.requests).toHaveLength(1);
      for (const limit of [0, 240, 250, 300]) {
        const pages: string[][] = [];
        let continuation: string | undefined = "";
        do {
          const parts = await plugin.list(type, {}, { limit, pageSize: 60, continuation });
          pages.push(idsIn(parts));
          continuation = parts.at(-1)?.continuation?.continuationToken;
        } while (continuation !== undefined);
        const listed = all.slice(0, limit || 250);
        const expected = [0, 60, 120, 180, 240].map((begin) => listed.slice(begin, begin + 60));
        expect(pages).toEqual(expected.filter(({ length }) => length > 0));
      }
    });

    test("goes on after its last record, and says so if that is gone", async () => {
      addMonitors(5);
      const plugin = start();
      const first = await plugin.list(type, {}, { pageSize: 2 });
      const continuation = first.at(-1)?.continuation?.continuationToken ?? "";
      emulator.monitors.remove(1);
      addMonitors(1);
      expect(idsIn(await plugin.list(type, {}, { pageSize: 9, continuation }))).toEqual(["3", "4", "5", "6"]);
      emulator.monitors.remove(2);
      for (const [page, reason] of [
        [continuation, "Monitor 2, after which the list at http"],
        ["page 2", '"page 2" is not a page of a list: begin with the first one.'],
      ] as const)
        await expect(plugin.list(type, {}, { continuation: page })).rejects.toThrow(reason);
    });

    test("is unknown while its query is, and refuses what it cannot search for", async () => {
      const plugin = start();
      expect(await plugin.list(type, { search: engineUnknown })).toMatchObject([{ computed: {} }]);
      expect(emulator.requests).toEqual([]);
      await expect(plugin.list(type, { searchBy: "url", name: "Shop" })).rejects.toThrow(
        "A list of monitors cannot take these arguments: it has no argument name, only search, searchBy, statusPageId, account; searchBy requires search.",
      );
      await expect(plugin.list("uptime:index:Monitr", {})).rejects.toThrow("has no resource type");
      emulator.fault = () => answer(400, { message: `no ${emulator.apiKey}` });
      await expect(plugin.list(type, {})).rejects.toThrow("(the server repeats a secret)");
    });
  });

  test("a lookup shows records that hold what the engine would take for its own marks", async () => {
    emulator.dialect = { extraFields: { note: { [sigKey]: "x", of: engineUnknowns } } };
    emulator.monitors.add({ ...home, name: engineUnknown });
    const plugin = new PluginProcess({ clock });
    plugin.begin(settingsOf());
    const { monitors } = await plugin.invoke("uptime:index:getMonitors", {});
    const note = { [`${sigKey}_`]: "x", of: engineUnknowns.map(() => "[unknown]") };
    expect(monitors).toMatchObject([{ id: "1", name: "[unknown]", attributes: { note } }]);
  });

  test.each(processes)(
    "a create keeps its record if that holds what the engine would take for its own marks: %s",
    async (_, start) => {
      emulator.dialect = { extraFields: { notes: engineUnknowns } };
      const { outputs } = await start(settingsOf(), {}).monitor.create(urn, home);
      expect(outputs).toMatchObject({ attributes: { notes: engineUnknowns.map(() => "[unknown]") } });
    },
  );

  test.each(processes)(
    "a create that fails half-way keeps its record and its hidden inputs in state: %s",
    async (_, start) => {
      on("PATCH", answer(422));
      const options = { ignoreChanges: ["name"] };
      const inputs = { ...home, pause: true, __options: options, __provider: "code" };
      await expect(start(settingsOf(), {}).monitor.create(urn, inputs)).rejects.toMatchObject({
        id: "1",
        outputs: { name: "Home", pause: false, __partial: true, __options: options },
        message: expect.not.stringContaining("kept without") as string,
      });
    },
  );

  test.each(fronts)(
    "a create with long values that fails half-way keeps its id, and the next run finishes it: %s",
    async (front) => {
      on("PATCH", answer(422));
      const one = new Program(front).resource();
      const long = { ...home, pause: true, alertTextLookup: "x".repeat(5000), requestAuthUsername: "me" };
      await failureOf(one.up(long));
      expect(one.state).toMatchObject({
        id: "1",
        outputs: { alertTextLookup: long.alertTextLookup, requestAuthUsername: "me" },
      });
      emulator.fault = undefined;
      await one.up(long);
      expect(one.state?.outputs).toMatchObject({ alertTextLookup: long.alertTextLookup, pause: true });
      expect(await one.preview(long)).toBe("same");
    },
  );

  test("an update of a domain that has nothing but a name sends nothing, after a create that failed half-way", async () => {
    const id = String(emulator.domains.add({ name: "shop.example" }).id);
    const inputs = { name: "shop.example" };
    const outputs = { ...inputs, attributes: {}, __partial: true };
    const { domain: provider } = startPlugin(settingsOf(), {});
    const domainUrn = "urn:pulumi:test::shop::uptime:index:Domain::shop";
    const updated = await provider.update(domainUrn, id, outputs, inputs, inputs);
    expect(updated.outputs).toMatchObject(inputs);
    expect(updated.outputs).not.toHaveProperty("__partial");
    expect(emulator.writes()).toEqual([]);
  });

  test.each([{}, { homepageUrl: "https://shop.example/" }])(
    "a domain's new name with which `pulumi do` asks for an update, and not for a replacement, is an error: %j",
    async (others) => {
      const id = String(emulator.domains.add({ name: "shop.example" }).id);
      const { domain: provider } = startPlugin(settingsOf(), { clock });
      const domainUrn = "urn:pulumi:test::shop::uptime:index:Domain::shop";
      const { outputs = {}, inputs = {} } = (await provider.read(domainUrn, id, {}, {})) ?? {};
      const renamed = { ...inputs, ...others, name: "new.example" };
      await expect(provider.update(domainUrn, id, outputs, inputs, renamed)).rejects.toThrow(
        'did not store them: name was sent as "new.example" and is "shop.example".',
      );
    },
  );

  test("the plugin honours ignoreChanges in a diff and in an update", async () => {
    const id = String(emulator.monitors.add({ ...home, name: "By hand" }).id);
    const { monitor } = startPlugin(settingsOf(), {});
    const ignored = { ignoreChanges: ["name"] };
    const changed = { ...home, ...defaults };
    const known = { ...changed, name: "By hand", attributes: {} };
    expect(await monitor.diff(urn, id, known, changed, changed)).toMatchObject({ changes: true });
    expect(await monitor.diff(urn, id, known, changed, changed, ignored)).toMatchObject({ changes: false });
    await monitor.update(urn, id, known, changed, { ...changed, interval: 300 }, ignored);
    expect(emulator.monitors.get(id)).toMatchObject({ name: "By hand", interval: 300 });
  });

  test("a change of a list names the parts that differ, so that replaceOnChanges may name one", async () => {
    const { monitor } = startPlugin(settingsOf(), {});
    const header = (key: string, value: string) => ({ key, value });
    const lists = { alertChannelIds: [1, 2], requestHeaders: [header("A", "1"), header("B", "2")] };
    const parts = async (change: object, old: object = lists) => {
      const inputs = { ...home, ...defaults, ...old };
      const changed = { ...inputs, ...change };
      return (await monitor.diff(urn, "1", { ...inputs, attributes: {} }, inputs, changed)).parts;
    };
    const [one, other] = [header("A", "1"), header("B", "3")];
    expect(await parts({ requestHeaders: [one, other] })).toEqual(["requestHeaders[1].value"]);
    const several = await parts({ alertChannelIds: [1, 3, 4], requestHeaders: [one], name: "Other" });
    expect(several).toEqual(["alertChannelIds[1]", "alertChannelIds[2]", "name", "requestHeaders[1]"]);
    const whole = await parts({ alertChannelIds: engineUnknown, requestHeaders: null });
    expect(whole).toEqual(["alertChannelIds", "requestHeaders"]);
    expect(await parts({ alertChannelIds: [1] }, {})).toEqual(["alertChannelIds"]);
    expect(await parts({ alertChannelIds: [2, 1] })).toEqual([]);
  });

  test("a property of which only the mark is new is not named, so that replaceOnChanges replaces nothing", async () => {
    const { monitor } = startPlugin(settingsOf(), {});
    const inputs = { ...home, ...defaults, alertChannelIds: [1, 2] };
    const marked = { ...inputs, url: asSecret(home.url), alertChannelIds: asSecret([1, 2]) };
    const diff = (more: object) =>
      monitor.diff(urn, "1", { ...inputs, attributes: {} }, inputs, { ...marked, ...more });
    expect(await diff({})).toMatchObject({ changes: true, parts: [] });
    expect(await diff({ url: asSecret("https://new.example/") })).toMatchObject({ parts: ["url"] });
  });

  test.each(processes)("customTimeouts.read ends a refresh: %s", async (_, start) => {
    const id = String(emulator.monitors.add(home).id);
    const customTimeouts = { create: "1s", read: "100s" };
    const outputs = { ...home, attributes: {}, __options: { customTimeouts } };
    const { monitor } = start(settingsOf({ "uptime:timeoutSeconds": "300" }), { clock });
    const read = () => monitor.read(urn, id, outputs, home, { timeout: 100 });
    const begun = clock.now();
    emulator.fault = () => ({ kind: "delay", answerDelayMs: 90_000 });
    expect(await read()).toMatchObject({ id });
    emulator.fault = () => ({ kind: "delay", answerDelayMs: 110_000 });
    await expect(read()).rejects.toThrow("(the option customTimeouts)");
    expect(clock.now() - begun).toBeLessThan(201_000);
  });

  test("a setting is refused without its property, whose value the engine would print: it may be a key", async () => {
    for (const baseUrl of ["https://me:my-key@uptime.example", "my-key"]) {
      const { monitor } = startPlugin({ "uptime:baseUrl": baseUrl }, { clock });
      await expect(monitor.read(urn, "7", {}, home)).rejects.toThrow(/^: uptime:baseUrl must (?!.*my-key)/);
    }
  });

  test("an import that is refused does not show a secret that the server repeats", async () => {
    emulator.fault = () => answer(400, { message: "no correct-horse" });
    const secret = { ...home, requestAuthPassword: "correct-horse" };
    const inputs = { ...secret, importId: "1", __options: { owner: "home" }, __provider: "code" };
    const { failures } = await startDynamic(settingsOf(), {}).monitor.check("urn", {}, inputs);
    expect(failures.join()).toContain("(the server repeats a secret)");
    expect(failures.join()).not.toContain("correct-horse");
  });
});

test("the schema has each field with its type, default and secret mark", () => {
  const resources = schema.resources as unknown as Record<string, Record<string, unknown>>;
  expect(Object.keys(resources)).toEqual(definitions.map(({ label }) => `uptime:index:${label}`));
  for (const { label, fields, filters } of definitions) {
    const resource = resources[`uptime:index:${label}`];
    const inputs = resource?.inputProperties as Record<string, Record<string, unknown>>;
    expect(Object.keys(inputs)).toEqual([...Object.keys(fields), "account"]);
    for (const [key, { secret, fixed }] of Object.entries(fields)) {
      expect(inputs[key]).toEqual(
        expect.objectContaining({ description: expect.stringMatching(/./) as string }),
      );
      expect([inputs[key]?.secret, inputs[key]?.willReplaceOnChanges]).toEqual([secret, fixed]);
    }
    const keysOf = (name: string) => Object.keys((resource?.[name] as { properties: object }).properties);
    expect(keysOf("listInputs")).toEqual(["account", "search", "searchBy", ...Object.keys(filters ?? {})]);
    expect(keysOf("stateInputs")).toEqual(["account"]);
    expect(resource?.requiredInputs).toEqual(Object.keys(fields).filter((key) => fields[key]?.required));
    expect(resource?.aliases).toEqual([{ type: `pulumi-nodejs:dynamic/uptime:${label}` }]);
  }
});

test("the schema has each setting as configuration and provider input, and lets no SDK read the environment", () => {
  const { sameAccount, ...others } = schema.provider.inputProperties;
  const { oneOf, ...shared } = sameAccount;
  // Java's SDK does not compile if a configured value may be a list too.
  expect(schema.config.variables).toEqual({ ...others, sameAccount: { type: "string", ...shared } });
  expect(oneOf).toEqual([{ type: "string" }, { type: "array", items: { type: "string" } }]);
  expect(Object.keys(schema.config.variables)).toEqual(settingNames);
  const variables = schema.config.variables as Record<string, { secret?: true }>;
  for (const name of settingNames)
    expect(variables[name]).toMatchObject({ description: expect.stringMatching(/./) as string });
  expect(settingNames.filter((name) => variables[name]?.secret)).toEqual(["apiKey", "accounts"]);
  // The key of a provider with its own address would be sent to the other address of the environment.
  expect(JSON.stringify(schema)).not.toContain("defaultInfo");
});

test("state of the plugin is updated once when it goes back to the dynamic resources", async () => {
  const settings = { "uptime:baseUrl": "http://127.0.0.1:1", "uptime:apiKey": "key" };
  const { diff } = hosted(domain, settings, new FrontSession());
  const inputs = { name: "a.example" };
  const outputs = { ...inputs, attributes: {} };
  const code = { __provider: "code" };
  const news = { ...inputs, ...code };
  expect(await diff("1", outputs, news)).toMatchObject({ changes: true, replaces: [] });
  expect(await diff("1", { ...outputs, ...code }, news)).toMatchObject({ changes: false });
});

test("a record that state does not have is named by its id or by ACCOUNT/ID, and anything else is an invalid id", () => {
  expect(parseGivenId("42")).toEqual({ account: undefined, id: "42" });
  expect(parseGivenId("eu.west/42")).toEqual({ account: "eu.west", id: "42" });
  expect(parseGivenId("eu/west/42")).toEqual({ account: "eu/west", id: "42" });
  for (const wrong of ["/1", "eu/", "eu/..", "..", "", "1 2"])
    expect(() => parseGivenId(wrong)).toThrow(/is not an id: name a record by its id in the API, such as 42/);
  // A key in its place is not repeated.
  expect(() => parseGivenId("canary-key-of-the-account/4 2")).toThrow('"[not shown]/4 2" is not an id');
});
