import fs from "node:fs";
import { join } from "node:path";

import { keyFingerprintOf } from "../../provider/api/settings";
import { sampleProgram } from "../../provider/cli/shared/scaffold";
import { hexHash } from "../../provider/common/hash";
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
  text,
  withExports,
  write,
} from "../support/exports";
import { secretMark } from "../support/marks";
import { site } from "../support/monitors";
import { addNasty } from "../support/nasty";

const monitorType = "pulumi-nodejs:dynamic/uptime:Monitor";
const nativeType = "uptime:index:Monitor";
withExports();

/** The commands of the next steps, in order. */
const nextCommands = (): string[] =>
  blocksOf("NEXT-STEPS.md", text("NEXT-STEPS.md")).flatMap(({ language, code }) =>
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
    for (const name of ["Home-page", "Pulumi", "null"]) addMonitor(name);
    addMonitor("Odd", { interval: 45 });
    newProject({});
    const { stdout, code: exitCode, stderr } = await exported("--language", language);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(text("uptime-import.json"))).toMatchObject({
      resources: [
        { type: "uptime:index:Domain", name: "shop-example", id: "1" },
        { type: nativeType, name: "home-page", id: "1" },
        { type: nativeType, name: "pulumi-2", id: "2" },
        { type: nativeType, name: "null-3", id: "3" },
      ],
    });
    const commands = [
      `pulumi new ${language} --force`,
      // It did not come from a registry.
      `npm install --omit=peer $(npm pack --silent --ignore-scripts ${join(__dirname, "..", "..")})`,
      "npx --no pulumi-uptime plugin install",
      `pulumi config set uptime:baseUrl ${emulator.url}`,
      "pulumi config set --secret uptime:apiKey",
      ...(hasSdk ? ["pulumi package add ./node_modules/pulumi-uptime/plugin/schema.json"] : []),
      `pulumi import --file uptime-import.json --out ${code}`,
      `# Copy the resources in ${code} to ${program}, then:`,
      "pulumi preview",
      "pulumi up",
    ];
    expect(stdout).toMatch(/\nNext, follow out\/NEXT-STEPS\.md\.\n$/);
    expect(nextCommands()).toEqual(commands);
    expect(stdout).toMatch(/so they are left out\. [^]*Monitor 4 \(odd\): interval must be one of/);
    expect(files()).toEqual(["NEXT-STEPS.md", "uptime-import.json"]);
    expect(emulator.writes()).toEqual([]);
  });

  test("the next steps do not name a file of secrets that is not written", async () => {
    addMonitor("Shop", { request_auth_username: "probe" });
    newProject({});
    const { stdout } = await exported("--language", "yaml", "--secrets", "secrets.json");
    expect(stdout).toContain("secrets.json is not written, because no exported record has a secret.");
    expect(text("NEXT-STEPS.md")).toContain("Each command asks for a value.");
    expect(text("NEXT-STEPS.md")).not.toContain("not in the file");
  });

  test("no file of secrets is written for a record that is left out", async () => {
    addMonitor("Odd", { interval: 45, request_headers: [{ key: "X-Probe", value: "yes" }] });
    newProject({});
    const { stdout } = await exported("--language", "yaml", "--secrets", "secrets.json");
    expect(stdout).toContain("secrets.json is not written, because no exported record has a secret.");
    expect(stdout).not.toContain("Request headers and passwords");
    expect(fs.existsSync(join(folder, "secrets.json"))).toBe(false);
  });

  test("an existing project gets only the commands that it needs", async () => {
    for (const name of ["Shop", "Other", "Third"]) addMonitor(name);
    fs.mkdirSync(out("node_modules", "pulumi-uptime"), { recursive: true });
    const program = `
name: mine
runtime: {name: yaml}
plugins: {providers: [{name: uptime, path: node_modules/pulumi-uptime/plugin}]}
`;
    write("Pulumi.yaml", program);
    const env = stackWith(
      resource(nativeType, "shop", "1"),
      resource(nativeType, "third", "3"),
      resource("datadog:index:Monitor", "other", "2"),
    );
    const args = ["--language", "yaml", "--stack", "prod", "--json"];
    expect(JSON.parse((await exportedWith(env, ...args)).stdout)).toMatchObject({
      language: "yaml",
      known: 2,
      // The name is that of another package's resource.
      resources: [{ type: nativeType, id: "2", name: "other-2" }],
      files: ["uptime-import.json", "NEXT-STEPS.md"],
    });
    expect(nextCommands()).toEqual([
      "pulumi stack select prod",
      "pulumi import --file uptime-import.json --out imported.yaml",
      "# Copy the resources in imported.yaml to Pulumi.yaml, then:",
      "pulumi preview",
      "pulumi up",
    ]);
    expect(text("Pulumi.yaml")).toBe(program);
  });

  test("an impossible combination is refused, with what to do instead", async () => {
    addMonitor("Odd", { interval: 45 });
    const refused = (...args: string[]): Promise<string> => failed(exported(...args));
    expect(await refused("--language", "pyton")).toMatch(
      /'pyton' is invalid\. Allowed choices are typescript, yaml, python, go\.\n/,
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
    expect(none.stdout).toMatch(/^Wrote 0 resources to out\.\n\n.*they are left out\. /);
    expect(none.stdout).not.toContain("NEXT-STEPS");
    expect(files()).toEqual([]);
  });
});

test("a new project gets the option --allow-http as a setting, because its address may need it", async () => {
  addMonitor("Shop");
  newProject({ "package.json": "{}" });
  await exported("--allow-http");
  expect(nextCommands()).toEqual(
    expect.arrayContaining([
      `pulumi config set uptime:baseUrl ${emulator.url}`,
      "pulumi config set uptime:allowHttp true",
    ]) as string[],
  );
});

describe("an export into a folder", () => {
  const lookedThere = /If the program imports others, run `pulumi up`, and export again/;

  test("leaves out what the stack's state has, says that it looked there only, and changes no file", async () => {
    for (const name of ["Shop", "Other"]) addMonitor(name);
    addMonitor("odd");
    addDomain();
    await exported();
    const before = files().map((file) => [file, text(file)] as const);
    const state = [
      resource("pulumi-nodejs:dynamic/uptime:Domain", "shop-example", "1"),
      resource(monitorType, "shop", "1"),
      // A record that is only read, and one that is about to be deleted, are not managed.
      { ...resource(monitorType, "other", "2"), external: true },
      { ...resource(monitorType, "odd", "3"), delete: true },
    ];
    const again = await exportedWith(stackWith(...state), "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({
      known: 2,
      files: ["monitors-2.ts", "NEXT-STEPS-2.md"],
      resources: [
        { id: "2", name: "other-2" },
        { id: "3", name: "odd-3" },
      ],
      notes: [expect.stringMatching(lookedThere)],
    });
    expect(text("NEXT-STEPS-2.md")).toContain('import "./monitors-2";');
    expect(text("NEXT-STEPS-2.md")).toContain(
      "After the first `pulumi up`, remove the option `import` from the program: with it, Pulumi cannot recreate a record",
    );
    for (const [file, content] of before) expect(text(file)).toBe(content);
    const whole = [resource(monitorType, "other-2", "2"), resource(nativeType, "odd-3", "3")];
    const none = await exportedWith(stackWith(...state, ...whole), "--secrets", "secrets.json");
    expect(none.stdout).toMatch(
      /^Wrote 0 resources to out; the stack already manages 4 records\.\n[^]*secrets\.json is not written, /,
    );
    expect(files()).toHaveLength(before.length + 2);
  });

  test("exports every record if the project's stack cannot be read, and says so", async () => {
    addMonitor("Shop");
    const { url, apiKey } = emulator;
    const env = stackWith(resource(monitorType, "shop", "1"));
    fs.rmSync(join(folder, "bin", "config.json"));
    const readable = { ...env, UPTIME_BASE_URL: url, UPTIME_API_KEY: apiKey };
    const { code, stdout, stderr } = await exportedWith(readable, "--dry-run");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Would write 1 resource to out:/)]);
    const told =
      /^The project's stack cannot be read.*[^.]\. Records that the stack manages already are exported too\.\n/;
    expect(stderr).toMatch(told);
    // What is missing may be set there.
    expect(await failed(exportedWith({ ...env, UPTIME_BASE_URL: undefined }))).toMatch(told);
    expect(await failed(exportedWith(readable, "--stack", "prod"))).toMatch(/`pulumi config .* failed/);
  });

  test("writes nothing if there are settings and no state, or no project for the option --stack", async () => {
    addMonitor("Shop");
    const env = { ...stackWith(), UPTIME_BASE_URL: emulator.url };
    fs.rmSync(join(folder, "bin", "state.json"));
    expect(await failed(exportedWith(env))).toMatch(/`pulumi stack export` in .* failed/);
    newProject({});
    expect(await failed(exportedWith(env, "--stack", "prod"))).toMatch(/^\S+out has no Pulumi\.yaml/);
    expect(files()).toEqual([]);
  });

  test("keeps every file of an existing project, and says what to add", async () => {
    for (const name of ["Shop", "Other"]) addMonitor(name);
    addDomain();
    const present = {
      "Pulumi.yaml": "name: mine\nruntime: nodejs\n",
      "package.json": '{ "name": "mine", "type": "module" }',
      "index.ts": "",
      "monitors.ts": "",
      "lib/old.ts": "",
    };
    newProject(present);
    const { stdout } = await exportedWith(stackWith(resource(monitorType, "shop", "1")), "--stack", "prod");
    expect(stdout).toMatch(/^Wrote 2 resources to out; the stack already manages 1 record:/);
    const written = ["NEXT-STEPS.md", "domains.ts", "lib", "monitors-2.ts"];
    expect(files()).toEqual([...Object.keys(present).slice(0, 4), ...written].sort());
    for (const [file, content] of Object.entries(present)) expect(text(file)).toBe(content);
    expect(text("NEXT-STEPS.md")).toContain('import "./domains.js";\nimport "./monitors-2.js";');
    // The commands after it are about the stack that the records were compared with.
    expect(nextCommands()[0]).toBe("pulumi stack select prod");
  });

  test("imports modules with their extension in the new program of an ES module package", async () => {
    addMonitor("Shop");
    newProject({ "package.json": '{ "name": "mine", "type": "module" }' });
    expect((await cli(emulator, out(), ["export", "--out", "."])).code).toBe(0);
    expect(text("index.ts")).toBe('import "./monitors.js";\n');
  });

  test.each<[string, string, object]>([
    ["on another server", monitorType, { __server: "0815abcd" }],
    ["another account's", monitorType, { account: "eu" }],
    ["of another kind", "pulumi-nodejs:dynamic/uptime:Domain", {}],
    ["of another package", "datadog:index:Monitor", {}],
  ])("adds a record if the stack has its id for one that is %s", async (_, type, outputs) => {
    addMonitor("Shop");
    const env = stackWith(resource(type, "shop", "1", outputs));
    expect((await exportedWith(env, "--dry-run")).stdout).toMatch(/^Would write 1 resource to out:/);
  });

  test.each<[string, object, boolean]>([
    ["the present key, under another name of the account", { account: "eu" }, true],
    ["another key, and the record's name and URL", { __key: "0000" }, true],
    ["another key, and another name", { __key: "0000", name: "Other" }, false],
    ["another key, and an encrypted name", { __key: "0000", name: { ...secretMark, ciphertext: "x" } }, true],
  ])("knows a record by its account: state has %s", async (_, more, isKnown) => {
    addMonitor("Shop");
    const { url, apiKey } = emulator;
    const known = { __server: hexHash(url, 8), __key: keyFingerprintOf({ url }, apiKey), ...site("Shop") };
    const env = stackWith(resource(monitorType, "shop", "1", { ...known, ...more }));
    const said = isKnown
      ? /^Would write 0 resources to out; the stack already manages 1 record\./
      : /^Would write 1 resource to out:/;
    expect((await exportedWith(env, "--dry-run")).stdout).toMatch(said);
  });

  test("keeps the files of a package without a Pulumi project, and says how to add the program to it", async () => {
    addMonitor("Shop");
    newProject({ "package.json": '{ "main": "server.js" }' });
    await exported();
    expect(text("package.json")).toBe('{ "main": "server.js" }');
    expect(text("Pulumi.yaml")).toContain("\nmain: index.ts\n");
    expect(text("index.ts")).toBe('import "./monitors";\n');
    expect(nextCommands().slice(0, 3)).toEqual([
      expect.stringMatching(/^npm install '@pulumi\/pulumi@\^\S+' \$\(npm pack /),
      "npm install --save-dev '@types/node@^22.0.0' 'typescript@^5.9.0'",
      "export PULUMI_RUN_PROGRAM=true",
    ]);
    newProject({ "package.json": "{}", "index.ts": "" });
    await exported();
    expect(text("index.ts")).toBe("");
    expect(text("NEXT-STEPS.md")).toContain('import "./monitors";\n');
  });

  test("says to replace the sample of a new project", async () => {
    addMonitor("Shop");
    write("index.ts", sampleProgram);
    await exported();
    expect(text("NEXT-STEPS.md")).toMatch(
      /Replace all of `index\.ts`: .*`home`.*\n\n```ts\nimport "\.\/monitors";\n/,
    );
  });

  test("writes nothing with --dry-run", async () => {
    addNasty(emulator, 3);
    fs.rmSync(out(), { recursive: true });
    const { stdout } = await exported("--dry-run", "--secrets", "secrets.json");
    expect(stdout).toMatch(/^Would write 7 resources to out:\n {2}Pulumi.yaml\n[^]* {2}..\/secrets.json\n/);
    expect(stdout).not.toContain("has secrets in plain text");
    // The folder of the CLI that has the stack.
    expect(fs.readdirSync(folder)).toEqual(["bin"]);
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
    expect(stderr).toMatch(/^GET .* cannot be read completely: .* status 404\. .*\n$/);
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
    const made = declaredResources().map(({ args, options }) => [args.name, args.account, options.import]);
    expect(made.sort()).toEqual([
      ["Ours", undefined, "1"],
      ["Theirs", "theirs", "1"],
    ]);
    // As a stack knows it that has imported it.
    withStack(folder, { "uptime:accounts": accounts }, [
      resource(monitorType, "theirs", "1", { account: "theirs" }),
    ]);
    for (const file of files().filter((name) => name.endsWith(".ts"))) fs.rmSync(out(file));
    expect(await said("--account", "theirs")).toMatch(
      /^Wrote 0 resources to out; the stack already manages 1 record\./,
    );
    expect(await said()).toMatch(/^Wrote 1 resource to/);
    expect(theirs.writes()).toEqual([]);
  });

  test("lists only, if they show whole records, also if some show more fields than others", async () => {
    emulator.dialect = { emptyAs: "absent" };
    for (let index = 0; index < 250; index++) addMonitor(`site-${index}`);
    addMonitor("Full", { ssl_alert_days: 7, alert_text_lookup: "x" });
    addDomain();
    const { code, stdout } = await exported();
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Wrote 252 resources to/) as string]);
    // Pages, and one record of each kind.
    expect(emulator.requests.filter(({ path }) => !/\/(monitors|domains)$/.test(path))).toHaveLength(2);
    expect(emulator.requests.length).toBeLessThanOrEqual(4 + 2);
  });

  test("what can be read, if the record with the most fields cannot", async () => {
    addMonitor("Shop");
    addMonitor("Full", { ssl_alert_days: 7 });
    emulator.dialect = { emptyAs: "absent" };
    emulator.fault = ({ path }) => (path.endsWith("/2") ? answer(403, { message: "No." }) : undefined);
    const { code, stdout } = await exported();
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Wrote 2 resources to/) as string]);
  });

  test("with progress on a terminal, and without elsewhere", async () => {
    addNasty(emulator, 3);
    const args = ["export", "--out", "out", "--dry-run"];
    const env = stackWith();
    const seen = await cli(emulator, folder, args, { env, isTTY: true });
    expect(seen.stderr).toContain("Reading monitors: 3 …");
    expect(seen.stderr.endsWith("\r\u001b[K")).toBe(true);
    expect((await cli(emulator, folder, args, { env })).stderr).toBe("");
  });
});
