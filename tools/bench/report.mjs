// What the benchmark says of its measurements: limits and tables. Nothing here measures.
import { format, judged, matching, median, most, ratioOf, table, tableOfLimits, whenOf } from "./figures.mjs";

/** What is measured of each program, in this order. */
export const commands = {
  up: "`up`, all are new",
  preview: "`preview`, no change",
  again: "`up`, no change",
  refresh: "`refresh`",
  edit: "`up`, one field of one monitor",
  destroy: "`destroy`",
};

export const kinds = {
  ours: "pulumi-uptime",
  native: "pulumi-uptime/native",
  yaml: "YAML",
  floor: "no-op resources",
  conventional: "conventional provider",
};

/** No limit compares the times of these, except one that is far from what they take. */
export const measuredOnce = ["yaml", "conventional"];

/** The latency, in milliseconds, at which times are compared. */
export const latencyOfLimits = 20;

/**
 * The bytes of a state file for each monitor that are neither the engine's, nor the managed fields, nor `attributes`.
 * Exact: the file without them is subtracted from the file.
 */
export function ownBytes(text, fields) {
  const state = JSON.parse(text);
  if (JSON.stringify(state).length !== text.trimEnd().length)
    throw new Error("The state file is not the compact JSON that its bytes could be counted in.");
  const monitors = state.checkpoint.latest.resources.filter(({ type }) => type.endsWith("uptime:Monitor"));
  const whole = JSON.stringify(monitors).length;
  for (const monitor of monitors) {
    delete monitor.additionalSecretOutputs;
    for (const part of ["inputs", "outputs", "propertyDependencies"])
      for (const key of Object.keys(monitor[part] ?? {}))
        if (!fields.includes(key) && key !== "attributes") delete monitor[part][key];
  }
  return (whole - JSON.stringify(monitors).length) / monitors.length;
}

/** The bytes of `attributes` for each monitor: what they hold is up to the API. */
export function attributesBytes(text) {
  const all = JSON.parse(text).checkpoint.latest.resources.flatMap(
    ({ outputs }) => outputs?.attributes ?? [],
  );
  return JSON.stringify(all).length / all.length;
}

/** How many times as long one kind takes as another. */
const timeRatio = (runs, wanted) => ratioOf(runs, wanted, ({ seconds }) => seconds);

const peakOf = ({ used }) => used.provider?.peak;

/** What must hold, each with what was measured of it and whether it does; `undefined` where it was not measured. */
export function limitsOf({ runs }) {
  const ratio = (command, kind, to) =>
    timeRatio(runs, { n: 1000, latency: latencyOfLimits, command, kind, to });
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
    ["Peak memory of the provider's process, below 300 MB", mostOf({}, peakOf), (x) => x < 300],
    [`\`up\`, native: at most 1.0 × ours (${times})`, natively("up"), (x) => x <= 1],
    [`\`preview\`, native: at most 1.10 × ours (${times})`, natively("preview"), (x) => x <= 1.1],
    [`\`refresh\`, native: at most 1.10 × ours (${times})`, natively("refresh"), (x) => x <= 1.1],
    ["Bytes of state for each monitor without `attributes`, native, at most 1,500", bytes, (x) => x <= 1500],
    ["Peak memory of the plugin's process, below 200 MB", mostOf({ kind: "native" }, peakOf), (x) => x < 200],
  ];
  return judged(limits);
}

/** How often ours was measured, as it reads. */
function roundsOf(all) {
  const runs = matching(all, { kind: "ours", command: "up" });
  const counts = runs.map(({ n, latency }) => matching(runs, { n, latency }).length);
  return [...new Set([Math.min(...counts), Math.max(...counts)])].join(" to ");
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
  const settings = [...new Map(runs.map(({ n, latency }) => [`${n} ${latency}`, { n, latency }])).values()];
  const timesOf = (setting) =>
    Object.entries(commands).flatMap(([command, title]) => {
      const wanted = { ...setting, command };
      const of = (kind, valueOf) => matching(runs, { ...wanted, kind }).map(valueOf);
      const ratio = (kind, to) => format(timeRatio(runs, { ...wanted, kind, to }));
      const requests = (kind) => format(most(of(kind, (run) => run.requests)));
      const seconds = Object.keys(kinds).map((kind) => median(of(kind, (run) => run.seconds)));
      if (seconds.every((value) => value === undefined)) return [];
      return [
        [
          title,
          ...seconds.map(format),
          ratio("ours", "floor"),
          ratio("native", "ours"),
          ratio("conventional", "ours"),
          requests("ours"),
          requests("conventional"),
        ],
      ];
    });
  const head = [
    "Command",
    "pulumi-uptime, s",
    "native, s",
    "YAML, s",
    "floor, s",
    "conventional, s",
    "ours ÷ floor",
    "native ÷ ours",
    "conventional ÷ ours",
    "requests of ours",
    "of the conventional",
  ];
  const sizes = Object.entries(kinds).flatMap(([kind, title]) =>
    [...new Set(matching(runs, { kind, command: "up" }).map(({ n }) => n))].map((n) => {
      const those = matching(runs, { kind, n });
      const [{ state, own }] = matching(those, { command: "up" });
      return [
        title,
        format(n),
        format(Math.round(state / 1000)),
        format(Math.round(state / n)),
        format(own),
        format(most(those.map((run) => peakOf(run) && Math.round(peakOf(run))))),
      ];
    }),
  );
  return [
    `### ${machine.replace(/,.*/s, "")}`,
    `${whenOf(runs)}: ${machine}. Times are wall seconds, medians of ${roundsOf(runs)}; the conventional ` +
      "provider and YAML are measured once.",
    ...settings.flatMap((setting) => [
      `#### N = ${setting.n}, latency of the API ${setting.latency} ms`,
      table(withoutEmptyColumns([head, ...timesOf(setting)])),
    ]),
    "#### State and memory",
    table([
      ["", "N", "state, kB", "bytes a monitor", "of them ours", "peak memory of the provider's process, MB"],
      ...sizes,
    ]),
  ].join("\n\n");
}

/** Without the columns of what was not measured. */
function withoutEmptyColumns(rows) {
  const [, ...figures] = rows;
  return rows.map((row) => row.filter((_, column) => figures.some((cells) => cells[column] !== "–")));
}
