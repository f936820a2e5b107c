import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { answer } from "../support/emulator";
import { limitKinds } from "../support/limits";
import { startProgram, type Started } from "../support/processes";
import { fullTest } from "../support/size";
import { namesIn, startStack, type Stack } from "../support/stack";
import { compileExample, copyExample } from "../support/workspace";

const repository = join(__dirname, "..", "..");
const teams = ["accounts", "checkout", "content", "delivery", "search"];
const monitors = 11;

/** examples/fleet as a user's copy of it is after `npm install`, with these stacks. */
async function startFleet(stacks: readonly string[]): Promise<Stack> {
  const stack = await startStack({});
  const { project } = stack.workspace;
  await stack.workspace.clear();
  await copyExample("fleet", project);
  // A secret, which the state of a stack has encrypted.
  const program = join(project, "index.ts");
  const header = 'requestHeaders: [{ key: "X-Probe", value: "probe" }]';
  writeFileSync(program, readFileSync(program, "utf8").replace("interval: 300", `$&, ${header}`));
  await compileExample(project);
  const commands = join(project, "node_modules", ".bin");
  mkdirSync(commands);
  const main = join(repository, "dist", "provider", "cli", "main.js");
  writeFileSync(join(commands, "pulumi-uptime"), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`, {
    mode: 0o755,
  });
  for (const name of stacks) await stack.workspace.initStack(name, "--no-select");
  return stack;
}

/** Runs the example in a process group of its own, as a shell does. */
const start = ({ workspace: { project, env } }: Stack, ...args: string[]): Started =>
  startProgram(process.execPath, ["fleet.mjs", ...args], { cwd: project, env, detached: true });

const run = (stack: Stack, ...args: string[]): Started["done"] => start(stack, ...args).done;

/** Replaces the hosts of a team. */
function setHosts({ workspace: { project } }: Stack, team: string, hosts: unknown): void {
  const file = join(project, `Pulumi.${team}.yaml`);
  const provider = existsSync(file)
    ? readFileSync(file, "utf8").match(/^(encrypt|secretsprovider).*$/gm)
    : [];
  writeFileSync(
    file,
    `${provider?.join("\n") ?? ""}\nconfig:\n  uptime-fleet:hosts: ${JSON.stringify(hosts)}\n`,
  );
}

/** The text of all stacks' files. */
const filesOf = ({ workspace: { project } }: Stack): string[] =>
  readdirSync(project)
    .filter((name) => name.startsWith("Pulumi."))
    .map((name) => readFileSync(join(project, name), "utf8"));

interface Report {
  stacks: { stack: string; result: string; errors: string[]; remedy?: string }[];
  drift: { unmanaged: { name: string }[] };
}

test("a broken program, a lock and a missing stack fail by themselves: the others are applied, and the summary names the commands", async () => {
  const fleet = await startFleet(teams.filter((team) => team !== "search"));
  const { emulator, workspace } = fleet;
  emulator.monitors.add({ name: "Stray", url: "https://stray.example/", interval: 60 });
  // A value that is missing or of another type is an error of Pulumi's SDK, which takes 20 seconds and 3 GB to print it.
  setHosts(fleet, "content", {});
  const lock = join(
    fileURLToPath(workspace.env.PULUMI_BACKEND_URL ?? ""),
    ...[".pulumi", "locks", "organization", "uptime-fleet", "delivery"],
  );
  mkdirSync(lock, { recursive: true });
  const holder = { pid: 4711, username: "ci", hostname: "runner-7", timestamp: "2030-01-01T00:00:00Z" };
  writeFileSync(join(lock, "5b2c1f1e-9d0e-4a53-8a0e-0d2f8f1c0a11.json"), JSON.stringify(holder));
  const files = filesOf(fleet);

  const first = await run(fleet, "--yes", "--json", "--at-once", "5");
  expect(first).toMatchObject({ code: 1 });
  const { stacks, drift } = JSON.parse(first.stdout) as Report;
  expect(stacks).toMatchObject([
    { stack: "accounts", result: "applied", errors: [] },
    { stack: "checkout", result: "applied", errors: [] },
    { stack: "content", result: "failed" },
    { stack: "delivery", result: "locked", remedy: "pulumi cancel --yes --stack delivery" },
    { stack: "search", result: "missing", remedy: "pulumi stack init --no-select search" },
  ]);
  expect(stacks[2]?.errors).toEqual([expect.stringContaining("hosts.map is not a function")]);
  expect(stacks[3]?.errors).toEqual([
    expect.stringMatching(/^locked by ci@runner-7 \(pid 4711\) at 2030-\S+$/),
  ]);
  expect(drift.unmanaged).toMatchObject([{ name: "Stray" }]);
  expect(filesOf(fleet)).toEqual(files);
  expect(namesIn(emulator.monitors)).toHaveLength(1 + 2 + 3);

  // What it says to run is enough for those, a stack that would lose too much is held back, and nothing else is touched.
  for (const { remedy = "" } of stacks)
    if (remedy !== "") await workspace.pulumi(...remedy.split(" ").slice(1));
  setHosts(fleet, "content", ["www.orchard.example"]);
  setHosts(fleet, "checkout", ["pay.orchard.example"]);
  setHosts(fleet, "accounts", ["login.orchard.example"]);
  emulator.forget();
  const chosen = await run(fleet, "--only", "checkout", "--only", "search");
  expect(chosen).toMatchObject({ code: 2 });
  expect(chosen.output).toContain("2 stacks: 2 changes wait");
  expect(emulator.requests).toEqual([]);
  const second = await run(fleet, "--yes", "--max-deletes", "1");
  expect(second).toMatchObject({ code: 1 });
  expect(second.output).toContain("checkout: 2 would be deleted or replaced, and --max-deletes is 1\n");
  expect(second.output).toContain("5 stacks: 4 applied, 1 too many deletes\n");
  expect(second.output).toMatch(/^Monitor +\d+ +Stray$/m);
  expect(namesIn(emulator.monitors)).toEqual([
    "Stray",
    "accounts: login.orchard.example",
    ...["basket", "pay", "refund"].map((host) => `checkout: ${host}.orchard.example`),
    "content: www.orchard.example",
    ...["depots", "track"].map((host) => `delivery: ${host}.orchard.example`),
    ...["search", "suggest"].map((host) => `search: ${host}.orchard.example`),
  ]);
});

const interruptions = [
  ["SIGINT to the process group, as a terminal sends it", "SIGINT", true],
  ["SIGINT to the script alone", "SIGINT", false],
  ["SIGTERM to the script alone", "SIGTERM", false],
] as const;

describe.each(interruptions)("five stacks interrupted by %s", (_, signal, isGroup) => {
  fullTest("each CLI gets one signal, and the next run creates the rest", async () => {
    const fleet = await startFleet(teams);
    const { emulator } = fleet;
    let posts = 0;
    const sent = new Promise<void>((resolve) => {
      emulator.fault = ({ method }) => {
        if (method !== "POST") return undefined;
        if (++posts === 5) resolve();
        return { kind: "delay", answerDelayMs: 4000 };
      };
    });
    const { child, done } = start(fleet, "--yes", "--at-once", "3");
    await sent;
    process.kill(isGroup ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
    const { code, output } = await done;
    expect({ code, output }).toMatchObject({ code: 1 });
    // A CLI that is interrupted once waits for what it has begun.
    const [, counts = ""] = /^5 stacks: (.*)$/m.exec(output) ?? [];
    expect(counts).toContain("2 never began");
    expect(output).not.toContain("pulumi cancel");

    emulator.fault = undefined;
    const again = await run(fleet, "--yes", "--at-once", "5");
    expect(again.code === 0 ? "" : again.output).toBe("");
    const names = namesIn(fleet.emulator.monitors);
    expect(names).toHaveLength(monitors);
    expect(new Set(names).size).toBe(monitors);
    expect(again.output).toContain(`${monitors} resources compared, no drift, 0 records not managed`);
  });
});

// It waits for several minutes.
fullTest("20 stacks use at least 0.8 of the account's limit", async () => {
  const stacks = Array.from({ length: 20 }, (_, index) => `team${String(index + 1).padStart(2, "0")}`);
  const perMinute = 60;
  const fleet = await startFleet([]);
  const { emulator, workspace } = fleet;
  for (const team of teams) setHosts(fleet, team, []);
  for (const stack of stacks) {
    await workspace.initStack(stack, "--no-select");
    const hosts = Array.from({ length: 10 }, (_, index) => `h${index}.${stack}.example`);
    setHosts(fleet, stack, hosts);
  }
  const limit = limitKinds.sliding(perMinute, 60_000);
  const accepted: number[] = [];
  emulator.fault = () => {
    const { wait } = limit(Date.now());
    if (wait > 0) return answer(429, "", { "retry-after": String(Math.ceil(wait / 1000)) });
    accepted.push(Date.now());
    return undefined;
  };
  const { output } = await run(fleet, "--yes", ...stacks.flatMap((stack) => ["--only", stack]));
  expect(output).toContain("20 stacks: 20 applied");
  expect(namesIn(emulator.monitors)).toHaveLength(20 * 10);
  // Of what the minutes between the first request and the last allow, apart from the first 60, which take no time.
  const minutes = ((accepted.at(-1) ?? 0) - (accepted[0] ?? 0)) / 60_000;
  expect((accepted.length - perMinute) / (minutes * perMinute)).toBeGreaterThan(0.8);
});
