import * as pulumi from "@pulumi/pulumi";

import { Monitor, type MonitorArgs } from "../../provider";
import * as native from "../../provider/native";
import { UptimeError } from "../../provider/api/errors";
import { readSettings } from "../../provider/api/settings";
import { domain } from "../../provider/definitions/domain";
import { withMarkedSecrets } from "../../provider/definitions/keys";
import { monitor } from "../../provider/definitions/monitor";
import { whileListening } from "../../provider/cli/shared/collecting-preview";
import type { CollectedResource } from "../../provider/engine/collecting-front";
import { newFront } from "../../provider/engine/front";
import { FrontSession } from "../../provider/engine/front-session";
import { decodeDeclaration, decodeOutputs } from "../../provider/engine/properties";
import { secretsIn } from "../../provider/engine/secret-strings";
import { secretInputs } from "../../provider/sdk/secret-inputs";
import { hosted } from "../support/calls";
import { canary } from "../support/canary.cjs";
import { secret } from "../support/marks";
import { startMocks, settled } from "../support/mocks";
import { home } from "../support/monitors";
import { PluginProcess } from "../support/plugin-calls";
import { fronts, Program } from "../support/program";
import { answer, clock, emulator, failureOf, on, settingsOf, withServer } from "../support/server";

const token = canary("url-token");
const url = `https://example.com/hook?token=${token}&team=7`;
const declared = { ...home, url: secret(url) };

/** Ways in which a server repeats a URL. */
const extraFields = {
  last_error: `GET ${url} timed out`,
  path: `/hook?token=${token}&team=7`,
  check: { token, url, host: "example.com" },
};
const notice = "(the server repeats a secret)";
const check = { token: notice, url: notice, host: "example.com" };
const cleaned = { last_error: notice, path: notice, check };

/** Whether an operation fails with these words, and without the secret ones. */
async function expectError(operation: Promise<unknown>, words: string): Promise<void> {
  const failure = await failureOf(operation);
  expect(failure).toContain(words);
  for (const value of [token, "4711", '"300"', "nearest", "2031", "2030-12"])
    expect(failure).not.toContain(value);
}

describe.each(fronts)("an input that is marked as secret (%s)", (front) => {
  withServer();
  const settings = { "uptime:refreshAttributes": "true" };

  test("is in no attribute after a create, an update and a refresh, and in the API as declared", async () => {
    emulator.dialect = { extraFields };
    const one = new Program(front, settings).resource();
    const update = { ...declared, interval: 300 };
    for (const operation of [() => one.up(declared), () => one.up(update), () => one.refresh()]) {
      await operation();
      expect(one.state?.outputs.attributes).toMatchObject(cleaned);
      expect(one.state?.outputs.url).toBe(url);
      expect(emulator.monitors.all()).toMatchObject([{ url }]);
    }
    await one.destroy();
    expect(emulator.monitors.all()).toEqual([]);
  });

  test("is in no attribute after the run that marks it, which changes nothing else", async () => {
    emulator.dialect = { extraFields };
    const one = new Program(front, settings).resource();
    const alertChannelIds = [4711];
    await one.up({ ...declared, url, alertChannelIds });
    expect(one.state?.outputs.attributes).toMatchObject(extraFields);
    const marked = { ...declared, alertChannelIds: secret(alertChannelIds) };
    expect(await one.up(marked)).toBe("update");
    expect(one.state?.outputs.attributes).toMatchObject(cleaned);
    expect(await one.up(marked)).toBe("same");
  });

  test("is a change in the run that marks it, so that state has it encrypted, and in no later one", async () => {
    const program = new Program(front);
    const one = program.resource();
    const alertChannelIds = [4711];
    await one.up({ ...declared, url, alertChannelIds });
    program.nextRun();
    const { id = "", inputs = {}, outputs = {} } = one.state ?? {};
    const options = inputs.__options as object | undefined;
    const news =
      front === "plugin"
        ? { ...inputs, url: secret(url), alertChannelIds: secret(alertChannelIds) }
        : { ...inputs, __options: { ...options, secrets: ["url", "alertChannelIds"] } };
    const urn = `urn:pulumi:stack::project::${one.urnSuffix}`;
    const isChange = async (olds: Record<string, unknown>): Promise<boolean> =>
      (await program.providers.monitor.diff(urn, id, olds, inputs, news)).changes;
    expect(await isChange(outputs)).toBe(true);
    const updated = await program.providers.monitor.update(urn, id, outputs, inputs, news);
    expect(await isChange(updated.outputs)).toBe(false);
  });

  test("is in no attribute if the operation failed half-way", async () => {
    emulator.dialect = { extraFields, notStored: ["alert_text_lookup"] };
    const one = new Program(front, settings).resource();
    const stored = one.up({ ...declared, alertTextLookup: "fine" });
    await expectError(stored, 'alertTextLookup was sent as "fine" and is null');
    expect(one.state?.outputs.attributes).toEqual({});
    await one.refresh();
    expect(one.state?.outputs.attributes).toMatchObject(cleaned);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["a URL", { url: secret(`ftp://${token}`) }, "url must be an absolute URL that begins with http"],
    ["a string with spaces", { name: secret(` ${token}`) }, "name must not begin or end with spaces"],
    ["a value that is not allowed", { interval: secret("4711") }, "interval must be one of 60, 180"],
    ["a list", { alertChannelIds: secret([token]) }, "alertChannelIds[0] must be an id"],
    ["no list", { alertChannelIds: secret(token) }, "alertChannelIds must be a list of ids"],
    ["a type", { pause: secret(token) }, "pause must be true or false"],
    [
      "a date",
      { maintenanceStartAt: secret(token) },
      "maintenanceStartAt must be in the form YYYY-MM-DDTHH:MM:SS",
    ],
    [
      "a pair of dates",
      { maintenanceStartAt: secret("2031-02-03T04:05:06"), maintenanceEndAt: "2030-12-31T23:59:59" },
      "maintenanceEndAt does not fit maintenanceStartAt (their values are secret",
    ],
  ])("is not in the refusal of %s", async (_, change, reason) => {
    await expectError(new Program(front).resource().up({ ...declared, ...change }), reason);
  });

  test("is not in the refusal of an import, nor is what the record has there", async () => {
    const id = String(emulator.monitors.add({ ...home, url: `${url}&by=hand` }).id);
    const words = {
      plugin: "import of a monitor is not possible if the program marks url as a secret",
      dynamic: "url differs from what monitor 1 has (both are secret, so neither is shown)",
    };
    await expectError(new Program(front).resource().import(id, declared), words[front]);
  });

  test("is not in the error of a refused adoption", async () => {
    emulator.monitors.add({ ...home, url, interval: 300 });
    const adopting = new Program(front, { "uptime:adoptExisting": "true" });
    await expectError(adopting.resource().up(declared), "interval is 300 and would be 60");
  });

  test("is not in the error if the API does not store it", async () => {
    const one = new Program(front).resource();
    await one.up(home);
    emulator.dialect = { notStored: ["url"] };
    await expectError(one.up(declared), "url (what is there differs from what was sent)");
  });

  test("is in no error in which the server repeats it", async () => {
    const one = new Program(front).resource();
    on("POST", answer(422, { message: `GET ${url} is down`, errors: { url: [`token=${token} is old`] } }));
    await expectError(one.up(declared), notice);
  });

  test("is in no error of a refresh and a delete, which get it from state", async () => {
    const one = new Program(front).resource();
    await one.up(declared);
    for (const [method, operation] of [
      ["GET", () => one.refresh()],
      ["DELETE", () => one.destroy()],
    ] as const) {
      on(method, answer(403, { message: `${token} is not allowed` }));
      await expectError(operation(), notice);
    }
  });

  test("does not hide the few values that everybody knows, nor booleans", async () => {
    emulator.dialect = { extraFields: { note: "60 is fine", method: "GET", paused_by: "true" } };
    const one = new Program(front, settings).resource();
    await one.up({ ...home, interval: secret(60), requestMethod: secret("GET"), cacheBuster: secret(true) });
    expect(one.state?.outputs.attributes).toMatchObject({ note: "60 is fine", method: "GET" });
  });
});

test("what state of an older version has, which names no secrets, is a change only if an attribute shows it", async () => {
  const settings = { "uptime:baseUrl": "http://127.0.0.1:1", "uptime:apiKey": "key" };
  const { diff } = hosted(monitor, settings, new FrontSession());
  const inputs = { ...home, url };
  const isChange = async (attributes: object, secrets: string[], old: object = {}): Promise<unknown> => {
    const news = { ...inputs, ...old, __options: { owner: "home", secrets } };
    return (await diff("1", { ...inputs, attributes, ...old }, news)).changes;
  };
  expect(await isChange({ last_checked_url: url }, ["url"])).toBe(true);
  expect(await isChange({ last_checked_at: "2030-01-01" }, ["url"])).toBe(false);
  // What is always secret was encrypted before the program marked it.
  const old = { requestAuthPassword: "p", __options: { owner: "home" } };
  expect(await isChange({}, ["requestAuthPassword"], old)).toBe(false);
});

test.each<[unknown, string[]]>([
  [[{ key: "Authorization", value: "Bearer abcd" }], ["Bearer abcd", "abcd"]],
  [[{ key: "Authorization", value: "Basic dTpwdw==" }], ["Basic dTpwdw==", "dTpwdw==", "u", "pw"]],
  [[{ key: "Authorization", value: "Basic Om9ubHk=" }], ["Basic Om9ubHk=", "Om9ubHk=", "", "only"]],
  [[{ key: "X-Id", value: "c2Vzc2lvbg==" }], ["c2Vzc2lvbg==", "c2Vzc2lvbg"]],
  [[{ key: "Cookie", value: "sid" }, null, { key: "A" }], ["sid"]],
])("the secrets in the headers %j are the values and their parts", (requestHeaders, secrets) => {
  expect(new Set(secretsIn(monitor, { requestHeaders }))).toEqual(new Set(secrets));
});

test("numbers in a marked list are secrets too", () => {
  const marked = withMarkedSecrets(monitor, ["alertChannelIds"]);
  expect(secretsIn(marked, { alertChannelIds: [4711, "4712"] })).toEqual(["4711", "4712"]);
});

test("a URL that is marked is found as it is declared and as a server may write it", () => {
  const marked = withMarkedSecrets(monitor, ["url"]);
  const url = "https://me@Shop.example:443/x1#f";
  const asShown = ["https://me@shop.example/x1#f", "https://shop.example/x1"];
  expect(new Set(secretsIn(marked, { url }))).toEqual(new Set([url, ...asShown]));
});

test("a domain's name that is marked is found in the form of the DNS too", () => {
  const marked = withMarkedSecrets(domain, ["name"]);
  expect(secretsIn(marked, { name: "bücher.example" })).toContain("xn--bcher-kva.example");
});

test("what doctor's preview goes on with after a check that failed is marked", async () => {
  const context = {
    definition: monitor,
    session: new FrontSession(),
    settingsOf: () => {
      throw new UptimeError("The provider's settings cannot be used.");
    },
    print: () => undefined,
  };
  const news = { ...home, importId: 7, requestAuthPassword: "p", __options: { secrets: ["url"] } };
  const declaration = decodeDeclaration(monitor, {}, news);
  const heard: CollectedResource[] = [];
  const checked = await whileListening(
    (one) => heard.push(one),
    (env) => newFront(context, env).check({ declaration, urnSuffix: "Monitor::home", news }),
  );
  const inputs = { url: secret(home.url), requestAuthPassword: secret("p"), name: home.name, importId: 7 };
  expect(checked).toMatchObject({ inputs, problems: [] });
  const problems = ["The provider's settings cannot be used."];
  expect(heard).toMatchObject([{ urnSuffix: "Monitor::home", inputs, problems }]);
});

describe("state", () => {
  withServer();

  test("has an input as a secret until the first update in which the program does not mark it", async () => {
    const settings = readSettings({ get: (key) => settingsOf()[key] }, {});
    const session = new FrontSession({ clock });
    const front = newFront(
      { definition: monitor, session, settingsOf: () => settings, print: () => undefined },
      {},
    );
    const marked = { ...home, url, requestAuthPassword: "p", __options: { secrets: ["url"] } };
    const { id, outputs } = await front.save([marked], {});
    expect(outputs).toMatchObject({ url: secret(url), requestAuthPassword: secret("p") });
    const news = { ...home, url, requestAuthPassword: "p", interval: 300 };
    const old = { id, outputs: decodeOutputs(monitor, { ...outputs, url }) };
    const updated = await front.save([news, marked, outputs], {}, old);
    expect(updated.outputs).toMatchObject({ url, requestAuthPassword: secret("p") });
  });
});

describe("a lookup by a secret", () => {
  withServer();

  test("through the plugin names it in no error, and finds secrets", async () => {
    const plugin = new PluginProcess({ clock });
    plugin.begin(settingsOf());
    const lookup = plugin.invoke("uptime:index:getMonitor", { url: secret(url) });
    await expectError(lookup, "getMonitor found no monitor with url [secret] at");
    emulator.monitors.add({ ...home, url });
    // The record may repeat what it was found by.
    const found = { id: secret("1"), url: secret(url) };
    expect(await plugin.invoke("uptime:index:getMonitor", { url: secret(url) })).toMatchObject(found);
    expect(await plugin.invoke("uptime:index:getMonitor", { url })).toMatchObject({ id: "1", url });
  });

  test("through the plugin shows no part of it that the server repeats", async () => {
    const plugin = new PluginProcess({ clock });
    plugin.begin(settingsOf());
    const lookup = (token: string) =>
      plugin.invoke("uptime:index:getMonitor", { url: secret(`https://hooks.example/?token=${token}`) });
    emulator.fault = () => answer(422, { message: "not found: shown-twice-abc" });
    await expectError(lookup("shown-twice-abc"), "(the server repeats a secret)");
    await expectError(lookup("other"), "not found: shown-twice-abc");
  });

  test("through the plugin from TypeScript names it in no error, although the SDK takes its mark off", async () => {
    await startMocks();
    const found = native.getMonitorOutput({ url: pulumi.secret(url) });
    const { value } = await settled<object>(found);
    const args = { url, __options: { secrets: ["url"] } };
    expect(value).toEqual(args);
    const plugin = new PluginProcess({ clock });
    plugin.begin(settingsOf());
    const lookup = plugin.invoke("uptime:index:getMonitor", args);
    await expectError(lookup, "getMonitor found no monitor with url [secret] at");
  });

  test("through the plugin from JavaScript may have no arguments", async () => {
    await startMocks();
    await settled<object>(native.getMonitorOutput(undefined as never));
  });
});

test("a lookup through the plugin is unknown if the engine answers with nothing, as for a provider that is not known yet", async () => {
  await startMocks({ preview: true });
  for (const lookup of [native.getMonitorsOutput({}), native.getMonitorOutput({})])
    expect(await settled<unknown>(lookup)).toMatchObject({ isKnown: false });
  for (const [name, lookup] of [
    ["getMonitorsOutput", native.getMonitors({})],
    ["getMonitorOutput", native.getMonitor({})],
  ] as const)
    await expect(lookup).rejects.toThrow(`the settings of its provider are not known yet. Use ${name},`);
});

describe("the class", () => {
  const optionsOf = async (args: object): Promise<Record<string, unknown> | undefined> => {
    const registered = await startMocks();
    const resource = new Monitor("home", { ...home, ...args } as MonitorArgs);
    await settled(resource.urn);
    return registered.at(-1)?.inputs.__options as Record<string, unknown> | undefined;
  };
  const own = { owner: "pulumi-nodejs:dynamic/uptime:Monitor::home" };

  test.each<[string, object, string[] | undefined]>([
    ["plain values", { alertChannelIds: [1] }, undefined],
    ["outputs that are not secret", { url: pulumi.output("https://a.example") }, undefined],
    ["a secret", { url: pulumi.secret("https://a.example") }, ["url"]],
    ["a secret in a list", { alertChannelIds: [1, pulumi.secret(2)] }, ["alertChannelIds"]],
    ["a promise of a secret", { name: Promise.resolve(pulumi.secret("a")) }, ["name"]],
    ["what is always secret", { requestAuthPassword: pulumi.secret("a") }, undefined],
    [
      "several",
      { name: pulumi.secret("a"), interval: pulumi.output(60), url: pulumi.secret("https://a.example") },
      ["name", "url"],
    ],
  ])("tells the provider the names of inputs that are secret: %s", async (_, args, secrets) => {
    expect(await optionsOf(args)).toEqual({ ...own, ...(secrets && { secrets }) });
  });

  test("leaves it to the input to fail", async () => {
    const failing = Promise.reject(new Error("no such secret"));
    await expect(secretInputs({ url: failing })).resolves.toBeUndefined();
  });
});
