// What both benchmarks say of their measurements in the same way: medians and ratios, limits, tables. Nothing here measures.

/** What was measured of a command, a kind or a size. */
export const matching = (measured, wanted) =>
  measured.filter((one) => Object.entries(wanted).every(([key, value]) => one[key] === value));

/** `undefined` where nothing was measured, as in all that follow. */
export function median(numbers) {
  if (numbers.length === 0) return undefined;
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function most(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

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

/** When everything was measured. */
export function whenOf(runs) {
  const dates = runs.map(({ date }) => date).sort();
  const [first, last] = [dates[0], dates.at(-1)];
  return `Measured ${first === last ? `on ${first}` : `from ${first} to ${last}`}`;
}
