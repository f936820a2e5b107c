import { domain } from "../../provider/definitions/domain";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { Front, FrontSession } from "../../provider/engine/front";
import { OperationError } from "../../provider/engine/operation-error";
import { changedSettings, checkedSettings, configOf } from "../../provider/engine/provider-settings";
import { parseUrn } from "../../provider/common/urn";
import { parseImportId } from "../../provider/engine/plugin/imported-record";
import { definitionOf, functionOf } from "../../provider/engine/plugin/tokens";
import { fromStruct, toStruct } from "../../provider/engine/plugin/struct";
import { readSettings } from "../../provider/api/settings";
import { PartialFailureError } from "../../provider/lifecycle/resource";
import { settingNames } from "../../provider/definitions/settings";
import { secretOf, unknownValue } from "../../provider/common/marks";
import { definitions } from "../../provider/definitions";
import type { Emulator } from "../../provider/emulator";
import { startDynamic } from "../support/calls";
import { answer, emulator, on, settingsOf, withServer } from "../support/server";
import { startEmulator } from "../support/emulator";
import { home } from "../support/monitors";
import { startPlugin } from "../support/plugin-calls";
import schema from "../../provider/engine/plugin/schema.json";

const provider = "urn:pulumi:test::shop::pulumi:providers:uptime::default";

test("the plugin names the resources and functions it has if it is asked for another", () => {
  expect(parseUrn("urn:pulumi:test::shop::my:site:Front$uptime:index:Monitor::a::b").type).toBe(
    "uptime:index:Monitor",
  );
  expect(definitionOf("uptime:index:Monitor").label).toBe("Monitor");
  expect(() => definitionOf("uptime:index:Monitr")).toThrow(
    'has no resource type "uptime:index:Monitr"; it has uptime:index:Domain, uptime:index:Monitor.',
  );
  expect(functionOf("uptime:index:getDomains")).toMatchObject({ count: "all" });
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
  expect(readSettings(configOf(values), {})).toMatchObject({
    apiKey: "key",
    maxRetries: 3,
    allowHttp: true,
    sameAccount: ["3f9c=81d0", "0000=81d0"],
  });
  expect(readSettings(configOf(values), {}, "eu")).toMatchObject({ apiKey: "other" });
  expect(configOf({ baseUrl: unknownValue }).get("uptime:baseUrl")).toBeUndefined();
  const checked = checkedSettings(provider, { apiKey: "key", maxRetry: 3, version: "1.0.0", __internal: {} });
  expect(checked.settings.apiKey).toEqual(secretOf("key"));
  expect(checked.warnings).toEqual([
    expect.stringContaining("maxRetry (did you mean maxRetries?)") as string,
  ]);
  expect(changedSettings({ apiKey: "a", maxRetries: "3" }, { apiKey: "b", maxRetries: 3 })).toEqual([
    "apiKey",
  ]);
});

test("the error of an operation keeps what caused it, so that a bug has a stack", async () => {
  const front = new Front({
    definition: domain,
    session: new FrontSession(),
    settingsOf: () => readSettings(configOf({}), {}),
    print: () => undefined,
  });
  const fail = (cause: Error): Promise<unknown> =>
    front
      .run(() => {
        throw cause;
      }, {})
      .catch((error: unknown) => error);
  const outputs = { values: {}, attributes: {} };
  for (const cause of [new TypeError("a bug"), new PartialFailureError("1", outputs, ["a failure"])]) {
    const error = await fail(cause);
    expect(error).toBeInstanceOf(OperationError);
    expect(error).toMatchObject({ cause });
  }
});

test("values survive the protocol, secrets without their mark", () => {
  const values = { text: "a", number: 1, none: null, list: [1, "2", { deep: true }], unknown: unknownValue };
  expect(fromStruct(toStruct({ ...values, left: undefined, secret: secretOf("plain") }))).toEqual({
    ...values,
    secret: "plain",
  });
  expect(fromStruct(undefined)).toEqual({});
});

describe("with a server", () => {
  withServer();
  const urn = "urn:pulumi:test::shop::uptime:index:Monitor::home";

  describe("an import", () => {
    let other: Emulator;
    beforeEach(async () => {
      other = await startEmulator({ apiKey: "other-key", firstId: 7 });
      emulator.monitors.add({ ...home, name: "Ours" });
      other.monitors.add(home);
    });

    const imported = async (id: string, inputs: object) => {
      const accounts = JSON.stringify({ eu: { baseUrl: other.url, apiKey: "other-key" } });
      const { monitor } = startPlugin(settingsOf({ "uptime:accounts": accounts }), {});
      return monitor.import?.(urn, id, { ...inputs });
    };

    test("reads the record of the account that the id names", async () => {
      const found = await imported("eu/7", { ...home, account: "eu" });
      expect(found).toMatchObject({
        id: "7",
        inputs: { account: "eu" },
        outputs: { account: "eu", name: "Home" },
      });
      // The engine imports by itself, so the id is no input.
      expect(found?.inputs).not.toHaveProperty("importId");
      expect(await imported("1", { ...home, name: "Ours" })).toMatchObject({ id: "1" });
      expect([...emulator.writes(), ...other.writes()]).toEqual([]);
    });

    test.each<[string, object, string]>([
      ["eu/7", home, 'account is not that of the id that is imported: import "7", or set account to "eu"'],
      [
        "1",
        { ...home, name: "Ours", account: "eu" },
        'account is not that of the id that is imported: import "eu/1", or leave account out',
      ],
      ["ue/7", home, 'uptime:accounts has no account "ue"; it has eu.'],
      ["eu/8", home, "Monitor 8 does not exist"],
    ])("of %s is refused with the inputs %j", async (id, inputs, message) => {
      await expect(imported(id, inputs)).rejects.toThrow(message);
    });
  });

  test.each([
    ["dynamic", startDynamic],
    ["plugin", startPlugin],
  ])("a create that fails half-way keeps its record and its hidden inputs in state: %s", async (_, start) => {
    on("PATCH", answer(422));
    const options = { ignoreChanges: ["name"] };
    const inputs = { ...home, pause: true, __options: options, __provider: "code" };
    await expect(start(settingsOf(), {}).monitor.create(urn, inputs)).rejects.toMatchObject({
      id: "1",
      outputs: { name: "Home", pause: false, __partial: true, __options: options },
      message: expect.not.stringContaining("kept without") as string,
    });
  });

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

  test("the plugin honours ignoreChanges in a diff and in an update", async () => {
    const id = String(emulator.monitors.add({ ...home, name: "By hand" }).id);
    const { monitor } = startPlugin(settingsOf(), {});
    const ignored = { ignoreChanges: ["name"] };
    const changed = { ...home, cacheBuster: false, alertCondition: "url_unavailable", requestMethod: "GET" };
    const known = { ...changed, name: "By hand", attributes: {} };
    expect(await monitor.diff(urn, id, known, changed, changed)).toMatchObject({ changes: true });
    expect(await monitor.diff(urn, id, known, changed, changed, ignored)).toMatchObject({ changes: false });
    await monitor.update(urn, id, known, changed, { ...changed, interval: 300 }, ignored);
    expect(emulator.monitors.get(id)).toMatchObject({ name: "By hand", interval: 300 });
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
  for (const { label, fields } of definitions) {
    const resource = resources[`uptime:index:${label}`];
    const inputs = resource?.inputProperties as Record<string, Record<string, unknown>>;
    expect(Object.keys(inputs)).toEqual([...Object.keys(fields), "account"]);
    for (const [key, { secret, fixed }] of Object.entries(fields)) {
      expect(inputs[key]?.secret).toBe(secret === true ? true : undefined);
      expect(inputs[key]?.willReplaceOnChanges).toBe(fixed === true ? true : undefined);
      expect(inputs[key]?.description).toMatch(/./);
    }
    expect(resource?.requiredInputs).toEqual(Object.keys(fields).filter((key) => fields[key]?.required));
    expect(resource?.aliases).toEqual([{ type: `pulumi-nodejs:dynamic/uptime:${label}` }]);
  }
});

test("the schema has each setting as configuration and provider input, and takes no key from the environment into state", () => {
  expect(schema.provider.inputProperties).toEqual(schema.config.variables);
  expect(Object.keys(schema.config.variables)).toEqual(settingNames);
  const variables = schema.config.variables as Record<string, { secret?: true; defaultInfo?: object }>;
  for (const name of settingNames)
    expect(variables[name]).toMatchObject({ description: expect.stringMatching(/./) as string });
  const environmentOf = (name: string) => variables[name]?.defaultInfo;
  expect(settingNames.filter((name) => variables[name]?.secret)).toEqual(["apiKey", "accounts"]);
  expect(settingNames.filter(environmentOf)).toEqual(["baseUrl", "monitorsBaseUrl", "logLevel"]);
  expect(environmentOf("baseUrl")).toEqual({ environment: ["UPTIME_BASE_URL"] });
});

test("state of the plugin is updated once when it goes back to the dynamic resources", async () => {
  const { configure, diff } = dynamicProvider(domain);
  const settings = { "uptime:baseUrl": "http://127.0.0.1:1", "uptime:apiKey": "key" };
  const get = (key: string) => settings[key as keyof typeof settings] as string | undefined;
  await configure?.({ config: { get, require: get as (key: string) => string } });
  const inputs = { name: "a.example" };
  const outputs = { ...inputs, attributes: {} };
  const code = { __provider: "code" };
  expect(await diff?.("1", outputs, { ...inputs, ...code })).toMatchObject({ changes: true, replaces: [] });
  expect(await diff?.("1", { ...outputs, ...code }, { ...inputs, ...code })).toMatchObject({
    changes: false,
  });
});

test("an import names a record by its id or by ACCOUNT/ID, and anything else is an invalid id", () => {
  expect(parseImportId("42")).toEqual({ account: undefined, id: "42" });
  expect(parseImportId("eu.west/42")).toEqual({ account: "eu.west", id: "42" });
  for (const wrong of ["../domains/1", "/1", "eu/", "..", "", "1 2", "eu/domains/1"])
    expect(() => parseImportId(wrong)).toThrow(
      /is not an id: import a record by its id in the API, such as 42/,
    );
});
