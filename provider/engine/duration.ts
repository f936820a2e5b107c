/** Milliseconds of one unit. The units below a millisecond set no time. */
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

const part = /(\d+\.?\d*|\.\d+)(ms|s|m|h)/g;

/**
 * A duration in Go's syntax, such as `90s` or `1h30m`, in milliseconds. Undefined if it is not positive, which the engine
 * treats as no duration; it has refused malformed ones.
 */
export function parseDuration(duration: string): number | undefined {
  let total = 0;
  for (const [, amount, unit = ""] of duration.matchAll(part)) total += Number(amount) * (units[unit] ?? 0);
  return total === 0 || duration.startsWith("-") ? undefined : total;
}
