// What the benchmark says of its measurements: limits and tables. Nothing here measures.
import { judged, matching, most, peakOf, ratioOf, tableOfLimits, tableOfRuns, whenOf } from "./figures.mjs";

/** What is measured of each program, in this order. */
export const commands = {
  up: "`up`, all are new",
  preview: "`preview`, no change",
  again: "`up`, no change",
  refresh: "`refresh`",
  edit: "`up`, one field of one monitor",
  destroy: "`destroy`",
};

/** No limit compares the times of these, except one that is far from what they take. */
export const measuredOnce = ["yaml", "conventional"];

/** The latency, in milliseconds, at which times are compared. */
export const latencyOfLimits = 20;

const secondsOf = ({ seconds }) => seconds;

/** What must hold, each with what was measured of it and whether it does; `undefined` where it was not measured. */
export function limitsOf({ runs }) {
  const ratio = (command, kind, to) =>
    ratioOf(runs, { n: 1000, latency: latencyOfLimits, command, kind, to }, secondsOf);
  const mostOf = (wanted, valueOf) => most(matching(runs, { kind: "ours", ...wanted }).map(valueOf));
  const beyondPages = matching(runs, { kind: "ours", command: "refresh" })
    .filter(({ n }) => n >= 100)
    .map(({ n, requests }) => requests - Math.ceil(n / 100));
  const natively = (command) => ratio(command, "native", "ours");
  const bytes = mostOf(
    { kind: "native", n: 1000, command: "up" },
    ({ n, state, attributes }) => state / n - attributes,
  );
  const times = `N = 1000, ${latencyOfLimits} ms`;
  const limits = [
    [`\`up\`: at most 1.10 × the floor (${times})`, ratio("up", "ours", "floor"), (x) => x <= 1.1],
    [`\`destroy\`: at most 1.10 × the floor (${times})`, ratio("destroy", "ours", "floor"), (x) => x <= 1.1],
    [`\`preview\`: at most 0.9 × the floor (${times})`, ratio("preview", "ours", "floor"), (x) => x <= 0.9],
    [`\`refresh\`: at most 1.4 × the floor (${times})`, ratio("refresh", "ours", "floor"), (x) => x <= 1.4],
    [
      `\`up\`: conventional at least 2.5 × ours (${times})`,
      ratio("up", "conventional", "ours"),
      (x) => x >= 2.5,
    ],
    ["`refresh`: requests beyond one for each 100, at most 2", most(beyondPages), (x) => x <= 2],
    [
      "`up` without a change: requests, none",
      mostOf({ command: "again" }, ({ requests }) => requests),
      (x) => x === 0,
    ],
    [
      "`up` with one change: writes, one",
      mostOf({ command: "edit" }, ({ requests, reads }) => requests - reads),
      (x) => x === 1,
    ],
    [
      "`up` with one change: reads that verify it, at most one",
      mostOf({ command: "edit" }, ({ reads }) => reads),
      (x) => x <= 1,
    ],
    ["Bytes of ours in state for each monitor, at most 320", mostOf({}, ({ own }) => own), (x) => x <= 320],
    ["Peak memory of the provider's process, below 300 MB", mostOf({}, peakOf("provider")), (x) => x < 300],
    [`\`up\`, native: at most 1.0 × ours (${times})`, natively("up"), (x) => x <= 1],
    [`\`preview\`, native: at most 1.10 × ours (${times})`, natively("preview"), (x) => x <= 1.1],
    [`\`refresh\`, native: at most 1.10 × ours (${times})`, natively("refresh"), (x) => x <= 1.1],
    ["Bytes of state for each monitor without `attributes`, native, at most 1,500", bytes, (x) => x <= 1500],
    [
      "Peak memory of the plugin's process, below 200 MB",
      mostOf({ kind: "native" }, peakOf("provider")),
      (x) => x < 200,
    ],
  ];
  return judged(limits);
}

/** A file of what each machine has measured, with one measurement in a line. */
export function textOf(all) {
  const texts = all.map(({ machine, runs }) => {
    const lines = runs.map((run) => JSON.stringify(run));
    return `{\n"machine": ${JSON.stringify(machine)},\n"runs": [\n${lines.join(",\n")}\n]\n}`;
  });
  return `[\n${texts.join(",\n")}\n]\n`;
}

/**
 * The limits with what the first machine has measured that has measured it at all.
 * @returns {{ what: string, measured?: number, holds?: boolean }[]}
 */
export function limitsOfAll(all) {
  const [first, ...others] = all.map(limitsOf);
  return first.map(
    (limit, index) =>
      [limit, ...others.map((limits) => limits[index])].find(({ holds }) => holds !== undefined) ?? limit,
  );
}

/** Markdown of everything that was measured: what must hold, and then the figures of each machine. */
export function markdownOf(all) {
  return [tableOfLimits(limitsOfAll(all)), ...all.map(figuresOf)].join("\n\n");
}

function figuresOf({ machine, runs }) {
  const settings = new Map(
    runs.map(({ n, latency }) => [`N = ${n}, latency of the API ${latency} ms`, { n, latency }]),
  );
  return [
    `### ${machine.replace(/,.*/s, "")}`,
    `${whenOf(runs)}: ${machine}.`,
    ...[...settings].map(([title, setting]) =>
      tableOfRuns(title, matching(runs, setting), commands, { floor: "floor", valueOf: secondsOf }),
    ),
  ].join("\n\n");
}
