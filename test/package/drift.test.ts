import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newFolder } from "../support/folder";
import { cli, withStack } from "../support/cli";
import type { Outcome } from "../support/cli";
import { Emulator } from "../../provider/emulator";
import { ModelStack } from "../support/model";
import type { Inputs } from "../support/model";
import { NativeStack } from "../support/native-stack";

let emulator: Emulator;
let folder: string;
beforeEach(async () => {
  emulator = await Emulator.start();
  folder = newFolder();
});
afterEach(() => emulator.stop());

type Kind = "monitor" | "domain";
const labels = { monitor: "Monitor", domain: "Domain" };
const secrets = ["requestHeaders", "requestAuthPassword"];
const mark = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
const home = { name: "Home", url: "https://example.com/", interval: 60 };

const accounts = JSON.stringify({ other: { apiKey: "emulator-key" } });

function writeState(resources: readonly unknown[]): void {
  writeFileSync(join(folder, "state.json"), JSON.stringify({ version: 3, deployment: { resources } }));
}

/** The lines of a table, with two spaces between its columns. */
const rowsIn = (stdout: string): string[] => stdout.split("\n").map((line) => line.replace(/ {2,}/g, "  "));

/** Brings resources up, and writes the state that Pulumi would export, secrets in the clear or encrypted. */
async function state(
  resources: Record<string, [kind: Kind, inputs: Inputs, ignoreChanges?: string[]]>,
  form: "plaintext" | "ciphertext" = "plaintext",
): Promise<unknown[]> {
  const seal = (properties: Inputs) =>
    Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [
        key,
        secrets.includes(key) && value !== null ? { ...mark, [form]: JSON.stringify(value) } : value,
      ]),
    );
  const entries = [];
  for (const [name, [kind, inputs, ignoreChanges]] of Object.entries(resources)) {
    const config = {
      "uptime:baseUrl": emulator.url,
      "uptime:apiKey": emulator.apiKey,
      "uptime:accounts": accounts,
    };
    const stack = new ModelStack(kind, config, ignoreChanges ? { ignoreChanges } : {});
    await stack.up(inputs);
    if (!stack.state) throw new Error("Nothing is in state.");
    const type = `pulumi-nodejs:dynamic/uptime:${labels[kind]}`;
    entries.push({
      urn: `urn:pulumi:test::workspace::${type}::${name}`,
      custom: true,
      id: stack.state.id,
      type,
      inputs: seal(stack.state.inputs),
      outputs: seal(stack.state.outputs),
    });
  }
  // What else is in a state is not looked at.
  entries.push(
    { urn: "urn:pulumi:test::workspace::pulumi:pulumi:Stack::workspace-test", type: "pulumi:pulumi:Stack" },
    { ...entries[0], urn: `${String(entries[0]?.urn)}-old`, id: "999", delete: true },
    { ...entries[0], urn: `${String(entries[0]?.urn)}-seen`, id: "998", external: true },
  );
  writeState(entries);
  emulator.forget();
  return entries;
}

const drift = (...args: string[]): Promise<Outcome> =>
  cli(emulator, folder, ["drift", "--state", "state.json", ...args]);

test("without drift there is none: code 0, one line, no write anywhere", async () => {
  emulator.dialect = { shuffle: true, numbers: "string", urlStyle: "normalised", dates: "Z" };
  await state({
    home: [
      "monitor",
      {
        ...home,
        url: "https://EXAMPLE.com",
        alertChannelIds: [1, 2],
        maintenanceStartAt: "2030-01-31T22:00:00",
        requestHeaders: [{ key: "A", value: "s3cret" }],
        requestAuthPassword: "s3cret",
      },
    ],
    shop: ["domain", { name: "Shop.example" }],
  });
  expect(await drift()).toEqual({ code: 0, stdout: "2 resources compared, no drift.\n", stderr: "" });
  expect(await drift("--markdown")).toMatchObject({ code: 0, stdout: "2 resources compared, no drift.\n" });
  expect(JSON.parse((await drift("--json")).stdout)).toEqual({
    checked: 2,
    drifted: [],
    errors: [],
    encrypted: [],
  });
  expect(emulator.writes()).toEqual([]);
  expect(readdirSync(folder)).toEqual(["state.json"]);
});

test("drift is a table of what was declared and what is there: code 2", async () => {
  await state({
    home: ["monitor", { ...home, sslAlertDays: 7, requestHeaders: [{ key: "A", value: "s3cret-1" }] }],
    other: ["monitor", { ...home, name: "Other" }, ["interval"]],
    gone: ["monitor", { ...home, name: "Gone" }],
    shop: ["domain", { name: "shop.example", homepageUrl: "https://shop.example/" }],
    moved: ["domain", { name: "moved.example" }],
  });
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
  const { code, stdout, stderr } = await drift();
  expect([code, stderr]).toEqual([2, ""]);
  expect(rowsIn(stdout)).toEqual([
    "Resource  Id  Property  In state  In the API",
    'Monitor home  1  name  "Home"  "x|`y`\\u001b[31m\\u202e\\n"',
    "Monitor home  1  interval  60  300",
    "Monitor home  1  requestHeaders  [secret]  [secret], differs",
    "Monitor home  1  sslAlertDays  7  null",
    'Monitor gone  3  (gone)  "Gone", "https://example.com/"  is not in the API any more',
    'Domain shop  1  homepageUrl  "https://shop.example/"  "https://shop.example/2"',
    'Domain moved  2  (another record)  Domain 2 has the name "another.example" in the API and "mov…',
    "",
    "5 resources compared, 4 drifted.",
    "",
  ]);
  const markdown = await drift("--markdown");
  expect(markdown.code).toBe(2);
  expect(markdown.stdout.split("\n").slice(0, 6)).toEqual([
    "5 resources compared, 4 drifted.",
    "",
    "| Resource | Id | Property | In state | In the API |",
    "| --- | --- | --- | --- | --- |",
    '| `Monitor home` | `1` | `name` | `"Home"` | `` "x\\|`y`\\u001b[31m\\u202e\\n" `` |',
    "| `Monitor home` | `1` | `interval` | `60` | `300` |",
  ]);
  const json = await drift("--json");
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({
    checked: 5,
    drifted: [
      {
        name: "home",
        id: "1",
        kind: "changed",
        properties: [
          { property: "name", declared: "Home", secret: false },
          { property: "interval", declared: 60, actual: 300 },
          { property: "requestHeaders", secret: true },
          { property: "sslAlertDays", declared: 7, actual: null },
        ],
      },
      { name: "gone", kind: "gone" },
      { name: "shop", kind: "changed" },
      { name: "moved", kind: "another record" },
    ],
  });
  expect([stdout, markdown.stdout, json.stdout].join()).not.toContain("s3cret");
  expect(emulator.writes()).toEqual([]);
});

test("what is encrypted in the state is not compared, and that is said", async () => {
  await state(
    { home: ["monitor", { ...home, requestHeaders: [{ key: "A", value: "s3cret-1" }] }] },
    "ciphertext",
  );
  emulator.monitors.edit(1, { request_headers: [{ key: "A", value: "s3cret-2" }] });
  const { code, stdout } = await drift();
  expect(code).toBe(0);
  expect(stdout).toContain("1 resource compared, none of them drifted as far as compared.\n");
  expect(stdout).toContain("Not compared, because it is encrypted in the state: Monitor.requestHeaders.");
});

test("what cannot be compared is an error: code 1, and the rest is told all the same", async () => {
  await state({ home: ["monitor", home], other: ["monitor", { ...home, name: "Other" }] });
  emulator.monitors.edit(2, { interval: 300 });
  emulator.fault = ({ path }) =>
    path.endsWith("/1") ? { kind: "answer", effect: false, status: 403, body: { message: "no" } } : undefined;
  const { code, stdout, stderr } = await drift();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^Monitor other +2 +interval +60 +300$/m);
  expect(stdout).toContain("1 resource compared, 1 drifted, 1 could not be compared.");
  expect(stderr).toMatch(/^home: GET .* was answered with status 403: no\..*\n$/);
});

test("a refused key is said once for each account, and nothing more is sent with it", async () => {
  const resources = Object.fromEntries(
    Array.from({ length: 30 }, (_, index): [string, [Kind, Inputs]] => [
      `m${index}`,
      ["monitor", { ...home, name: `M ${index}` }],
    ]),
  );
  await state({ ...resources, shop: ["domain", { name: "shop.example" }] });
  const refused = (...args: string[]): Promise<Outcome> =>
    cli({ url: emulator.url, apiKey: "expired" }, folder, ["drift", "--state", "state.json", ...args]);
  const { code, stdout, stderr } = await refused();
  expect(code).toBe(1);
  expect(stdout).toBe("0 resources compared, 31 could not be compared.\n");
  expect(stderr).toMatch(/^m0: GET .* status 401.* \(and 30 more for the same reason\)\n$/);
  expect(emulator.requests.length).toBeLessThanOrEqual(12);
  expect((await refused("--markdown")).stdout.split("status 401")).toHaveLength(2);
  const { errors } = JSON.parse((await refused("--json")).stdout) as { errors: unknown[] };
  expect(errors).toHaveLength(31);
});

test("--unmanaged reads each list once", async () => {
  for (let index = 0; index < 250; index++) emulator.monitors.add({ ...home, name: `By hand ${index}` });
  const entries: [string, [Kind, Inputs]][] = Array.from({ length: 12 }, (_, index) => [
    `m${index}`,
    ["monitor", { ...home, name: `M ${index}` }],
  ]);
  await state(Object.fromEntries(entries));
  const { unmanaged } = JSON.parse((await drift("--unmanaged", "--json")).stdout) as { unmanaged: unknown[] };
  expect(unmanaged).toHaveLength(250);
  const pages = emulator.requests.filter(({ path }) => path.endsWith("/monitors"));
  expect(pages).toHaveLength(3);
  expect(emulator.requests.length).toBeLessThan(12);
});

test("a state of another install, and a state that is none, are errors", async () => {
  await state({ home: ["monitor", home] });
  const elsewhere = await Emulator.start();
  try {
    const { code, stderr } = await cli(elsewhere, folder, ["drift", "--state", "state.json"]);
    expect(code).toBe(1);
    expect(stderr).toContain("State was made with another address");
  } finally {
    await elsewhere.stop();
  }
  expect(await drift("--state", "nothing.json")).toMatchObject({ code: 1 });
  writeFileSync(join(folder, "state.json"), "[]");
  const { code, stderr } = await drift();
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^\S+state\.json is not a deployment in the form that `pulumi stack export` writes\.\n$/,
  );
});

test("without a file, state and settings are those of the stack, each resource's account included", async () => {
  const resources = await state({
    home: ["monitor", home],
    other: ["monitor", { ...home, name: "Other", account: "other" }],
  });
  emulator.monitors.edit(2, { interval: 300 });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: workspace\nruntime: nodejs\n");
  const config = { "uptime:baseUrl": emulator.url, "uptime:apiKey": emulator.apiKey };
  const inStack = (more: Record<string, string>) =>
    cli({ url: "", apiKey: "" }, folder, ["drift", "--stack", "prod"], {
      env: withStack(folder, { ...config, ...more }, resources),
    });
  const found = await inStack({ "uptime:accounts": accounts });
  expect(found).toMatchObject({ code: 2, stderr: "" });
  expect(found.stdout).toMatch(/^Monitor other +2 +interval +60 +300\n\n2 resources compared, 1 drifted\.$/m);
  const unset = await inStack({});
  expect(unset.code).toBe(1);
  expect(unset.stdout).toContain(
    "1 resource compared, none of them drifted as far as compared, 1 could not be compared.",
  );
  expect(unset.stderr).toMatch(/^other: .*uptime:accounts/);
  mkdirSync(join(folder, "below"));
  const below = await cli(emulator, join(folder, "below"), ["drift"], { env: { PATH: join(folder, "bin") } });
  expect(below.stderr).toMatch(/^\S+below has no Pulumi\.yaml, so there is no stack\./);
  rmSync(join(folder, "bin", "config.json"));
  const broken = await cli(emulator, folder, ["drift"], { env: { PATH: join(folder, "bin") } });
  expect(broken).toMatchObject({ code: 1, stdout: "" });
  expect(broken.stderr).toMatch(/^`pulumi config --show-secrets` in \S+ failed: .*\n$/);
});

test("what state keeps secret is shown nowhere, whatever field it is", async () => {
  const entries = (await state({
    home: ["monitor", { ...home, url: "https://s3cret-user:s3cret-pw@example.com/" }],
    shop: ["domain", { name: "s3cret-shop.example" }],
    broken: ["monitor", { ...home, name: "s3cret-name" }],
  })) as { inputs: Record<string, unknown>; outputs: Record<string, unknown> }[];
  for (const [index, key] of [
    [0, "url"],
    [1, "name"],
    [2, "name"],
  ] as const)
    for (const properties of [entries[index]?.inputs, entries[index]?.outputs])
      if (properties) properties[key] = { ...mark, plaintext: JSON.stringify(properties[key]) };
  writeState(entries);
  emulator.monitors.edit(1, { url: "https://s3cret-2@example.com/" });
  emulator.domains.edit(1, { name: "s3cret-other.example" });
  emulator.fault = ({ path }) =>
    path.endsWith("/2") || path.endsWith("/monitors")
      ? {
          kind: "answer",
          effect: false,
          status: path.endsWith("/2") ? 403 : 500,
          body: { message: "No s3cret-name" },
        }
      : undefined;
  for (const form of [[], ["--markdown"], ["--json"]]) {
    const { code, stdout, stderr } = await drift("--max-retries", "0", ...form);
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain("s3cret");
    expect(stdout).toMatch(/url/);
    expect(stdout).toMatch(/another record/);
    expect(stderr).toMatch(/^broken: .*\(the server repeats a secret\)/m);
  }
});

test("--unmanaged lists the records that no resource has: code 2", async () => {
  await state({ home: ["monitor", home], shop: ["domain", { name: "shop.example" }] });
  expect(await drift("--unmanaged")).toMatchObject({
    code: 0,
    stdout: "2 resources compared, no drift, 0 records not managed by this stack.\n",
  });
  emulator.monitors.add({ ...home, name: "By hand | `x`" });
  emulator.domains.add({ name: "hand.example" });
  const plain = await drift("--unmanaged");
  expect(plain.code).toBe(2);
  expect(rowsIn(plain.stdout)).toEqual([
    "Not managed  Id  Name",
    "Domain  2  hand.example",
    "Monitor  2  By hand | `x`",
    "",
    "2 resources compared, no drift, 2 records not managed by this stack.",
    "",
  ]);
  const markdown = await drift("--unmanaged", "--markdown");
  expect(markdown.code).toBe(2);
  expect(markdown.stdout).toContain("| `Monitor` | `2` | `` By hand \\| `x` `` |");
  const json = await drift("--unmanaged", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({
    drifted: [],
    unmanaged: [
      { type: "pulumi-nodejs:dynamic/uptime:Domain", id: "2", name: "hand.example" },
      { type: "pulumi-nodejs:dynamic/uptime:Monitor", id: "2", name: "By hand | `x`" },
    ],
  });
  // Without being asked, it reads no more than the stack has.
  expect((await drift()).code).toBe(0);
  expect(emulator.writes()).toEqual([]);
});

describe("a stack with dynamic and native resources, and an explicit provider", () => {
  let elsewhere: Emulator;
  beforeEach(async () => {
    elsewhere = await Emulator.start({ apiKey: "elsewhere-key" });
  });
  afterEach(() => elsewhere.stop());

  const type = "uptime:index:Monitor";
  const own = "urn:pulumi:test::workspace::pulumi:providers:uptime::server";
  const secret = (value: string, form: "plaintext" | "ciphertext") => ({
    ...mark,
    [form]: JSON.stringify(value),
  });

  /** Three monitors, one of each sort, and one that was imported by command and not yet updated. */
  async function mixed(form: "plaintext" | "ciphertext" = "plaintext"): Promise<void> {
    const entries = (await state({ dynamic: ["monitor", home] })).slice(0, 1);
    const native = async (name: string, server: Emulator, provider: string) => {
      const stack = new NativeStack("monitor", {
        "uptime:baseUrl": server.url,
        "uptime:apiKey": server.apiKey,
      });
      await stack.up({ ...home, name, alertCondition: "url_unavailable" });
      return {
        ...stack.state,
        custom: true,
        type,
        urn: `urn:pulumi:test::workspace::${type}::${name}`,
        provider,
      };
    };
    const usual = "urn:pulumi:test::workspace::pulumi:providers:uptime::default_0_1_0::id";
    const imported = await native("imported", emulator, usual);
    const { name, url, interval } = home;
    const settings = { baseUrl: elsewhere.url, apiKey: secret("elsewhere-key", form), goneStatuses: "[403]" };
    entries.push(
      {
        urn: usual.slice(0, -4),
        custom: true,
        id: "id",
        type: "pulumi:providers:uptime",
        inputs: { version: "0.1.0" },
      },
      {
        urn: own,
        custom: true,
        id: "id",
        type: "pulumi:providers:uptime",
        inputs: settings,
        outputs: settings,
      },
      { ...(await native("native", emulator, usual)), ignoreChanges: ["url"] },
      {
        ...imported,
        inputs: { __imported: true, name: `${name} imported`, url, interval },
        outputs: { ...imported.outputs, name: `${name} imported`, sslAlertDays: null },
      },
      await native("other", elsewhere, `${own}::id`),
      { ...(await native("read", elsewhere, `${own}::id`)), external: true },
    );
    emulator.monitors.edit(2, { name: "Home imported" });
    writeState(entries);
    emulator.forget();
    elsewhere.forget();
  }

  test("is compared by the settings of each resource's provider", async () => {
    await mixed();
    expect(await drift()).toEqual({ code: 0, stdout: "4 resources compared, no drift.\n", stderr: "" });
    // An option for the address is about the stack's own server; others are for all.
    expect(await drift("--base-url", emulator.url, "--max-retries", "0")).toMatchObject({ code: 0 });
    // The default of a field that an import has left out is managed.
    emulator.monitors.edit(2, { alert_condition: "url_text", ssl_alert_days: 7 });
    emulator.monitors.edit(3, { url: "https://ignored.example/", interval: 300 });
    elsewhere.monitors.edit(1, { interval: 900 });
    const { code, stdout } = await drift();
    expect(code).toBe(2);
    expect(rowsIn(stdout)).toEqual([
      "Resource  Id  Property  In state  In the API",
      "Monitor native  3  interval  60  300",
      'Monitor imported  2  alertCondition  "url_unavailable"  "url_text"',
      "Monitor other  1  interval  60  900",
      "",
      "4 resources compared, 3 drifted.",
      "",
    ]);
    expect([...emulator.writes(), ...elsewhere.writes()]).toEqual([]);
  });

  test("lists what is not managed on each server once", async () => {
    await mixed();
    emulator.monitors.add({ ...home, name: "By hand" });
    elsewhere.domains.add({ name: "hand.example" });
    const { stdout } = await drift("--unmanaged", "--json");
    const { unmanaged } = JSON.parse(stdout) as { unmanaged: { name: string }[] };
    // The one that is only read is not managed.
    expect(unmanaged.map(({ name }) => name).sort()).toEqual(["By hand", "hand.example", "read"]);
  });

  test("whose provider's settings are encrypted or missing is an error for its resources alone", async () => {
    await mixed("ciphertext");
    const { code, stdout, stderr } = await drift();
    expect(code).toBe(1);
    expect(stdout).toContain(
      "3 resources compared, none of them drifted as far as compared, 1 could not be compared.",
    );
    expect(stderr).toMatch(
      /^other: The provider server has settings that are encrypted in the state \(apiKey\).*--show-secrets/,
    );
    await mixed();
    const nothing = await cli({ url: "", apiKey: "" }, folder, [
      "drift",
      "--state",
      "state.json",
      "--unmanaged",
    ]);
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain("uptime:baseUrl is not set");
  });
});

test.each(["utf8", "utf16le"] as const)(
  "a state file may be in %s with a mark, as PowerShell writes it",
  async (encoding) => {
    await state({ home: ["monitor", { ...home, name: "Größe" }] });
    const file = join(folder, "state.json");
    writeFileSync(file, `\ufeff${readFileSync(file, "utf8")}`, encoding);
    expect(await drift()).toMatchObject({ code: 0, stdout: "1 resource compared, no drift.\n" });
  },
);

test("if nothing can be compared, it does not say that there is no drift", async () => {
  await state({ home: ["monitor", home] });
  emulator.fault = () => ({ kind: "answer", effect: false, status: 403, body: {} });
  for (const form of [[], ["--markdown"]]) {
    const { code, stdout } = await drift(...form);
    expect(code).toBe(1);
    expect(stdout).toContain("0 resources compared, 1 could not be compared.");
    expect(stdout).not.toContain("no drift");
  }
});

describe("the command itself", () => {
  const main = join(__dirname, "..", "..", "dist", "provider", "cli", "main.js");
  const started = (...args: string[]): Promise<Outcome> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [main, ...args], {
        cwd: folder,
        env: { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: "emulator-key", FORCE_COLOR: "1" },
      });
      const outcome = { code: -1, stdout: "", stderr: "" };
      child.stdout.on("data", (chunk) => (outcome.stdout += String(chunk)));
      child.stderr.on("data", (chunk) => (outcome.stderr += String(chunk)));
      child.on("close", (code) => {
        resolve({ ...outcome, code: code ?? -1 });
      });
    });

  test("ends with the codes that its help names", async () => {
    await state({ home: ["monitor", home] });
    expect(await started("drift", "--state", "state.json")).toMatchObject({ code: 0 });
    emulator.monitors.edit(1, { interval: 300 });
    expect(await started("drift", "--state", "state.json")).toMatchObject({ code: 2 });
    emulator.apiKey = "another";
    const refused = await started("drift", "--state", "state.json");
    expect(refused).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("0 resources compared, 1 could not be compared.") as string,
    });
    expect(refused.stderr).toMatch(/^home: .*UPTIME_API_KEY/);
    expect(await started("drift", "--nonsense")).toMatchObject({ code: 1, stdout: "" });
    const doctor = await started("doctor");
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).not.toContain("\u001b");
    expect(await started("export", "--help")).toMatchObject({ code: 0, stderr: "" });
    expect((await started("--help")).stdout).toMatch(/Exit codes:\s+0 [^]*1 [^]*2 /);
    expect(await started("emulator", "--help")).toMatchObject({ code: 0 });
  });
});
