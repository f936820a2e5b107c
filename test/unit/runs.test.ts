import fc from "fast-check";

import { dynamicFront } from "../support/simulated/front";
import { play, scenarios } from "../support/simulated/runs";

const full = process.env.PULUMI_UPTIME_FULL === "1";

test("random programs over random runs lose, double and take nothing", async () => {
  let cases = 0;
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      cases++;
      await play(scenario, dynamicFront);
    }),
    { numRuns: Number(process.env.RUNS ?? (full ? 8000 : 150)), ...(process.env.SEED && {seed: Number(process.env.SEED)}) },
  ).finally(() => console.log(`${cases} cases`));
});
