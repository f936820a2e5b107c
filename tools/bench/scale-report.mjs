// What the measurements with thousands of monitors say: limits, and tables for users and contributors. Nothing here measures.
import {
  cpuOf,
  format,
  judged,
  matching,
  median,
  most,
  peakOf,
  ratioOf,
  roles,
  secondsOf,
  table,
  tableOfLimits,
  tableOfRuns,
  whenOf,
} from "./figures.mjs";
import { commands as usual } from "./report.mjs";

/** The server refuses more in any minute, where a run waits for its limit. */
export const requestsPerMinute = 60;

const commands = {
  ...usual,
  checkpointed: "`up`, with checkpoints",
  limited: `\`up\` at ${requestsPerMinute} requests a minute`,
};

const sizesOf = (runs) => [...new Set(runs.map(({ n }) => n))].sort((a, b) => a - b);

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
    ...sizesOf(runs).map((n) =>
      tableOfRuns(`N = ${n}`, matching(runs, { n }), commands, { floor: "sendingFloor", valueOf: cpuOf }),
    ),
  ].join("\n\n");
}

/** What a user wants to know: how long each command takes, and what it needs. */
export function summaryOf({ machine, runs }) {
  const sizes = sizesOf(runs);
  const last = sizes.at(-1);
  const rows = Object.entries(commands)
    .filter(([command]) => command !== "limited")
    .map(([command, title]) => {
      const ours = matching(runs, { command, kind: "ours" });
      const value = (valueOf) => format(median(matching(ours, { n: last }).map(valueOf)));
      return [
        title,
        ...sizes.map((n) => format(secondsOf(ours, { n }))),
        value(({ requests }) => requests),
        ...roles.map((role) => value(peakOf(role))),
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
