import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Emulator } from "../../provider/emulator";
import { startEmulator } from "../support/emulator";
import { newFolder } from "../support/folder";

const provider = join(__dirname, "..", "..", "dist", "provider", "provider.js");
const folder = join(newFolder(), "cmd", "dynamic-provider");
const script = join(folder, "index.js");
const children: ChildProcess[] = [];
const servers: Server[] = [];

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  // Like the SDK's host, which serves the engine until it is told to end.
  writeFileSync(
    script,
    `require("node:net").createServer().listen(0, "127.0.0.1");
    const { monitor } = require(${JSON.stringify(provider)});
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
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const server of servers.splice(0)) server.close();
});

async function startEngine(): Promise<{ address: string; end: () => void }> {
  const server = createServer((socket) => socket.on("error", () => socket.destroy())).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, end: () => server.close() };
}

/** A host of dynamic providers that has loaded this one. */
async function startHost(
  address: string,
  stdin: "pipe" | "ignore" | "ended",
  settings: Record<string, string> = {},
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script, address], {
    env: { ...process.env, SETTINGS: JSON.stringify(settings) },
    stdio: [stdin === "ignore" ? "ignore" : "pipe", "pipe", "inherit"],
  });
  children.push(child);
  if (stdin === "ended") child.stdin?.destroy();
  const [line] = (await once(child.stdout ?? child, "data")) as unknown[];
  expect(String(line)).toBe("loaded\n");
  return child;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function expectEnd(child: ChildProcess): Promise<void> {
  for (let waited = 0; !hasEnded(child) && waited < 20_000; waited += 50) await sleep(50);
  expect(hasEnded(child)).toBe(true);
}

test("the provider ends with an engine that is killed", async () => {
  const engine = await startEngine();
  const child = await startHost(engine.address, "pipe");
  await sleep(300);
  expect(hasEnded(child)).toBe(false);
  engine.end();
  child.stdin?.destroy();
  await expectEnd(child);
});

test("the provider ends at once if the engine was killed before it was loaded", async () => {
  const engine = await startEngine();
  engine.end();
  // By the time the first line comes, it may have ended already.
  await expectEnd(await startHost(engine.address, "ended"));
});

test.each(["ended", "ignore"] as const)(
  "the provider ends with an engine that does not hold its standard input (%s), and not before",
  async (stdin) => {
    const engine = await startEngine();
    const child = await startHost(engine.address, stdin);
    await sleep(3000);
    expect(hasEnded(child)).toBe(false);
    engine.end();
    await expectEnd(child);
  },
);

test("a program that ends prints the summary of its lookups", async () => {
  const emulator = await startEmulator();
  const config = {
    "uptime:baseUrl": emulator.url,
    "uptime:apiKey": emulator.apiKey,
    "uptime:logLevel": "summary",
  };
  const index = join(__dirname, "..", "..", "dist", "provider", "index.js");
  const child = spawn(process.execPath, ["-e", `require(${JSON.stringify(index)}).getMonitors()`], {
    env: { ...process.env, PULUMI_CONFIG: JSON.stringify(config) },
  });
  let printed = "";
  child.stderr.on("data", (text: Buffer) => (printed += text.toString()));
  await once(child, "close");
  expect(printed).toContain("uptime: 1 request (GET 1)\n");
});

describe("at a signal", () => {
  let emulator: Emulator;
  beforeEach(async () => {
    emulator = await startEmulator();
    emulator.fault = ({ method }) => (method === "POST" ? { kind: "delay", answerDelayMs: 1500 } : undefined);
  });

  test.each([[["SIGTERM"]], [["SIGINT"]], [["SIGINT", "SIGTERM"]]] as const)(
    "a create that was sent gets its answer, and nothing else begins: %j",
    async (signals) => {
      const engine = await startEngine();
      const child = await startHost(engine.address, "pipe", {
        "uptime:baseUrl": emulator.url,
        "uptime:apiKey": emulator.apiKey,
      });
      let printed = "";
      child.stdout?.on("data", (text: Buffer) => (printed += text.toString()));
      while (emulator.writes().length === 0) await sleep(20);
      for (const signal of signals) {
        child.kill(signal);
        await sleep(100);
      }
      await expectEnd(child);
      expect(child.exitCode).toBe(0);
      expect(printed).toBe("1 is created\n");
      expect(emulator.writes()).toHaveLength(1);
    },
  );

  test("a host without requests ends at once", async () => {
    const engine = await startEngine();
    const child = await startHost(engine.address, "pipe");
    const started = performance.now();
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(child.exitCode).toBe(0);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
