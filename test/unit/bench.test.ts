import { readFileSync } from "node:fs";
import { join } from "node:path";

const report = () => import("../../tools/bench/report.mjs");

test("the bytes of ours are what the state file has beyond the fields, the attributes and the engine's own", async () => {
  const { attributesBytes, ownBytes } = await report();
  const engine = { urn: "urn:…::site", custom: true, id: "1", type: "pulumi-nodejs:dynamic/uptime:Monitor" };
  const declared = { name: "Sité", interval: 60 };
  const state = (own: object, more: object) =>
    JSON.stringify({
      checkpoint: {
        latest: {
          resources: [
            { urn: "urn:…::stack", type: "pulumi:pulumi:Stack", outputs: own },
            {
              ...engine,
              inputs: { ...own, ...declared },
              outputs: { ...own, ...declared, attributes: { uptime: 99 } },
              ...more,
            },
          ],
        },
      },
    });
  const fields = ["name", "interval"];
  expect(ownBytes(state({}, {}), fields)).toBe(0);
  const twice = 2 * '"__provider":"code",'.length;
  const once = ',"additionalSecretOutputs":["requestHeaders"]'.length;
  expect(
    ownBytes(state({ __provider: "code" }, { additionalSecretOutputs: ["requestHeaders"] }), fields),
  ).toBe(twice + once);
  expect(attributesBytes(state({}, {}))).toBe('[{"uptime":99}]'.length);
  expect(() => ownBytes(JSON.stringify(JSON.parse(state({}, {})), null, 2), fields)).toThrow("compact JSON");
});

test("the pages and the picture show the results that are kept", async () => {
  const { between, limitsOfAll, markdownOf, summaryOf, svgOf, textOf } = await report();
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
