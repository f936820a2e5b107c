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
  fastestOf,
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

/** What must hold, with what was measured of it; `undefined` where it was not. */
export function scaleLimits(runs) {
  const large = sizesOf(runs).filter((n) => n >= 5000);
  const own = runs.filter(({ kind }) => ["ours", "native", "yaml"].includes(kind));
  const toFloor = { kind: "ours", to: "sendingFloor" };
  const ratio = (wanted) => ratioOf(runs, wanted, cpuOf);
  const fromLarge = (wanted) => most(large.map((n) => ratio({ n, ...wanted })));
  const growth = (command) => {
    const [small, last] = [1000, 10_000].map((n) => ratio({ n, command, ...toFloor }));
    return small === undefined || last === undefined ? undefined : last / small;
  };
  const secondsAtLimit = ({ n }) => ((n + 1) * 60) / requestsPerMinute;
  const limits = [
    ...Object.entries(usual).flatMap(([command, title]) => {
      const limit = command === "refresh" || command === "destroy" ? 1.05 : 1;
      return [
        [`${title}: ours ÷ floor at 10,000, at most 1.1 × that at 1000`, growth(command), 1.1],
        [`${title}: ours ÷ floor from 5000 up, at most ${limit}`, fromLarge({ command, ...toFloor }), limit],
      ];
    }),
    ...Object.entries({ refresh: 1, destroy: 1, up: 1.05 }).map(([command, limit]) => [
      `${usual[command]}: native ÷ dynamic from 5000 up, at most ${limit}`,
      fromLarge({ command, kind: "native", to: "ours" }),
      limit,
    ]),
    [
      "`refresh`: requests beyond N ÷ 100, at most 2",
      most(matching(own, { command: "refresh" }).map(({ n, requests }) => requests - Math.ceil(n / 100))),
      2,
    ],
    [
      "Peak memory of the provider at 10,000, at most 350 MB",
      most(matching(own, { n: 10_000 }).map(peakOf("provider"))),
      350,
    ],
    [
      `\`up\` at ${requestsPerMinute} requests a minute: its time ÷ (N + 1 requests ÷ the limit), at most 1.1`,
      most(matching(runs, { command: "limited" }).map((run) => run.seconds / secondsAtLimit(run))),
      1.1,
    ],
  ];
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
        ...sizes.map((n) => format(fastestOf(ours, { n }))),
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
