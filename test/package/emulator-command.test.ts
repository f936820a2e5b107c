import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../support/folder";
import { startEmulator } from "../support/emulator";

const compiled = join(__dirname, "..", "..", "dist", "provider", "emulator");

async function output(command: ChildProcess): Promise<{ code: unknown; out: string; err: string }> {
  let [out, err] = ["", ""];
  command.stdout?.on("data", (chunk) => (out += String(chunk)));
  command.stderr?.on("data", (chunk) => (err += String(chunk)));
  const [code] = (await once(command, "close")) as unknown[];
  return { code, out, err };
}

const run = (...args: string[]) => spawn(process.execPath, [join(compiled, "cli.js"), ...args]);

test.each(["SIGINT", "SIGTERM"] as const)("serves until %s", async (signal) => {
  const file = join(newFolder(), `${signal}.json`);
  const options = '--api-key k --dialect {"record":"bare"} --path-prefix p'.split(" ");
  const command = run("--file", file, ...options);
  const finished = output(command);
  const [line] = (await once(command.stdout, "data")) as unknown[];
  const [, url] = /^Emulator at (http:\/\/127\.0\.0\.1:\d+\/p) with API key k\n$/.exec(String(line)) ?? [];
  const created = await fetch(`${url ?? ""}/api/v1/domains`, {
    method: "POST",
    headers: { authorization: "Bearer k" },
    body: new URLSearchParams({ name: "a" }),
  });
  expect(await created.json()).toMatchObject({ id: 1, name: "a" });
  command.kill(signal);
  expect(await finished).toMatchObject({ code: 0, err: "" });
  expect(readFileSync(file, "utf8")).toContain('"name":"a"');
});

test.each([
  [["--port", "http"], '--port must be a number up to 65535, not "http". See --help.'],
  [["--dialect", "record"], '--dialect must be JSON, not "record". See --help.'],
  [["--dialect", '{"record":1}'], 'record must be one of "data", "bare", "named". See --help.'],
  [["--colour"], "Unknown option '--colour'"],
  [["extra"], "Unexpected argument 'extra'"],
])("refuses %j", async (args, message) => {
  const { code, err } = await output(run(...args));
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test("has help, and reports a port in use", async () => {
  expect(await output(run("--help"))).toMatchObject({
    code: 0,
    out: expect.stringContaining("--dialect JSON") as string,
  });
  const emulator = await startEmulator();
  const { port } = new URL(emulator.url);
  expect(await output(run("--port", port))).toMatchObject({
    code: 1,
    err: expect.stringContaining("EADDRINUSE") as string,
  });
});
