import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { canary } from "../support/canary.cjs";
import { cli, type Outcome, unset } from "../support/cli";
import { startEmulator } from "../support/emulator";
import { home } from "../support/monitors";
import { fullTest } from "../support/size";
import {
  changedIn,
  diffsIn,
  domainOf,
  monitorOf,
  programOf,
  startStack,
  yamlDomain,
  yamlMonitor,
  yamlOf,
} from "../support/stack";
import type { YamlResource } from "../support/stack";

// The provider plugin on the real engine, in YAML, which needs no SDK.

test("a program in YAML creates, shows drift, changes, replaces, is refused and destroys", async () => {
  const first = {
    alertChannelIds: [1, 2],
    requestHeaders: [{ key: "X-Probe", value: canary("yaml-header") }],
    requestAuthPassword: canary("yaml-password"),
    sslAlertDays: 14,
    maintenanceStartAt: "2030-01-31T22:00:00",
    pause: true,
  };
  const outputs = { id: "${home.id}", shown: "${home.attributes.created_at}" };
  const { emulator, workspace } = await startStack({
    language: "yaml",
    program: yamlOf({ home: yamlMonitor(first), shop: yamlDomain("shop.example") }, { outputs }),
  });
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([
    {
      name: "Home",
      alert_channel_ids: [1, 2],
      ssl_alert_days: 14,
      maintenance_start_at: "2030-01-31T22:00:00",
      pause: true,
      request_auth_password: canary("yaml-password"),
    },
  ]);
  expect(await workspace.outputs()).toMatchObject({ id: "1", shown: expect.any(String) as string });
  emulator.forget();
  await workspace.preview("--expect-no-changes");
  expect(emulator.requests).toEqual([]);

  emulator.monitors.edit(1, { interval: 600, alert_text_lookup: "not managed", ssl_alert_days: 30 });
  const drift = diffsIn((await workspace.preview("--refresh", "--run-program", "--diff")).output);
  expect(changedIn(drift.home)).toEqual(["interval", "sslAlertDays"]);
  expect(changedIn(drift.shop)).toEqual([]);

  // Changed, removed, secret, and one that can only be replaced.
  const { alertChannelIds, maintenanceStartAt, ...rest } = first;
  const second = { ...rest, interval: 300, requestAuthPassword: canary("yaml-new-password") };
  await workspace.write(yamlOf({ home: yamlMonitor(second), shop: yamlDomain("new.example") }));
  const preview = await workspace.preview("--diff");
  const diffs = diffsIn(preview.output);
  const changed = ["alertChannelIds", "interval", "maintenanceStartAt", "requestAuthPassword"];
  expect(changedIn(diffs.home)).toEqual(changed);
  expect(diffs.home).toContain("requestAuthPassword: [secret] => [secret]");
  expect(preview.output).toMatch(/\+-uptime:index:Domain: \(replace\)/);
  expect(diffs.shop).toContain('name: "shop.example" => "new.example"');
  await workspace.up("--refresh", "--run-program");
  const left = { maintenance_start_at: null, ssl_alert_days: 14, alert_text_lookup: "not managed" };
  expect(emulator.monitors.all()).toMatchObject([{ interval: 300, alert_channel_ids: [], ...left }]);
  expect(emulator.domains.all()).toMatchObject([{ id: 2, name: "new.example" }]);
  const emptied = { alertChannelIds: null, maintenanceStartAt: null };
  expect((await workspace.resources()).home?.inputs).toMatchObject(emptied);

  // Without values that may be secret.
  const invalid = { interval: 45, url: "example.com", requestAuthPassword: ` ${canary("refused-password")}` };
  await workspace.write(yamlOf({ home: yamlMonitor(invalid) }));
  const refused = await workspace.failed("preview");
  for (const part of ["interval must be one of", "url must be", "requestAuthPassword"])
    expect(refused).toContain(part);

  await workspace.destroy();
  expect([...emulator.monitors.all(), ...emulator.domains.all()]).toEqual([]);
});

test("a preview that fails is not taken for one without changes", async () => {
  const { workspace } = await startStack({ language: "yaml", program: yamlOf({}) });
  const comment = async (): Promise<Outcome> => {
    const { stdout } = await workspace.run(["preview", "--json", "--show-sames"]);
    await writeFile(join(workspace.project, "preview.json"), stdout);
    return cli(unset, workspace.project, ["comment", "--preview", "preview.json", "--title", "test"]);
  };
  expect((await comment()).stdout).toContain("**Merging this changes nothing; 0 unchanged.**");
  await workspace.write(yamlOf({ home: yamlMonitor({ alertChannels: [4] }) }));
  const refused = (await comment()).stdout;
  expect(refused).toContain("the preview failed");
  expect(refused).toContain("Error: Property alertChannels does not exist on 'uptime:index:Monitor'");
  // Pulumi cannot even begin.
  await writeFile(
    join(workspace.project, "Pulumi.yaml"),
    "name: workspace\nruntime: yaml\nplugins: {providers: [{name: uptime, path: ./missing}]}\n",
  );
  expect((await comment()).stdout).toContain("the preview failed");
});

fullTest(
  "a record that was imported by ACCOUNT/ID is announced, and not deleted while the option stays",
  async () => {
    const eu = await startEmulator({ apiKey: canary("eu-key") });
    const { emulator, workspace } = await startStack({ language: "yaml", program: yamlOf({}) });
    eu.monitors.add(home);
    const accounts = JSON.stringify({ eu: { apiKey: canary("eu-key"), baseUrl: eu.url } });
    await workspace.setConfig({ "uptime:accounts": { value: accounts, secret: true } });
    const get = (id: string, state?: object) => ({ type: "uptime:Monitor", get: { id, state } });
    const seen = { first: get("eu/1"), second: get("1", { account: "eu" }) };
    const outputs = { first: "${first.url}", second: "${second.url}" };
    await workspace.write(yamlOf(seen, { outputs }));
    await workspace.up();
    const { url } = home;
    expect(await workspace.outputs()).toEqual({ first: url, second: url });
    await workspace.preview("--refresh", "--expect-no-changes");
    expect((await workspace.resources()).second?.inputs).toEqual({ account: "eu" });
    await workspace.write(yamlOf({ hand: yamlMonitor({ account: "eu" }, { import: "eu/1" }) }));
    const announced = (await workspace.preview()).output;
    expect(announced).toMatch(/Monitor hand imports monitor 1 .*Nothing is created or changed\./);
    expect(announced).not.toContain("warning");
    // State has the id alone, so the option makes Pulumi import once more in place of the same record.
    await workspace.up();
    await workspace.up();
    await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
    expect((await workspace.resources()).hand?.id).toBe("1");
    expect([...emulator.writes(), ...eu.writes()]).toEqual([]);
    await workspace.destroy();
    expect(eu.monitors.all()).toEqual([]);
  },
);

fullTest("Pulumi's options work", async () => {
  const program = (step: 1 | 2) =>
    yamlOf({
      ignored: yamlMonitor({ name: `ignored ${step}`, sslAlertDays: 7 }, { ignoreChanges: ["sslAlertDays"] }),
      replaced: yamlMonitor({ url: `https://${step}.example/` }, { replaceOnChanges: ["url"] }),
      marked: yamlMonitor(step === 1 ? {} : { url: { "fn::secret": home.url } }, {
        replaceOnChanges: ["*"],
      }),
      part: yamlMonitor(
        { requestHeaders: [{ key: "X-Probe", value: canary(`part-${step}`) }] },
        { replaceOnChanges: ["requestHeaders[*].value"] },
      ),
      whole: yamlMonitor(
        { requestHeaders: [{ key: `X-${step}`, value: canary("whole") }] },
        { replaceOnChanges: ["requestHeaders[0].value"] },
      ),
      parent: yamlDomain("parent.example"),
      [step === 1 ? "before" : "after"]: yamlMonitor(
        { name: "child" },
        { parent: "${parent}", aliases: step === 1 ? [] : [{ name: "before" }] },
      ),
      slow: yamlMonitor({ name: `slow ${step}` }, { customTimeouts: { update: "2s" } }),
    });
  const { emulator, workspace } = await startStack({ language: "yaml", program: program(1) });
  await workspace.up();
  const before = await workspace.resources();
  const ignored = before.ignored?.id ?? "";
  emulator.monitors.edit(ignored, { ssl_alert_days: 30 });
  await workspace.write(program(2));
  const { output } = await workspace.preview("--diff");
  expect(output).toMatch(/\+-uptime:index:Monitor: \(replace\)\s+.*id=\S+\]\s+.*::part\]/);
  expect(diffsIn(output).part).toMatch(/\[0\]: \{\s+~ value *: *\[secret\] => \[secret\]/);
  emulator.fault = ({ method, path }) =>
    method === "PATCH" && path.endsWith(`/${before.slow?.id ?? ""}`)
      ? { kind: "delay", delayMs: 60_000 }
      : undefined;
  const started = performance.now();
  expect(await workspace.failed("up")).toContain("customTimeouts");
  expect(performance.now() - started).toBeLessThan(55_000);
  emulator.fault = undefined;
  await workspace.up();
  const after = await workspace.resources();
  expect(emulator.monitors.get(ignored)).toMatchObject({ name: "ignored 2", ssl_alert_days: 30 });
  expect(after.replaced?.id).not.toBe(before.replaced?.id);
  expect(emulator.monitors.get(before.replaced?.id ?? "")).toBeUndefined();
  expect(after.part?.id).not.toBe(before.part?.id);
  expect(after.whole?.id).toBe(before.whole?.id);
  expect(after.marked?.id).toBe(before.marked?.id);
  expect(after.after?.id).toBe(before.before?.id);
  expect(after.after?.urn).toContain("uptime:index:Domain$uptime:index:Monitor");
});

test("an explicit provider has settings of its own, which a preview need not know", async () => {
  // Everything is under an address that ends with the id of the first record.
  const { emulator, workspace } = await startStack({ language: "yaml", emulator: { pathPrefix: "1" } });
  emulator.apiKey = canary("provider-key");
  const provider = (baseUrl: string): YamlResource => ({
    type: "pulumi:providers:uptime",
    properties: { baseUrl, apiKey: canary("provider-key"), maxRetries: 3 },
  });
  await workspace.write(
    yamlOf({
      server: provider(emulator.url),
      first: yamlDomain("first.example", { provider: "${server}" }),
      // The id is unknown in the preview, so this provider's address is too.
      later: provider(`${new URL(emulator.url).origin}/\${first.id}`),
      home: yamlMonitor({}, { provider: "${later}" }),
    }),
  );
  const { output } = await workspace.preview();
  expect(output).toMatch(/uptime:index:Monitor home create/);
  expect(emulator.writes()).toEqual([]);
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([home]);
  await workspace.preview("--expect-no-changes");
  const wrong = { apiKey: `two ${canary("words")}`, timeoutSeconds: 0, maxRetries: 101 };
  await workspace.write(yamlOf({ unused: { type: "pulumi:providers:uptime", properties: wrong } }));
  const refused = await workspace.failed("preview");
  expect(refused).toMatch(/has a problem: timeoutSeconds of the provider unused must/);
  expect(refused).toContain("maxRetries of the provider unused must be a whole number from 0 to 100");
  expect(refused).toContain("apiKey of the provider unused must be one word");
});

test("`pulumi do` lists, reads, patches only what it names, and deletes", async () => {
  const eu = await startEmulator({ apiKey: canary("eu-key") });
  const { emulator, workspace } = await startStack({ language: "yaml", program: yamlOf({}) });
  workspace.env.UPTIME_API_KEY_EU = canary("eu-key");
  const plugin = ["--package", join(__dirname, "..", "..", "plugin", "pulumi-resource-uptime")];
  const settings = join(workspace.project, "provider.pp");
  await writeFile(settings, `accounts = { eu = { baseUrl = ${JSON.stringify(eu.url)} } }\n`);
  const run = (...args: string[]) =>
    workspace.pulumi("do", ...plugin, "uptime:index:Monitor", ...args, "--provider-file", settings);
  const json = async (...args: string[]) => JSON.parse((await run(...args)).stdout) as unknown;
  const text = {
    alert_condition: "url_text",
    alert_text_lookup: "ok",
    request_headers: [{ key: "X-Probe", value: canary("do-header") }],
    request_auth_username: "probe",
    request_auth_password: canary("do-password"),
    ssl_alert_days: 14,
  };
  for (const name of ["Home", "Shop"]) emulator.monitors.add({ ...home, ...text, name });
  eu.monitors.add({ ...home, ...text });
  expect(await json("list", "--search", "Shop")).toEqual([{ id: "2", name: "Shop" }]);
  expect(await json("list", "--count", "1")).toEqual([{ id: "1", name: "Home" }]);
  expect(await json("list", "--account", "eu")).toEqual([{ id: "eu/1", name: "Home" }]);

  const [at, before] = [emulator.monitors, emulator.monitors.get("1")];
  const same = { ...before, updated_at: expect.anything() as unknown };
  const { stdout } = await run("patch", "1", "--interval", "300", "--stateless", "--yes");
  expect(JSON.parse(stdout)).toMatchObject({ id: "1", interval: 300, alertCondition: "url_text" });
  expect(at.get("1")).toMatchObject({ ...same, interval: 300 });
  await run("patch", "eu/1", "--interval", "900", "--stateless", "--yes");
  expect(eu.monitors.get("1")).toMatchObject({ ...text, interval: 900 });

  const refused = await run("patch", "1", "--interval", "45", "--stateless", "--yes").then(() => "", String);
  expect(refused).toContain("interval must be one of 60, 180");
  expect(refused).not.toContain("doctor --program");
  await run("delete", "eu/1", "--stateless", "--yes");
  expect([eu.monitors.size, at.size]).toEqual([0, 2]);
});

test("state of the dynamic resources becomes state of the plugin without changes", async () => {
  const more = { sslAlertDays: 14, alertChannelIds: ["2", 1], requestAuthPassword: canary("moved-password") };
  const dynamic = programOf([monitorOf("home", more), domainOf("shop", { name: "shop.example" })]);
  const { emulator, workspace } = await startStack({ program: dynamic });
  await workspace.up();
  const dropped = dynamic.replace('"sslAlertDays":14,', "");
  await workspace.write(dropped);
  await workspace.up();
  const before = await workspace.resources();
  emulator.forget();

  const native = dropped.replace('"pulumi-uptime"', '"pulumi-uptime/native"');
  for (const both of [
    [dropped, native],
    [native, dropped],
  ]) {
    await workspace.write(both.map((one) => `{ ${one} }`).join("\n"));
    expect(await workspace.failed("preview")).toMatch(/Duplicate resource (alias|URN)/);
  }

  await workspace.write(native);
  await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
  await workspace.up("--expect-no-changes");
  const after = await workspace.resources();
  expect(after.home).toMatchObject({ type: "uptime:index:Monitor", id: before.home?.id });
  expect(after.shop).toMatchObject({ type: "uptime:index:Domain", id: before.shop?.id });
  expect(emulator.writes()).toEqual([]);

  await workspace.write(native.replaceAll('"interval":60', '"interval":300'));
  await workspace.up();
  const record = { interval: 300, ssl_alert_days: null, alert_channel_ids: [2, 1] };
  expect(emulator.monitors.all()).toMatchObject([record]);

  // And back: what the plugin has written is updated once, and nothing changes.
  const back = `require("@pulumi/pulumi").runtime.registerStackTransformation(({ type, props, opts }) => {
      const alias = { type: type.replace("pulumi-nodejs:dynamic/uptime:", "uptime:index:") };
      return { props, opts: { ...opts, aliases: [...(opts.aliases ?? []), alias] } };
    });
    ${dropped.replaceAll('"interval":60', '"interval":300')}`;
  await workspace.write(back);
  const [update, ...others] = await workspace.previewChanges();
  expect(update).toMatchObject({ op: "update", urn: before.home?.urn });
  expect(others).toEqual([]);
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([record]);
  expect((await workspace.resources()).home).toMatchObject({ type: before.home?.type, id: before.home?.id });
});

test("a program in TypeScript uses the plugin with the same classes and lookups", async () => {
  const program = (interval: number) => `
    import * as pulumi from "@pulumi/pulumi";
    import { Domain, getMonitor, getMonitorsOutput, Monitor } from "pulumi-uptime/native";
    const home = new Monitor("home", { name: "Home", url: "https://example.com/", interval: ${interval},
      requestAuthPassword: "${canary("native-password")}" });
    const shop = new Domain("shop", { name: "shop.example" }, { parent: home });
    export const isMonitor = Monitor.isInstance(home) && !Monitor.isInstance(shop);
    export const unmanaged = home.sslAlertDays;
    export const url = Monitor.get("same", home.id).url;
    export const found = getMonitorsOutput({ name: home.name }).apply((all) => all.length);
    export const missing = getMonitor({ name: "None" }).catch((error: Error) => error.message);`;
  const { emulator, workspace } = await startStack({ language: "ts", program: program(60) });
  await workspace.up();
  expect(await workspace.outputs()).toMatchObject({
    isMonitor: true,
    url: "https://example.com/",
    found: 1,
    missing: expect.stringContaining('found no monitor with name "None"') as string,
  });
  await workspace.write(program(300));
  const { output } = await workspace.preview("--diff");
  expect(changedIn(diffsIn(output).home)).toEqual(["interval"]);
  expect(output).toMatch(/~ 1 to update\s+\d unchanged/);
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([{ interval: 300 }]);
});
