import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { newFolder } from "../support/folder";

const root = join(__dirname, "..", "..");
const executable = join(root, "plugin", "pulumi-resource-uptime");

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** Starts the plugin and waits for the port that it prints. */
async function start(): Promise<ChildProcess> {
  const child = spawn(executable, ["127.0.0.1:1"], { stdio: ["pipe", "pipe", "inherit"] });
  running.push(child);
  const port = await new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.stdout.once("data", (text: Buffer) => {
      resolve(text.toString());
    });
  });
  expect(port).toMatch(/^\d+\n$/);
  return child;
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", resolve));
}

test("the plugin prints its port, and ends with the engine that holds its standard input", async () => {
  const child = await start();
  const end = ended(child);
  // An input that ends at once was never held by anybody.
  await sleep(200);
  child.stdin?.end();
  expect(await end).toBe(1);
});

test("without Node.js on PATH, the plugin says in one sentence that it needs it", () => {
  const folder = newFolder();
  const { status, stderr } = spawnSync("/bin/sh", [executable], { env: { PATH: folder }, encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: "pulumi-resource-uptime needs Node.js 20.18 or later, and there is no node on PATH.\n",
  });
});

test("the plugin ends when the engine interrupts it, and knows its version", async () => {
  const child = await start();
  const end = ended(child);
  child.kill("SIGINT");
  expect(await end).toBe(0);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(spawnSync(executable, ["--version"], { encoding: "utf8" }).stdout).toBe(`${version}\n`);
});
