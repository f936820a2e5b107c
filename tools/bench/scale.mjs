// `npm run bench -- --scale`: what each command uses with thousands of monitors, beside resources that do nothing but send.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../setup.mjs";
import { programOf } from "./programs.mjs";
import { commands, format, median, table } from "./report.mjs";

const kinds = {
  sendingFloor: "floor",
  ours: "dynamic",
  native: "native",
  yaml: "YAML",
};
const sizes = [1000, 5000, 10_000];
const rounds = 3;
const latency = 20;
/** As often as a team has monitors behind a login: encrypted headers cost the engine too. */
const secretEvery = 10;
/** Without it, a local backend writes the whole state twice for each resource. */
const env = { PULUMI_SKIP_CHECKPOINTS: "true" };
/** One measurement in a line, so that a run that was ended goes on where it was. */
const file = join(root, "node_modules", ".cache", "pulumi-uptime", "scale.jsonl");

/**
 * Measures what is missing, then prints all of it.
 * @param projects begins and ends projects, and knows the arguments of each command
 */
export async function measureScale({ newProject, end, argsOf }, { n = sizes, repeat = rounds, fresh }) {
  if (fresh) rmSync(file, { force: true });
  mkdirSync(dirname(file), { recursive: true });
  for (let round = 0; round < repeat; round++)
    for (const size of n) {
      const isDone = read().some((run) => run.n === size && run.round === round && run.command === "destroy");
      if (!isDone) await measureRound(size, round);
    }
  return read();

  /** All kinds take turns at each command, and change places with each round. */
  async function measureRound(size, round) {
    const order = Object.keys(kinds);
    if (round % 2) order.reverse();
    const runs = [];
    const projects = [];
    for (const kind of order) {
      const project = await newProject(kind);
      await project.pulumi(["stack", "init", "bench"]);
      projects.push([kind, project]);
    }
    for (const command of Object.keys(commands))
      for (const [kind, project] of projects) {
        await project.write(programOf(kind, size, command === "edit", secretEvery));
        await project.api.take(latency);
        const { seconds, used } = await project.pulumi(argsOf[command], env);
        const requests = Object.values(await project.api.take(latency)).reduce(
          (sum, count) => sum + count,
          0,
        );
        const state = project.state("bench").length;
        runs.push({ n: size, round, kind, command, seconds, used, requests, state });
        console.log(`N ${size}, ${kinds[kind]}: ${command} ${cpuOf({ used }).toFixed(1)} s of CPU`);
      }
    for (const [, project] of projects) await end(project);
    // Only whole rounds count: what takes turns must be compared.
    appendFileSync(file, runs.map((run) => `${JSON.stringify(run)}\n`).join(""));
  }
}

function read() {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const cpuOf = ({ used }) => Object.values(used).reduce((sum, { seconds }) => sum + seconds, 0);

/** The median over the rounds of what one kind uses in a command. */
function measured(runs, wanted, valueOf) {
  const values = runs
    .filter((run) => Object.entries(wanted).every(([key, value]) => run[key] === value))
    .map(valueOf);
  return values.length > 0 ? median(values) : undefined;
}

/** CPU seconds of one kind ÷ those of another, each round compared with itself. */
function ratio(runs, { kind, to, ...wanted }) {
  return measured(runs, { ...wanted, kind }, (run) => {
    const other = runs.find(
      (one) => one.kind === to && ["n", "round", "command"].every((key) => one[key] === run[key]),
    );
    return cpuOf(run) / cpuOf(other);
  });
}

/** What must hold, with what was measured of it; `undefined` where it was not. */
export function scaleLimits(runs) {
  const measuredSizes = [...new Set(runs.map(({ n }) => n))].sort((a, b) => a - b);
  const large = measuredSizes.filter((n) => n >= 5000);
  const most = (values) => {
    const known = values.filter((value) => value !== undefined);
    return known.length > 0 ? Math.max(...known) : undefined;
  };
  const limits = [];
  for (const [command, title] of Object.entries(commands)) {
    const toFloor = (n) => ratio(runs, { n, command, kind: "ours", to: "sendingFloor" });
    const [small, last] = [toFloor(1000), toFloor(10_000)];
    const growth = small === undefined || last === undefined ? undefined : last / small;
    limits.push([`${title}: ours ÷ floor at 10,000, at most 1.1 × that at 1000`, growth, 1.1]);
    const limit = command === "refresh" || command === "destroy" ? 1.05 : 1;
    limits.push([`${title}: ours ÷ floor from 5000 up, at most ${limit}`, most(large.map(toFloor)), limit]);
  }
  for (const [command, limit] of [
    ["refresh", 1],
    ["destroy", 1],
    ["up", 1.05],
  ])
    limits.push([
      `${commands[command]}: native ÷ dynamic from 5000 up, at most ${limit}`,
      most(large.map((n) => ratio(runs, { n, command, kind: "native", to: "ours" }))),
      limit,
    ]);
  limits.push([
    "`refresh`: requests beyond N ÷ 100, at most 2",
    most(
      runs
        .filter(({ kind, command }) => kind !== "sendingFloor" && command === "refresh")
        .map(({ n, requests }) => requests - Math.ceil(n / 100)),
    ),
    2,
  ]);
  limits.push([
    "Peak memory of the provider at 10,000, at most 350 MB",
    most(
      runs
        .filter(({ kind, n }) => kind !== "sendingFloor" && n === 10_000)
        .map(({ used }) => used.provider?.peak),
    ),
    350,
  ]);
  return limits.map(([what, value, limit]) => ({
    what,
    measured: value,
    holds: value === undefined ? undefined : value <= limit,
  }));
}

/** Markdown of what was measured: what must hold, then what each command uses. */
export function scaleMarkdown(runs) {
  const limits = scaleLimits(runs).map(({ what, measured: value, holds }) => [
    what,
    format(value),
    holds === undefined ? "not measured" : holds ? "holds" : "**does not hold**",
  ]);
  const head = ["Command", "", "CPU s", "÷ floor", "CLI", "program", "provider", "wall s", "requests"];
  const memory = ["CLI MB", "program MB", "provider MB", "state bytes ÷ N"];
  const tables = [...new Set(runs.map(({ n }) => n))].map((n) => {
    const rows = Object.entries(commands).flatMap(([command, title]) =>
      Object.entries(kinds).map(([kind, name]) => {
        const value = (valueOf) => format(measured(runs, { n, command, kind }, valueOf));
        const roles = ["cli", "program", "provider"];
        return [
          title,
          name,
          value(cpuOf),
          format(ratio(runs, { n, command, kind, to: "sendingFloor" })),
          ...roles.map((role) => value(({ used }) => used[role]?.seconds ?? 0)),
          value(({ seconds }) => seconds),
          value(({ requests }) => requests),
          ...roles.map((role) => value(({ used }) => Math.round(used[role]?.peak ?? 0))),
          value(({ state }) => Math.round(state / n)),
        ];
      }),
    );
    const count = Math.max(...runs.filter((run) => run.n === n).map(({ round }) => round + 1));
    return `#### N = ${n}, medians of ${count}\n\n${table([[...head, ...memory], ...rows])}`;
  });
  return [table([["What must hold", "measured", ""], ...limits]), ...tables].join("\n\n");
}
