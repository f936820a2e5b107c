import { cli, type Outcome } from "../support/cli";
import { startEmulator } from "../support/emulator";
import { home } from "../support/monitors";
import { imports, monitorOf, programOf, startStack, yamlMonitor, yamlOf } from "../support/stack";
import type { Stack, YamlResource } from "../support/stack";

const second = { ...home, name: "Second" };

/** Runs `doctor --program` in the project of a stack. */
function doctor({ emulator, workspace }: Stack, ...args: string[]): Promise<Outcome> {
  return cli(emulator, workspace.project, ["doctor", "--program", ".", ...args], {
    env: { ...workspace.env, UPTIME_API_KEY: emulator.apiKey },
  });
}

const failedLines = ({ stdout }: Outcome): string[] =>
  stdout.split("\n").filter((line) => line.startsWith("failed"));

test("lists everything that a preview would refuse or do, with exit code 2, or the error that ends the program, with 1", async () => {
  const stack = await startStack({
    program: `${imports} new Monitor("kept", site("Kept")); new Monitor("changed", site("Changed"));`,
  });
  const { emulator, workspace } = stack;
  emulator.monitors.add(home);
  emulator.monitors.add(second);
  emulator.domains.add({ name: "shop.example" });
  await workspace.up();
  await workspace.write(
    `${imports}
     new Monitor("renamed", site("Kept", { interval: 300 }), { aliases: [{ name: "kept" }] });
     class Site extends pulumi.ComponentResource {
       constructor() {
         super("my:site:Site", "site");
         new Monitor("inside", site("Inside", { interval: 61 }), { parent: this });
       }
     }
     new Site();
     new Monitor("changed", site("Changed", { interval: 62 }));
     new Monitor("right", site("Home"), { import: "1" });
     new Monitor("wrong", site("Second", { interval: 300, requestHeaders: [{ key: "A", value: "s3cret" }] }), { import: "2" });
     new Monitor("gone", site("Third"), { import: 9 });
     const made = new Domain("made", { name: "made.example" });
     new Domain("late", { name: pulumi.interpolate\`\${made.id}.example\`, homepageUrl: made.attributes.apply(String) }, { import: "1" });
     new Monitor("bad", site("Bad", { url: "nowhere" }));
     new Monitor("hidden", site("Hidden", { url: pulumi.secret("s3cret-url") }));
     const seen = Monitor.get("seen", "1");
     new Monitor("copy", site(pulumi.interpolate\`\${seen.name} 2\`));
     uptime.getMonitors().then((all) => { if (all.length !== 4) throw new Error("The lookup is wrong."); });`,
  );
  emulator.forget();
  const state = await workspace.stateText();
  const outcome = await doctor(stack);
  expect([outcome.code, outcome.stderr]).toEqual([2, "Some checks failed; see above.\n"]);
  // One fault per line.
  expect(failedLines(outcome).sort()).toEqual([
    expect.stringMatching(/ Monitor bad: url must be an absolute URL/),
    expect.stringMatching(/ Monitor changed: interval must be one of .* not 62/),
    expect.stringMatching(/ Monitor gone \(import 9\): import of monitor 9 is not possible/),
    expect.stringMatching(/ Monitor hidden: url must be an absolute URL/),
    expect.stringMatching(/ Monitor inside: interval must be one of .* not 61/),
    expect.stringMatching(/ Monitor wrong \(import 2\): interval is 300 in the program and 60 in monitor 2/),
    expect.stringMatching(/ Monitor wrong \(import 2\): requestHeaders differs from what monitor 2 has/),
  ] as string[]);
  for (const line of [
    "ok       2 to import: Domain late (1), Monitor right (1)",
    "ok       2 to create: Domain made, Monitor copy",
    "ok       1 to update: Monitor renamed",
    "ok       The program declares 12 resources.",
  ])
    expect(outcome.stdout).toContain(`${line}\n`);
  expect(outcome.stdout).not.toContain("s3cret");
  expect(emulator.writes()).toEqual([]);
  expect(await workspace.stateText()).toBe(state);

  await workspace.write('throw new Error("There is no token");');
  const wrong = await doctor(stack);
  expect(wrong.code).toBe(1);
  expect(failedLines(wrong)).toEqual([expect.stringMatching(/The preview failed: .*There is no token$/)]);
});

test("warns of a create that would duplicate a record, with what differs and whose it is", async () => {
  const declared = programOf([
    monitorOf("home"),
    monitorOf("second", second),
    monitorOf("again", second, { import: "2" }),
    monitorOf("new", { name: "New", alertChannelIds: [1] }),
    monitorOf("twin", { name: "New", url: home.url.replace("https", "HTTPS"), alertChannelIds: [2] }),
    ...["same", "other"].map((name) =>
      monitorOf(name, { name, alertChannelIds: [3], requestHeaders: [{ key: "X-Key", value: "s3cret" }] }),
    ),
  ]);
  const without = ["undefined", "null"].map((args) => `new uptime.Monitor("no-${args}", ${args});`);
  const late = `const made = new uptime.Domain("made", { name: "made.example" });
    const late = { url: ${JSON.stringify(home.url)}, interval: 60, name: "late", alertChannelIds: [3] };
    new uptime.Monitor("late", { ...late, requestHeaders: [{ key: "X-Key", value: made.id }] });`;
  const stack = await startStack({ program: [declared, late, ...without].join("\n") });
  const { emulator } = stack;
  emulator.monitors.add({ ...home, request_method: "HEAD", cache_buster: true });
  emulator.monitors.add(second);
  for (const [name, value] of [
    ["same", "s3cret"],
    ["other", "an0ther"],
    ["late", "an0ther"],
  ])
    emulator.monitors.add({
      ...home,
      name,
      alert_channel_ids: [3],
      request_headers: [{ key: "X-Key", value }],
    });
  const outcome = await doctor(stack);
  expect(outcome.code).toBe(2);
  // The others are listed all the same.
  expect(failedLines(outcome)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/Monitor no-undefined: name /),
      expect.stringMatching(/Monitor no-null: name /),
    ]) as string[],
  );
  expect(outcome.stdout).toMatch(
    /^warning {2}Monitor home: would be created, although a record like it exists: record 1 differs in requestMethod, cacheBuster\. .* option import, or set uptime:adoptExisting for one run\.$/m,
  );
  expect(outcome.stdout).toMatch(
    /^warning {2}Monitor second: would be created, although .*: record 2, which Monitor again has, is equal\.$/m,
  );
  // Secrets are compared too, and not shown.
  expect(outcome.stdout).toMatch(/^warning {2}Monitor same: .*: record 3 is equal\./m);
  expect(outcome.stdout).toMatch(/^warning {2}Monitor other: .*: record 4 differs in requestHeaders\./m);
  expect(outcome.stdout).not.toMatch(/s3cret|an0ther/);
  // What is not known yet may differ.
  expect(outcome.stdout).toContain(
    "warning  Monitor late: not known before `pulumi up`, so not compared with records of its name: requestHeaders.\n",
  );
  expect(outcome.stdout).toContain("ok       3 to create: Domain made, Monitor new, Monitor twin\n");
  expect(outcome.stdout).toContain(
    "warning  Several new resources have the same name and url: Monitor new, Monitor twin. If they are to adopt a record, only one of them can.\n",
  );
  expect(outcome.stdout).toMatch(/^warning {2}Without alert channels, .*: Monitor \w+, Monitor \w+\.$/m);
  expect(emulator.writes()).toEqual([]);
});

test("names the resource that has a record like a new one, also if state knows it by a former key", async () => {
  const stack = await startStack({});
  const { emulator, workspace } = stack;
  const program = (...names: string[]): string =>
    programOf(names.map((name) => monitorOf(name, { name: name.replace(/^again-/, "") })));
  await workspace.write(program("managed"));
  await workspace.up();
  emulator.monitors.add({ ...home, name: "twice" });
  emulator.monitors.add({ ...home, name: "twice", interval: 300 });
  emulator.monitors.add({ ...home, name: "elsewhere", url: "https://elsewhere.example/" });
  emulator.monitors.add({ ...home, name: "Q &amp; A" });
  emulator.forget();
  emulator.apiKey = "another-key";
  await workspace.write(program("managed", "again-managed", "twice", "elsewhere", "Q &amp; A"));
  const { code, stdout } = await doctor(stack);
  expect(code).toBe(0);
  for (const line of [
    /warning {2}Monitor again-managed: would be created, .*: record 1, which Monitor managed has, is equal\.\n/,
    /warning {2}Monitor twice: would be created, .*: record \d is equal; record \d differs in interval\. To adopt it/,
    /ok {7}1 to create: Monitor elsewhere\n/,
    /warning {2}Monitor Q &amp; A: would be created, .*: record \d is equal\. To adopt it/,
    /The program declares 5 resources\.\n/,
    /nobody is told of a failure: .*Monitor twice/,
  ])
    expect(stdout).toMatch(line);

  await workspace.setConfig({ "uptime:adoptExisting": "true" });
  const adopting = await doctor(stack);
  expect([adopting.code, adopting.stdout]).toEqual([
    0,
    expect.stringMatching(/^ok {7}Monitor twice: adopts record 2\.$/m),
  ]);
  // It keeps the record's channels.
  expect(adopting.stdout).not.toMatch(/nobody is told of a failure: .*Monitor twice/);
  emulator.monitors.edit(2, { interval: 180 });
  const refusing = await doctor(stack);
  expect(refusing.code).toBe(2);
  expect(failedLines(refusing)).toEqual([
    expect.stringMatching(
      /Monitor twice: with uptime:adoptExisting, exactly one record must be equal: record \d differs in interval; /,
    ),
  ]);
  expect(emulator.writes()).toEqual([]);
});

test("checks imports and explicit providers of the plugin like dynamic resources", async () => {
  const stack = await startStack({});
  const { emulator, workspace } = stack;
  emulator.monitors.add(home);
  emulator.monitors.add(second);
  const theirs = await startEmulator({ apiKey: "their-key" });
  theirs.monitors.add({ ...home, name: "Theirs", url: "https://theirs.example/" });
  const program = (more: string): string =>
    `const Dynamic = require("pulumi-uptime").Monitor;
     ${imports.replace("pulumi-uptime", "pulumi-uptime/native")}
     const provider = new uptime.Provider("theirs", { baseUrl: ${JSON.stringify(theirs.url)}, apiKey: pulumi.secret("their-key") });
     new Monitor("kept", site("Kept"), { provider });
     ${more}`;
  await workspace.write(program(""));
  await workspace.up();
  for (const one of [emulator, theirs]) one.forget();
  await workspace.write(
    program(`
     new Monitor("right", site("Home"), { import: "1" });
     new Monitor("wrong", site("Second", { interval: 300, requestHeaders: [{ key: "A", value: "s3cret" }] }), { import: "2" });
     new Dynamic("again", site("Home"), { import: "1" });
     new Monitor("account", site("Home", { account: "eu" }), { import: "1" });
     new Monitor("theirs", site("Theirs", { url: "https://theirs.example/" }), { import: "1", provider });
     new Monitor("not-theirs", site("Second"), { import: "7", provider });
     new Monitor("bad", site("Bad", { url: "nowhere" }), { provider });
     new Monitor("again", site("Kept"), { provider });
     const late = new uptime.Provider("late", { baseUrl: pulumi.interpolate\`https://\${new Domain("made", { name: "made.example" }).id}.example\`, apiKey: "k" });
     new Monitor("later", site("Later"), { import: "7", provider: late });
     Monitor.get("seen", "1", {}, { provider });`),
  );
  const outcome = await doctor(stack);
  expect(outcome.stderr).toBe("Some checks failed; see above.\n");
  expect(outcome.code).toBe(2);
  const failed = failedLines(outcome).join("\n");
  expect(failed).toMatch(/Monitor wrong \(import 2\): interval is 300/);
  expect(failed).toMatch(/Monitor account \(import 1\): account is not that of the id .*import "eu\/1"/);
  expect(failed).toMatch(/Monitor not-theirs \(import 7\): import or get of monitor 7 is not possible/);
  expect(failed).toMatch(/Monitor bad: url must be an absolute URL/);
  expect(failed).not.toMatch(/Monitor (theirs|later|made|kept) /);
  expect(outcome.stdout).toMatch(
    /warning {2}Monitor again: would be created, .*: record 2, which Monitor kept has, is equal/,
  );
  expect(outcome.stdout).toMatch(
    /warning {2}The settings of the provider late are not known before `pulumi up`, so Monitor later was not checked/,
  );
  expect(outcome.stdout).not.toContain("s3cret");
  expect([...emulator.writes(), ...theirs.writes()]).toEqual([]);
});

test("checks a program in YAML, which needs no other settings if all resources have an explicit provider", async () => {
  const stack = await startStack({ language: "yaml", env: {} });
  const { emulator, workspace } = stack;
  emulator.monitors.add(home);
  const program = (apiKey: string, options: object, others: Record<string, YamlResource> = {}): string =>
    yamlOf({
      server: { type: "pulumi:providers:uptime", properties: { baseUrl: emulator.url, apiKey } },
      home: yamlMonitor({}, { ...options, import: "1" }),
      ...others,
    });
  const alone = (...args: string[]): Promise<Outcome> => {
    const { env, project } = workspace;
    return cli({ url: "", apiKey: "" }, project, ["doctor", "--program", ".", ...args], { env });
  };
  const options = { provider: "${server}" };
  await workspace.write(
    program(emulator.apiKey, options, {
      wrong: yamlMonitor({ name: "Wrong", interval: 45 }, options),
      new: yamlMonitor({ name: "New" }, options),
    }),
  );
  const outcome = await alone();
  expect(outcome.code).toBe(2);
  expect(failedLines(outcome)).toEqual([expect.stringMatching(/Monitor wrong: interval must be one of/)]);
  expect(outcome.stdout).toContain("ok       1 to import: Monitor home (1)\n");
  expect(outcome.stdout).toMatch(/warning {2}The provider server is new, so its resources are not compared/);
  expect(outcome.stdout).toContain("ok       1 to create: Monitor new\n");
  expect(emulator.writes()).toEqual([]);
  await workspace.write(program(emulator.apiKey, options));
  const right = await alone("--json");
  expect(right.code).toBe(0);
  const planned = [{ title: "Monitor home", operation: "import", record: "1" }];
  expect(JSON.parse(right.stdout)).toMatchObject({ program: { resources: 1, planned, refused: [] } });
  await workspace.write(program("wr0ng-key", options));
  const refused = await alone();
  expect(refused).toMatchObject({ code: 2 });
  expect(failedLines(refused)).toEqual([expect.stringMatching(/Monitor home \(import 1\): .*status 401/)]);
  expect(refused.stdout).not.toContain("wr0ng-key");
  await workspace.write(program(emulator.apiKey, {}));
  expect((await alone()).stdout).toMatch(/failed .*uptime:baseUrl is not set/);
  // What Pulumi itself refuses has its own words, also where they would come as events.
  await workspace.write(program(emulator.apiKey, options, { typo: yamlMonitor({ alertChannels: [4] }) }));
  workspace.env.PULUMI_ENABLE_STREAMING_JSON_PREVIEW = "true";
  const unknown = await alone();
  expect(unknown.code).toBe(1);
  expect(failedLines(unknown)).toEqual([
    expect.stringMatching(
      /The preview failed: .*Property alertChannels does not exist on 'uptime:index:Monitor' on Pulumi\.yaml line \d+/,
    ),
  ]);
  expect(unknown.stdout).not.toContain("[31m");
});

test("an up with the preview's environment variable changes nothing", async () => {
  const both = (name: string, interval: number): string =>
    ["", "/native"]
      .map((front) => {
        const args = JSON.stringify({ ...home, name, interval });
        return `new (require("pulumi-uptime${front}").Monitor)("${name}${front}", ${args});`;
      })
      .join("\n");
  const program = both("updated", 60) + both("deleted", 60) + both("kept", 60);
  const { emulator, workspace } = await startStack({ program });
  await workspace.up();
  const before = await workspace.resources();
  emulator.forget();
  await workspace.write(both("updated", 300) + both("kept", 60) + both("new", 60));
  workspace.env.PULUMI_UPTIME_COLLECT = `${workspace.project}/collected`;
  expect(await workspace.failed("up", "--continue-on-error")).toContain("PULUMI_UPTIME_COLLECT is set");
  expect(emulator.writes()).toEqual([]);
  const kept = (all: typeof before) =>
    Object.values(all)
      .map(({ urn, id, inputs, outputs }) => ({ urn, id, inputs, outputs }))
      .sort((one, other) => (one.urn < other.urn ? -1 : 1));
  expect(kept(await workspace.resources())).toEqual(kept(before));
});
