import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../support/folder";

const repository = join(__dirname, "..", "..");
let folder: string;
beforeEach(() => {
  folder = newFolder();
});

/** What the built package prints in a program of that folder; Jest's own way to find packages would not tell. */
function printed(env: Record<string, string>): string {
  const built = JSON.stringify(join(repository, "dist", "provider", "sdk", "warnings.js"));
  const source = `const { warnOnce } = require(${built}); warnOnce(); warnOnce();`;
  return execFileSync(process.execPath, ["-e", `console.warn = console.error = console.log; ${source}`], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    encoding: "utf8",
  });
}

// As Pulumi's language host sets it.
const underPulumi = { PULUMI_NODEJS_MONITOR: "127.0.0.1:1" };

test("a program whose library depends on this package gets one message about what to add", () => {
  const output = printed(underPulumi);
  expect(output.match(/pulumi-uptime is not found from/g)).toHaveLength(1);
  expect(output).toContain(`from ${folder}, and Pulumi loads the provider from there`);
  expect(output).toContain("`pnpm add pulumi-uptime`");
});

test("a program that finds the package gets none, nor does one that Pulumi does not run", () => {
  expect(printed({})).toBe("");
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(repository, join(folder, "node_modules", "pulumi-uptime"));
  expect(printed(underPulumi)).toBe("");
});
