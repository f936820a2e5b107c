/** Milliseconds of one unit. Go writes microseconds with either of two letters that look the same. */
const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "\u00b5s": 1e-3,
  "\u03bcs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const part = String.raw`(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)`;
const form = new RegExp(`^([-+]?)(?:0|(?:${part})+)$`);
const parts = new RegExp(part, "g");

/**
 * A duration as Pulumi's engine reads it, in milliseconds: Go's syntax, such as `90s`, `1h30m`, `.5h`, `-1.5ms` or `0`.
 * Undefined if the string is no duration.
 */
export function milliseconds(duration: string): number | undefined {
  const match = form.exec(duration);
  if (!match) return undefined;
  let total = 0;
  for (const [, amount, unit = ""] of duration.matchAll(parts)) total += Number(amount) * (units[unit] ?? 0);
  return match[1] === "-" ? 0 - total : total;
}
