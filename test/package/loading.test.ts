import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { buildSync } from "esbuild";

import { version } from "../../package.json";
import { newFolder } from "../support/folder";

const root = join(__dirname, "..", "..");
const folder = newFolder();
const builtFile = (...path: string[]): string => join(root, "dist", "provider", ...path);

/** What a program in the folder prints; Jest's own way to find packages would not tell. */
function printed(source: string, env: Record<string, string> = {}): string {
  const options = { cwd: folder, env: { PATH: process.env.PATH, ...env }, encoding: "utf8" } as const;
  return execFileSync(
    process.execPath,
    ["-e", `console.warn = console.error = console.log; ${source}`],
    options,
  );
}

describe("a program whose library depends on this package", () => {
  const warn = `const { warnOfProject } = require(${JSON.stringify(builtFile("sdk", "warnings.js"))}); warnOfProject(); warnOfProject();`;
  // As Pulumi's language host sets it.
  const underPulumi = { PULUMI_NODEJS_MONITOR: "127.0.0.1:1" };

  test("gets one message about what to add", () => {
    const output = printed(warn, underPulumi);
    expect(output.match(/pulumi-uptime is not found from/g)).toHaveLength(1);
    expect(output).toContain(`from ${folder}, and Pulumi loads the provider from there`);
    expect(output).toContain("`pnpm add pulumi-uptime`");
  });

  test("gets none if it finds the package, or if Pulumi does not run it", () => {
    expect(printed(warn)).toBe("");
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(root, join(folder, "node_modules", "pulumi-uptime"));
    expect(printed(warn, underPulumi)).toBe("");
  });
});

/** The files that a module of the build loads. */
const loadedBy = (file: string): string[] =>
  JSON.parse(
    printed(`require(${JSON.stringify(file)}); console.log(JSON.stringify(Object.keys(require.cache)))`),
  ) as string[];

test("a program without lookups loads neither HTTP nor the validation of settings", () => {
  const loaded = loadedBy(builtFile("index.js"));
  expect(loaded.some((path) => /[\\/]@pulumi[\\/]pulumi[\\/]/.test(path))).toBe(true);
  expect(loaded.filter((path) => /[\\/]node_modules[\\/](zod|undici|commander)[\\/]/.test(path))).toEqual([]);
});

test("a program that is bundled into one file asks for the plugin of the package that it was bundled with", () => {
  const contents = `console.log(require("./sdk/plugin-binding").withVersion({}).version)`;
  const stdin = { contents, resolveDir: builtFile() };
  const outfile = join(newFolder(), "program.js");
  buildSync({ stdin, outfile, bundle: true, platform: "node", external: ["@pulumi/*"] });
  const output = printed(`require(${JSON.stringify(outfile)})`, { NODE_PATH: join(root, "node_modules") });
  expect(output.trim()).toBe(version);
});

test("the provider is one file, because Pulumi waits while it is loaded", () => {
  const provider = builtFile("provider.js");
  expect(loadedBy(provider)).toEqual([provider]);
});
