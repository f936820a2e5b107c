import { spawnSync } from "node:child_process";
import { join } from "node:path";

const full = process.env.PULUMI_UPTIME_FULL === "1";

/** Runs the demo as `npm run demo` does. */
function demo(...args: string[]) {
  const script = join(__dirname, "..", "tools", "demo.mjs");
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { output: stdout + stderr, status };
}

test("the demo sees drift, and the README's picture shows what the engine prints of it", () => {
  // If this fails on the picture: npm run demo -- --picture
  const { output, status } = demo("--picture", "--check");
  expect(output).toContain("docs/preview.svg shows what is printed.");
  expect(status).toBe(0);
});

if (full)
  test("the whole demo goes through, and nothing is left", () => {
    const { output, status } = demo();
    expect(output).toContain("Done. Nothing is left.");
    expect(status).toBe(0);
  });
