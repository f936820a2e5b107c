import { readFileSync } from "node:fs";
import { join } from "node:path";

test("the pages and the picture show the results that are kept", async () => {
  const { between, limitsOfAll, markdownOf, summaryOf, svgOf, textOf } =
    await import("../../tools/bench/report.mjs");
  const read = (...path: string[]) => readFileSync(join(__dirname, "..", "..", ...path), "utf8");
  const kept = read("tools", "bench", "results.json");
  const results = JSON.parse(kept) as object[];
  expect(textOf(results)).toBe(kept);
  const [page, figures] = [read("docs", "performance.md"), read("docs", "measurements.md")];
  expect(between(page, "bench", summaryOf(results))).toBe(page);
  expect(between(figures, "bench", markdownOf(results))).toBe(figures);
  expect(read("docs", "performance.svg")).toBe(svgOf(results));
  expect(limitsOfAll(results).filter(({ holds }) => holds !== true)).toEqual([]);
});
