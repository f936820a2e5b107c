import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { cli, withStack } from "../support/cli";
import type { Outcome } from "../support/cli";
import { cheaper } from "../support/workspace";
import { Emulator } from "../../provider/emulator";
import type { Dialect } from "../../provider/emulator";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await Emulator.start();
  emulator.monitors.add({ name: "Home", url: "https://example.com/", interval: 60 });
});
afterEach(() => emulator.stop());

const doctor = (...args: string[]): Promise<Outcome> => cli(emulator, __dirname, ["doctor", ...args]);

test.each<[Partial<Dialect>, RegExp]>([
  [{}, /monitors: the list is under `data`, and `links\.next` is its next page\n.*monitors: 1 record\n/],
  [{ paging: "nextPageUrl" }, /`next_page_url` is its next page/],
  [{ paging: "meta", record: "named" }, /`meta` holds its page numbers[^]*a record is under `monitor`/],
  [
    { paging: "bare", list: "bare", record: "bare" },
    /the list is bare, and has no paging[^]*a record is bare/,
  ],
  [{ listBrief: true }, /lists leave out interval, .*, so records are read one by one/],
  [{ hidden: ["request_headers"] }, /record 1 does not show requestHeaders; a field that is never shown/],
])("says how the server answers: %j", async (dialect, said) => {
  emulator.dialect = dialect;
  const { code, stdout, stderr } = await doctor();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(said);
  expect(stdout).toContain("ok       domains: no records yet\n");
  expect(stdout).not.toContain(emulator.apiKey);
  expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
});

test("says what is wrong: code 1", async () => {
  emulator.apiKey = "another";
  const refused = await cli({ url: emulator.url, apiKey: "s3cret" }, __dirname, ["doctor"]);
  expect(refused).toMatchObject({ code: 1, stderr: "Some checks failed; see above.\n" });
  expect(refused.stdout).toMatch(/failed {3}GET .* status 401.*UPTIME_API_KEY/);
  expect(refused.stdout).not.toContain("s3cret");
  const unset = await cli({ url: "", apiKey: "" }, __dirname, ["doctor"]);
  expect(unset).toMatchObject({ code: 1 });
  expect(unset.stdout).toMatch(/failed .*uptime:baseUrl is not set.*uptime:apiKey is not set/);
  emulator.fault = () => ({ kind: "answer", effect: false, status: 200, body: "<h1>Welcome</h1>" });
  expect((await doctor()).stdout).toMatch(/failed .*not JSON: "Welcome"/);
});

test("warns of a clock that differs, and of http without encryption", async () => {
  emulator.fault = () => ({
    kind: "answer",
    effect: false,
    status: 200,
    headers: { date: new Date(Date.now() - 600_000).toUTCString() },
    body: { data: [] },
  });
  const { code, stdout } = await doctor("--json");
  expect(code).toBe(0);
  const { findings } = JSON.parse(stdout) as { findings: { level: string; text: string }[] };
  expect(findings.filter(({ level }) => level === "warning").map(({ text }) => text)).toEqual(
    expect.arrayContaining([expect.stringMatching(/clock is (59\d|60\d) seconds ahead of the server's/)]),
  );
  const plain = await doctor(
    "--base-url",
    "http://192.0.2.1:9",
    "--max-retries",
    "0",
    "--timeout-seconds",
    "1",
  );
  expect(plain.stdout).toMatch(/failed .*must begin with https/);
  const allowed = await doctor("--base-url", "http://uptime.invalid", "--allow-http", "--max-retries", "0");
  expect(allowed.stdout).toMatch(
    /warning {2}uptime:baseUrl is http:\/\/uptime\.invalid: plain http exposes the API key/,
  );
});

test("uses colours on a terminal, unless it is asked not to", async () => {
  const on = (env: NodeJS.ProcessEnv) => cli(emulator, __dirname, ["doctor"], { isTTY: true, env });
  expect((await on({})).stdout).toContain("\u001b[32mok");
  expect((await on({ NO_COLOR: "1" })).stdout).not.toContain("\u001b[32m");
});

describe("of a program", () => {
  const root = join(__dirname, "..", "..");
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-doctor-"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    // A file beside the folder that Node.js would take for it.
    writeFileSync(`${folder}.json`, "{}");
    write("Pulumi.yaml", "name: mine\nruntime: nodejs\n");
    write("package.json", '{ "name": "mine", "main": "index.ts" }');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    rmSync(`${folder}.json`);
  });

  const write = (file: string, content: string): void => {
    writeFileSync(join(folder, file), content);
  };
  /** Types are checked once. */
  const quick = { ...cheaper("ts"), PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
  /** The built command, which runs the program in a process of its own. */
  const looked = (more: { args?: string[]; env?: NodeJS.ProcessEnv } = {}): Promise<Outcome> =>
    ran(folder, ["doctor", "--program", ".", ...(more.args ?? [])], {
      UPTIME_BASE_URL: emulator.url,
      UPTIME_API_KEY: emulator.apiKey,
      ...more.env,
    });
  const ran = (cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> =>
    new Promise((resolve) => {
      const main = join(root, "dist", "provider", "cli", "main.js");
      const child = spawn(process.execPath, [main, ...args], { cwd, env: { ...quick, ...env } });
      const outcome = { code: -1, stdout: "", stderr: "" };
      child.stdout.on("data", (chunk) => (outcome.stdout += String(chunk)));
      child.stderr.on("data", (chunk) => (outcome.stderr += String(chunk)));
      child.on("close", (code) => {
        resolve({ ...outcome, code: code ?? -1 });
      });
    });

  test("lists every import that would be refused, all at once: code 2", async () => {
    emulator.monitors.add({ name: "Second", url: "https://example.com/", interval: 60 });
    emulator.domains.add({ name: "shop.example" });
    write(
      "index.ts",
      `import * as pulumi from "@pulumi/pulumi";
       import { Domain, getMonitors, Monitor } from "pulumi-uptime";
       import "./more";
       const url = "https://example.com/";
       new Monitor("right", { name: "Home", url, interval: 60 }, { import: "1" });
       new Monitor("wrong", { name: "Second", url, interval: 300, requestHeaders: [{ key: "A", value: "s3cret" }] }, { import: "2" });
       new Monitor("gone", { name: "Third", url, interval: 60 }, { import: "3" });
       const made = new Domain("made", { name: "made.example" });
       new Domain("late", { name: pulumi.interpolate\`\${made.id}.example\`, homepageUrl: made.attributes.apply(String) }, { import: "1" });
       new Monitor("bad", { name: "Bad", url: "nowhere", interval: 60 });
       const config: string = getMonitors().then((all) => console.log(all.length)) && new pulumi.Config().get("x") || "";`,
    );
    write(
      "more.ts",
      `import { Monitor } from "pulumi-uptime"; export const again = new Monitor("again", { name: "x", url: "https://x.example/", interval: 60 }, { import: "2" });`,
    );
    const { code, stdout, stderr } = await looked({ env: { PULUMI_NODEJS_TRANSPILE_ONLY: "false" } });
    expect([code, stderr]).toEqual([2, "Some checks failed; see above.\n"]);
    const failed = stdout.split("\n").filter((line) => line.startsWith("failed"));
    // One fault per line.
    expect(failed).toHaveLength(5);
    const all = failed.join("\n");
    expect(all).toMatch(/Monitor again \(import 2\): name is "x" in the program and "Second" in monitor 2/);
    expect(all).toMatch(/Monitor again \(import 2\): url is /);
    expect(all).toMatch(/Monitor wrong \(import 2\): .*only one resource can have it/);
    expect(all).toMatch(/Monitor gone \(import 3\): import of monitor 3 is not possible/);
    expect(all).toMatch(/Monitor bad: url must be an absolute URL/);
    expect(stdout).toContain(
      "The program declares 7 resources; a preview would import 5 records and refuse 4 resources\n",
    );
    expect(stdout).not.toContain("s3cret");
    expect(emulator.writes()).toEqual([]);
  });

  test("that is right: code 0; that fails: code 1, with what it says", async () => {
    write(
      "index.ts",
      `import { Monitor } from "pulumi-uptime"; new Monitor("home", { name: "Home", url: "https://example.com/", interval: 60 }, { import: "1" });`,
    );
    const right = await looked({ args: ["--json"] });
    expect(right.code).toBe(0);
    expect(JSON.parse(right.stdout)).toMatchObject({ program: { imports: 1, refused: [] } });
    // Not an error of the SDK's own: Node.js 20.20 takes half a minute to print its stack.
    write("index.ts", 'throw new Error("There is no token");');
    const wrong = await looked();
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/^The program in \S+ failed: .*There is no token/);
  });

  const declaration = (options: string): string =>
    `new Monitor("home", { name: "Home", url: "https://example.com/", interval: 300 }, ${options});`;
  const refusal = /Monitor home \(import 1\): interval is 300 in the program and 60 in monitor 1/;

  test.each<[string, Record<string, string>]>([
    [
      "in JavaScript",
      {
        "package.json": '{ "name": "mine" }',
        "index.js": `const { Monitor } = require("pulumi-uptime"); ${declaration('{ import: "1" }')}`,
      },
    ],
    [
      "in ES modules",
      {
        "package.json": '{ "name": "mine", "type": "module", "main": "main.js" }',
        "main.js": `import { Monitor } from "pulumi-uptime"; await Promise.resolve(); ${declaration('{ import: "1" }')}`,
      },
    ],
    [
      "in a folder of its own, with an asynchronous main function",
      {
        "Pulumi.yaml":
          "name: mine\nruntime:\n  name: nodejs\n  options:\n    tsconfig: own.json\nmain: 'sub' # here\n",
        "sub/own.json": '{ "compilerOptions": { "esModuleInterop": true } }',
        "sub/package.json": '{ "name": "sub", "main": "index.ts" }',
        "sub/index.ts": `import { Monitor } from "pulumi-uptime"; export = async () => { ${declaration('{ import: "1" }')} };`,
      },
    ],
    [
      "under a component",
      {
        "index.ts": `import { ComponentResource } from "@pulumi/pulumi"; import { Monitor } from "pulumi-uptime";
          class Site extends ComponentResource {
            constructor() { super("my:site:Site", "site"); ${declaration('{ import: "1", parent: this }')} }
          }
          new Site();`,
      },
    ],
  ])("%s", async (_, files) => {
    mkdirSync(join(folder, "sub"));
    for (const [file, content] of Object.entries(files)) write(file, content);
    const { code, stdout } = await looked();
    expect(stdout).toMatch(refusal);
    expect(code).toBe(2);
  });

  test("compiled by the TypeScript of the SDK, if the project has none", async () => {
    rmSync(join(folder, "node_modules"));
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "@pulumi"), { recursive: true });
    // The SDK looks for TypeScript beside its real folder.
    cpSync(join(root, "node_modules", "@pulumi", "pulumi"), join(modules, "@pulumi", "pulumi"), {
      recursive: true,
    });
    for (const name of readdirSync(join(root, "node_modules")))
      if (!["@pulumi", "typescript", "typescript6", "ts-node"].includes(name))
        symlinkSync(join(root, "node_modules", name), join(modules, name));
    write(
      "index.ts",
      `import { Monitor } from "pulumi-uptime"; const id: string = "1"; ${declaration("{ import: id }")}`,
    );
    const { stdout } = await looked();
    expect(stdout).toMatch(refusal);
  });

  describe("on the provider plugin", () => {
    test("imports, lookups and the settings of explicit providers are checked like the others", async () => {
      emulator.monitors.add({ name: "Second", url: "https://example.com/", interval: 60 });
      const theirs = await Emulator.start({ apiKey: "their-key" });
      try {
        theirs.monitors.add({ name: "Theirs", url: "https://theirs.example/", interval: 60 });
        write(
          "index.ts",
          `import * as pulumi from "@pulumi/pulumi";
           import { Monitor as Dynamic } from "pulumi-uptime";
           import { Domain, getMonitor, getMonitors, getMonitorsOutput, Monitor } from "pulumi-uptime/native";
           class Uptime extends pulumi.ProviderResource {
             constructor(name: string, settings: object) { super("uptime", name, settings as never); }
           }
           const url = "https://example.com/";
           const provider = new Uptime("theirs", { baseUrl: ${JSON.stringify(theirs.url)}, apiKey: pulumi.secret("their-key") });
           new Monitor("right", { name: "Home", url, interval: 60 }, { import: "1" });
           new Monitor("wrong", { name: "Second", url, interval: 300, requestHeaders: [{ key: "A", value: "s3cret" }] }, { import: "2" });
           new Dynamic("again", { name: "Second", url, interval: 60 }, { import: "2" });
           new Monitor("account", { name: "Home", url, interval: 60, account: "eu" }, { import: "1" });
           new Monitor("theirs", { name: "Theirs", url: "https://theirs.example/", interval: 60 }, { import: "1", provider });
           new Monitor("not-theirs", { name: "Second", url, interval: 60 }, { import: "2", provider });
           new Monitor("bad", { name: "Bad", url: "nowhere", interval: 60 }, { provider });
           const late = new Uptime("late", { baseUrl: pulumi.interpolate\`https://\${new Domain("made", { name: "made.example" }).id}.example\`, apiKey: "k" });
           new Monitor("later", { name: "Later", url, interval: 60 }, { import: "7", provider: late });
           Monitor.get("seen", "1", {}, { provider });
           export = async () => {
             const one = await getMonitor({ name: "Theirs" }, { provider });
             const all = await getMonitors();
             if (one.url !== "https://theirs.example/" || all.length !== 2) throw new Error("The lookups are wrong.");
             getMonitorsOutput({ name: late.id }).apply((found) => found.length);
             const none = await getMonitor({ name: "None" }).catch((error: Error) => error.message);
             if (!/found no monitor with name "None"/.test(String(none))) throw new Error(String(none));
           };`,
        );
        const { code, stdout, stderr } = await looked();
        expect(stderr).toBe("Some checks failed; see above.\n");
        expect(code).toBe(2);
        const failed = stdout.split("\n").filter((line) => line.startsWith("failed"));
        const all = failed.join("\n");
        expect(all).toMatch(/Monitor (wrong|again) \(import 2\): .*only one resource can have it/);
        expect(all).toMatch(
          /Monitor wrong \(import 2\): interval is 300|Monitor wrong \(import 2\): import names/,
        );
        expect(all).toMatch(/Monitor account \(import 1\): account is "eu" in the program, .*import "eu\/1"/);
        expect(all).toMatch(/Monitor not-theirs \(import 2\): import of monitor 2 is not possible/);
        expect(all).toMatch(/Monitor bad: url must be an absolute URL/);
        expect(all).not.toMatch(/Monitor (right|theirs|later|made) /);
        expect(stdout).toMatch(/ok {7}The provider theirs: the address is http/);
        expect(stdout).toMatch(/warning {2}The settings of the provider late are not known before/);
        expect(stdout).not.toContain("s3cret");
        expect([...emulator.writes(), ...theirs.writes()]).toEqual([]);
      } finally {
        await theirs.stop();
      }
    });

    test("a program whose resources all have an explicit provider needs no other settings", async () => {
      const program = (key: string, options: string): string =>
        `import * as pulumi from "@pulumi/pulumi";
         import { Monitor } from "pulumi-uptime/native";
         class Uptime extends pulumi.ProviderResource {
           constructor(name: string, settings: object) { super("uptime", name, settings as never); }
         }
         const provider = new Uptime("server", { baseUrl: ${JSON.stringify(emulator.url)}, apiKey: "${key}" });
         new Monitor("home", { name: "Home", url: "https://example.com/", interval: 60 }, ${options});`;
      const alone = (): Promise<Outcome> => ran(folder, ["doctor", "--program", "."], {});
      write("index.ts", program(emulator.apiKey, "{ provider }"));
      expect(await alone()).toMatchObject({ code: 0, stderr: "" });
      write("index.ts", program("wr0ng-key", "{ provider }"));
      const refused = await alone();
      expect(refused).toMatchObject({ code: 1 });
      expect(refused.stdout).toMatch(/failed .*status 401/);
      expect(refused.stdout).not.toContain("wr0ng-key");
      write("index.ts", program(emulator.apiKey, "{}"));
      expect((await alone()).stdout).toMatch(/failed .*uptime:baseUrl is not set/);
    });

    test("a program in another language is not run, and needs no SDK for Node.js", async () => {
      rmSync(join(folder, "node_modules"));
      write("Pulumi.yaml", "name: mine\nruntime: yaml\n");
      const { code, stderr, stdout } = await looked();
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The program in \S+ has the runtime yaml\. .*run `pulumi preview`/);
      expect(stdout + stderr).not.toContain("@pulumi/pulumi");
      mkdirSync(join(folder, "node_modules"));
    });
  });

  test("what is only read is not checked, and what is secret is not shown", async () => {
    write(
      "index.ts",
      `import * as pulumi from "@pulumi/pulumi";
       import { Domain, Monitor } from "pulumi-uptime";
       const seen = Monitor.get("seen", "1");
       Domain.get("gone", "99");
       new Monitor("copy", { name: pulumi.interpolate\`\${seen.name} 2\`, url: "https://example.com/", interval: 60 });
       new Monitor("home", { name: "Home", url: pulumi.secret("https://s3cret-user:pw@example.com/"), interval: 60 }, { import: "1" });`,
    );
    emulator.monitors.edit(1, { url: "https://0ther-s3cret@example.com/" });
    const { code, stdout } = await looked({ args: ["--json"] });
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      program: {
        resources: 4,
        imports: 1,
        refused: [{ name: "home", reasons: ["url is refused; it is secret, so the reason is not shown"] }],
      },
    });
    expect(stdout).not.toContain("s3cret");
  });

  test("the stack's configuration is read once, and a key in plain text is a warning", async () => {
    const env = withStack(folder, {
      "uptime:baseUrl": emulator.url,
      "uptime:apiKey": emulator.apiKey,
      "mine:token": "7",
    });
    write(
      "index.ts",
      'import { Config } from "@pulumi/pulumi"; if (new Config().require("token") !== "7") throw new Error("no");',
    );
    const { code, stdout } = await ran(folder, ["doctor", "--program", "."], env);
    expect(stdout).toMatch(
      /warning {2}uptime:apiKey is set in plain text.*config set --secret uptime:apiKey/,
    );
    expect(stdout).toContain(
      "ok       The program declares 0 resources; a preview would import 0 records and refuse none\n",
    );
    expect(code).toBe(0);
    const calls = readFileSync(join(folder, "bin", "calls"), "utf8").split("\n");
    expect(calls.filter((call) => call.startsWith("config "))).toHaveLength(1);
  });

  test("takes settings from the stack that is selected, without being told; without one, says so", async () => {
    const settings = { "uptime:baseUrl": emulator.url, "uptime:apiKey": emulator.apiKey };
    const stack = withStack(folder, settings);
    write("index.ts", "");
    for (const [place, args] of [
      [folder, ["doctor"]],
      [folder, ["doctor", "--program", "."]],
      [root, ["doctor", "--program", folder]],
      [root, ["doctor", "--cwd", folder]],
    ] as const) {
      const { code, stdout } = await ran(place, args, stack);
      expect(code).toBe(0);
      expect(stdout).toContain("ok       The API key comes from uptime:apiKey\n");
    }
    writeFileSync(join(folder, "bin", "pulumi"), "#!/bin/sh\necho error: no stack selected >&2; exit 255\n");
    const unknown = await ran(folder, ["doctor"], stack);
    expect(unknown.code).toBe(1);
    expect(unknown.stdout).toMatch(
      /warning .*cannot be read.*no stack selected\.?\nfailed .*baseUrl is not set/,
    );
    const asked = await ran(folder, ["doctor", "--stack"], stack);
    expect(asked.stdout).toMatch(/^failed .*no stack selected/m);
    const there = await cli(emulator, folder, ["doctor"], { env: stack });
    expect([there.code, there.stdout]).toEqual([
      0,
      expect.stringMatching(/^warning {2}The project's stack cannot be read.*\nok {7}UPTIME_BASE_URL/m),
    ]);
  });
});
