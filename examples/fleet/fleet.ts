import { execFile } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { LocalWorkspace } from "@pulumi/pulumi/automation";
import type { EngineEvent, OpMap, Stack } from "@pulumi/pulumi/automation";
import { Progress } from "./progress";
import { program, teams } from "./teams";

const usage = `node index.js [--yes] [--at-once STACKS] [--requests-per-minute LIMIT]

Previews the stack of each team. With --yes it then applies those that change, and lists the records that no stack manages.
  --at-once              how many stacks run at the same time (default: 4)
  --requests-per-minute  the rate limit of the account; each running stack gets its share
Exit codes: 0 done, 1 error or interrupted, 2 changes wait for --yes.`;

/** A team's stack, and what became of it. */
interface Run {
  readonly team: string;
  stack?: Stack;
  state: "never began" | "unchanged" | "changes wait" | "applied" | "interrupted" | "failed";
  readonly changes: OpMap;
  readonly errors: string[];
}

const minute = 60_000;
const interruption = new AbortController();
const { signal } = interruption;
// Each command listens to it.
setMaxListeners(0, signal);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      yes: { type: "boolean", default: false },
      "at-once": { type: "string", default: "4" },
      "requests-per-minute": { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const runs = Object.keys(teams).map((team): Run => ({
    team,
    state: "never began",
    changes: {},
    errors: [],
  }));
  const progress = new Progress(runs.map(({ team }) => team));
  const atOnce = Math.min(atLeastOne("--at-once", values["at-once"]), runs.length);
  const limitText = values["requests-per-minute"];
  const limit = limitText === undefined ? undefined : atLeastOne("--requests-per-minute", limitText);
  if (limit !== undefined && limit < atOnce)
    throw new Error(`--requests-per-minute ${limit} is too little for ${atOnce} stacks at once.`);

  // A preview of this program sends no requests, so nothing has to rest. One with imports or lookups sends some.
  await inSlots(runs, atOnce, 0, async (run) => {
    run.stack = await stackOf(run.team, limit === undefined ? undefined : Math.floor(limit / atOnce));
    await preview(run, run.stack, progress);
  });
  const waiting = runs.filter(({ state }) => state === "changes wait");
  const isApplied = values.yes && waiting.length > 0 && runs.every(({ state }) => state !== "failed");
  if (isApplied) {
    for (const run of waiting) run.state = "never began";
    await inSlots(waiting, atOnce, limit === undefined ? 0 : minute, (run) => up(run, progress));
  }
  progress.end();
  printSummary(runs);
  if (runs.some(({ state }) => ["failed", "interrupted", "never began"].includes(state))) return 1;
  if (!values.yes) return waiting.length > 0 ? 2 : 0;
  if (isApplied && limit !== undefined) await sleep(minute, undefined, { signal });
  return printUnmanaged(runs, limit);
}

function atLeastOne(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`${option} must be a whole number from 1, not ${text}.`);
  return number;
}

/**
 * Runs so many stacks at the same time. A slot rests after each: the next stack counts its requests from zero, and the server
 * still counts those of the last minute.
 */
async function inSlots(
  runs: readonly Run[],
  atOnce: number,
  restMs: number,
  work: (run: Run) => Promise<void>,
): Promise<void> {
  const queue = [...runs];
  const slot = async (): Promise<void> => {
    for (let run = queue.shift(); run && !signal.aborted; run = queue.shift()) {
      await work(run);
      if (queue.length > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, slot));
}

async function stackOf(team: string, requestsPerMinute: number | undefined): Promise<Stack> {
  const stack = await LocalWorkspace.createOrSelectStack(
    { stackName: team, projectName: "uptime-fleet", program: () => program(team) },
    // Pulumi loads the provider from here: this folder has pulumi-uptime in its node_modules.
    { workDir: __dirname },
  );
  if (requestsPerMinute !== undefined)
    await stack.setConfig("uptime:requestsPerMinute", { value: String(requestsPerMinute) });
  return stack;
}

async function preview(run: Run, stack: Stack, progress: Progress): Promise<void> {
  // The command would begin although the signal was sent.
  if (signal.aborted) return;
  progress.show(run.team, "previewing");
  await attempt(run, async () => {
    await stack.preview({
      signal,
      onEvent: (event) => {
        const op = changeIn(event.resourcePreEvent);
        if (op) run.changes[op] = (run.changes[op] ?? 0) + 1;
        noteErrors(run, event);
      },
    });
    run.state = sizeOf(run.changes) > 0 ? "changes wait" : "unchanged";
  });
  progress.show(run.team, run.state === "changes wait" ? describe(run.changes) : run.state);
}

async function up(run: Run, progress: Progress): Promise<void> {
  if (signal.aborted) return;
  let done = 0;
  progress.show(run.team, "applying");
  await attempt(run, async () => {
    await run.stack?.up({
      signal,
      onEvent: (event) => {
        if (changeIn(event.resOutputsEvent))
          progress.count(run.team, `applying: ${++done} of ${sizeOf(run.changes)}`);
        noteErrors(run, event);
      },
    });
    run.state = "applied";
  });
  progress.show(run.team, run.state);
}

/** What is done to a resource; undefined if nothing is. The stack itself and its providers are nothing to review. */
function changeIn(event: EngineEvent["resourcePreEvent"] | EngineEvent["resOutputsEvent"]) {
  const { op = "same", type = "" } = event?.metadata ?? {};
  return op === "same" || type.startsWith("pulumi:") ? undefined : op;
}

function noteErrors(run: Run, { diagnosticEvent }: EngineEvent): void {
  if (diagnosticEvent?.severity === "error") run.errors.push(diagnosticEvent.message.trim());
}

async function attempt(run: Run, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    run.state = signal.aborted ? "interrupted" : "failed";
    if (run.errors.length === 0) run.errors.push(String(error));
  }
}

const sizeOf = (changes: OpMap): number => Object.values(changes).reduce((sum, count) => sum + count, 0);

const describe = (changes: OpMap): string =>
  Object.entries(changes)
    .map(([op, count]) => `${count} to ${op}`)
    .join(", ") || "no changes";

function printSummary(runs: readonly Run[]): void {
  console.log("\nStack        Result        Changes");
  for (const { team, state, changes } of runs)
    console.log(`${team.padEnd(12)} ${state.padEnd(13)} ${describe(changes)}`);
  for (const { team, errors } of runs) for (const error of errors) console.error(`\n${team}: ${error}`);
  if (signal.aborted)
    console.log(
      "\nInterrupted. What was created is in the stacks' states: run this again, and nothing is created twice.",
    );
}

/** One `drift` over the states of all stacks, so that the account's list is read once. Returns the exit code. */
async function printUnmanaged(runs: readonly Run[], limit: number | undefined): Promise<number> {
  const deployments = await Promise.all(runs.flatMap(({ stack }) => stack?.exportStack() ?? []));
  const resources = deployments.flatMap(
    ({ deployment }) => (deployment as { resources?: unknown[] }).resources ?? [],
  );
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  try {
    // The states have secrets, and the folder is readable by this user only.
    const file = join(folder, "states.json");
    await writeFile(file, JSON.stringify({ version: 3, deployment: { resources } }));
    const args = ["drift", "--unmanaged", "--state", file];
    if (limit !== undefined) args.push("--requests-per-minute", String(limit));
    console.log();
    const drift = execFile(join(__dirname, "node_modules", ".bin", "pulumi-uptime"), args, { signal });
    drift.stdout?.pipe(process.stdout);
    drift.stderr?.pipe(process.stderr);
    const [code] = (await once(drift, "close")) as [number | null];
    // 2 says that there is drift, or a record that no stack manages.
    return code === 0 || code === 2 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}

process.once("message", () => {
  console.log("\nInterrupted: waiting for what was sent.");
  interruption.abort();
});
// index.ts was killed.
process.once("disconnect", () => {
  interruption.abort();
});
void main()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  })
  .then((code) => process.exit(code));
