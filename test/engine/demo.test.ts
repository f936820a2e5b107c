import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { isFull } from "../support/size";

/** Runs the demo as `npm run demo` does. */
function demo(...args: string[]) {
  const script = join(__dirname, "..", "..", "tools", "demo.mjs");
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { output: stdout + stderr, status };
}

test("the pages show what the engine prints of drift, and the comment on a pull request", () => {
  // If this fails on a page: npm run demo -- --docs
  const { output, status } = demo("--docs", "--check");
  for (const page of ["docs/drift.md", "README.md"])
    expect(output).toContain(`${page} shows what is printed.`);
  expect(status).toBe(0);
});

if (isFull)
  test.each([
    [[], "pulumi-nodejs:dynamic/uptime:Monitor"],
    [["--yaml"], "uptime:index:Monitor"],
  ])("the whole demo with the options %j succeeds, and leaves nothing", (args, type) => {
    const { output, status } = demo(...args);
    expect(output).toContain(type);
    expect(output).toContain("Done. Nothing is left in the API");
    expect(status).toBe(0);
  });
