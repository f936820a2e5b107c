import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { startEmulator } from "../support/emulator";
import { newFolder } from "../support/folder";
import { listen } from "../support/http-server";
import { type Result, type Started, startProgram } from "../support/processes";

const built = join(__dirname, "..", "..", "dist", "provider");
const folder = join(newFolder(), "cmd", "dynamic-provider");
const script = join(folder, "index.js");

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  // Like the SDK's host, which serves the engine until it is told to end.
  writeFileSync(
    script,
    `require("node:net").createServer().listen(0, "127.0.0.1");
    const { monitor } = require(${JSON.stringify(join(built, "provider.js"))});
    console.log("loaded");
    const settings = JSON.parse(process.env.SETTINGS ?? "{}");
    if (settings["uptime:baseUrl"]) void create();
    async function create() {
      await monitor.configure({ config: { get: (name) => settings[name] } });
      const site = { name: "Home", url: "https://example.com/", interval: 60, pause: true };
      const { inputs } = await monitor.check({}, site);
      const made = await monitor.create(inputs).catch((error) => error);
      console.log(made.id + " is created");
    }`,
  );
});

async function startEngine(): Promise<{ address: string; end: () => void }> {
  const server = createServer();
  const address = (await listen(server)).replace("http://", "");
  return { address, end: () => server.close() };
}

/** A host of dynamic providers that has loaded this one. */
async function startHost(
  address: string,
  stdin: "pipe" | "ignore" | "ended",
  settings: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<Started> {
  const host = startProgram(process.execPath, [script, ...flags, address], {
    env: { ...process.env, SETTINGS: JSON.stringify(settings) },
    stdin: stdin === "ignore" ? "ignore" : "pipe",
  });
  if (stdin === "ended") host.child.stdin?.destroy();
  expect(await host.firstLine).toBe("loaded\n");
  return host;
}

const expectRunning = ({ child }: Started): void =>
  expect([child.exitCode, child.signalCode]).toEqual([null, null]);
async function ended({ done }: Started): Promise<Result> {
  const result = await Promise.race([done, sleep(20_000, undefined, { ref: false })]);
  if (!result) throw new Error("The host has not ended.");
  return result;
}

test("the provider ends with an engine that is killed", async () => {
  const engine = await startEngine();
  const host = await startHost(engine.address, "pipe");
  await sleep(300);
  expectRunning(host);
  engine.end();
  host.child.stdin?.destroy();
  await ended(host);
});

test("the provider ends at once if the engine was killed before it was loaded", async () => {
  const engine = await startEngine();
  engine.end();
  // By the time the first line comes, it may have ended already.
  await ended(await startHost(engine.address, "ended"));
});

test("the provider ends with an engine that does not hold its standard input, and not before", async () => {
  const engine = await startEngine();
  // The address is behind flags, such as those of --tracing.
  const flags = ["--logtostderr", "-v=9", "--tracing", "http://127.0.0.1:1/"];
  const first = await startHost(engine.address, "ended");
  const hosts = [first, await startHost(engine.address, "ignore", {}, flags)];
  await sleep(3000);
  hosts.forEach(expectRunning);
  engine.end();
  await Promise.all(hosts.map(ended));
});

test("a program prints the log of its lookups", async () => {
  const { url, apiKey } = await startEmulator();
  const config = { "uptime:baseUrl": url, "uptime:apiKey": apiKey, "uptime:logLevel": "debug" };
  const program = `require(${JSON.stringify(join(built, "index.js"))}).getMonitors()`;
  const env = { ...process.env, PULUMI_CONFIG: JSON.stringify(config) };
  const { stderr } = await startProgram(process.execPath, ["-e", program], { env }).done;
  expect(stderr).toContain("uptime: GET /api/v1/monitors 200, ");
});

test.each([[["SIGTERM"]], [["SIGINT"]], [["SIGINT", "SIGTERM"]]] as const)(
  "at a signal, a create that was sent gets its answer, and nothing else begins: %j",
  async (signals) => {
    const emulator = await startEmulator();
    emulator.fault = ({ method }) => (method === "POST" ? { kind: "delay", answerDelayMs: 1500 } : undefined);
    const engine = await startEngine();
    const settings = { "uptime:baseUrl": emulator.url, "uptime:apiKey": emulator.apiKey };
    const host = await startHost(engine.address, "pipe", settings);
    while (emulator.writes().length === 0) await sleep(20);
    for (const signal of signals) {
      host.child.kill(signal);
      await sleep(100);
    }
    expect(await ended(host)).toMatchObject({ code: 0, stdout: "loaded\n1 is created\n" });
    expect(emulator.writes()).toHaveLength(1);
  },
);

test("at a signal, a host without requests ends at once", async () => {
  const engine = await startEngine();
  const host = await startHost(engine.address, "pipe");
  const started = performance.now();
  host.child.kill("SIGTERM");
  expect(await ended(host)).toMatchObject({ code: 0 });
  expect(performance.now() - started).toBeLessThan(1000);
});
