import fc from "fast-check";

import { cases, tryCase } from "../support/simulated/answers";
import { dynamicFront } from "../support/simulated/front";

const full = process.env.PULUMI_UPTIME_FULL === "1";

test("no answer, however wrong, loses or doubles a record, takes somebody else's or tells a secret", async () => {
  await fc.assert(
    fc.asyncProperty(cases, (one) => tryCase(one, dynamicFront)),
    { numRuns: full ? 100_000 : 400 },
  );
});
