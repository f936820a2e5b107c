import { createHash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";

import { sampleProgram } from "../../provider/cli/shared/scaffold";
import { blocksOf } from "../support/blocks";
import { cli, emulator, failed, folder, withStack } from "../support/cli";
import { answer, startEmulator } from "../support/emulator";
import {
  addMonitor,
  declaredResources,
  exported,
  exportedWith,
  files,
  newProject,
  out,
  site,
  text,
  withExports,
  write,
} from "../support/exports";
import { addNasty } from "../support/nasty";

const monitorType = "pulumi-nodejs:dynamic/uptime:Monitor";
const nativeType = "uptime:index:Monitor";
withExports();

/** The commands on a page, in order. */
const commandsOn = (page: string): string[] =>
  blocksOf(page, text(page)).flatMap(({ language, code }) =>
    language === "sh" ? code.trimEnd().split("\n") : [],
  );
/** What the report says, as JSON. */
const reported = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { code, stdout, stderr } = await exported("--json", ...args);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Record<string, unknown>;
};
const addDomain = (): unknown => emulator.domains.add({ name: "shop.example" });
const resource = (type: string, name: string, id: string, outputs: object = {}) => ({
  urn: `urn:pulumi:prod::mine::${type}::${name}`,
  type,
  id,
  outputs,
});
/** A stack that has these resources. */
const stackWith = (...resources: object[]): NodeJS.ProcessEnv =>
  withStack(folder, { "uptime:apiKey": emulator.apiKey }, resources);

describe("for another language", () => {
  test.each([
    ["yaml", "imported.yaml", "Pulumi.yaml", false],
    ["python", "imported.py", "__main__.py", true],
    ["go", "imported.go.txt", "main.go", true],
  ])("%s gets a file for pulumi import, and the next commands", async (language, code, program, hasSdk) => {
    addDomain();
    for (const name of ["Home-page", "Pulumi"]) addMonitor(name);
    addMonitor("Odd", { interval: 45 });
    newProject({});
    const { stdout, code: exitCode, stderr } = await exported("--language", language);
    expect([exitCode, stderr]).toEqual([0, ""]);
    const pulumi = language === "yaml" ? "pulumi-2" : "pulumi";
    expect(JSON.parse(text("uptime-import.json"))).toMatchObject({
      resources: [
        { type: "uptime:index:Domain", name: "shop-example", id: "1" },
        { type: nativeType, name: "home-page", id: "1" },
        { type: nativeType, name: pulumi, id: "2" },
      ],
    });
    const commands = [
      `pulumi new ${language} --force`,
      "npm install --omit=peer pulumi-uptime",
      "npx --no pulumi-uptime plugin install",
      `pulumi config set uptime:baseUrl ${emulator.url}`,
      "pulumi config set --secret uptime:apiKey",
      ...(hasSdk ? ["pulumi package add ./node_modules/pulumi-uptime/plugin/schema.json"] : []),
      `pulumi import --file uptime-import.json --out ${code}`,
      `# Copy the resources in ${code} to ${program}, then:`,
      "pulumi preview",
    ];
    expect(stdout).toMatch(/\nNext, follow out\/NEXT-STEPS\.md\.\n$/);
    expect(commandsOn("NEXT-STEPS.md")).toEqual(commands);
    expect(stdout).toMatch(/They are left out; [^]*Monitor 3 \(odd\): interval must be one of/);
    expect(text("NEXT-STEPS.md")).toMatch(/They are left out; [^]*`interval must be one of/);
    expect(files()).toEqual(["NEXT-STEPS.md", "uptime-import.json"]);
    expect(emulator.writes()).toEqual([]);
  });

  test("an existing project gets only the commands that it needs", async () => {
    for (const name of ["Shop", "Other", "Third"]) addMonitor(name);
    fs.mkdirSync(out("node_modules", "pulumi-uptime"), { recursive: true });
    const program = `
name: mine
runtime: {name: yaml}
plugins: {providers: [{name: uptime, path: node_modules/pulumi-uptime/plugin}]}
resources:
  shop: {type: "uptime:Monitor", properties: {name: Shop}, options: {import: "1"}}
  other: {type: "datadog:Monitor", options: {import: "3"}}
`;
    write("Pulumi.yaml", program);
    const env = stackWith(resource(nativeType, "third", "3"));
    const args = ["--language", "yaml", "--stack", "prod", "--json"];
    expect(JSON.parse((await exportedWith(env, ...args)).stdout)).toMatchObject({
      language: "yaml",
      known: 2,
      resources: [{ type: nativeType, id: "2", name: "other-2" }],
      files: ["uptime-import.json", "NEXT-STEPS.md"],
    });
    expect(commandsOn("NEXT-STEPS.md")).toEqual([
      "pulumi import --file uptime-import.json --out imported.yaml --stack prod",
      "# Copy the resources in imported.yaml to Pulumi.yaml, then:",
      "pulumi preview --stack prod",
    ]);
    expect(text("Pulumi.yaml")).toBe(program);
  });

  test("an impossible combination is refused, with what to do instead", async () => {
    addMonitor("Odd", { interval: 45 });
    const refused = (...args: string[]): Promise<string> => failed(exported(...args));
    expect(await refused("--language", "pyton")).toMatch(
      /'pyton' is invalid\. Allowed choices are typescript, yaml, python, go\.\n/,
    );
    expect(await refused("--language", "yaml", "--state", "x.json")).toMatch(
      /^--state is for programs in TypeScript; /,
    );
    newProject({ "Pulumi.yaml": "name: mine\nruntime: yaml\n" });
    expect(await refused()).toMatch(
      /has the runtime yaml, so .* not in typescript: use --language yaml, or another folder\.\n$/,
    );
    newProject({ "Pulumi.yaml": "name: mine\nruntime: dotnet\n" });
    expect(await refused("--language", "yaml")).toMatch(
      /has the runtime dotnet, .*: use another folder\.\n$/,
    );
    newProject({});
    // With nothing to import there is no file for it.
    const none = await exported("--language", "yaml");
    expect(none.stdout).toContain("They are left out");
    expect(none.stdout).not.toContain("pulumi import");
    expect(files()).toEqual(["NEXT-STEPS.md"]);
  });
});

describe("an export into a folder", () => {
  test("adds only new records the second time, and changes no file", async () => {
    addNasty(emulator, 10);
    await exported();
    const before = files().map((file) => [file, text(file)] as const);
    const again = await exported("--secrets", "secrets.json");
    expect(again.stdout).toMatch(
      /^Nothing is new: 14 records known already[^]*secrets\.json is not written: /,
    );
    addMonitor("Home page");
    addMonitor("odd", { interval: 1 });
    const report = await reported();
    expect(report).toMatchObject({
      newProject: false,
      known: 14,
      files: ["monitors-2.ts", "NEXT-STEPS-2.md"],
      resources: [
        { id: "11", name: "home-page-11" },
        { id: "12", name: "odd" },
      ],
    });
    expect(JSON.stringify(report.notes)).toMatch(/stack cannot be read.*pulumi/);
    expect(text("NEXT-STEPS-2.md")).toContain('import "./monitors-2";');
    for (const [file, content] of before) expect(text(file)).toBe(content);
    // Also those that are comments.
    expect((await exported()).stdout).toMatch(/^Nothing is new: 16 records known already/);
  });

  test("keeps every file of an existing project, and says what to add", async () => {
    for (const name of ["Shop", "Other"]) addMonitor(name);
    addDomain();
    const present = {
      "Pulumi.yaml": "name: mine\nruntime: nodejs\n",
      "package.json": '{ "name": "mine", "type": "module" }',
      "index.ts": "",
      "monitors.ts": "",
      "lib/old.ts": 'new uptime.Monitor("shop", { name: "Shop" }, { protect: true, import: "1" });',
    };
    newProject(present);
    const { stdout } = await exported();
    expect(stdout).toMatch(/^Wrote 2 resources to out; 1 more were known already:/);
    const written = ["NEXT-STEPS.md", "domains.ts", "lib", "monitors-2.ts"];
    expect(files()).toEqual([...Object.keys(present).slice(0, 4), ...written].sort());
    for (const [file, content] of Object.entries(present)) expect(text(file)).toBe(content);
    expect(text("NEXT-STEPS.md")).toContain('import "./domains.js";\nimport "./monitors-2.js";');
  });

  const naming: Record<string, string> = {
    "its id": 'new Monitor("a", { name: "x" }, { import: "1" });',
    "its id under a quoted name": 'new Monitor("a", { name: "x" }, { "import": "1" });',
    "its id, behind other options": "new up.Monitor(`a`, {}, { protect: true, import: '1' });",
    "its id, and a name that looks like an option": `new Monitor("a", { name: "{ import: '9' }" }, { import: "1" });`,
    "its id, in a comment":
      '// Don\'t: `\n// new Monitor(\n//   "a",\n//   {},\n//   { import: "1" },\n// );',
    "its id, and computes the name": 'new Monitor(name, { url: new URL("/x") }, { import: "1" });',
    "the id of a monitor, not of a domain": 'new Domain("a", {}, {}); new Monitor("b", {}, { import: "1" });',
  };
  test.each(Object.entries(naming))("skips a record if the program has %s", async (_, source) => {
    addMonitor("Shop");
    addDomain();
    write("index.ts", source);
    expect(await reported("--dry-run")).toMatchObject({ known: 1, resources: [{ name: "shop-example" }] });
  });

  test.each<[string, string]>([
    ["another resource's", 'new Monitor("a", { name: "x" }); new other.Thing("b", {}, { import: "1" });'],
    ["another account's", 'new Monitor("a", { account: "b" }, { import: "1" });'],
    ["another kind's", 'new Domain("a", {}, { import: "1" });'],
  ])("adds a record if the id in the program is %s", async (_, source) => {
    addMonitor("Shop");
    write("index.ts", source);
    expect((await exported("--dry-run")).stdout).toMatch(/^Would write 1 resource to out:/);
  });

  test("skips a record that the stack has from an address in uptime:movedFrom", async () => {
    addMonitor("Shop");
    const old = "https://old.example";
    const __server = createHash("sha256").update(old).digest("hex").slice(0, 8);
    const known = resource(monitorType, "shop", "1", { __server });
    const exportedFrom = (config: Record<string, string>) =>
      exportedWith(withStack(folder, { "uptime:apiKey": emulator.apiKey, ...config }, [known]), "--dry-run");
    expect((await exportedFrom({})).stdout).toMatch(/^Would write 1 resource to/);
    expect((await exportedFrom({ "uptime:movedFrom": old })).stdout).toMatch(/^Nothing is new: 1 record/);
  });

  test("writes the page for a state with records whose ids the program names already", async () => {
    addMonitor("Shop");
    write("index.ts", 'new Monitor("shop", { name: "Shop" }, { import: "1" });');
    const { stdout } = await exportedWith(stackWith(), "--stack", "prod", "--state", "state.json");
    expect(stdout).toMatch(
      /^Nothing is new: 1 record[^]*and 1 more resource\.\n\nNext, follow out\/NEXT-STEPS/,
    );
    expect(commandsOn("NEXT-STEPS.md")).toEqual([
      "pulumi stack import --file ../state.json",
      "rm ../state.json",
      "pulumi preview",
      "pulumi up",
    ]);
  });

  test("says to import the state only if one is written", async () => {
    addMonitor("Odd", { interval: 45 });
    await exportedWith(stackWith(), "--stack", "prod", "--state", "state.json");
    expect(fs.existsSync(join(folder, "state.json"))).toBe(false);
    expect(text("NEXT-STEPS.md")).not.toContain("pulumi stack import");
  });

  test("explains what to do first if the program declares resources without an id", async () => {
    addMonitor("Shop");
    write(
      "index.ts",
      'new Monitor("s3", { name: "Shop" });\nnew Monitor("known", {});\nnew Monitor("a", {}, { import: "9" });',
    );
    const { stdout } = await exportedWith(stackWith(resource(monitorType, "known", "7")), "--dry-run");
    expect(stdout).toMatch(
      /The program declares Monitor s3 without an id, .*uptime:adoptExisting.*`pulumi up`.* and export again\./,
    );
  });

  test("says to replace the sample of a new project", async () => {
    addMonitor("Shop");
    write("index.ts", sampleProgram);
    const { stdout } = await exported();
    expect(text("NEXT-STEPS.md")).toMatch(
      /Replace all of `index\.ts`, .*`home`.*\n\n```ts\nimport "\.\/monitors";\n/,
    );
    expect(stdout).not.toContain("without an id");
  });

  test("writes nothing with --dry-run", async () => {
    addNasty(emulator, 3);
    fs.rmSync(out(), { recursive: true });
    const { stdout } = await exported("--dry-run", "--secrets", "secrets.json");
    expect(stdout).toMatch(/^Would write 7 resources to out:\n {2}Pulumi.yaml\n/);
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});

test("--dry-run needs no --out, and a name without Latin letters becomes the URL's host and path", async () => {
  addMonitor("мир", { url: "https://h1.example/u?q=1&a=1#frag" });
  const { code, stdout } = await cli(emulator, out(), ["export", "--dry-run", "--json"]);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { resources: [{ name: "h1-example-u" }] }]);
});

describe("an export reads", () => {
  test.each([
    [[], "shop-example,shop,other"],
    [["--only", "domains"], "shop-example"],
    [["--only", "monitors"], "shop,other"],
    [["--search", "shop"], "shop-example,shop"],
    [["--search", "nothing"], ""],
  ])("the records that the options select: %j", async (args, names) => {
    for (const name of ["Shop", "Other"]) addMonitor(name);
    addDomain();
    const { resources } = await reported("--dry-run", ...args);
    expect((resources as { name: string }[]).map(({ name }) => name).join()).toBe(names);
  });

  test("the whole account, or writes nothing", async () => {
    for (let index = 0; index < 250; index++) addMonitor(`Shop ${index}`);
    emulator.dialect = { paging: "meta" };
    emulator.fault = ({ query }) =>
      query.some(([name, value]) => name === "page" && value === "3") ? answer(404, "") : undefined;
    const { code, stdout, stderr } = await exported();
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^GET .* was answered with status 404.*\n$/);
    expect(files()).toEqual(["Pulumi.yaml"]);
  });

  test("the account that --account names, as the program does", async () => {
    addMonitor("Ours");
    const theirs = await startEmulator({ apiKey: "their-key" });
    theirs.monitors.add(site("Theirs"));
    const accounts = JSON.stringify({ theirs: { baseUrl: theirs.url, apiKey: "their-key" } });
    const env = withStack(folder, { "uptime:accounts": accounts });
    const said = async (...args: string[]): Promise<string> => (await exportedWith(env, ...args)).stdout;
    expect(await said()).toMatch(/^Wrote 1 resource to/);
    expect(await said("--account", "theirs")).toMatch(/^Wrote 1 resource to/);
    const declared = declaredResources().map(({ args, options }) => [
      args.name,
      args.account,
      options.import,
    ]);
    expect(declared.sort()).toEqual([
      ["Ours", undefined, "1"],
      ["Theirs", "theirs", "1"],
    ]);
    expect(await said("--account", "theirs")).toMatch(/^Nothing is new: 1 record known already/);
    // As a stack knows it that has imported it.
    withStack(folder, { "uptime:accounts": accounts }, [
      resource(monitorType, "theirs", "1", { account: "theirs" }),
    ]);
    for (const file of files().filter((name) => name.endsWith(".ts"))) fs.rmSync(out(file));
    expect(await said("--account", "theirs")).toMatch(/^Nothing is new/);
    expect(await said()).toMatch(/^Wrote 1 resource to/);
    expect(theirs.writes()).toEqual([]);
  });

  test("lists only, if they show whole records, also if some show more fields than others", async () => {
    emulator.dialect = { emptyAs: "absent" };
    for (let index = 0; index < 250; index++) addMonitor(`site-${index}`);
    addMonitor("Full", { ssl_alert_days: 7, alert_text_lookup: "x" });
    addDomain();
    const { code, stdout } = await exportedWith(stackWith(), "--stack", "prod", "--state", "state.json");
    expect([code, stdout]).toEqual([0, expect.stringContaining("and 252 more resources.") as string]);
    // Pages, and one record of each kind.
    expect(emulator.requests.filter(({ path }) => !/\/(monitors|domains)$/.test(path))).toHaveLength(2);
    expect(emulator.requests.length).toBeLessThanOrEqual(4 + 2);
  });

  test("with progress on a terminal, and without elsewhere", async () => {
    addNasty(emulator, 3);
    const args = ["export", "--out", "out", "--dry-run"];
    const seen = await cli(emulator, folder, args, { isTTY: true });
    expect(seen.stderr).toContain("Reading monitors: 3 …");
    expect(seen.stderr.endsWith("\r\u001b[K")).toBe(true);
    expect((await cli(emulator, folder, args)).stderr).toBe("");
  });
});
