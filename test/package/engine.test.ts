import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../tools/engine/install.mjs" with { "resolution-mode": "import" };

const installer = join(__dirname, "..", "tools", "engine", "install.mjs");
const pinned = /pulumi\/pkg\/v3 v(\S+)/.exec(
  readFileSync(join(__dirname, "..", "tools", "engine", "cli", "go.mod"), "utf8"),
)?.[1];

let folder: string;
let path: string;
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-engine-"));
  path = join(folder, "path");
  logged = [];
  mkdirSync(path);
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const cache = () => join(folder, "cache", "pulumi-uptime", "engine");
const calls = () => (existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8") : "");

// Nothing of this machine is visible: neither its programs nor its cache.
const environment = (forced?: string) => ({
  PATH: path,
  HOME: folder,
  XDG_CACHE_HOME: join(folder, "cache"),
  ...(forced !== undefined && { PULUMI_UPTIME_ENGINE: forced }),
});

async function ensure(forced?: string): Promise<Engine> {
  const { ensureEngine } = await import("../../tools/engine/install.mjs");
  return ensureEngine({ log: (line) => logged.push(line), env: environment(forced) });
}

/** A program on PATH, written in JavaScript; each of its calls is noted. */
function program(name: string, source: string): void {
  const script = join(folder, `${name}.js`);
  const note = `require("fs").appendFileSync(${JSON.stringify(join(folder, "calls"))}, ${JSON.stringify(name)} + "\\n");`;
  writeFileSync(script, `${note}\n${source}`);
  writeFileSync(join(path, name), `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  chmodSync(join(path, name), 0o755);
}

const engineSource = (version: string) => `#!/bin/sh\necho v${version}\n`;

function withPulumi(version: string): void {
  program("pulumi", `console.log("v${version}")`);
}

function withHost(): void {
  program("pulumi-language-nodejs", "");
}

/** npm that installs a package \`pulumi\` whose command downloads an engine, as the real one does. */
function withNpm(): void {
  const downloader = `
    const { mkdirSync, writeFileSync } = require("fs");
    const bin = process.env.PULUMI_HOME + "/versions/${String(pinned)}/bin";
    mkdirSync(bin, { recursive: true });
    for (const name of ["pulumi", "pulumi-language-nodejs"])
      writeFileSync(bin + "/" + name, ${JSON.stringify(engineSource(String(pinned)))}, { mode: 0o755 });`;
  program(
    "npm",
    `const { mkdirSync, writeFileSync } = require("fs");
    mkdirSync("node_modules/pulumi", { recursive: true });
    writeFileSync("node_modules/pulumi/run.js", ${JSON.stringify(downloader)});`,
  );
}

function withBrokenNpm(): void {
  program("npm", `console.error("npm error network is down"); process.exit(1);`);
}

function withGo(): void {
  program(
    "go",
    `const output = process.argv[process.argv.indexOf("-o") + 1];
    if (process.env.CGO_ENABLED !== "0" || !require("fs").existsSync("go.sum")) process.exit(1);
    setTimeout(() => require("fs").writeFileSync(output, ${JSON.stringify(engineSource(String(pinned)))}, { mode: 0o755 }), 100);`,
  );
}

describe("where the engine comes from", () => {
  test("the user's own CLI comes first, and nothing is installed", async () => {
    withPulumi("3.260.1");
    withHost();
    withNpm();
    withGo();
    const engine = await ensure();
    expect(engine).toMatchObject({ version: "3.260.1", source: "path" });
    expect(engine.bin[0]).toBe(path);
    expect(calls()).toBe("pulumi\n");
    expect(existsSync(cache())).toBe(false);
  });

  test("the plugin of the SDK is added where the CLI brings none", async () => {
    withPulumi("3.260.1");
    withHost();
    const [, sdk] = (await ensure()).bin;
    expect(existsSync(join(String(sdk), "pulumi-resource-pulumi-nodejs"))).toBe(true);
  });

  test("without a language host, npm's download is next", async () => {
    withPulumi("3.260.1");
    withNpm();
    withGo();
    const engine = await ensure();
    expect(engine).toMatchObject({ version: pinned, source: "npm" });
    expect(readdirSync(String(engine.bin[0])).sort()).toEqual([
      "pulumi",
      "pulumi-language-nodejs",
      "pulumi-resource-pulumi-nodejs",
    ]);
    expect(calls()).not.toContain("go");
  });

  test("a CLI that is too old is passed over", async () => {
    withPulumi("3.199.9");
    withHost();
    withNpm();
    expect(await ensure()).toMatchObject({ source: "npm" });
  });

  test("Go builds it where npm can't download it", async () => {
    withBrokenNpm();
    withGo();
    expect(await ensure()).toMatchObject({ version: pinned, source: "go" });
    expect(calls()).toBe("npm\ngo\ngo\n");
  });

  test("one source can be forced", async () => {
    withPulumi("3.260.1");
    withHost();
    withNpm();
    withGo();
    expect(await ensure("go")).toMatchObject({ source: "go" });
    expect(await ensure("npm")).toMatchObject({ source: "npm" });
    await expect(ensure("brew")).rejects.toThrow('PULUMI_UPTIME_ENGINE is "brew"; allowed are path, npm, go');
  });

  test("where none works, the error says why each failed and what to install", async () => {
    withPulumi("3.100.0");
    withBrokenNpm();
    const error = await ensure().catch((reason: unknown) => reason as Error);
    if (!(error instanceof Error)) throw new Error("It found an engine.");
    expect(error.message).toContain(
      `path: ${join(path, "pulumi")} is version 3.100.0; at least 3.200.0 is needed.`,
    );
    expect(error.message).toContain("network is down");
    expect(error.message).toContain("go: `go` is not on PATH.");
    expect(error.message).toContain("Install the Pulumi CLI");
  });

  test("an empty PATH is no crash", async () => {
    await expect(ensure()).rejects.toThrow(/path: `pulumi` is not on PATH[^]*npm: `npm`[^]*go: `go`/);
  });
});

describe("the shared cache", () => {
  test("what was installed once is used again, with no program run", async () => {
    withGo();
    const first = await ensure();
    rmSync(join(path, "go"));
    expect(await ensure()).toEqual(first);
    expect(calls()).toBe("go\ngo\n");
  });

  test("what isn't whole any more is installed again", async () => {
    withGo();
    const { bin } = await ensure();
    writeFileSync(join(String(bin[0]), "pulumi"), "cut short");
    expect((await ensure()).bin).toEqual(bin);
    expect(readFileSync(join(String(bin[0]), "pulumi"), "utf8")).toBe(engineSource(String(pinned)));
  });

  test("an engine that doesn't run isn't kept", async () => {
    program(
      "go",
      `require("fs").writeFileSync(process.argv[process.argv.indexOf("-o") + 1], "#!/bin/sh\\nexit 1\\n", { mode: 0o755 });`,
    );
    await expect(ensure("go")).rejects.toThrow("ended with code 1");
    expect(readdirSync(cache())).toEqual([]);
  });

  test("two that need it at once install it once", async () => {
    withGo();
    const [one, two] = await Promise.all([ensure(), ensure()]);
    expect(one).toEqual(two);
    expect(calls()).toBe("go\ngo\n");
    expect(logged.join("\n")).toContain(`Waiting for process ${process.pid}`);
  });

  test("a run that is killed leaves nothing half, and its lock is taken over", async () => {
    // This go gets nowhere.
    program(
      "go",
      `require("fs").writeFileSync(${JSON.stringify(join(folder, "pid"))}, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    const killed = spawn(process.execPath, [installer], { env: environment("go"), stdio: "ignore" });
    while (!existsSync(join(folder, "pid")) || readFileSync(join(folder, "pid"), "utf8") === "")
      await sleep(20);
    killed.kill("SIGKILL");
    await once(killed, "close");
    process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), "SIGKILL");
    expect(readdirSync(cache()).some((name) => name.endsWith(".lock"))).toBe(true);

    withGo();
    const { bin } = await ensure("go");
    expect(readdirSync(cache()).map((name) => join(cache(), name, "bin"))).toEqual(bin);
  });

  test("a lock that nobody touches is taken over, whoever left it", async () => {
    withGo();
    const { bin } = await ensure();
    const lock = String(bin[0]).replace(/-go.bin$/, ".lock");
    rmSync(join(String(bin[0]), ".."), { recursive: true });
    writeFileSync(lock, JSON.stringify({ pid: 1, host: "elsewhere", token: "theirs" }));
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(lock, longAgo, longAgo);
    expect((await ensure()).bin).toEqual(bin);
    expect(existsSync(lock)).toBe(false);
  });
});

describe("the environment for the CLI", () => {
  const engine: Engine = { bin: ["/engine/bin"], version: "3.250.0", source: "go" };

  test("nothing of the person's own Pulumi or credentials reaches it", async () => {
    const { engineEnv } = await import("../../tools/engine/env.mjs");
    const own = {
      PATH: "/usr/bin",
      LANG: "C",
      PULUMI_STACK: "prod",
      PULUMI_ACCESS_TOKEN: "t",
      UPTIME_API_KEY: "k",
    };
    const env = engineEnv(engine, { home: "/h", backend: "/b c", temporary: "/t" }, own);
    expect(env).toMatchObject({ LANG: "C", PULUMI_HOME: "/h", PULUMI_BACKEND_URL: "file:///b%20c" });
    expect(Object.keys(env)).not.toContain("PULUMI_STACK");
    expect(Object.keys(env)).not.toContain("PULUMI_ACCESS_TOKEN");
    expect(Object.keys(env)).not.toContain("UPTIME_API_KEY");
  });

  test("the engine comes first on PATH, unless it is there already", async () => {
    const { enginePath } = await import("../../tools/engine/env.mjs");
    expect(enginePath(engine, ["/a", path].join(delimiter))).toMatch(/^\/engine\/bin:\/a:/);
    expect(enginePath(engine, ["/a", "/engine/bin"].join(delimiter))).toMatch(/^\/a:\/engine\/bin/);
  });
});
