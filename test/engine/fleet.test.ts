import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { limitKinds } from "../support/limits";
import { startProgram, type Started } from "../support/processes";
import { fullTest, sample } from "../support/size";
import { namesIn, startStack, type Stack } from "../support/stack";
import { copyExample } from "../support/workspace";

const repository = join(__dirname, "..", "..");
const teams = 8;
const monitors = 15;

/** examples/fleet as a user's copy of it is after `npm install` and `tsc`. */
async function startFleet(): Promise<Stack> {
  const stack = await startStack({ language: "ts", packages: ["@types/node"] });
  const { project } = stack.workspace;
  await stack.workspace.clear();
  await copyExample("fleet", project);
  const compiler = join(repository, "node_modules", "typescript", "bin", "tsc");
  // `npm run check` looks at its types.
  execFileSync(process.execPath, [compiler, "--noCheck"], { cwd: project });
  const commands = join(project, "node_modules", ".bin");
  mkdirSync(commands);
  const main = join(repository, "dist", "provider", "cli", "main.js");
  writeFileSync(join(commands, "pulumi-uptime"), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`, {
    mode: 0o755,
  });
  return stack;
}

/** Runs the example in a process group of its own, as a shell does. */
const start = ({ workspace: { project, env } }: Stack, ...args: string[]): Started =>
  startProgram(process.execPath, ["index.js", ...args], { cwd: project, env, detached: true });

const run = (stack: Stack, ...args: string[]): Started["done"] => start(stack, ...args).done;

// The others differ in who is told alone.
const interruptions = [
  ["SIGINT to the process group, as a terminal sends it", "SIGINT", true],
  ["SIGINT to the program alone", "SIGINT", false],
  ["SIGTERM to the program alone", "SIGTERM", false],
] as const;

test.each(interruptions.slice(0, sample(1, 1, 3)))(
  "eight stacks interrupted by %s: each CLI gets one signal, and the next run creates the rest",
  async (_, signal, isGroup) => {
    const fleet = await startFleet();
    const { emulator } = fleet;
    const stray = emulator.monitors.add({ name: "Stray", url: "https://stray.example/", interval: 60 });
    let posts = 0;
    const sent = new Promise<void>((resolve) => {
      emulator.fault = ({ method }) => {
        if (method !== "POST") return undefined;
        if (++posts === 6) resolve();
        return { kind: "delay", answerDelayMs: 4000 };
      };
    });
    const { child, done } = start(fleet, "--yes", "--at-once", "4");
    await sent;
    process.kill(isGroup ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
    const { code, output } = await done;
    expect({ code, output }).toMatchObject({ code: 1 });
    // A CLI that is interrupted once waits for what it has begun. Those of the second half never began.
    expect(output.match(/^\w+ +(interrupted|applied) /gm)).toHaveLength(4);
    expect(output.match(/^\w+ +never began /gm)).toHaveLength(teams - 4);

    emulator.fault = undefined;
    const again = await run(fleet, "--yes", "--at-once", "8");
    expect(again.code === 0 ? "" : again.output).toBe("");
    const names = namesIn(fleet.emulator.monitors);
    expect(names).toHaveLength(monitors + 1);
    expect(new Set(names).size).toBe(monitors + 1);
    // What no stack has.
    expect(again.output).toMatch(new RegExp(`^Monitor +${stray.id} +Stray$`, "m"));
    expect(again.output).toContain(`${monitors} resources compared, no drift, 1 record not managed`);
  },
);

// It waits for several minutes.
fullTest(
  "nothing is applied without --yes, and all stacks together never exceed the account's limit",
  async () => {
    const fleet = await startFleet();
    const { emulator } = fleet;
    expect(await run(fleet, "--at-once", "8")).toMatchObject({ code: 2 });
    expect(emulator.requests).toEqual([]);

    const limit = limitKinds.sliding(8, 60_000);
    const refused: unknown[] = [];
    emulator.fault = ({ method, path }) => {
      if (limit(Date.now()).wait === 0) return undefined;
      refused.push([method, path]);
      return { kind: "answer", effect: false, status: 429 };
    };
    const { code, output } = await run(fleet, "--yes", "--at-once", "4", "--requests-per-minute", "8");
    expect({ failure: code === 0 ? "" : output, refused }).toEqual({ failure: "", refused: [] });
    expect(namesIn(fleet.emulator.monitors)).toHaveLength(monitors);

    const unchanged = await run(fleet);
    expect(unchanged).toMatchObject({ code: 0 });
    expect(unchanged.output.match(/^\w+ +unchanged +no changes$/gm)).toHaveLength(teams);
  },
);
