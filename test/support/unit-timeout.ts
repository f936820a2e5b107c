import { isFull } from "./size";

// A unit test that hangs fails after two minutes. At full size, and with a number of cases from the environment, it may take longer.
if (!isFull && process.env.PULUMI_UPTIME_CASES === undefined) jest.setTimeout(120_000);
