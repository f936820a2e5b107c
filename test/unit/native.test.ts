import { domain } from "../../provider/definitions/domain";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { changedSettings, checkedSettings, configOf } from "../../provider/engine/native/settings";
import { definitionOf, functionOf, typeIn } from "../../provider/engine/native/tokens";
import { decode, encode } from "../../provider/engine/native/values";
import { secretOf, unknownValue } from "../../provider/engine/marks";
import { definitions } from "../../provider/definitions";
import schema from "../../provider/engine/native/schema.json";

const provider = "urn:pulumi:test::shop::pulumi:providers:uptime::default";

test("the plugin names what it has when it is asked for something else", () => {
  expect(typeIn("urn:pulumi:test::shop::my:site:Front$uptime:index:Monitor::a::b")).toBe(
    "uptime:index:Monitor",
  );
  expect(definitionOf(definitions, "uptime:index:Monitor").label).toBe("Monitor");
  expect(() => definitionOf(definitions, "uptime:index:Monitr")).toThrow(
    'has no resource type "uptime:index:Monitr"; it has uptime:index:Domain and uptime:index:Monitor.',
  );
  expect(functionOf(definitions, "uptime:index:getDomains")).toMatchObject({ finds: "several" });
  expect(() => functionOf(definitions, "uptime:index:getAll")).toThrow(
    "it has uptime:index:getDomain, uptime:index:getDomains, uptime:index:getMonitor, uptime:index:getMonitors.",
  );
});

test("settings come as strings or as values, keys are marked as secret, and unknown names are warned of", () => {
  const config = configOf({
    apiKey: "key",
    maxRetries: 3,
    allowHttp: true,
    goneStatuses: [403, 451],
    movedFrom: '["https://a.example","https://b.example"]',
    accounts: { eu: { apiKey: "other" } },
    baseUrl: unknownValue,
  });
  const read = (name: string) => config.get(`uptime:${name}`);
  expect(
    ["apiKey", "maxRetries", "allowHttp", "goneStatuses", "movedFrom", "accounts", "baseUrl"].map(read),
  ).toEqual([
    "key",
    "3",
    "true",
    "403,451",
    "https://a.example,https://b.example",
    '{"eu":{"apiKey":"other"}}',
    undefined,
  ]);
  const checked = checkedSettings(provider, { apiKey: "key", maxRetry: 3, version: "1.0.0", __internal: {} });
  expect(checked.settings.apiKey).toEqual(secretOf("key"));
  expect(checked.warnings).toEqual([
    expect.stringContaining("maxRetry (did you mean maxRetries?)") as string,
  ]);
  expect(checkedSettings(provider.replace("shop", "uptime"), { anything: "1" }).warnings).toEqual([]);
  expect(changedSettings({ apiKey: "a", maxRetries: "3" }, { apiKey: "b", maxRetries: 3 })).toEqual([
    "apiKey",
  ]);
});

test("values survive the protocol, secrets as plain values", () => {
  const values = { text: "a", number: 1, none: null, list: [1, "2", { deep: true }], unknown: unknownValue };
  expect(decode(encode({ ...values, left: undefined, secret: secretOf("plain") }))).toEqual({
    ...values,
    secret: "plain",
  });
  expect(decode(undefined)).toEqual({});
});

test("the schema has each field of each definition, with what Pulumi needs to know of it", () => {
  const resources = schema.resources as unknown as Record<string, Record<string, unknown>>;
  expect(Object.keys(resources)).toEqual(definitions.map(({ label }) => `uptime:index:${label}`));
  for (const { label, fields } of definitions) {
    const resource = resources[`uptime:index:${label}`];
    const inputs = resource?.inputProperties as Record<string, Record<string, unknown>>;
    expect(Object.keys(inputs)).toEqual([...Object.keys(fields), "account"]);
    for (const [key, { secret, replace }] of Object.entries(fields)) {
      expect(inputs[key]?.secret).toBe(secret === true ? true : undefined);
      expect(inputs[key]?.willReplaceOnChanges).toBe(replace === true ? true : undefined);
      expect(inputs[key]?.description).toMatch(/./);
    }
    expect(resource?.requiredInputs).toEqual(Object.keys(fields).filter((key) => fields[key]?.required));
    expect(resource?.aliases).toEqual([{ type: `pulumi-nodejs:dynamic/uptime:${label}` }]);
  }
});

test("state that the plugin has written is updated once when it goes back to the dynamic resources", async () => {
  const { configure, diff } = dynamicProvider(domain);
  const settings = { "uptime:baseUrl": "http://127.0.0.1:1", "uptime:apiKey": "key" };
  const get = (key: string) => settings[key as keyof typeof settings] as string | undefined;
  await configure?.({ config: { get, require: get as (key: string) => string } });
  const inputs = { name: "a.example" };
  const outputs = { ...inputs, attributes: {} };
  const code = { __provider: "code" };
  expect(await diff?.("1", outputs, { ...inputs, ...code })).toEqual({ changes: true, replaces: [] });
  expect(await diff?.("1", { ...outputs, ...code }, { ...inputs, ...code })).toMatchObject({
    changes: false,
  });
});
