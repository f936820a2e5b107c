import * as pulumi from "@pulumi/pulumi";

import { Monitor } from "../../provider";
import { unknownSettings } from "../../provider/definitions/setting-warnings";
import { settingNames } from "../../provider/definitions/settings";
import { settingsWarnings } from "../../provider/sdk/warnings";
import { settled, startMocks } from "../support/mocks";

const all = () => true;
const none = () => false;

test("known settings give no warning", () => {
  const config = Object.fromEntries(settingNames.map((name) => [`uptime:${name}`, "1"]));
  expect(settingsWarnings({ ...config, "other:apikey": "1", "aws:region": "a" }, all, "program")).toEqual([]);
  expect(settingsWarnings({}, none, "program")).toEqual([]);
});

test('unknown settings give one warning, with "did you mean"', () => {
  const config = { "uptime:apikey": "1", "uptime:monitorBaseUrl": "2", "uptime:colour": "3" };
  expect(settingsWarnings(config, none, "program")).toEqual([
    "pulumi-uptime does not know these settings: uptime:apikey (did you mean uptime:apiKey?), " +
      "uptime:monitorBaseUrl (did you mean uptime:monitorsBaseUrl?), uptime:colour. It has " +
      `${settingNames.map((name) => `uptime:${name}`).join(", ")}.`,
  ]);
});

test("the beginning of one name is near it, that of several is not", () => {
  const near = (name: string) => unknownSettings([name], undefined)[0];
  expect(near("Timeout")).toContain("Timeout (did you mean timeoutSeconds?)");
  expect(near("max")).toContain("max. It has");
});

test("a project that is named uptime may have settings of its own", () => {
  expect(settingsWarnings({ "uptime:colour": "1", "uptime:apikey": "2" }, none, "uptime")).toEqual([]);
  expect(settingsWarnings({ "uptime:apiKey": "1" }, none, "uptime")).toHaveLength(1);
});

test("keys in plain text give a warning that says how to encrypt them", () => {
  expect(settingsWarnings({ "uptime:apiKey": "k" }, all, "program")).toEqual([]);
  expect(settingsWarnings({ "uptime:apiKey": "k" }, none, "program")).toEqual([
    expect.stringMatching(/^uptime:apiKey is set in plain text.*`pulumi config set --secret uptime:apiKey`/),
  ]);
  const accounts = { "uptime:accounts": '{"them":{"apiKey":"k"}}' };
  expect(settingsWarnings(accounts, all, "program")).toEqual([]);
  expect(settingsWarnings(accounts, none, "program")).toEqual([
    expect.stringMatching(/^uptime:accounts holds API keys in plain text.*--secret uptime:accounts/),
  ]);
  expect(settingsWarnings({ "uptime:accounts": '{"them":{}}' }, none, "program")).toEqual([]);
});

test("warnings are shown once per run", async () => {
  const warn = jest.spyOn(pulumi.log, "warn").mockResolvedValue();
  const config = { "uptime:apikey": "1", "uptime:apiKey": "2", "uptime:accounts": '{"them":{"apiKey":"3"}}' };
  pulumi.runtime.setAllConfig(config, ["uptime:apiKey"]);
  await startMocks();
  for (const name of ["a", "b"])
    await settled(new Monitor(name, { name, url: "https://a.example/", interval: 60 }).urn);
  expect(warn.mock.calls.map(([message]) => message)).toEqual([
    expect.stringContaining("did you mean uptime:apiKey?"),
    expect.stringContaining("uptime:accounts holds API keys in plain text"),
  ]);
  warn.mockRestore();
});
