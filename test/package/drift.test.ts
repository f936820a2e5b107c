import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { addressProofOf } from "../../provider/api/settings";
import type { Emulator } from "../../provider/emulator";
import { checkProviderSettings } from "../../provider/engine/provider-settings";
import {
  cli,
  emulator,
  failed,
  folder,
  type Outcome,
  stateOf,
  unset,
  withCli,
  withStack,
} from "../support/cli";
import { silenceHost } from "../support/calls";
import { answer, startEmulator } from "../support/emulator";
import { isMarked, secretMark } from "../support/marks";
import type { Inputs } from "../support/model";
import { home } from "../support/monitors";
import { Program } from "../support/program";
import { startProgram } from "../support/processes";

withCli();
// The resources in state are made in this process.
silenceHost();

/** A secret as Pulumi exports it: in the clear or encrypted. */
type Form = "plaintext" | "ciphertext";
const sealed = (value: unknown, form: Form = "plaintext") => ({
  ...secretMark,
  [form]: JSON.stringify(value),
});
const accounts = JSON.stringify({ other: { apiKey: "emulator-key" } });
const settingsOf = ({ url, apiKey }: Emulator) => ({ "uptime:baseUrl": url, "uptime:apiKey": apiKey });
const urnOf = (type: string, name: string): string => `urn:pulumi:test::workspace::${type}::${name}`;
const writeState = (resources: readonly unknown[]): void =>
  writeFileSync(join(folder, "state.json"), stateOf(resources));

/** Brings monitors (what has a URL) and domains up, and writes the state that Pulumi would export. */
async function state(
  resources: Record<string, Inputs>,
  { form, options = {} }: { form?: Form; options?: Record<string, { ignoreChanges: string[] }> } = {},
) {
  const seal = (properties: Inputs): Inputs =>
    Object.fromEntries(
      Object.entries(properties).map(([key, value]) => {
        const isSecret = ["requestHeaders", "requestAuthPassword"].includes(key) && value !== null;
        return [key, isSecret ? sealed(value, form) : value];
      }),
    );
  const settings = { ...settingsOf(emulator), "uptime:accounts": accounts };
  const entries = [];
  for (const [name, given] of Object.entries(resources)) {
    const isMonitor = "url" in given;
    const stack = new Program("dynamic", settings).resource(isMonitor ? "monitor" : "domain", options[name]);
    await stack.up(given);
    if (!stack.state) throw new Error("Nothing is in state.");
    const { id, inputs, outputs } = stack.state;
    const type = `pulumi-nodejs:dynamic/uptime:${isMonitor ? "Monitor" : "Domain"}`;
    const urn = urnOf(type, name);
    entries.push({ urn, custom: true, id, type, inputs: seal(inputs), outputs: seal(outputs) });
  }
  // What else is in a state is not looked at.
  const [first] = entries;
  if (!first) throw new Error("There is no resource.");
  const stackType = "pulumi:pulumi:Stack";
  writeState([
    ...entries,
    { urn: urnOf(stackType, "workspace-test"), type: stackType },
    { ...first, urn: `${first.urn}-old`, id: "999", delete: true },
    { ...first, urn: `${first.urn}-seen`, id: "998", external: true },
  ]);
  emulator.forget();
  return entries;
}

/** As many monitors, m0 and so on. */
const monitors = (count: number): Record<string, Inputs> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`m${index}`, { ...home, name: `M ${index}` }]),
  );

/** The API refuses the requests whose paths match. */
const refuse = (path: RegExp, body: object = {}): void => {
  emulator.fault = (request) => (path.test(request.path) ? answer(403, body) : undefined);
};

const drift = (...args: string[]): Promise<Outcome> => driftWith(emulator, ...args);
const driftWith = (settings: Pick<Emulator, "url" | "apiKey">, ...args: string[]): Promise<Outcome> =>
  cli(settings, folder, ["drift", "--state", "state.json", ...args]);
/** On a stack with this configuration and these resources, or with a file of state. */
const driftOf = (
  config: Parameters<typeof withStack>[1],
  resources?: readonly unknown[],
  ...args: string[]
): Promise<Outcome> => {
  writeFileSync(join(folder, "Pulumi.yaml"), "name: workspace\nruntime: nodejs\n");
  const state = resources ? [] : ["--state", "state.json"];
  const env = withStack(folder, config, resources);
  return cli(unset, folder, ["drift", "--stack", "prod", ...state, ...args], { env });
};
const driftJson = async (...args: string[]): Promise<Record<"drifted" | "errors" | "unmanaged", unknown[]>> =>
  JSON.parse((await drift("--json", ...args)).stdout) as Awaited<ReturnType<typeof driftJson>>;
const noDrift = (count: number): string =>
  `${count} ${count === 1 ? "resource" : "resources"} compared, no drift.\n`;
/** The lines of a table, with two spaces between its columns. */
const rowsIn = ({ stdout }: Outcome): string[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ {2,}/g, "  "));

test("no drift is one line and exit code 0, and nothing is written", async () => {
  emulator.dialect = { shuffle: true, numbers: "string", urlStyle: "normalised", dates: "Z" };
  await state({
    home: {
      ...home,
      url: "https://EXAMPLE.com",
      alertChannelIds: [1, 2],
      maintenanceStartAt: "2030-01-31T22:00:00",
      requestHeaders: [{ key: "A", value: "s3cret" }],
      requestAuthPassword: "s3cret",
    },
    shop: { name: "Shop.example" },
  });
  for (const form of [[], ["--markdown"]])
    expect(await drift(...form)).toEqual({ code: 0, stdout: noDrift(2), stderr: "" });
  const nothing = { drifted: [], errors: [], code: [], pending: [] };
  expect(await driftJson()).toEqual({ checked: 2, servers: [emulator.url], ...nothing });
  expect(emulator.writes()).toEqual([]);
  expect(readdirSync(folder)).toEqual(["state.json"]);
});

test("a record that is gone and was imported is not said to be undone by the next `up` alone", async () => {
  emulator.monitors.add(home);
  const imported = await state({ home: { ...home, importId: "1" } });
  const created = await state({ home: { ...home, name: "Other" } });
  emulator.monitors.clear();
  // The engine has the option of the plugin's resources.
  for (const entries of [imported, created.map((one) => ({ ...one, importID: "2" }))]) {
    writeState(entries);
    expect((await drift()).stdout).toContain("is gone; remove the option import if the program has it\n");
  }
});

test("drift is a table of the values in state and in the API, and exit code 2", async () => {
  await state(
    {
      home: { ...home, sslAlertDays: 7, requestHeaders: [{ key: "A", value: "s3cret-1" }] },
      other: { ...home, name: "Other" },
      gone: { ...home, name: "Gone" },
      shop: { name: "shop.example", homepageUrl: "https://shop.example/" },
      moved: { name: "moved.example" },
    },
    { options: { other: { ignoreChanges: ["interval"] } } },
  );
  emulator.monitors.edit(1, {
    interval: 300,
    name: "x|`y`\u001b[31m\u202e\n",
    ssl_alert_days: null,
    request_headers: [{ key: "A", value: "s3cret-2" }],
    // Nobody manages it.
    domain_alert_days: 30,
  });
  emulator.monitors.edit(2, { interval: 300 });
  emulator.monitors.remove(3);
  emulator.domains.edit(1, { homepage_url: "https://shop.example/2" });
  emulator.domains.edit(2, { name: "another.example" });
  const table = await drift();
  expect(table).toMatchObject({ code: 2, stderr: "" });
  expect(rowsIn(table)).toEqual([
    "Resource  Id  Property  In state  In the API",
    'Monitor gone  3  (gone)  "Gone", "https://example.com/"  is no longer in the API',
    'Monitor home  1  name  "Home"  "x|`y`\\u001b[31m\\u202e\\n"',
    "Monitor home  1  interval  60  300",
    "Monitor home  1  requestHeaders  [secret]  [secret], differs",
    "Monitor home  1  sslAlertDays  7  null",
    'Domain moved  2  (another record)  Domain 2 has the name "another.example" in the API and "mov…',
    'Domain shop  1  homepageUrl  "https://shop.example/"  "https://shop.example/2"',
    "",
    "5 resources compared, 4 drifted.",
  ]);
  const markdown = await drift("--markdown");
  expect(markdown.code).toBe(2);
  expect(markdown.stdout.split("\n").slice(0, 14)).toEqual([
    "5 resources compared, 4 drifted.",
    "",
    "#### Another record has the id: `pulumi up --refresh` fails. Undo the edit, or run `pulumi state delete URN`.",
    "",
    "| Resource | Id | Property | In state | In the API |",
    "| --- | --- | --- | --- | --- |",
    expect.stringMatching(
      /^\| `Domain moved` \| `2` \| `\(another record\)` \| +\| `` Domain 2 has the name .* in state/,
    ),
    "",
    "#### Edited by hand: the next `pulumi up --refresh --run-program` undoes these edits",
    "",
    "| Resource | Id | Property | In state | In the API |",
    "| --- | --- | --- | --- | --- |",
    '| `Monitor gone` | `3` | `(gone)` | `"Gone", "https://example.com/"` | `is no longer in the API` |',
    '| `Monitor home` | `1` | `name` | `"Home"` | `` "x\\|`y`\\u001b[31m\\u202e\\n" `` |',
  ]);
  const json = await drift("--json");
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({
    checked: 5,
    drifted: [
      { name: "gone", outcome: "gone" },
      {
        name: "home",
        id: "1",
        outcome: "changed",
        properties: [
          { property: "name", inState: "Home", secret: false },
          { property: "interval", inState: 60, inApi: 300 },
          { property: "requestHeaders", secret: true },
          { property: "sslAlertDays", inState: 7, inApi: null },
        ],
      },
      { name: "moved", outcome: "another record" },
      { name: "shop", outcome: "changed" },
    ],
  });
  expect([table, markdown, json].map(({ stdout }) => stdout).join()).not.toContain("s3cret");
  expect(emulator.writes()).toEqual([]);
});

test("what a failed run has not brought is no drift; what was edited since is", async () => {
  const [part, replaced] = await state({
    part: { ...home, name: "Part", interval: 60, sslAlertDays: 7 },
    replaced: { ...home, name: "Replaced" },
  });
  // A partial failure stores what the record has: here, the create was not followed by the update that pauses it.
  writeState([
    {
      ...part,
      inputs: { ...part?.inputs, pause: true },
      outputs: { ...part?.outputs, pause: false, __partial: true },
    },
    { ...replaced, pendingReplacement: true },
  ]);
  emulator.monitors.remove(2);
  expect(await drift()).toMatchObject({ code: 0, stdout: noDrift(1) });
  emulator.monitors.edit(1, { interval: 300 });
  expect(rowsIn(await drift())).toContain("Monitor part  1  interval  60  300");
  expect((await drift()).stdout).not.toContain("pause");
});

test("encrypted secrets in state are an error that names --show-secrets", async () => {
  const secret = { ...home, requestHeaders: [{ key: "A", value: "s3cret-1" }] };
  await state({ home: secret, shop: { name: "shop.example" } }, { form: "ciphertext" });
  expect(await drift()).toEqual({
    code: 1,
    stdout: "1 resource compared, none of them drifted, 1 could not be compared.\n",
    stderr: expect.stringMatching(
      /^home: The state has requestHeaders encrypted, .*--show-secrets.*\n$/,
    ) as string,
  });
});

test("a resource that cannot be compared is an error with exit code 1, beside the drift of the others", async () => {
  await state(monitors(2));
  emulator.monitors.edit(2, { interval: 300 });
  refuse(/\/1$/, { message: "no" });
  const { code, stdout, stderr } = await drift();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^Monitor m1 +2 +interval +60 +300$/m);
  expect(stdout).toContain("1 resource compared, 1 drifted, 1 could not be compared.");
  expect(stderr).toMatch(/^m0: GET .* returned status 403: no\..*\n$/);
  // If nothing can be compared, it does not say that there is no drift.
  refuse(/./);
  for (const form of [[], ["--markdown"]]) {
    const nothing = await drift(...form);
    expect(nothing.code).toBe(1);
    expect(nothing.stdout).toContain("0 resources compared, 2 could not be compared.");
    expect(nothing.stdout).not.toContain("no drift");
  }
});

test("a refused key is reported once, and not used again", async () => {
  await state({ ...monitors(30), shop: { name: "shop.example" } });
  const { code, stdout, stderr } = await driftWith({ url: emulator.url, apiKey: "expired" });
  expect([code, stdout]).toEqual([1, "0 resources compared, 31 could not be compared.\n"]);
  expect(stderr).toMatch(/^m0: GET .* status 401.* \(the same for m1, m2, m3, m4, m5 and 25 more\)\n$/);
  expect(emulator.requests.length).toBeLessThanOrEqual(12);
});

test("a key that one of two servers refuses is used for the other", async () => {
  const entries = await state({ ...monitors(2), shop: { name: "shop.example" } });
  writeState(entries.map((one) => ({ ...one, outputs: { ...one.outputs, __server: undefined } })));
  const other = await startEmulator({ apiKey: "other-key" });
  const args = ["drift", "--state", "state.json", "--monitors-base-url", other.url];
  const { stdout, stderr } = await cli(emulator, folder, args);
  expect(stdout).toBe("1 resource compared, none of them drifted, 2 could not be compared.\n");
  expect(stderr).toMatch(/^m0: .* status 401.* \(the same for m1\)\n$/);
});

test("an empty account is reported once, with the resources' names", async () => {
  await state(monitors(30));
  for (let id = 1; id <= 30; id++) emulator.monitors.remove(id);
  const { code, stdout, stderr } = await drift();
  expect(code).toBe(1);
  expect(stdout).toBe("0 resources compared, 30 could not be compared.\n");
  expect(stderr).toMatch(
    /^m0: Monitor 1 does not exist .* list of monitors is empty, .* \(the same for m1, m2, m3, m4, m5 and 24 more\)\n$/,
  );
  expect((await drift("--markdown")).stdout.split("list of monitors is empty")).toHaveLength(2);
  expect((await driftJson()).errors).toHaveLength(30);
});

test("in an empty account, the only record of the stack is gone", async () => {
  await state({ ...monitors(1), shop: { name: "shop.example" } });
  emulator.monitors.remove(1);
  const { code, stdout } = await drift();
  expect(code).toBe(2);
  expect(stdout).toContain("2 resources compared, 1 drifted.");
});

test("an account is empty also if secrets in state are encrypted", async () => {
  const secret = { ...home, requestHeaders: [{ key: "A", value: "s3cret-1" }] };
  await state({ home, secret: { ...secret, name: "Secret" } }, { form: "ciphertext" });
  for (const id of [1, 2]) emulator.monitors.remove(id);
  const { stdout, stderr } = await drift();
  expect(stdout).toBe("0 resources compared, 2 could not be compared.\n");
  expect(stderr).toMatch(/^home: .* list of monitors is empty/m);
});

describe("what Pulumi would run from state", () => {
  const own = (name: string) => `exports.handler=()=>require("pulumi-uptime/provider").${name}`;
  const evil = "exports.handler=()=>process.exit()";
  const monitor = "pulumi-nodejs:dynamic/uptime:Monitor";
  const reference = (type: string) => `${urnOf(`pulumi:providers:${type}`, "default")}::0a1b`;
  const provider = (inputs: object, type = "uptime") => ({
    urn: urnOf(`pulumi:providers:${type}`, "default_0_1_0"),
    type: `pulumi:providers:${type}`,
    id: "0a1b",
    inputs,
  });
  const resource = (more: object = {}, type = monitor) => ({
    urn: urnOf(type, "home"),
    type,
    id: "1",
    inputs: { __provider: own("monitor") },
    outputs: { __provider: own("monitor") },
    provider: reference("pulumi-nodejs"),
    ...more,
  });
  const code = /The provider code in state is not this package's/;

  test.each<[string, object, RegExp]>([
    ["other code in outputs", resource({ outputs: { __provider: evil } }), code],
    ["other code in inputs", resource({ inputs: { __provider: evil } }), code],
    ["code with more behind it", resource({ outputs: { __provider: `${own("monitor")};${evil}` } }), code],
    ["the code of another kind", resource({ outputs: { __provider: own("domain") } }), code],
    ["code that is secret", resource({ outputs: { __provider: sealed(evil) } }), code],
    ["code that is encrypted", resource({ outputs: { __provider: sealed(evil, "ciphertext") } }), code],
    [
      "code that is secret, with a value that Pulumi does not read",
      resource({ outputs: { __provider: { ...sealed(evil), value: own("monitor") } } }),
      code,
    ],
    ["a resource that is only read", resource({ external: true, outputs: { __provider: evil } }), code],
    ["a resource that is to be deleted", resource({ delete: true, outputs: { __provider: evil } }), code],
    [
      "another package's provider",
      resource({ provider: reference("evil") }, "uptime:index:Monitor"),
      /belongs to a provider of another package, pulumi:providers:evil/,
    ],
    [
      "a plugin's address, as the engine keeps it",
      provider({ __internal: { pluginDownloadURL: "https://evil.example" } }),
      /the plugin of default_0_1_0 has the address "https:\/\/evil\.example", and this package's is github:\/\/api\./,
    ],
    [
      "a plugin's address, as old engines kept it",
      provider({ pluginDownloadURL: "https://evil.example" }),
      /has the address "https:\/\/evil\.example"/,
    ],
    [
      "a secret in the place of a plugin's address",
      provider({ pluginDownloadURL: sealed("canary-of-another-package") }),
      /has an address that is not a plain string, and(?![^]*canary)/,
    ],
    [
      "another plugin",
      provider({ __internal: { name: "evil", parameterization: "e30=" } }),
      /In state the provider belongs to another plugin/,
    ],
    [
      "a provider that has another type than its URN",
      { ...provider({ pluginDownloadURL: "https://evil.example" }), type: "harmless:index:Thing" },
      /has the type "harmless:index:Thing", but its URN has the type "pulumi:providers:uptime"/,
    ],
    [
      "a resource that has another type than its URN",
      resource({ type: "harmless:index:Thing", outputs: { __provider: evil } }),
      /has the type "harmless:index:Thing", but its URN has the type "pulumi-nodejs:dynamic\/uptime:Monitor"/,
    ],
    [
      "a URN that has no type",
      { urn: "urn:pulumi:test::evil", type: "harmless:index:Thing" },
      /its URN has the type ""/,
    ],
    [
      "an extension of a provider",
      { ...resource({}, "aws:s3/bucket:Bucket"), extensionRef: "0a1b" },
      /names an extension of its provider/,
    ],
  ])("is refused before anything is sent: %s", async (_, bad, reason) => {
    writeState([resource({ urn: urnOf(monitor, "good") }), bad]);
    const { code, stderr } = await drift();
    expect(code).toBe(1);
    expect(stderr).toMatch(reason);
    expect(stderr).toContain("Find out who can write the state");
    expect((await driftJson()).errors).toHaveLength(1);
    expect(emulator.requests).toEqual([]);
  });

  test.each<[string, object]>([
    ["snippets", { deployment: { snippets: [{ code: "evil" }] } }],
    ["extensions", { deployment: { extensions: { "0a1b": {} } } }],
    ["Resources", { deployment: { Resources: [resource()] } }],
    ["newer", { deployment: { newer: true } }],
    ["Outputs", { deployment: { resources: [resource({ Outputs: { __provider: evil } })] } }],
    ["Deployment", { Deployment: { resources: [] } }],
    ["snippets-prototype", { features: ["views", "snippets-prototype"] }],
  ])("is refused before anything is sent: %s, of which nothing is known", async (name, more) => {
    const { deployment = {}, ...others } = more as { deployment?: object };
    const own = { manifest: {}, secrets_providers: {}, resources: [resource()], metadata: {} };
    const text = JSON.stringify({ version: 4, deployment: { ...own, ...deployment }, ...others });
    writeFileSync(join(folder, "state.json"), text);
    const stderr = await failed(drift());
    expect(stderr).toContain(`state.json has "${name}", and this version of pulumi-uptime does not know`);
    expect(emulator.requests).toEqual([]);
  });

  test("empty parts of state, and features of other resources, are not refused", async () => {
    const resources = [provider({})];
    const deployment = { resources, snippets: [], extensions: {}, newer: null };
    const features = ["hooks", "refreshBeforeUpdate", "replaceWith", "taint", "views"];
    writeFileSync(join(folder, "state.json"), JSON.stringify({ version: 4, features, deployment }));
    expect(await drift()).toMatchObject({ code: 0, stderr: "" });
  });

  test("creates that a killed run has begun are told, with the way on", async () => {
    const pending = (type: string, name: string, operation = "creating") => ({
      type: operation,
      resource: { urn: urnOf(type, name), type, inputs: {} },
    });
    const text = stateOf([resource()]);
    const { deployment, ...rest } = JSON.parse(text) as { deployment: object };
    const operations = [
      ...[pending(monitor, "b"), pending("uptime:index:Domain", "c")],
      ...[pending(monitor, "d", "updating"), pending("aws:s3/bucket:Bucket", "logs")],
    ];
    const all = { ...rest, deployment: { ...deployment, pending_operations: operations } };
    writeFileSync(join(folder, "state.json"), JSON.stringify(all));
    const { stdout } = await drift();
    expect(stdout).toMatch(
      /^A run was killed while it created Monitor b, Domain c: the records may exist\. .*`npx .*--unmanaged`.*adoptExisting.*`pulumi refresh --clear-pending-creates/m,
    );
    expect(await driftJson()).toMatchObject({
      pending: [{ urn: urnOf(monitor, "b") }, { urn: urnOf("uptime:index:Domain", "c") }],
    });
    expect((await drift("--markdown")).stdout).toContain("A run was killed while it created Monitor b");
  });

  test("--unmanaged also lists the account of a create that a killed run has begun", async () => {
    const elsewhere = await startEmulator();
    elsewhere.monitors.add({ ...home, name: "Killed" });
    const pending = { urn: urnOf(monitor, "b"), type: monitor, inputs: { account: "other" } };
    const { deployment, ...rest } = JSON.parse(stateOf([])) as { deployment: object };
    const operations = [{ type: "creating", resource: pending }];
    const all = { ...rest, deployment: { ...deployment, pending_operations: operations } };
    writeFileSync(join(folder, "state.json"), JSON.stringify(all));
    const accounts = JSON.stringify({ other: { baseUrl: elsewhere.url, apiKey: elsewhere.apiKey } });
    const config = { ...settingsOf(emulator), "uptime:accounts": accounts };
    const { stdout } = await driftOf(config, undefined, "--unmanaged");
    expect(stdout).toContain("Killed");
  });

  test("what is this package's own passes, and other packages' code is listed once", async () => {
    const { repository } = JSON.parse(readFileSync(join(__dirname, "..", "..", "package.json"), "utf8")) as {
      repository: { url: string };
    };
    const address = repository.url.replace(/^git\+https:\/\/(.*)\.git$/, "github://api.$1");
    const table = (name: string, text: unknown) => ({
      urn: urnOf("pulumi-nodejs:dynamic:Table", name),
      type: "pulumi-nodejs:dynamic:Table",
      id: name,
      inputs: { __provider: text },
      outputs: { __provider: text },
    });
    writeState([
      provider({ __internal: { pluginDownloadURL: address } }),
      provider({ __internal: {} }, "aws"),
      provider({ __internal: { pluginDownloadURL: "https://gitlab.example/tool" } }, "tool"),
      ...[table("users", evil), table("orders", sealed(evil)), table("other", own("monitor"))],
      { urn: urnOf("aws:s3/bucket:Bucket", "logs"), type: "aws:s3/bucket:Bucket", inputs: { name: "logs" } },
    ]);
    const report = await driftJson();
    const hash = expect.stringMatching(/^[\w+/]{10}$/) as string;
    expect(report).toMatchObject({
      errors: [],
      code: [
        { hash, resources: ["tool default_0_1_0"] },
        { hash, resources: ["Table users", "Table orders"] },
        { hash, resources: ["Table other"] },
      ],
    });
  });
});

test("state of another server, a missing file and other JSON are errors", async () => {
  await state({ home });
  const elsewhere = await startEmulator();
  expect(await failed(driftWith(elsewhere))).toMatch(/State was made with another address.*\n$/);
  expect(await failed(drift("--state", "nothing.json"))).toContain("nothing.json");
  writeFileSync(join(folder, "state.json"), "[]");
  expect(await failed(drift())).toMatch(/^\S+state\.json is not a deployment/);
});

test("--unmanaged lists a record with the id of a resource whose state is of another account", async () => {
  const [one] = await state({ home });
  writeState([{ ...one, outputs: { ...one?.outputs, __key: "0000" } }]);
  emulator.monitors.edit(1, { name: "Of somebody else" });
  const { errors, unmanaged } = await driftJson("--unmanaged");
  expect(errors).toHaveLength(1);
  expect(unmanaged).toMatchObject([{ id: "1", name: "Of somebody else" }]);
});

test("--unmanaged knows resources of several names of one account, also in older state, which has no key", async () => {
  const entries = await state({ home, other: { ...home, name: "Other", account: "other" } });
  const resources = entries.map((one) => {
    const { __key, __server, ...outputs } = one.outputs as Record<string, unknown>;
    return { ...one, outputs };
  });
  const config = { ...settingsOf(emulator), "uptime:accounts": accounts };
  const { stdout } = await driftOf(config, resources, "--unmanaged");
  expect(stdout).toContain("0 records not managed by this stack.");
});

test("--unmanaged lists the account of a resource whose account is a secret", async () => {
  const [one] = await state({ other: { ...home, account: "other" } });
  emulator.monitors.add({ ...home, name: "Stray" });
  const config = { ...settingsOf(emulator), "uptime:apiKey": "refused", "uptime:accounts": accounts };
  const resource = { ...one, outputs: { ...one?.outputs, account: sealed("other") } };
  const { stdout } = await driftOf(config, [resource], "--unmanaged");
  expect(stdout).toContain("Stray");
});

test("does not show the name of an account that looks like a key", async () => {
  const [first] = await state({ home });
  const account = "misplaced-0123456789";
  const named = { inputs: { ...first?.inputs, account }, outputs: { ...first?.outputs, account } };
  writeState([{ ...first, ...named }]);
  emulator.monitors.edit(1, { interval: 300 });
  emulator.monitors.add({ ...home, name: "By hand" });
  const settings = {
    ...settingsOf(await startEmulator()),
    "uptime:accounts": JSON.stringify({ [account]: { baseUrl: emulator.url, apiKey: emulator.apiKey } }),
  };
  for (const form of [[], ["--markdown"], ["--json"]]) {
    const { code, stdout } = await driftOf(settings, undefined, "--unmanaged", ...form);
    expect(code).toBe(2);
    expect(stdout.split("[not shown]")).toHaveLength(3);
    expect(stdout).not.toContain("misplaced");
  }
});

test("--unmanaged lists all records if the stack has no resource yet", async () => {
  emulator.monitors.add({ ...home, name: "By hand" });
  writeState([]);
  const { code, stdout } = await drift("--unmanaged");
  expect(code).toBe(2);
  expect(stdout).toContain("0 resources compared, no drift, 1 record not managed by this stack.");
});

test("--unmanaged needs no default key if all resources have named accounts", async () => {
  const resources = await state({ other: { ...home, account: "other" } });
  emulator.monitors.add({ ...home, name: "By hand" });
  const settings = { "uptime:baseUrl": emulator.url, "uptime:accounts": accounts };
  const { code, stdout, stderr } = await driftOf(settings, resources, "--unmanaged");
  expect([code, stderr]).toEqual([2, ""]);
  expect(stdout).toContain("1 record not managed by this stack");
});

test("without --state, the stack has the state, the settings and the accounts", async () => {
  const resources = await state({ home, other: { ...home, name: "Other", account: "other" } });
  emulator.monitors.edit(2, { interval: 300 });
  const inStack = (more: Record<string, string>, ...args: string[]) =>
    driftOf({ ...settingsOf(emulator), ...more }, resources, ...args);
  const found = await inStack({ "uptime:accounts": accounts });
  expect(found).toMatchObject({ code: 2, stderr: "" });
  expect(found.stdout).toMatch(
    /^Monitor other of other +2 +interval +60 +300\n\n2 resources compared, 1 drifted\.$/m,
  );
  const without = await inStack({});
  expect(without.code).toBe(1);
  expect(without.stdout).toContain("1 resource compared, none of them drifted, 1 could not be compared.");
  expect(without.stderr).toMatch(/^other: .*uptime:accounts/);
  // What was compared is told, also if not all records can be listed. That is told too, because a file may have standard output only.
  const unlisted = await inStack({}, "--unmanaged");
  expect(unlisted).toMatchObject({
    code: 1,
    stdout: without.stdout.replace(/\.\n$/, ", the records not managed by this stack could not be listed.\n"),
  });
  expect(unlisted.stderr).toMatch(/\nThe unmanaged records cannot be listed: .*uptime:accounts/);
  const { stdout } = await inStack({}, "--unmanaged", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    unlisted: expect.stringContaining("uptime:accounts") as string,
  });
  const env = { PATH: join(folder, "bin") };
  // As `--stack "$STACK"` gives it, if the variable is not set.
  const unnamed = cli(emulator, folder, ["drift", "--stack", ""], { env });
  expect(await failed(unnamed)).toContain("The option --stack is empty");
  mkdirSync(join(folder, "below"));
  const below = cli(emulator, join(folder, "below"), ["drift"], { env });
  expect(await failed(below)).toMatch(/^\S+below has no Pulumi\.yaml, so there is no stack\./);
  rmSync(join(folder, "bin", "config.json"));
  const broken = await cli(emulator, folder, ["drift"], { env });
  expect(broken).toMatchObject({ code: 1, stdout: "" });
  expect(broken.stderr).toMatch(/^`pulumi config --show-secrets` in \S+ failed: .*\n$/);
});

test("no secret of state is shown, whatever its field", async () => {
  const entries = await state({
    home: { ...home, url: "https://s3cret-user:s3cret-pw@example.com/" },
    shop: { name: "s3cret-shop.example" },
    broken: { ...home, name: "s3cret-name" },
  });
  for (const [index, { inputs, outputs }] of entries.entries())
    for (const properties of [inputs, outputs]) {
      const key = index === 0 ? "url" : "name";
      properties[key] = sealed(properties[key]);
    }
  writeState(entries);
  emulator.monitors.edit(1, { url: "https://s3cret-2@example.com/" });
  emulator.domains.edit(1, { name: "s3cret-other.example" });
  refuse(/\/(2|monitors)$/, { message: "No s3cret-name" });
  for (const form of [[], ["--markdown"], ["--json"]]) {
    const { code, stdout, stderr } = await drift(...form);
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain("s3cret");
    expect(stdout).toMatch(/url/);
    expect(stdout).toMatch(/another record/);
    expect(stderr).toMatch(/^broken: .*\(the server repeats a secret\)/m);
  }
});

// Characters that JSON, URLs and tables of Markdown escape, and more than a cell has.
test.each(['emulator"key\\12|AbCdEfGhIjKl', "k3y-".repeat(18)])(
  "shows no API key that records repeat: %j",
  async (key) => {
    emulator.apiKey = key;
    await state({ home: { ...home, name: `Mine ${key}` }, gone: { ...home, name: `Gone ${key}` } });
    const url = `https://example.com/?key=${encodeURIComponent(key)}`;
    emulator.monitors.edit(1, { name: "By hand", url });
    emulator.monitors.remove(2);
    emulator.monitors.add({ ...home, name: `Token ${key}` });
    for (const form of [[], ["--markdown"], ["--json"]]) {
      const { code, stdout } = await drift("--unmanaged", ...form);
      expect(code).toBe(2);
      expect(stdout.split("(the server repeats a secret)").length).toBeGreaterThan(4);
      expect(stdout).not.toMatch(/Token|Mine|Gone|AbC|k3y-|emulator\W/);
    }
  },
);

test("shows no secret of a resource that another field of its record repeats", async () => {
  const requestHeaders = [{ key: "X-Name", value: "s3cret-header" }];
  const [entry] = await state({ home: { ...home, requestHeaders, requestAuthUsername: "s3cret-user" } });
  const { inputs = {}, outputs = {} } = entry ?? {};
  for (const properties of [inputs, outputs]) properties.requestAuthUsername = sealed("s3cret-user");
  writeState([{ ...entry, inputs, outputs }]);
  const repeating = { name: "X-Name s3cret-header", url: "https://example.com/s3cret-user" };
  emulator.monitors.edit(1, { ...repeating, interval: 300 });
  const { stdout } = await drift("--json");
  const { drifted } = JSON.parse(stdout) as { drifted: { properties: object[] }[] };
  const repeated = "(the server repeats a secret)";
  expect(drifted[0]?.properties).toMatchObject([
    { property: "name", inState: home.name, inApi: repeated },
    { property: "url", inState: home.url, inApi: repeated },
    { property: "interval", inState: 60, inApi: 300 },
  ]);
  expect(stdout).not.toContain("s3cret");
});

test("shows no address that is secret in the stack's configuration or in state", async () => {
  const baseUrl = { value: `${emulator.url}/`, secret: true };
  const config = { "uptime:baseUrl": baseUrl, "uptime:apiKey": emulator.apiKey };
  await state({ home });
  emulator.monitors.edit(1, { interval: 300 });
  const { stdout } = await driftOf(config, undefined, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ drifted: [{}], servers: ["[secret]"] });
  refuse(/monitors/);
  const failure = await failed(driftOf(config, undefined, "--json", "--unmanaged"));
  expect(failure).toContain("GET [secret]/api/v1/monitors");
  const refused = await driftOf(config, undefined, "--json");
  expect(refused.stderr).toContain("GET [secret]/api/v1/monitors/1");
  expect(refused.stdout + refused.stderr).not.toContain(emulator.url);
});

test("--unmanaged lists the records that no resource has, with exit code 2", async () => {
  emulator.dialect = { escapeHtml: true };
  await state({ home, shop: { name: "shop.example" } });
  expect(await drift("--unmanaged")).toMatchObject({
    code: 0,
    stdout: "2 resources compared, no drift, 0 records not managed by this stack.\n",
  });
  emulator.monitors.add({ ...home, name: "By hand | `x` & y" });
  emulator.domains.add({ name: "hand.example" });
  const plain = await drift("--unmanaged");
  expect(plain.code).toBe(2);
  expect(rowsIn(plain)).toEqual([
    "Not managed  Id  Name",
    "Domain  2  hand.example",
    "Monitor  2  By hand | `x` & y",
    "",
    "2 resources compared, no drift, 2 records not managed by this stack.",
  ]);
  const markdown = await drift("--unmanaged", "--markdown");
  expect(markdown.code).toBe(2);
  expect(markdown.stdout).toContain("| `Monitor` | `2` | `` By hand \\| `x` & y `` |");
  // Without being asked, it reads no more than the stack has.
  expect((await drift()).code).toBe(0);
  for (let index = 0; index < 250; index++) emulator.monitors.add({ ...home, name: `By hand ${index}` });
  emulator.forget();
  const { drifted, unmanaged } = await driftJson("--unmanaged");
  expect(drifted).toEqual([]);
  expect(unmanaged).toHaveLength(252);
  expect(unmanaged.slice(0, 2)).toEqual([
    { type: "pulumi-nodejs:dynamic/uptime:Domain", id: "2", name: "hand.example" },
    { type: "pulumi-nodejs:dynamic/uptime:Monitor", id: "2", name: "By hand | `x` & y" },
  ]);
  // Each list is read once.
  expect(emulator.requests.filter(({ path }) => path.endsWith("/monitors"))).toHaveLength(3);
  expect(emulator.requests.length).toBeLessThan(12);
  expect(emulator.writes()).toEqual([]);
});

describe("a stack with dynamic and native resources, and an explicit provider", () => {
  let elsewhere: Emulator;
  beforeEach(async () => {
    elsewhere = await startEmulator({ apiKey: "elsewhere-key" });
  });

  const type = "uptime:index:Monitor";
  const providerType = "pulumi:providers:uptime";
  const [usual, own] = ["default_0_1_0", "server"].map((name) => `${urnOf(providerType, name)}::id`);
  /** A provider as the plugin has checked it. */
  const provider = (reference = "", given: Inputs, form?: Form) => {
    const urn = reference.slice(0, -"::id".length);
    const { settings } = checkProviderSettings(urn, given, {});
    const inputs = Object.entries(settings).map(([key, value]) => [
      key,
      isMarked(value) ? sealed(value.value, form) : value,
    ]);
    return { urn, custom: true, id: "id", type: providerType, inputs: Object.fromEntries(inputs) as Inputs };
  };

  async function native(name: string, server: Emulator, provider?: string) {
    const stack = new Program("plugin", settingsOf(server)).resource();
    await stack.up({ ...home, name, alertCondition: "url_unavailable" });
    return { ...stack.state, custom: true, type, urn: urnOf(type, name), provider };
  }

  /** Three monitors, one of each sort, and one that was imported by command and not yet updated. */
  async function mixed(form?: Form): Promise<void> {
    const entries = await state({ dynamic: home });
    const imported = await native("imported", emulator, usual);
    const apiKey = "elsewhere-key";
    const inputs = { ...home, name: "imported", __imported: true };
    writeState([
      ...entries,
      provider(usual, { version: "0.1.0" }),
      provider(own, { baseUrl: elsewhere.url, apiKey }, form),
      { ...(await native("native", emulator, usual)), ignoreChanges: ["url"] },
      { ...imported, inputs, outputs: { ...imported.outputs, sslAlertDays: null, alertTextLookup: null } },
      await native("other", elsewhere, own),
      { ...(await native("read", elsewhere, own)), external: true },
    ]);
    emulator.forget();
    elsewhere.forget();
  }

  test("is compared with the settings of each resource's provider", async () => {
    await mixed();
    expect(await drift()).toEqual({ code: 0, stdout: noDrift(4), stderr: "" });
    // An option for the address is about the stack's own server; others are for all.
    expect(await drift("--base-url", emulator.url, "--max-retries", "0")).toMatchObject({ code: 0 });
    // The default of a field that an import has left out is managed. Any other one may even have a value that cannot be read.
    const unread = { alert_text_lookup: {} as string };
    emulator.monitors.edit(2, { alert_condition: "url_text", ssl_alert_days: 7, ...unread });
    emulator.monitors.edit(3, { url: "https://ignored.example/", interval: 300 });
    elsewhere.monitors.edit(1, { interval: 900 });
    expect(rowsIn(await drift())).toEqual([
      "Resource  Id  Property  In state  In the API",
      'Monitor imported  2  alertCondition  "url_unavailable"  "url_text"',
      "Monitor native  3  interval  60  300",
      "Monitor other of server  1  interval  60  900",
      "",
      "4 resources compared, 3 drifted.",
    ]);
    expect([...emulator.writes(), ...elsewhere.writes()]).toEqual([]);
  });

  test("shows the name of a provider, however long: it is in each URN anyway", async () => {
    const long = `${urnOf(providerType, "production-europe-west")}::id`;
    const apiKey = "elsewhere-key";
    const given = provider(long, { baseUrl: elsewhere.url, apiKey });
    writeState([given, await native("other", elsewhere, long)]);
    elsewhere.monitors.edit(1, { interval: 900 });
    expect((await drift()).stdout).toMatch(/^Monitor other of production-europe-west {2}1 {3}interval/m);
  });

  test("compares only what is not ignored of a field, and says what undoing an edit replaces", async () => {
    const channels = { ...home, alertChannelIds: [4, 7] };
    const entries = await state({ ignored: channels, other: { ...channels, name: "Other" } });
    const [ignored, other] = entries.map((one) => ({ ...one, ignoreChanges: ["alertChannelIds[0]"] }));
    const edit = (first: number, second: number): void => {
      for (const id of [1, 2]) emulator.monitors.edit(id, { alert_channel_ids: [first, second] });
    };
    const paths = { replaceOnChanges: ["alertChannelIds[1]"] };
    writeState([ignored, { ...other, ...paths }]);
    edit(5, 7);
    expect(await drift()).toMatchObject({ code: 0 });
    edit(5, 8);
    const { drifted } = await driftJson();
    expect(drifted).toMatchObject([{ name: "ignored" }, { name: "other", replaces: true }]);
    expect(drifted[0]).not.toHaveProperty("replaces");
  });

  test("is compared with the settings of its provider if that was replaced and the old one is still in state", async () => {
    const apiKey = "elsewhere-key";
    const present = { ...provider(own, { baseUrl: elsewhere.url, apiKey }), id: "new" };
    const old = { ...provider(own, { baseUrl: emulator.url, apiKey: "emulator-key" }), delete: true };
    const moved = await native("moved", elsewhere, `${present.urn}::new`);
    const entries = [moved, await native("waiting", emulator, own)];
    for (const providers of [
      [present, old],
      [old, present],
    ]) {
      writeState([...providers, ...entries]);
      expect(await drift()).toEqual({ code: 0, stdout: noDrift(2), stderr: "" });
    }
  });

  test("lists what is not managed on each server once", async () => {
    await mixed();
    emulator.monitors.add({ ...home, name: "By hand" });
    elsewhere.domains.add({ name: "hand.example" });
    const { unmanaged } = (await driftJson("--unmanaged")) as {
      unmanaged: { name: string; account?: string }[];
    };
    // The one that is only read is not managed.
    expect(unmanaged.map(({ name, account }) => [name, account]).sort()).toEqual([
      ["By hand", undefined],
      ["hand.example", "server"],
      ["read", "server"],
    ]);
  });

  test("manages nothing on another provider's server, also in older state, which has neither server nor key", async () => {
    elsewhere.domains.add({ name: "hand.example" });
    const { outputs, ...other } = await native("other", elsewhere, own);
    const { __key, __server, ...older } = outputs as Record<string, unknown>;
    const given = provider(own, { baseUrl: elsewhere.url, apiKey: "elsewhere-key" });
    emulator.monitors.add({ ...home, name: "By hand" });
    const domains = await state({ shop: { name: "shop.example" } });
    writeState([...domains, given, { ...other, outputs: older }]);
    expect((await driftJson("--unmanaged")).unmanaged).toMatchObject([
      { id: "1", name: "By hand" },
      { id: "1", name: "hand.example" },
    ]);
  });

  test("needs no other settings if all of its resources have an explicit provider", async () => {
    const settings = { baseUrl: elsewhere.url, apiKey: "elsewhere-key" };
    writeState([provider(own, settings), await native("alone", elsewhere, own)]);
    const stdout = "1 resource compared, no drift, 0 records not managed by this stack.\n";
    expect(await driftWith(unset, "--unmanaged")).toEqual({ code: 0, stdout, stderr: "" });
  });

  test("shows no address of an explicit provider that is secret in state", async () => {
    const one = provider(own, { baseUrl: elsewhere.url, apiKey: "elsewhere-key" });
    const inputs = { ...one.inputs, baseUrl: sealed(elsewhere.url) };
    writeState([{ ...one, inputs }, await native("other", elsewhere, own)]);
    const { stdout } = await drift("--json");
    expect(JSON.parse(stdout)).toMatchObject({ checked: 1, errors: [], servers: ["[secret]"] });
  });

  describe("errors name the arguments of the explicit provider", () => {
    const errorOf = async (baseUrl: string, apiKey: string, prepare?: () => void): Promise<string> => {
      const one = await native("other", elsewhere, own);
      prepare?.();
      writeState([provider(own, { baseUrl, apiKey }), one]);
      const error = await failed(drift());
      expect(error).not.toContain("uptime:");
      return error;
    };

    test("if the API does not accept its key", async () => {
      const refused = await errorOf(elsewhere.url, "expired");
      expect(refused).toMatch(/^other: GET .* status 401.*apiKey of the provider server/);
      expect(refused).toContain("server, as the last `pulumi up` stored it: set a valid one");
    });

    // A refresh that runs the program reads a moved resource with its new provider.
    const ifMoved =
      "If the program has just moved the resource to this provider, run `pulumi up` without `--refresh`.";

    test("if a record is missing with another key", async () => {
      const missing = await errorOf(elsewhere.url, "second-key", () => {
        elsewhere.apiKey = "second-key";
        elsewhere.monitors.remove(1);
      });
      expect(missing).toMatch(/set sameAccount of the provider server to "[0-9a-f]{4}=[0-9a-f]{4}"/);
      expect(missing).toContain(ifMoved);
    });

    test("if the server has moved", async () => {
      const moved = await errorOf(`${elsewhere.url}/moved`, "elsewhere-key");
      expect(moved).toMatch(/\(baseUrl of the provider server\).*set sameAccount of the provider server to/);
      expect(moved).toContain(ifMoved);
    });
  });

  test.each<[string, (url: string) => Inputs, string]>([
    ["its own", (baseUrl) => ({ baseUrl }), ""],
    ["the monitors' own", (monitorsBaseUrl) => ({ monitorsBaseUrl }), ""],
    ["that of an account", (baseUrl) => ({ accounts: JSON.stringify({ eu: { baseUrl } }) }), "eu"],
    [
      "that of an account in escapes",
      (url) => ({ accounts: `{"eu": {"baseUrl": "${url.replace("h", "\\u0068")}"}}` }),
      "eu",
    ],
  ])(
    "sends no key of the environment to an address of a provider that only state has: %s",
    async (_, inputs, account) => {
      const one = await native("other", elsewhere, own);
      const outputs = { ...one.outputs, __server: undefined, ...(account && { account }) };
      writeState([provider(own, inputs(elsewhere.url)), { ...one, outputs }]);
      elsewhere.forget();
      const env = { UPTIME_API_KEY_EU: "elsewhere-key" };
      const run = (url: string): Promise<Outcome> =>
        cli({ url, apiKey: "elsewhere-key" }, folder, ["drift", "--state", "state.json"], { env });
      const { code, stderr } = await run(emulator.url);
      expect([code, elsewhere.requests]).toEqual([1, []]);
      expect(stderr).toMatch(/address is .*, so the key in UPTIME_API_KEY(_EU)? is not sent there/);
      // The person who runs it may know the address.
      expect(await run(elsewhere.url)).toMatchObject({ code: 0, stderr: "" });
    },
  );

  describe("its own key is not sent to an address that was changed in state", () => {
    let one: Awaited<ReturnType<typeof native>>;
    beforeEach(async () => {
      one = await native("other", elsewhere, own);
      elsewhere.forget();
    });

    /** Compares a state that somebody has written: the resource's digits are right for any address and key. */
    const compare = async (
      changed: Inputs,
      { given = {}, ...settings }: { given?: Inputs; url?: string; baseUrl?: string } = {},
      outputs: Inputs = {},
    ) => {
      const first = provider(own, { baseUrl: "https://first.example", apiKey: "elsewhere-key", ...given });
      const inputs = { ...first.inputs, ...changed };
      writeState([
        { ...first, inputs },
        { ...one, outputs: { ...one.outputs, ...outputs } },
      ]);
      const { baseUrl, ...server } = { ...unset, ...settings };
      const args = baseUrl === undefined ? [] : ["--base-url", baseUrl];
      const env = { UPTIME_API_KEY_EU: "" };
      return cli(server, folder, ["drift", "--state", "state.json", ...args], { env });
    };
    const refusal =
      /^other: The provider server: Its address is http:\S+, and nothing in state shows .* so the key is not sent/;

    test.each<[string, (url: string) => Inputs, Inputs, Inputs]>([
      ["its own", (baseUrl) => ({ baseUrl }), {}, {}],
      ["the monitors' own", (monitorsBaseUrl) => ({ monitorsBaseUrl }), {}, {}],
      [
        "that of its accounts",
        (baseUrl) => ({ baseUrl }),
        { accounts: '{"eu":{"apiKey":"elsewhere-key"}}' },
        { account: "eu" },
      ],
      ["without a proof", (baseUrl) => ({ baseUrl, __addresses: undefined }), {}, {}],
      ["with another key's proof", (baseUrl) => ({ baseUrl, __addresses: sealed(["0".repeat(64)]) }), {}, {}],
      ["with a proof that is no list", (baseUrl) => ({ baseUrl, __addresses: sealed("elsewhere") }), {}, {}],
      ["with sameAccount", (baseUrl) => ({ baseUrl, sameAccount: "0000=0000" }), {}, { __key: "0000" }],
    ])("%s", async (_, changed, given, outputs) => {
      const { code, stderr } = await compare(changed(elsewhere.url), { given }, outputs);
      expect([code, elsewhere.requests]).toEqual([1, []]);
      expect(stderr).toMatch(refusal);
    });

    test("also if the stack's own settings name the address, or the environment fills it in", async () => {
      for (const [changed, settings] of [
        [{ baseUrl: elsewhere.url }, { url: elsewhere.url }],
        [{ baseUrl: elsewhere.url }, { baseUrl: elsewhere.url }],
        [{ baseUrl: undefined }, { url: elsewhere.url }],
      ] as const) {
        const { code, stderr } = await compare(changed, settings);
        expect([code, elsewhere.requests]).toEqual([1, []]);
        expect(stderr).toMatch(refusal);
      }
    });

    test.each<[string, (url: string) => Inputs, string]>([
      ["its key", () => ({ apiKey: "elsewhere-key" }), "apiKey"],
      ["its accounts", () => ({ accounts: "{}" }), "accounts"],
      [
        "the proofs of its addresses",
        (url) => ({ __addresses: [addressProofOf({ url }, "elsewhere-key")] }),
        "__addresses",
      ],
    ])("if %s is in state without the mark of a secret", async (_, changed, name) => {
      const { code, stderr } = await compare(changed(elsewhere.url), { given: { baseUrl: elsewhere.url } });
      expect([code, elsewhere.requests]).toEqual([1, []]);
      expect(stderr).toContain(`The provider server: In state its ${name} is not marked as secret`);
    });

    test("but to one that the program has given it, whatever key the resources in state were last read with", async () => {
      const given = { baseUrl: elsewhere.url };
      expect(await compare({}, { given }, { __key: "0000" })).toMatchObject({ code: 0, stderr: "" });
      expect(await compare({}, { given }, { __key: undefined })).toMatchObject({ code: 0, stderr: "" });
    });
  });

  test("reports encrypted or missing settings of a provider for its resources only", async () => {
    await mixed("ciphertext");
    const { code, stdout, stderr } = await drift();
    expect(code).toBe(1);
    expect(stdout).toContain("3 resources compared, none of them drifted, 1 could not be compared.");
    expect(stderr).toMatch(
      /^other: The provider server: The state has apiKey, __addresses encrypted, .*--show-secrets/,
    );
    await mixed();
    expect(await failed(driftWith(unset, "--unmanaged"))).toContain("uptime:baseUrl is not set");
  });
});

test.each(["utf8", "utf16le"] as const)(
  "a state file may be in %s with a byte order mark, as PowerShell writes it",
  async (encoding) => {
    await state({ home: { ...home, name: "Größe" } });
    const file = join(folder, "state.json");
    writeFileSync(file, `\ufeff${readFileSync(file, "utf8")}`, encoding);
    expect(await drift()).toMatchObject({ code: 0, stdout: "1 resource compared, no drift.\n" });
  },
);

test("the command itself ends with the code of its subcommand, and prints no color into a pipe", async () => {
  const main = join(__dirname, "..", "..", "dist", "provider", "cli", "main.js");
  const env = { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: "emulator-key", FORCE_COLOR: "1" };
  const run = (...args: string[]): Promise<Outcome> =>
    startProgram(process.execPath, [main, ...args], { cwd: folder, env }).done;
  await state({ home });
  emulator.monitors.edit(1, { interval: 300 });
  expect(await run("drift", "--state", "state.json")).toMatchObject({ code: 2 });
  emulator.apiKey = "another";
  const doctor = await run("doctor");
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).not.toContain("\u001b");
});
