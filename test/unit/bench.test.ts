import { readFileSync } from "node:fs";
import { join } from "node:path";

const read = (...path: string[]): string => readFileSync(join(__dirname, "..", "..", ...path), "utf8");

test("the contributors' page shows the results that are kept, and all limits hold", async () => {
  const { between } = await import("../../tools/main.mjs");
  const { limitsOfAll, markdownOf, textOf } = await import("../../tools/bench/report.mjs");
  const kept = read("tools", "bench", "results.json");
  const results = JSON.parse(kept) as object[];
  expect(textOf(results)).toBe(kept);
  const page = read("docs", "measurements.md");
  expect(between("docs/measurements.md", page, "bench", markdownOf(results))).toBe(page);
  expect(limitsOfAll(results).filter(({ holds }) => holds !== true)).toEqual([]);
});

test("the pages and the picture show the results with thousands of monitors", async () => {
  const { between } = await import("../../tools/main.mjs");
  const { textOf } = await import("../../tools/bench/report.mjs");
  const { scaleMarkdown, summaryOf } = await import("../../tools/bench/scale-report.mjs");
  const { chartOf } = await import("../../tools/bench/chart.mjs");
  const kept = read("tools", "bench", "scale.json");
  const [results] = JSON.parse(kept) as [{ machine: string; runs: object[] }];
  expect(textOf([results])).toBe(kept);
  const [page, figures] = [read("docs", "performance.md"), read("docs", "measurements.md")];
  expect(between("docs/performance.md", page, "bench", summaryOf(results))).toBe(page);
  expect(between("docs/measurements.md", figures, "scale", scaleMarkdown(results))).toBe(figures);
  expect(read("docs", "performance.svg")).toBe(chartOf(results));
});
