import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type ts from "typescript";
import { startStack, stopStacks } from "./stack";
import type { Workspace } from "./workspace";

const repository = join(__dirname, "..");
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-packed-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});
afterEach(stopStacks);

// Without the settings that npm hands down to what it runs, such as this repository as the place to install into.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
const npm = (cwd: string, ...args: string[]) =>
  execFileSync("npm", [...args, "--ignore-scripts", "--loglevel=error"], { cwd, env, encoding: "utf8" });

function packageVersion(name: string): string {
  const source = readFileSync(join(repository, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(source) as { version: string }).version;
}

/** Puts a program into the project in place of the one that was there. */
function lay(workspace: Workspace, main: string, source: string, more: Record<string, unknown> = {}): void {
  const file = join(workspace.project, "package.json");
  const { dependencies } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  for (const name of readdirSync(workspace.project))
    if (name.startsWith("index.")) rmSync(join(workspace.project, name));
  writeFileSync(file, JSON.stringify({ name: "workspace", main, dependencies, ...more }));
  writeFileSync(join(workspace.project, main), source);
}

const resources = `
const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/" });
new Monitor("site", { name: "Site", url: "https://shop.example/", interval: 60, alertCondition: "url_text", alertTextLookup: "Shop" });
`;
const commonJs = `const { Domain, Monitor } = require("pulumi-uptime");\n${resources}`;
const esModule = `import { Domain, Monitor } from "pulumi-uptime";\n${resources}`;
/** Notes which compiler has compiled it, and uses all that has a type. */
const typeScript = `import * as fs from "fs";
import * as pulumi from "@pulumi/pulumi";
import { Domain, DomainArgs, Monitor, MonitorArgs } from "pulumi-uptime";
const compilers = Object.keys(require.cache).filter((path) => /[\\\\/]typescript\\.js$/.test(path));
fs.writeFileSync("compilers.json", JSON.stringify(compilers));
const domainArgs: DomainArgs = { name: "shop.example", homepageUrl: "https://shop.example/" };
const shop = new Domain("shop", domainArgs);
const args: MonitorArgs = { name: "Site", url: pulumi.interpolate\`https://\${shop.name}/\`, interval: 60, alertCondition: "url_text", alertTextLookup: "Shop" };
const site = new Monitor("site", args);
const interval: pulumi.Output<60 | 180 | 300 | 600 | 900 | 1800 | 3600> = site.interval;
const days: pulumi.Output<number | undefined> = site.sslAlertDays;
const headers: pulumi.Output<{ key: string; value: string }[] | undefined> = site.requestHeaders;
const text: pulumi.Output<string | undefined> = shop.homepageUrl;
`;
const wrong = `import * as pulumi from "@pulumi/pulumi";
import { Domain, Monitor } from "pulumi-uptime";
const site = { name: "Site", url: "https://shop.example/", interval: 60 } as const;
new Monitor("a", { ...site, interval: 61 });
new Monitor("b", { ...site, alertCondition: "url_txt" });
new Monitor("c", { name: "Site", interval: 60 });
new Monitor("d", { name: "Site", url: "https://shop.example/", intervall: 60 });
new Monitor("e", { ...site, requestHeaders: [{ key: "X" }] });
new Monitor("f", { ...site, alertChannelIds: ["1", true] });
const text: pulumi.Output<string> = new Monitor("g", site).interval;
const name: pulumi.Output<number> = new Domain("h", { name: "shop.example" }).name;
`;

const stored = { name: "Site", url: "https://shop.example/", interval: 60, alert_condition: "url_text" };

test("linked into a project, it works from TypeScript and ES modules, and state holds one short line of code", async () => {
  const { emulator, workspace } = await startStack({ language: "ts" });
  // The same resources from a program in each language: only the first changes anything.
  lay(workspace, "index.ts", typeScript);
  await workspace.up();
  lay(workspace, "index.js", esModule, { type: "module" });
  await workspace.up("--expect-no-changes");
  expect(emulator.monitors.all()).toMatchObject([stored]);
  expect(emulator.domains.all()).toMatchObject([{ name: "shop.example" }]);
  expect(emulator.writes().map(({ method }) => method)).toEqual(["POST", "POST"]);
  const { site, shop } = await workspace.resources();
  for (const [resource, name] of [
    [site, "monitor"],
    [shop, "domain"],
  ] as const) {
    const code = `exports.handler=()=>require("pulumi-uptime/provider").${name}`;
    expect(code.length).toBeLessThanOrEqual(64);
    expect(resource?.inputs?.__provider).toBe(code);
    expect(resource?.outputs?.__provider).toBe(code);
  }
});

test("installed from its packed tarball, it works from every kind of program, and types are checked without a compiler of one's own", async () => {
  const [packed] = JSON.parse(npm(repository, "pack", "--json", "--pack-destination", folder)) as {
    filename: string;
    files: { path: string }[];
  }[];
  const names = packed?.files.map(({ path }) => path) ?? [];
  expect(names).toEqual(
    expect.arrayContaining([
      "package.json",
      "dist/provider/index.js",
      "dist/provider/index.d.ts",
      "dist/provider/cli/main.js",
      "dist/test/emulator/cli.js",
    ]),
  );
  // Of the tests, only the emulator is for everybody.
  const own = names.filter((path) => !path.startsWith("dist/test/emulator/"));
  expect(own.filter((path) => /(^|\/)(test|examples|node_modules)\//.test(path))).toEqual([]);

  const { emulator, workspace } = await startStack({ language: "ts" });
  rmSync(join(workspace.project, "node_modules"), { recursive: true });
  const sdk = `@pulumi/pulumi@${packageVersion("@pulumi/pulumi")}`;
  const quickly = ["--prefer-offline", "--no-audit", "--no-fund"];
  npm(workspace.project, "install", join(folder, packed?.filename ?? ""), sdk, ...quickly);
  const modules = join(workspace.project, "node_modules");
  expect(existsSync(join(modules, "typescript"))).toBe(false);

  lay(workspace, "index.ts", typeScript);
  await workspace.up();
  lay(workspace, "index.js", commonJs);
  await workspace.up("--expect-no-changes");
  lay(workspace, "index.mjs", esModule);
  await workspace.up("--expect-no-changes");
  expect(emulator.monitors.all()).toMatchObject([stored]);
  expect(emulator.writes().map(({ method }) => method)).toEqual(["POST", "POST"]);
  const compilers = JSON.parse(readFileSync(join(workspace.project, "compilers.json"), "utf8")) as string[];
  const bundled = join(modules, "@pulumi", "pulumi", "vendor", "typescript@3.8.3", "typescript.js");
  expect(compilers).toEqual([bundled]);

  // That the check is a real one: every mistake is reported, each on its line.
  lay(workspace, "index.ts", wrong);
  const refused = await workspace.run(["preview"]);
  expect(refused.code).not.toBe(0);
  const lines = new Set(
    [...refused.output.matchAll(/index\.ts\((\d+),\d+\): error TS/g)].map(([, line]) => Number(line)),
  );
  expect([...lines].sort((a, b) => a - b)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);

  // The declarations hold nothing that the old compiler does not know.
  const compiler = createRequire(__filename)(bundled) as typeof ts;
  const entry = join(modules, "pulumi-uptime", "dist", "provider", "index.d.ts");
  const program = compiler.createProgram([entry], {
    strict: true,
    types: [],
    lib: ["lib.es2018.d.ts"],
    noEmit: true,
  });
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.includes("/pulumi-uptime/"));
  expect(compiler.version).toBe("3.8.3");
  expect(ours.length).toBeGreaterThan(2);
  const problems = ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  expect(problems.map(({ messageText }) => messageText)).toEqual([]);

  const tool = (...args: string[]): string =>
    execFileSync(join(modules, ".bin", "pulumi-uptime"), args, {
      cwd: workspace.project,
      env,
      encoding: "utf8",
    });
  const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    version: string;
  };
  expect(tool("--version")).toBe(`${version}\n`);
  expect(tool("emulator", "--help")).toContain("Usage: emulator [options]");

  // What a program loads of it.
  const report =
    "const { Domain, Monitor } = loaded; if (!Domain || !Monitor) throw new Error('incomplete');";
  for (const load of [
    `const loaded = require("pulumi-uptime"); ${report}`,
    `import("pulumi-uptime").then((loaded) => { ${report} })`,
  ]) {
    const source = `${load}; setImmediate(() => console.log(JSON.stringify(Object.keys(require.cache))))`;
    const output = execFileSync(process.execPath, ["-e", source], {
      cwd: workspace.project,
      env,
      encoding: "utf8",
    });
    const files = JSON.parse(output) as string[];
    expect(files.filter((file) => /node_modules\/(zod|undici)\//.test(file))).toEqual([]);
  }
});
