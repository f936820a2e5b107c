import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { cli, unset, type Outcome } from "../support/cli";
import { startEmulator } from "../support/emulator";
import { home } from "../support/monitors";
import { fullTest } from "../support/size";
import { monitorOf, programOf, startStack, yamlDomain, yamlMonitor, yamlOf } from "../support/stack";
import type { StackOptions, YamlResource } from "../support/stack";

type Providers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A program with explicit providers, and a monitor of one of them; without a name, of the default one. */
function program(
  providers: Providers,
  provider?: string,
  { others, ...more }: { others?: Record<string, YamlResource> | undefined; variables?: object } = {},
): string {
  const resources: Record<string, YamlResource> = {
    ...others,
    home: yamlMonitor({}, provider === undefined ? {} : { provider: `\${${provider}}` }),
  };
  for (const [name, { aliases, ...properties }] of Object.entries(providers))
    resources[name] = { type: "pulumi:providers:uptime", properties, options: { aliases } };
  return yamlOf(resources, more);
}

/** A server that takes every key that is not revoked, as that of one account with several people does. */
async function start(first: string, options: StackOptions = {}) {
  const { emulator, workspace } = await startStack({ language: "yaml", ...options });
  const revoked = new Set<string>();
  const keysOfDeletes: string[] = [];
  emulator.fault = ({ headers, method }) => {
    const key = headers.authorization?.replace("Bearer ", "") ?? "";
    if (method === "DELETE") keysOfDeletes.push(key);
    emulator.apiKey = revoked.has(key) ? "another" : key;
    return undefined;
  };
  await workspace.write(first);
  await workspace.up();
  return {
    revoked,
    keysOfDeletes,
    workspace,
    ids: () => emulator.monitors.all().map(({ id }) => id),
    /** What a preview does to the monitors that do not stay as they are. */
    preview: async (next: string) => {
      await workspace.write(next);
      const steps = await workspace.previewChanges();
      const monitors = steps.filter(({ urn }) => urn.includes("::uptime:index:Monitor::"));
      return Object.fromEntries(monitors.map(({ urn, op }) => [urn.replace(/.*::/, ""), op]));
    },
  };
}

const unchanged = {};
const replaced = { home: "replace" };
const first = { apiKey: "first-key" };
const second = { apiKey: "second-key" };
const rotated = { apiKey: "rotated-key" };

test("a resource that moves to a provider with another key is replaced; a new key of its provider replaces nothing", async () => {
  /** The monitor, and one beside it. */
  const both = (providers: Providers, provider: string, other: string): string => {
    const others = { shop: yamlMonitor({ name: "Shop" }, { provider: `\${${other}}` }) };
    return program(providers, provider, { others });
  };
  const { ids, keysOfDeletes, preview, workspace } = await start(both({ first, second }, "first", "first"));
  // Under another name with the same key, and to a provider that gets that key in the same run.
  const same = both({ first, same: first, second: first }, "same", "second");
  expect(await preview(same)).toEqual(unchanged);
  const renamed = { ...second, aliases: [{ name: "first" }] };
  expect(await preview(both({ renamed }, "renamed", "renamed"))).toEqual(unchanged);
  // The provider that one leaves, and the other does not, gets another key in the same run.
  expect(await preview(both({ first: rotated, second }, "second", "first"))).toEqual(replaced);
  const { output } = await workspace.up();
  expect(output).toMatch(
    /If the account is the same, set sameAccount of the provider second to "\w{4}=\w{4}"\./,
  );
  expect(ids()).toEqual([expect.any(Number), 3]);
  expect(keysOfDeletes).toEqual(["rotated-key"]);
});

/** A program with a monitor of an explicit provider, which may have been a dynamic resource. */
const withProvider = (settings: object): string => `const uptime = require("pulumi-uptime/native");
  const provider = new uptime.Provider("eu", ${JSON.stringify(settings)});
  new uptime.Monitor("home", ${JSON.stringify(home)}, { provider });`;
const dynamic = programOf([monitorOf("home")]);

test("a dynamic resource that moves to a provider of another account is replaced, whatever key is set now", async () => {
  const { ids, keysOfDeletes, preview, workspace } = await start(dynamic, { language: "js" });
  const { UPTIME_API_KEY: key = "" } = workspace.env;
  expect(await preview(withProvider({ apiKey: key }))).toEqual(unchanged);
  delete workspace.env.UPTIME_API_KEY;
  expect(await preview(withProvider(second))).toEqual(replaced);
  const [, sameAccount] =
    /sameAccount of the provider eu to "(\S+)"/.exec((await workspace.preview()).output) ?? [];
  expect(await preview(withProvider({ ...second, sameAccount }))).toEqual(unchanged);
  workspace.env.UPTIME_API_KEY = second.apiKey;
  expect(await preview(withProvider(second))).toEqual(replaced);
  workspace.env.UPTIME_API_KEY = key;
  await workspace.up();
  expect(ids()).toEqual([2]);
  expect(keysOfDeletes).toEqual([key]);
});

test("a dynamic resource that moves to a provider with the stack's new key is not replaced, nor by a key of its state", async () => {
  const { preview, workspace } = await start(dynamic, {
    language: "js",
    config: { "uptime:apiKey": { value: first.apiKey, secret: true } },
  });
  await workspace.setConfig({ "uptime:apiKey": { value: rotated.apiKey, secret: true } });
  await workspace.up();
  for (const settings of [rotated, first]) expect(await preview(withProvider(settings))).toEqual(unchanged);
  expect(await preview(withProvider(second))).toEqual(replaced);
});

test("a provider whose key was revoked deletes its resources once it has a valid one", async () => {
  const { ids, revoked, workspace } = await start(program({ first }, "first"));
  revoked.add("first-key");
  await workspace.write(program({ second }, "second"));
  expect(await workspace.failed("up")).toMatch(/apiKey of the provider first\b.*valid key/);
  await workspace.write(program({ first: rotated, second }, "second"));
  await workspace.up();
  expect(ids()).toEqual([2]);
  await workspace.write(program({ second }, "second"));
  await workspace.up();
  await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
});

fullTest(
  "a resource leaves the default provider, whose key was revoked, for one with another key",
  async () => {
    const { ids, preview, revoked, workspace } = await start(program({}), {
      config: { "uptime:apiKey": "first-key" },
    });
    expect(await preview(program({ first }, "first"))).toEqual(unchanged);
    expect(await preview(program({ second }, "second"))).toEqual(replaced);
    revoked.add("first-key");
    expect(await workspace.failed("up")).toMatch(/uptime:apiKey\b.*lookup/);
    await workspace.setConfig({ "uptime:apiKey": "rotated-key" });
    const lookup = { "fn::invoke": { function: "uptime:getMonitors", arguments: {} } };
    await workspace.write(program({ second }, "second", { variables: { lookup } }));
    await workspace.up();
    expect(ids()).toEqual([2]);
  },
);

fullTest(
  "a key that is unknown in the preview replaces nothing in it, and the `up` compares it",
  async () => {
    const others = { shop: yamlDomain("shop.example", { provider: "${first}" }) };
    const next = program({ first, second: { apiKey: "key-of-${shop.id}" } }, "second", { others });
    const { ids, preview, workspace } = await start(program({ first }, "first"));
    expect(await preview(next)).toEqual({ home: "update" });
    await workspace.up();
    expect(ids()).toEqual([2]);
  },
);

fullTest(
  "another version of the plugin replaces nothing, nor does an explicit provider of the same settings",
  async () => {
    const next = (
      version: string,
      explicit?: string,
    ): string => `const { Monitor, Provider } = require("pulumi-uptime/native");
    const version = ${JSON.stringify(version)};
    const explicit = ${JSON.stringify(explicit ?? "")};
    const provider = explicit ? new Provider("first", {}, { version: explicit }) : undefined;
    new Monitor("home", ${JSON.stringify(home)}, { version, provider });`;
    const { ids, workspace } = await start(next("1.0.0"), { language: "js" });
    for (const program of [next("2.0.0"), next("2.0.0", "1.0.0"), next("2.0.0", "2.0.0")]) {
      await workspace.write(program);
      await workspace.up();
      expect(ids()).toEqual([1]);
    }
  },
);

test("an address that was changed in state does not get the key of its provider, and the next `up` puts it right", async () => {
  const { emulator, workspace } = await startStack({ language: "yaml", env: {} });
  const foreign = await startEmulator({ apiKey: "rotated-key" });
  const write = (apiKey: string, others?: Record<string, YamlResource>): Promise<void> =>
    workspace.write(program({ server: { baseUrl: emulator.url, apiKey } }, "server", { others }));
  const run = (...args: string[]): Promise<Outcome> =>
    cli(unset, workspace.project, args, { env: workspace.env });
  const drift = (): Promise<Outcome> => run("drift");
  const changeState = async (from: string, to: string): Promise<void> => {
    const file = join(workspace.project, "state.json");
    await writeFile(file, JSON.stringify(await workspace.exportState()).replaceAll(from, to));
    await workspace.pulumi("stack", "import", "--file", file);
  };
  await write(emulator.apiKey);
  await workspace.up();
  expect(await drift()).toMatchObject({ code: 0, stderr: "" });
  // With a new key, no resource is read or updated.
  emulator.apiKey = "rotated-key";
  await write(emulator.apiKey);
  expect((await workspace.up("--diff")).output).not.toContain("__addresses");
  expect(await drift()).toMatchObject({ code: 0, stderr: "" });
  await changeState(JSON.stringify(emulator.url), JSON.stringify(foreign.url));
  expect((await drift()).stderr).toMatch(/Its address is .* so the key is not sent there/);
  await write(emulator.apiKey, { other: yamlMonitor({ name: "New" }, { provider: "${server}" }) });
  expect((await run("doctor", "--program", ".")).stdout).toMatch(
    /provider server cannot be read: .* is not sent/,
  );
  expect(foreign.requests).toEqual([]);
  await write(emulator.apiKey);
  await workspace.up();
  expect(await drift()).toMatchObject({ code: 0, stderr: "" });
  // State of a plugin that did not write proofs gets one from an `up` that changes nothing.
  await changeState("__addresses", "__unknown");
  expect((await drift()).code).toBe(1);
  await workspace.up("--expect-no-changes");
  expect(await drift()).toMatchObject({ code: 0, stderr: "" });
  // Pulumi keeps, and would run, what no resource of this package shows.
  const descriptor = { name: "evil", version: "1.0.0", downloadURL: "https://evil.example" };
  const uuid = "5b4b7e5e-0000-4000-8000-000000000000";
  const snippet = { uuid, name: "x", type: "evil:index:Thing", code: "", descriptor };
  await changeState('"resources":[', `"snippets":[${JSON.stringify(snippet)}],"resources":[`);
  expect(await drift()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has "snippets", "snippets-prototype", and') as string,
  });
});
