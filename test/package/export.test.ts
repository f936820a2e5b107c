import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";

import { dependency } from "../../provider/cli/shared/dependency";
import { sampleProgram } from "../../provider/cli/shared/scaffold";
import { domain } from "../../provider/definitions/domain";
import { monitor } from "../../provider/definitions/monitor";
import { type Dialect, dialectChoices } from "../../provider/emulator";
import { blocksOf } from "../support/blocks";
import { cli, declaredBy, emulator, errorOf, folder, type Outcome, withCli, withStack } from "../support/cli";
import { answer, startEmulator } from "../support/emulator";
import { addNasty, nastyMonitor } from "../support/nasty";
import { expected, held, snake } from "../support/oracle";

const root = join(__dirname, "..", "..");
const { version } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const definitions = { monitor, domain };
const monitorType = "pulumi-nodejs:dynamic/uptime:Monitor";
const nativeType = "uptime:index:Monitor";
withCli();
beforeEach(() => {
  newProject({ "Pulumi.yaml": "name: mine\nruntime: nodejs\n" });
});

/** Nothing but these files in the folder of the exports. */
function newProject(present: Record<string, string>): void {
  fs.rmSync(out(), { recursive: true, force: true });
  fs.mkdirSync(out());
  for (const [file, content] of Object.entries(present)) write(file, content);
}
const out = (...path: string[]): string => join(folder, "out", ...path);
const text = (...path: string[]): string => fs.readFileSync(out(...path), "utf8");
const write = (file: string, content: string): void => {
  fs.mkdirSync(dirname(out(file)), { recursive: true });
  fs.writeFileSync(out(file), content);
};
/** The commands on a page, in order. */
const commandsOn = (page: string): string[] =>
  blocksOf(page, text(page)).flatMap(({ language, code }) =>
    language === "sh" ? code.trimEnd().split("\n") : [],
  );
const files = (): string[] => fs.readdirSync(out()).sort();
const exported = (...args: string[]): Promise<Outcome> => exportedWith({}, ...args);
const exportedWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> =>
  cli(emulator, folder, ["export", "--out", "out", ...args], { env });
/** What the report says, as JSON. */
const reported = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { code, stdout, stderr } = await exported("--json", ...args);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Record<string, unknown>;
};
const site = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  url: `https://${encodeURIComponent(name)}.example/`,
  interval: 300,
  ...more,
});
const addMonitor = (name: string, more?: Record<string, unknown>): unknown =>
  emulator.monitors.add(site(name, more));
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

/** What a tool finds wrong in the exported project. */
function problems(script: string, options: string): string {
  const args = [join(root, "node_modules", script), ...options.split(" ")];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: out(), encoding: "utf8" });
  return status === 0 ? "" : stdout + stderr;
}

describe("the exported program", () => {
  test("comes with a project that compiles and is formatted, and with the package, if the folder has none", async () => {
    addNasty(emulator, 60);
    addMonitor("refused", { interval: 45, request_headers: [{ key: "A", value: "1" }] });
    emulator.domains.add({ name: "refused", homepage_url: "nowhere" });
    fs.rmSync(out(), { recursive: true });
    const { code, stdout } = await exported("--only", "monitors");
    expect(code).toBe(0);
    const tarball = `pulumi-uptime-${version}.tgz`;
    const scaffold = [".gitignore", "Pulumi.yaml", "index.ts", "package.json", "tsconfig.json"];
    const written = [...scaffold, "NEXT-STEPS.md", "monitors.ts", tarball].sort();
    expect(files()).toEqual(written);
    for (const file of written) expect(stdout).toContain(`\n  ${file}\n`);
    const { dependencies } = JSON.parse(text("package.json")) as { dependencies: Record<string, string> };
    expect(dependencies["pulumi-uptime"]).toBe(`file:${tarball}`);
    for (const file of written) if (file !== tarball) expect(text(file)).not.toContain(root);

    fs.symlinkSync(join(root, "node_modules"), out("node_modules"));
    // One kind of which every record is refused.
    expect((await exported()).stdout).toContain("domains.ts");
    write("index.ts", `${text("index.ts")}import "./domains";\n`);
    for (const compiler of ["typescript", "typescript6"])
      expect(problems(`${compiler}/lib/tsc.js`, "--noUnusedLocals --exactOptionalPropertyTypes")).toBe("");
    // One property per line, however long it is.
    const anyWidth = "--no-config --trailing-comma all --print-width 100000";
    expect(problems("prettier/bin/prettier.cjs", `${anyWidth} --check .`)).toBe("");
  });

  test.each([
    ["a registry", undefined, `^${version}`],
    ["a registry, by an older range", "~0.1.0", `^${version}`],
    ["a file", "file:../clone", `file:pulumi-uptime-${version}.tgz`],
  ])("depends on the package from the same source as this one: %s", (_, source, wanted) => {
    const installed = join(folder, "node_modules", "pulumi-uptime");
    fs.mkdirSync(join(installed, "dist", "provider"), { recursive: true });
    fs.copyFileSync(join(root, "package.json"), join(installed, "package.json"));
    const manifest = JSON.stringify({ dependencies: { "pulumi-uptime": source } });
    if (source !== undefined) fs.writeFileSync(join(folder, "package.json"), manifest);
    expect(dependency(join(installed, "dist", "provider"))).toBe(wanted);
  });

  test("declares every value except defaults", async () => {
    addMonitor("Home page", { url: "https://home.example/" });
    addMonitor("Full", {
      alert_condition: "url_text",
      alert_text_lookup: 'a "word"',
      alert_channel_ids: [2, 1],
      request_method: "HEAD",
      request_headers: [{ key: "X-Token", value: "s3cret" }],
      request_auth_username: "bob",
      request_auth_password: "s3cret",
      cache_buster: 1,
      ssl_alert_days: 14,
      domain_alert_days: 0,
      maintenance_start_at: "2030-01-31T22:00:00",
      pause: true,
    });
    emulator.dialect = { password: "plain" };
    await exported();
    expect(text("monitors.ts"))
      .toBe(`// Written by \`pulumi-uptime export\` from the records in the API. You can edit it.
import * as pulumi from "@pulumi/pulumi";
import { Monitor } from "pulumi-uptime";

const config = new pulumi.Config();

export const monitors = {
  "home-page": new Monitor(
    "home-page",
    {
      name: "Home page",
      url: "https://home.example/",
      interval: 300,
    },
    { import: "1", protect: true },
  ),

  full: new Monitor(
    "full",
    {
      name: "Full",
      url: "https://Full.example/",
      interval: 300,
      alertCondition: "url_text",
      alertTextLookup: 'a "word"',
      alertChannelIds: [2, 1],
      requestMethod: "HEAD",
      requestHeaders: [
        {
          key: "X-Token",
          value: config.requireSecret("full-x-token"),
        },
      ],
      requestAuthUsername: "bob",
      requestAuthPassword: config.getSecret("full-password"),
      cacheBuster: true,
      sslAlertDays: 14,
      maintenanceStartAt: "2030-01-31T22:00:00",
      pause: true,
    },
    { import: "2", protect: true },
  ),
};
`);
  });

  test("has a record that the provider would refuse as a comment with the reason", async () => {
    addMonitor("Odd", { interval: 45, alert_text_lookup: " blank", request_method: "get*/" });
    addMonitor("Shapeless", { ssl_alert_days: { often: true } });
    addMonitor("Two\u2028lines\n", { request_headers: [{ key: "A", value: "1" }] });
    const { code, stdout } = await exported();
    expect(code).toBe(0);
    const source = text("monitors.ts");
    expect(source.split("\n").filter((line) => !/^ *(\/\/|$)/.test(line))).toEqual([
      "export const monitors = {",
      "};",
    ]);
    const reason =
      "interval must be one of 60, 180, 300, 600, 900, 1800, 3600, not 45; the nearest is 60; alertTextLookup must not " +
      'begin or end with spaces, not " blank"; requestMethod must be one of "GET"';
    for (const place of [source, stdout, text("NEXT-STEPS.md")]) {
      expect(place).toContain(reason);
      expect(place).toContain("sslAlertDays cannot be read. The API shows ssl_alert_days as");
      expect(place).toContain("name must not begin or end with spaces");
    }
    write(
      "monitors.ts",
      source.replace(/^ *\/\/ (Written|The|Correct) .*\n/gm, "").replace(/^ *\/\/ ?/gm, ""),
    );
    expect(declaredBy(out()).map(({ args }) => [args.name, args.interval])).toEqual([
      ["Odd", 45],
      ["Shapeless", 300],
      ["Two\u2028lines\n", 300],
    ]);
  });

  test("quotes no secret from a value that cannot be read", async () => {
    const shown = { often: [emulator.apiKey, "s3cret-header"] };
    addMonitor("Odd", { ssl_alert_days: shown, request_headers: [{ key: "A", value: "s3cret-header" }] });
    const { stdout } = await exported();
    for (const place of [text("monitors.ts"), stdout, text("NEXT-STEPS.md")]) {
      expect(place).toContain("shows ssl_alert_days as (the server repeats a secret)");
      expect(place).not.toMatch(/s3cret-header|emulator-key/);
    }
  });

  const single = Object.entries(dialectChoices).flatMap(([option, choices]) =>
    choices.slice(1).map((choice) => ({ [option]: choice })),
  );
  const both = [
    { escapeHtml: true, listBrief: true, emptyAs: "absent", headers: "map", channels: "objects" },
    { hidden: ["interval", "request_headers"] },
  ] as const;
  const dialects: Partial<Dialect>[] = [{}, ...single, ...both];
  const leftOut: unknown[] = [null, undefined, false, 0, "GET", "url_unavailable"];
  test.each(dialects)(
    "declares every record with its values, whatever the name and dialect: %j",
    async (dialect) => {
      const count = dialect === dialects[0] ? 120 : 24;
      // Not PHP's way to show no header, which is that of none of these.
      for (let index = 0; index < count; index++)
        if (index % 11 !== 9) emulator.monitors.add(nastyMonitor(index));
      // It is declared as it is, also if the server escapes.
      addMonitor("Shop & <Co>", { url: "https://shop.example/", alert_text_lookup: "&nbsp;" });
      addNasty(emulator, 0);
      emulator.domains.add({ name: "docs.example", not_found_url: "https://docs.example/404?a=1&b=2" });
      emulator.dialect = dialect;
      await reported("--secrets", "secrets.json");
      const file = join(folder, "secrets.json");
      const read = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "{}";
      const secrets = JSON.parse(read) as Record<string, string>;
      const isRefused = "hidden" in dialect || dialect.dates === "+02:00";
      const declared = declaredBy(out(), secrets);
      if (!isRefused) expect(declared).toHaveLength(emulator.monitors.size + emulator.domains.size);
      expect(new Set(declared.map(({ name }) => name)).size).toBe(declared.length);
      expect(emulator.writes()).toEqual([]);
      for (const { kind, args, options } of declared) {
        const of = kind === "Monitor" ? "monitor" : "domain";
        const record = emulator[`${of}s`].get(String(options.import));
        if (!record) throw new Error("There is no such record.");
        expect(options).toEqual({ import: String(record.id), protect: true });
        const wanted = expected(of, args);
        expect(held(of, record, wanted)).toEqual(wanted);
        const whole = Object.keys(definitions[of].fields).filter((key) => {
          const value = record[snake(key)];
          return Array.isArray(value) ? value.length > 0 : !leftOut.includes(value);
        });
        if (dialect.pauseShown !== "hidden") expect(Object.keys(args).sort()).toEqual(whole.sort());
      }
    },
  );
});

test.each([
  ["typescript", "pulumi config set --secret shop-x-key-2\n"],
  [
    "python",
    "- `shop`, the monitor `31`: `requestHeaders` (`shop-x-key`, `shop-x-key-2`, `shop-header`); " +
      "`requestAuthPassword`, if it has one (`shop-password`)\n",
  ],
])(
  "secrets are in the file of --secrets only, and NEXT-STEPS.md has the commands that set them: %s",
  async (language, said) => {
    addNasty(emulator, 30);
    emulator.dialect = { password: "plain" };
    addMonitor("Shop", {
      request_headers: [
        { key: "X-Key", value: "s3cret-1" },
        { key: "x-key", value: "s3cret-2" },
        { key: "~!", value: "s3cret-3" },
      ],
      request_auth_username: "bob",
      request_auth_password: "s3cret-4",
    });
    newProject({ "package.json": "{}" });
    const first = await exported("--language", language, "--dry-run", "--json");
    const second = await exported("--language", language, "--secrets", "secrets.json");
    const written = files().map((file) => text(file));
    expect([first.stdout, second.stdout, second.stderr, ...written].join()).not.toContain("s3cret");
    const page = text("NEXT-STEPS.md");
    expect(page).toContain(
      `node -p 'require("./../secrets.json")["shop-x-key"]' | pulumi config set --secret shop-x-key\n`,
    );
    expect(page).toContain("pulumi config set --secret shop-password\n");
    const secrets = join(folder, "secrets.json");
    expect(fs.statSync(secrets).mode & 0o777).toBe(0o600);
    expect(JSON.parse(fs.readFileSync(secrets, "utf8"))).toMatchObject({
      "shop-x-key": "s3cret-1",
      "shop-x-key-2": "s3cret-2",
      "shop-header": "s3cret-3",
    });
    // Without that file each one is named.
    newProject({ "package.json": "{}" });
    expect((await exported("--language", language)).code).toBe(0);
    for (const line of [
      "\npulumi config set --secret uptime:apiKey\n",
      "\npulumi config set --secret shop-x-key\n",
      said,
    ])
      expect(text("NEXT-STEPS.md")).toContain(line);
  },
);

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
    const refused = (...args: string[]): Promise<string> => errorOf(exported(...args));
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
    const declared = declaredBy(out()).map(({ args, options }) => [args.name, args.account, options.import]);
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
