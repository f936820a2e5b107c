// What both benchmarks say of their measurements in the same way: medians and ratios, limits, tables. Nothing here measures.

/** What was measured of a command, a kind or a size. */
export const matching = (measured, wanted) =>
  measured.filter((one) => Object.entries(wanted).every(([key, value]) => one[key] === value));

/** `undefined` where nothing was measured, as in all that follow. */
export function median(values) {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function most(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

/** The wall seconds of the fastest round: what else the machine does only adds to them. */
export function fastestOf(runs, wanted) {
  const seconds = matching(runs, wanted).map((run) => run.seconds);
  return seconds.length > 0 ? Math.min(...seconds) : undefined;
}

export const cpuOf = ({ used }) =>
  used.cli && Object.values(used).reduce((sum, { seconds }) => sum + seconds, 0);

/** The processes of a command. */
export const roles = ["cli", "program", "provider"];

export const peakOf =
  (role) =>
  ({ used }) =>
    used[role] && Math.round(used[role].peak);

/** How many times as much one kind needs as another: the median of the rounds, each compared with itself. */
export function ratioOf(runs, { kind, to, ...wanted }, valueOf) {
  const ratios = matching(runs, { ...wanted, kind }).flatMap((run) =>
    matching(runs, { ...wanted, kind: to, round: run.round }).map((other) => valueOf(run) / valueOf(other)),
  );
  return median(ratios);
}

/** What must hold, each with what was measured of it and whether it does. */
export const judged = (limits) =>
  limits.map(([what, measured, holds]) => ({
    what,
    measured,
    holds: measured === undefined ? undefined : holds(measured),
  }));

export function tableOfLimits(limits) {
  const rows = limits.map(({ what, measured, holds }) => [
    what,
    format(measured),
    holds === undefined ? "not measured" : holds ? "holds" : "**does not hold**",
  ]);
  return table([["What must hold", "measured", ""], ...rows]);
}

export function format(value) {
  if (value === undefined) return "–";
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

/** What the tables call the kinds of programs. */
const kinds = {
  floor: "floor",
  sendingFloor: "floor",
  ours: "dynamic",
  native: "native",
  yaml: "YAML",
  conventional: "conventional",
};
const columns = [
  ...["Command", "", "CPU s", "÷ floor", "CLI", "program", "provider", "wall s", "requests"],
  ...["CLI MB", "program MB", "provider MB", "state bytes ÷ N"],
];

/**
 * What each command uses with each kind of program.
 * @param commands their titles
 * @param floor the kind that the others are compared with, by a value of each run
 */
export function tableOfRuns(title, runs, commands, { floor, valueOf }) {
  const rows = Object.entries(commands).flatMap(([command, name]) =>
    Object.entries(kinds).flatMap(([kind, program]) => {
      const wanted = { command, kind };
      const those = matching(runs, wanted);
      if (those.length === 0) return [];
      const value = (of) => format(median(those.map(of)));
      return [
        [
          name,
          program,
          value(cpuOf),
          format(ratioOf(runs, { ...wanted, to: floor }, valueOf)),
          ...roles.map((role) => value(({ used }) => used[role]?.seconds)),
          format(fastestOf(runs, wanted)),
          value(({ requests }) => requests),
          ...roles.map((role) => value(peakOf(role))),
          value(({ n, state }) => state && Math.round(state / n)),
        ],
      ];
    }),
  );
  // What was not measured at all has no column.
  const isMeasured = (_, column) => rows.some((cells) => cells[column] !== "–");
  const rounds = Math.max(...runs.map(({ round }) => round + 1));
  const often = rounds === 1 ? "measured once" : `medians of up to ${rounds} rounds`;
  return `#### ${title}, ${often}\n\n${table([columns, ...rows].map((cells) => cells.filter(isMeasured)))}`;
}

/** When everything was measured. */
export function whenOf(runs) {
  const dates = runs.map(({ date }) => date).sort();
  const [first, last] = [dates[0], dates.at(-1)];
  return `Measured ${first === last ? `on ${first}` : `from ${first} to ${last}`}`;
}
