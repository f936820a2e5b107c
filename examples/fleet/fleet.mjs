// Previews and applies all stacks of the Pulumi project in this folder side by side: `node fleet.mjs --help`.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Progress } from "./progress.mjs";
import { run, signalAll, Stack } from "./stacks.mjs";

const usage = `node fleet.mjs [--yes] [--only STACK]... [--at-once STACKS] [--max-deletes RECORDS] [--json]

Previews each stack that has a file Pulumi.STACK.yaml here. With --yes it then applies it, and lists the records that no
stack manages.
  --only         only this stack; may be given several times
  --at-once      how many stacks run at the same time (default: 4)
  --max-deletes  does not apply a stack that would delete or replace more records
  --json         prints the result as JSON; what is going on goes to the standard error
Exit codes: 0 done, 1 something failed or was not applied, 2 changes wait for --yes.`;

const folder = mkdtempSync(join(tmpdir(), "fleet-"));
let isInterrupted = false;

async function main() {
  const { values } = parseArgs({
    options: {
      yes: { type: "boolean", default: false },
      only: { type: "string", multiple: true },
      "at-once": { type: "string", default: "4" },
      "max-deletes": { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const atOnce = wholeNumber("--at-once", values["at-once"], 1);
  const most = values["max-deletes"];
  const maxDeletes = most === undefined ? Infinity : wholeNumber("--max-deletes", most, 0);
  const all = stacksHere();
  const chosen = values.only ? values.only.map((name) => stackOf(name, all)) : all;

  const progress = new Progress(chosen.length, values.json ? process.stderr : process.stdout);
  const listen = () => {
    isInterrupted = true;
    progress.print("Interrupted: waiting for what was begun. Once more ends it at once, and leaves locks.");
    signalAll("SIGINT");
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, listen);
  await inSlots(chosen, atOnce, (stack) => work(stack, { isApplied: values.yes, maxDeletes, progress }));
  progress.close();

  // The other stacks' states are read too: otherwise their records would count as unmanaged.
  const drift = values.yes && !isInterrupted ? await unmanaged(all, atOnce, values.json) : undefined;
  if (values.json) console.log(JSON.stringify(reportOf(chosen, drift), undefined, 2));
  else printSummary(chosen, drift);
  return exitCode(chosen, drift);
}

function wholeNumber(option, text, least) {
  const number = Number(text);
  if (text !== "" && Number.isInteger(number) && number >= least) return number;
  throw new Error(`${option} must be a whole number from ${least}, not ${text}.`);
}

function stacksHere() {
  const names = readdirSync(".").flatMap((file) => /^Pulumi\.(.+)\.ya?ml$/.exec(file)?.[1] ?? []);
  if (names.length === 0) throw new Error("There is no stack here: no file Pulumi.STACK.yaml.");
  return names.sort().map((name) => new Stack(name, folder));
}

function stackOf(name, stacks) {
  const found = stacks.find((stack) => stack.name === name);
  if (found) return found;
  throw new Error(`--only ${name}: there is no file Pulumi.${name}.yaml here.`);
}

/** Works on this many stacks at the same time. */
async function inSlots(stacks, atOnce, action) {
  const queue = [...stacks];
  const slot = async () => {
    for (let stack = queue.shift(); stack && !isInterrupted; stack = queue.shift()) await action(stack);
  };
  await Promise.all(Array.from({ length: atOnce }, slot));
}

/** A failure affects only this stack. */
async function work(stack, { isApplied, maxDeletes, progress }) {
  let verb = "previewing";
  progress.begin(stack.name, () =>
    verb === "applying" ? `applying: ${stack.done} of ${stack.changeCount}` : verb,
  );
  await stack.preview();
  // A stack without changes is applied too, because state has aliases and options of the program.
  if (["changes wait", "unchanged"].includes(stack.result) && isApplied && !isInterrupted) {
    verb = "applying";
    if (stack.deletes <= maxDeletes) await stack.up();
    else {
      stack.result = "too many deletes";
      stack.addError(`${stack.deletes} would be deleted or replaced, and --max-deletes is ${maxDeletes}`);
    }
  }
  if (isInterrupted && stack.result !== "applied") stack.result = "interrupted";
  progress.end(stack.name, stack.result, lineOf(stack));
}

/** One `drift` over the states of all stacks, so that the account's list is read once. */
async function unmanaged(stacks, atOnce, isJson) {
  const resources = [];
  // What killed runs have begun.
  const pending_operations = [];
  const unread = [];
  await inSlots(stacks, atOnce, async (stack) => {
    try {
      const deployment = await stack.deployment();
      resources.push(...(deployment.resources ?? []));
      pending_operations.push(...(deployment.pending_operations ?? []));
    } catch (error) {
      unread.push(`The state of ${stack.name} could not be read: ${error.message}`);
    }
  });
  if (unread.length > 0) return { code: 1, text: unread.join("\n") };
  // The states have secrets; only this user can read the folder.
  const states = join(folder, "states.json");
  writeFileSync(states, JSON.stringify({ version: 3, deployment: { resources, pending_operations } }));
  const lines = [];
  const args = ["--no", "pulumi-uptime", "drift", "--unmanaged", "--state", states];
  if (isJson) args.push("--json");
  const onLine = (line) => lines.push(line);
  const { code, said } = await run("npx", args, { file: join(folder, "drift"), onLine });
  const isRead = code === 0 || code === 2;
  return { code, text: isRead ? lines.join("\n") : said };
}

function lineOf({ result, changes }) {
  const counts = Object.entries(changes).map(([op, count]) => `${count} to ${op}`);
  return [result, counts.join(", ")].filter(Boolean).join(": ");
}

function countsOf(stacks) {
  const counts = {};
  for (const { result } of stacks) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
}

const isOver = ({ result }) => ["unchanged", "changes wait", "applied"].includes(result);

function exitCode(stacks, drift) {
  // 2 means drift, or a record that no stack manages: this is shown, but is not a failure.
  if (!stacks.every(isOver) || isInterrupted || (drift && drift.code !== 0 && drift.code !== 2)) return 1;
  return stacks.some(({ result }) => result === "changes wait") ? 2 : 0;
}

function reportOf(stacks, drift) {
  const of = ({ name, result, changes, errors, remedy }) => ({
    stack: name,
    result,
    changes,
    errors,
    remedy,
  });
  const report = { counts: countsOf(stacks), stacks: stacks.map(of) };
  if (!drift) return report;
  const isRead = drift.code === 0 || drift.code === 2;
  return { ...report, ...(isRead ? { drift: JSON.parse(drift.text) } : { driftError: drift.text }) };
}

function printSummary(stacks, drift) {
  for (const { name, errors } of stacks) for (const error of errors) console.log(`\n${name}: ${error}`);
  if (drift) console.log(`\nAll stacks together:\n${drift.text}`);
  const changed = stacks.filter(({ result }) => result !== "unchanged");
  if (changed.length > 0) console.log();
  for (const stack of changed) console.log(`${stack.name.padEnd(16)} ${lineOf(stack)}`);
  const counts = Object.entries(countsOf(stacks)).map(([result, count]) => `${count} ${result}`);
  console.log(`\n${stacks.length} stacks: ${counts.join(", ")}`);
  const remedies = stacks.flatMap(({ remedy }) => remedy ?? []);
  if (stacks.some(({ result }) => result === "locked"))
    console.log("\nIf what holds the locks does not run any more, free the stacks and run this again:");
  else if (remedies.length > 0) console.log("\nRun before the next attempt:");
  for (const remedy of remedies) console.log(`  ${remedy}`);
}

main()
  .catch((error) => {
    console.error(error.message);
    return 1;
  })
  .then((code) => {
    rmSync(folder, { recursive: true });
    process.exit(code);
  });
