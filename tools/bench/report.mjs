// What the benchmark says of its measurements: limits and tables. Nothing here measures.
import { requestsPerMinute } from "./measure.mjs";

export const commands = {
  up: "`up`, all are new",
  preview: "`preview`, no change",
  again: "`up`, no change",
  refresh: "`refresh`",
  edit: "`up`, one field of one monitor",
  destroy: "`destroy`",
  checkpointed: "`up`, with checkpoints",
  limited: `\`up\` at ${requestsPerMinute} requests a minute`,
};
/** The processes of a command. */
const roles = ["cli", "program", "provider"];

export const sizesOf = (runs) => [...new Set(runs.map(({ n }) => n))].sort((a, b) => a - b);

/** What was measured of a command, a kind or a size. */
export const matching = (runs, wanted) =>
  runs.filter((run) => Object.entries(wanted).every(([key, value]) => run[key] === value));

/** `undefined` where nothing was measured, as in all that follow. */
function median(values) {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function most(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

/** The wall seconds of the fastest round: what else the machine does only adds to them. */
function fastest(runs) {
  return runs.length > 0 ? Math.min(...runs.map(({ seconds }) => seconds)) : undefined;
}

const wallOf = ({ seconds }) => seconds;
const cpuOf = ({ used }) => used.cli && Object.values(used).reduce((sum, { seconds }) => sum + seconds, 0);
const peakOf =
  (role) =>
  ({ used }) =>
    used[role] && Math.round(used[role].peak);

/** How many times as much one kind needs as another: the median of the rounds, each compared with itself. */
function ratioOf(runs, valueOf, { kind, to, ...wanted }) {
  const ratios = matching(runs, { ...wanted, kind }).flatMap((run) =>
    matching(runs, { ...wanted, kind: to, round: run.round }).map((other) => valueOf(run) / valueOf(other)),
  );
  return median(ratios);
}

/** Of 1000 monitors. Seconds are as the clock has them, and CPU seconds beside the floor that reads. */
export function usualLimits(runs) {
  const large = matching(runs, { n: 1000 });
  const wall = (command, kind, to) => ratioOf(large, wallOf, { command, kind, to });
  const cpu = (command, to) => ratioOf(large, cpuOf, { command, kind: "ours", to });
  const mostOf = (wanted, valueOf) => most(matching(runs, { kind: "ours", ...wanted }).map(valueOf));
  const withoutAttributes = ({ n, state, attributes }) => state / n - attributes;
  return judged([
    ["`up` ÷ floor", wall("up", "ours", "floor"), 1.1],
    ["`destroy` ÷ floor", wall("destroy", "ours", "floor"), 1.1],
    ["`preview` ÷ floor", wall("preview", "ours", "floor"), 0.9],
    ["`refresh` ÷ floor", wall("refresh", "ours", "floor"), 1.4],
    ["`refresh` ÷ reading floor, CPU", cpu("refresh", "readingFloor"), 1.15],
    ["`destroy` ÷ reading floor, CPU", cpu("destroy", "readingFloor"), 1.15],
    ["`refresh` ÷ floor, CPU", cpu("refresh", "floor")],
    ["`destroy` ÷ floor, CPU", cpu("destroy", "floor")],
    ["`up` ÷ conventional", wall("up", "ours", "conventional"), 0.4],
    ["`up`, native ÷ dynamic", wall("up", "native", "ours"), 1],
    ["`preview`, native ÷ dynamic", wall("preview", "native", "ours"), 1.1],
    ["`refresh`, native ÷ dynamic", wall("refresh", "native", "ours"), 1.1],
    ["`refresh`: requests beyond N ÷ 100", requestsBeyondPages(matching(runs, { kind: "ours" })), 2],
    ["`up` without a change: requests", mostOf({ command: "again" }, ({ requests }) => requests), 0],
    [
      "`up` with one change: writes",
      mostOf({ command: "edit" }, ({ requests, reads }) => requests - reads),
      1,
    ],
    ["`up` with one change: reads", mostOf({ command: "edit" }, ({ reads }) => reads), 1],
    ["bytes of ours in state for each monitor", mostOf({}, ({ own }) => own), 320],
    [
      "bytes of state for each monitor without `attributes`, native",
      mostOf({ kind: "native", n: 1000, command: "up" }, withoutAttributes),
      1500,
    ],
    ["peak memory of the provider, MB", mostOf({}, peakOf("provider")), 300],
    ["peak memory of the plugin, MB", mostOf({ kind: "native" }, peakOf("provider")), 200],
  ]);
}

/** Of thousands of monitors. Ratios are of CPU seconds. */
export function scaleLimits(runs) {
  const ratio = (wanted) => ratioOf(runs, cpuOf, wanted);
  const large = sizesOf(runs).filter((n) => n >= 5000);
  const fromLarge = (wanted) => most(large.map((n) => ratio({ n, ...wanted })));
  const growth = (wanted) => {
    const [small, last] = [1000, 10_000].map((n) => ratio({ n, ...wanted }));
    return small === undefined || last === undefined ? undefined : last / small;
  };
  const own = runs.filter(({ kind }) => ["ours", "native", "yaml"].includes(kind));
  const secondsAtLimit = ({ n }) => ((n + 1) * 60) / requestsPerMinute;
  const compared = ["up", "preview", "again", "refresh", "edit", "destroy"].flatMap((command) => {
    const title = commands[command];
    const ours = { command, kind: "ours" };
    const isReading = command === "refresh" || command === "destroy";
    return [
      [`${title}, 10,000 beside 1000: ÷ floor`, growth({ ...ours, to: "sendingFloor" }), 1.1],
      [`${title}, from 5000: ÷ floor`, fromLarge({ ...ours, to: "sendingFloor" }), isReading ? undefined : 1],
      ...(isReading
        ? [[`${title}, from 5000: ÷ reading floor`, fromLarge({ ...ours, to: "readingFloor" }), 1.15]]
        : []),
    ];
  });
  const natively = (command) => fromLarge({ command, kind: "native", to: "ours" });
  const waits = matching(runs, { command: "limited" }).map((run) => run.seconds / secondsAtLimit(run));
  return judged([
    ...compared,
    ["`refresh`, from 5000: native ÷ dynamic", natively("refresh"), 1],
    ["`destroy`, from 5000: native ÷ dynamic", natively("destroy"), 1],
    ["`up`, from 5000: native ÷ dynamic", natively("up"), 1.05],
    ["`refresh`: requests beyond N ÷ 100", requestsBeyondPages(own), 2],
    [
      "peak memory of the provider at 10,000, MB",
      most(matching(own, { n: 10_000 }).map(peakOf("provider"))),
      350,
    ],
    [`${commands.limited}: its time ÷ (N + 1 requests ÷ the limit)`, most(waits), 1.1],
  ]);
}

/** What was measured, with the most that is allowed; without that, it is told for comparison only. */
const judged = (limits) =>
  limits.map(([what, measured, bound]) => {
    const isTold = measured === undefined || bound === undefined;
    return { what, measured, bound, holds: isTold ? undefined : measured <= bound };
  });

const requestsBeyondPages = (runs) =>
  most(matching(runs, { command: "refresh" }).map(({ n, requests }) => requests - Math.ceil(n / 100)));

export function tableOfLimits(limits) {
  const rows = limits.map(({ what, measured, bound, holds }) => {
    const verdict = holds === false ? " **is more**" : "";
    return [what, format(bound), format(measured) + verdict];
  });
  return table([["", "at most", "measured"], ...rows]);
}

/** What each command uses with each kind of program: medians of the rounds, and the wall seconds of the fastest. */
export function tableOfRuns(runs) {
  const rows = sizesOf(runs).flatMap((n) =>
    Object.keys(commands).flatMap((command) =>
      [...new Set(runs.map(({ kind }) => kind))].flatMap((kind) => {
        const those = matching(runs, { n, command, kind });
        if (those.length === 0) return [];
        const value = (of) => format(median(those.map(of)));
        return [
          [
            `${n}: ${commands[command]}`,
            kind,
            format(fastest(those)),
            value(cpuOf),
            value(({ requests }) => requests),
            ...roles.map((role) => value(peakOf(role))),
            value(({ state }) => Math.round(state / n)),
          ],
        ];
      }),
    ),
  );
  const peaks = roles.map((role) => `${role} MB`);
  return table([["Command", "", "wall s", "CPU s", "requests", ...peaks, "state bytes ÷ N"], ...rows]);
}

/** What docs/performance.md shows: the seconds of each command by size, and what ours needs with the most monitors. */
export function summaryOf(runs) {
  const sizes = sizesOf(runs);
  const secondsOf = (wanted) => sizes.map((n) => rounded(fastest(matching(runs, { ...wanted, n }))) ?? null);
  const kinds = ["ours", "native", "sendingFloor", "conventional"];
  const seconds = Object.fromEntries(
    kinds.map((kind) => [
      kind,
      Object.fromEntries(
        Object.keys(commands).flatMap((command) => {
          const all = secondsOf({ kind, command });
          return all.every((one) => one === null) || command === "limited" ? [] : [[command, all]];
        }),
      ),
    ]),
  );
  const last = Object.fromEntries(
    Object.keys(commands).flatMap((command) => {
      const those = matching(runs, { kind: "ours", n: sizes.at(-1), command });
      const valuesOf = [({ requests }) => requests, ...roles.map(peakOf)];
      return those.length === 0 ? [] : [[command, valuesOf.map((of) => median(those.map(of)))]];
    }),
  );
  return { sizes, seconds, last };
}

const rounded = (value) => value && Number(value.toPrecision(3));

export function format(value) {
  if (value === undefined || value === null) return "–";
  if (Number.isInteger(value)) return String(value);
  return value < 100 ? value.toPrecision(value < 1 ? 2 : 3) : String(Math.round(value));
}

/** A table of Markdown, the first row its head. */
export function table(rows) {
  const [head, ...rest] = rows;
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const ruler = head.map((_, column) => (column === 0 ? "---" : "--:"));
  return ["<!-- prettier-ignore -->", ...[head, ruler, ...rest].map(line)].join("\n");
}
