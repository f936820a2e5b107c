import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { version } from "../../package.json";
import { newFolder } from "../support/folder";
import { type Started, startProgram } from "../support/processes";

const root = join(__dirname, "..", "..");
const executable = join(root, "plugin", "pulumi-resource-uptime");

/** Starts the plugin and waits for the port that it prints. */
async function start(): Promise<Started> {
  const plugin = startProgram(executable, ["127.0.0.1:1"], { stdin: "pipe" });
  expect(await plugin.firstLine).toMatch(/^\d+\n$/);
  return plugin;
}

test("the plugin prints its port, and ends with the engine that holds its standard input", async () => {
  const { child, done } = await start();
  // An input that ends at once was never held by anybody.
  await sleep(200);
  child.stdin?.end();
  expect(await done).toMatchObject({ code: 1 });
});

test("without Node.js on PATH, the plugin says in one sentence that it needs it", () => {
  const env = { PATH: newFolder() };
  const { status, stderr } = spawnSync("/bin/sh", [executable], { env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: "pulumi-resource-uptime needs Node.js 20.18 or later, and there is no node on PATH.\n",
  });
});

test("a link to the executable starts it and prints its version, through several links and by a path within its folder", () => {
  const folder = newFolder();
  mkdirSync(join(folder, "bin"));
  symlinkSync(executable, join(folder, "bin", "second"));
  symlinkSync("bin/second", join(folder, "first"));
  const printed = (command: string, args: string[], cwd: string) =>
    spawnSync(command, [...args, "--version"], { cwd, encoding: "utf8" }).stdout;
  expect(printed(join(folder, "first"), [], root)).toBe(`${version}\n`);
  expect(printed("./first", [], folder)).toBe(`${version}\n`);
  expect(printed("/bin/sh", ["first"], folder)).toBe(`${version}\n`);
  expect(printed("/bin/sh", ["pulumi-resource-uptime"], join(root, "plugin"))).toBe(`${version}\n`);
});

test("the plugin ends when the engine interrupts it", async () => {
  const { child, done } = await start();
  child.kill("SIGINT");
  expect(await done).toMatchObject({ code: 0 });
});
