/** How much a run of the tests tries: `npm run test:quick`, `npm test` or `npm run test:full`. */
const size = process.env.PULUMI_UPTIME_FULL === "1" ? 2 : process.env.PULUMI_UPTIME_QUICK === "1" ? 0 : 1;

/** Whether this run is `npm run test:full`. */
export const isFull = size === 2;

/** What a test takes of something, such as a number of runs, in a quick run, in a usual one and at full size. */
export function sample<Value>(quick: Value, usual: Value, full: Value): Value {
  return [quick, usual, full][size] as Value;
}

/** A test of `npm run test:full` only: it takes long, and `npm test` shows the same of a model or in part. */
export function fullTest(...args: Parameters<jest.It>): void {
  if (isFull) test(...args);
}

/** How many cases a test of a model tries, and from which seed, if the environment says so. */
export function modelSize(...sizes: [number, number, number]): { numRuns: number; seed?: number } {
  const { PULUMI_UPTIME_CASES: cases, PULUMI_UPTIME_SEED: seed } = process.env;
  return cases === undefined ? { numRuns: sample(...sizes) } : { numRuns: Number(cases), seed: Number(seed) };
}
