import * as pulumi from "@pulumi/pulumi";

import { Monitor } from "../../provider";
import * as native from "../../provider/native";
import { plainApiKeyWarnings, unknownSettingWarnings } from "../../provider/definitions/setting-warnings";
import { settingNames } from "../../provider/definitions/settings";
import { settled, startMocks } from "../support/mocks";

const all = () => true;
const none = () => false;
type Config = Readonly<Record<string, string>>;
const unknownIn = (config: Config, project: string) =>
  unknownSettingWarnings(Object.keys(config), project, "uptime:");
const plainIn = (config: Config, isSecret: () => boolean) =>
  plainApiKeyWarnings((key) => config[key], isSecret);

test("known settings give no warning", () => {
  const config = Object.fromEntries(settingNames.map((name) => [`uptime:${name}`, "1"]));
  expect(unknownIn({ ...config, "other:apikey": "1", "aws:region": "a" }, "program")).toEqual([]);
  expect(unknownIn({}, "program")).toEqual([]);
});

test('unknown settings give one warning, with "did you mean"', () => {
  const config = { "uptime:apikey": "1", "uptime:monitorBaseUrl": "2", "uptime:colour": "3" };
  expect(unknownIn(config, "program")).toEqual([
    "pulumi-uptime does not know these settings: uptime:apikey (did you mean uptime:apiKey?), " +
      "uptime:monitorBaseUrl (did you mean uptime:monitorsBaseUrl?), uptime:colour. It has " +
      `${settingNames.map((name) => `uptime:${name}`).join(", ")}.`,
  ]);
});

test("the beginning of one name is near it, that of several is not", () => {
  const near = (name: string) => unknownSettingWarnings([name], undefined)[0];
  expect(near("Timeout")).toContain("Timeout (did you mean timeoutSeconds?)");
  expect(near("max")).toContain("max. It has");
});

test("a project that is named uptime may have settings of its own", () => {
  expect(unknownIn({ "uptime:colour": "1", "uptime:apikey": "2" }, "uptime")).toEqual([]);
});

test("keys in plain text give a warning that says how to encrypt them", () => {
  expect(plainIn({ "uptime:apiKey": "k" }, all)).toEqual([]);
  expect(plainIn({ "uptime:apiKey": "k" }, none)).toEqual([
    expect.stringMatching(/^uptime:apiKey is set in plain text.*`pulumi config set --secret uptime:apiKey`/),
  ]);
  const accounts = { "uptime:accounts": '{"them":{"apiKey":"k"}}' };
  expect(plainIn(accounts, all)).toEqual([]);
  expect(plainIn(accounts, none)).toEqual([
    expect.stringMatching(/^uptime:accounts holds API keys in plain text.*--secret uptime:accounts/),
  ]);
  expect(plainIn({ "uptime:accounts": '{"them":{}}' }, none)).toEqual([]);
});

test("warnings are shown once per run, also if its first resource is one of the plugin", async () => {
  const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue();
  const config = { "uptime:apikey": "1", "uptime:apiKey": "2", "uptime:accounts": '{"them":{"apiKey":"3"}}' };
  pulumi.runtime.setAllConfig(config, ["uptime:apiKey"]);
  await startMocks();
  const args = { name: "home", url: "https://a.example/", interval: 60 } as const;
  for (const type of [native.Monitor, Monitor, native.Monitor, Monitor])
    await settled(new type(`a${warn.mock.calls.length}`, args).urn);
  expect(warn.mock.calls.map(([message]) => message)).toEqual([
    expect.stringContaining("uptime:accounts holds API keys in plain text"),
    expect.stringContaining("did you mean uptime:apiKey?"),
  ]);
  warn.mockRestore();
});
