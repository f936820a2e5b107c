// What the measurements with thousands of monitors say: limits, and tables for users and contributors. Nothing here measures.
import { format, judged, matching, median, most, ratioOf, table, tableOfLimits, whenOf } from "./figures.mjs";
import { commands as usual } from "./report.mjs";

/** The server refuses more in any minute, where a run waits for its limit. */
export const requestsPerMinute = 60;

const kinds = {
  sendingFloor: "floor",
  ours: "dynamic",
  native: "native",
  yaml: "YAML",
  conventional: "conventional",
};
const commands = {
  ...usual,
  checkpointed: "`up`, with checkpoints",
  limited: `\`up\` at ${requestsPerMinute} requests a minute`,
};
const roles = ["cli", "program", "provider"];

const sizesOf = (runs) => [...new Set(runs.map(({ n }) => n))].sort((a, b) => a - b);

/** The median of the rounds. */
const medianOf = (runs, wanted, valueOf) => median(matching(runs, wanted).map(valueOf));

/** The wall seconds of the fastest round: what else the machine does only adds to them. `undefined` where nothing was measured. */
export function secondsOf(runs, wanted) {
  const seconds = matching(runs, wanted).map((run) => run.seconds);
  return seconds.length > 0 ? Math.min(...seconds) : undefined;
}

const cpuOf = ({ used }) => Object.values(used).reduce((sum, { seconds }) => sum + seconds, 0);

/** CPU seconds of one kind ÷ those of another. */
const ratio = (runs, wanted) => ratioOf(runs, wanted, cpuOf);

/** What must hold, with what was measured of it; `undefined` where it was not. */
export function scaleLimits(runs) {
  const large = sizesOf(runs).filter((n) => n >= 5000);
  const own = runs.filter(({ kind }) => ["ours", "native", "yaml"].includes(kind));
  const limits = [];
  for (const [command, title] of Object.entries(usual)) {
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
      `${usual[command]}: native ÷ dynamic from 5000 up, at most ${limit}`,
      most(large.map((n) => ratio(runs, { n, command, kind: "native", to: "ours" }))),
      limit,
    ]);
  limits.push([
    "`refresh`: requests beyond N ÷ 100, at most 2",
    most(matching(own, { command: "refresh" }).map(({ n, requests }) => requests - Math.ceil(n / 100))),
    2,
  ]);
  limits.push([
    "Peak memory of the provider at 10,000, at most 350 MB",
    most(matching(own, { n: 10_000 }).map(({ used }) => used.provider?.peak)),
    350,
  ]);
  limits.push([
    `\`up\` at ${requestsPerMinute} requests a minute: its time ÷ (N + 1 requests ÷ the limit), at most 1.1`,
    most(
      matching(runs, { command: "limited" }).map(
        ({ n, seconds }) => seconds / (((n + 1) * 60) / requestsPerMinute),
      ),
    ),
    1.1,
  ]);
  return judged(limits.map(([what, value, limit]) => [what, value, (x) => x <= limit]));
}

/** Markdown of what was measured: what must hold, then what each command uses. */
export function scaleMarkdown({ machine, runs }) {
  return [
    `${whenOf(runs)}: ${machine}.`,
    tableOfLimits(scaleLimits(runs)),
    ...sizesOf(runs).map((n) => tableOf(matching(runs, { n }), n)),
  ].join("\n\n");
}

function tableOf(runs, n) {
  const rows = Object.entries(commands).flatMap(([command, title]) =>
    Object.entries(kinds).flatMap(([kind, name]) => {
      if (matching(runs, { command, kind }).length === 0) return [];
      const value = (valueOf) => format(medianOf(runs, { command, kind }, valueOf));
      return [
        [
          title,
          name,
          value(cpuOf),
          format(ratio(runs, { command, kind, to: "sendingFloor" })),
          ...roles.map((role) => value(({ used }) => used[role]?.seconds ?? 0)),
          format(secondsOf(runs, { command, kind })),
          value(({ requests }) => requests),
          ...roles.map((role) => value(({ used }) => Math.round(used[role]?.peak ?? 0))),
          value(({ state }) => Math.round(state / n)),
        ],
      ];
    }),
  );
  const head = [
    ...["Command", "", "CPU s", "÷ floor", "CLI", "program", "provider", "wall s", "requests"],
    ...["CLI MB", "program MB", "provider MB", "state bytes ÷ N"],
  ];
  const rounds = Math.max(...runs.map(({ round }) => round + 1));
  return `#### N = ${n}, ${rounds === 1 ? "measured once" : `medians of ${rounds}`}\n\n${table([head, ...rows])}`;
}

/** What a user wants to know: how long each command takes, and what it needs. */
export function summaryOf({ machine, runs }) {
  const sizes = sizesOf(runs);
  const last = sizes.at(-1);
  const rows = Object.entries(commands)
    .filter(([command]) => command !== "limited")
    .map(([command, title]) => {
      const value = (n, valueOf) => format(medianOf(runs, { n, command, kind: "ours" }, valueOf));
      return [
        title,
        ...sizes.map((n) => format(secondsOf(runs, { n, command, kind: "ours" }))),
        value(last, ({ requests }) => requests),
        ...roles.map((role) => value(last, ({ used }) => Math.round(used[role]?.peak ?? 0))),
      ];
    });
  const head = [
    "Command",
    ...sizes.map((n) => `${n} monitors, s`),
    ...[`requests for ${last}`, "CLI, MB", "program, MB", "provider, MB"],
  ];
  return [
    table([head, ...rows]),
    `${whenOf(runs)}: ${machine}; the API takes 20 ms to respond. All commands but the last one run with ` +
      "`PULUMI_SKIP_CHECKPOINTS=true`.",
  ].join("\n\n");
}
