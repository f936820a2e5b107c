import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../support/folder";
import { startEmulator } from "../support/emulator";
import { type Started, startProgram } from "../support/processes";

const command = join(__dirname, "..", "..", "dist", "provider", "cli", "main.js");
const run = (...args: string[]): Started => startProgram(process.execPath, [command, "emulator", ...args]);

test.each(["SIGINT", "SIGTERM"] as const)("serves until %s", async (signal) => {
  const file = join(newFolder(), `${signal}.json`);
  const options = '--api-key k --dialect {"record":"bare"} --path-prefix p'.split(" ");
  const { child, firstLine, done } = run("--file", file, ...options);
  const [, url] = /^Emulator at (http:\/\/127\.0\.0\.1:\d+\/p) with API key k\n$/.exec(await firstLine) ?? [];
  const created = await fetch(`${url ?? ""}/api/v1/domains`, {
    method: "POST",
    headers: { authorization: "Bearer k" },
    body: new URLSearchParams({ name: "a" }),
  });
  expect(await created.json()).toMatchObject({ id: 1, name: "a" });
  child.kill(signal);
  expect(await done).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(file, "utf8")).toContain('"name":"a"');
});

test.each([
  [
    ["--port", "http"],
    "argument 'http' is invalid. It must be a number up to 65535.\n(see `pulumi-uptime help emulator`)",
  ],
  [["--api-key", ""], "argument '' is invalid. It must not be empty."],
  [["--dialect", "record"], "argument 'record' is invalid. It must be a JSON object."],
  [["--dialect", '{"record":1}'], 'record must be one of "data", "bare", "named".'],
  [["--colour"], "unknown option '--colour'"],
  [["extra"], "too many arguments"],
])("refuses %j", async (args, message) => {
  const { code, stderr } = await run(...args).done;
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test("has help, and reports a port in use", async () => {
  const help = await run("--help").done;
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("--dialect <json>")]);
  expect(help.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  const { port } = new URL((await startEmulator()).url);
  const { code, stderr } = await run("--port", port).done;
  expect([code, stderr]).toEqual([1, expect.stringContaining("EADDRINUSE")]);
});
