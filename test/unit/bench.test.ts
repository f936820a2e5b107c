import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { fullTest } from "../support/size";

const report = () => import("../../tools/bench/report.mjs");
type Results = Parameters<Awaited<ReturnType<typeof report>>["limitsOf"]>[0];
type Run = Results["runs"][number];

/** What a run on a good machine measures: ours is a little slower than the floor, but for the preview. */
async function measured(change: (run: Run) => Partial<Run> = () => ({})): Promise<Results> {
  const { commands } = await report();
  const times = { ours: 10, native: 8, yaml: 12, floor: 9.5, conventional: 40 };
  const sent: Record<string, Run["requests"]> = {
    up: { GET: 1, POST: 1000 },
    refresh: { GET: 11 },
    edit: { PATCH: 1, GET: 1 },
    destroy: { DELETE: 1000 },
  };
  const runs = Object.keys(commands).flatMap((command) =>
    (["ours", "native", "yaml", "floor", "conventional"] as const).flatMap((kind) =>
      [0, 1].map((repetition): Run => {
        const time = command === "preview" && kind === "ours" ? 8 : times[kind];
        // The machine is twice as slow in the second repetition, for all alike.
        const seconds = time * (1 + repetition);
        const run = { n: 1000, latency: 20, repetition, kind, command, seconds, date: "2026-03-01" };
        const requests = kind === "ours" ? (sent[command] ?? {}) : {};
        return { ...run, requests, ...change({ ...run, requests }) };
      }),
    ),
  );
  const sizes = [
    { n: 1000, latency: 20, kind: "ours" as const, state: 1_900_000, own: 263, peak: 180 },
    { n: 1000, latency: 20, kind: "native" as const, state: 1_150_000, attributes: 90, peak: 120 },
  ];
  return { machine: "A machine", runs, sizes };
}

const failing = async (results: Results) =>
  (await report())
    .limitsOf(results)
    .filter(({ holds }) => holds !== true)
    .map(({ what }) => what);

describe("the limits of the benchmark", () => {
  test("hold for what is within them, also on a machine that changes its speed", async () => {
    expect(await failing(await measured())).toEqual([]);
  });

  test.each<[string, (run: Run) => Partial<Run>]>([
    ["`up`: at most 1.10", ({ kind, command }) => (kind + command === "oursup" ? { seconds: 15 } : {})],
    ["`destroy`", ({ kind, command }) => (kind + command === "oursdestroy" ? { seconds: 30 } : {})],
    ["`preview`", ({ kind, command }) => (kind + command === "ourspreview" ? { seconds: 18 } : {})],
    [
      "`refresh`: at most 1.3",
      ({ kind, command }) => (kind + command === "oursrefresh" ? { seconds: 30 } : {}),
    ],
    [
      "`up`, native: at most 1.0",
      ({ kind, command }) => (kind + command === "nativeup" ? { seconds: 20.5 } : {}),
    ],
    [
      "`preview`, native: at most 1.10",
      ({ kind, command }) => (kind + command === "nativepreview" ? { seconds: 18 } : {}),
    ],
    [
      "`refresh`, native: at most 1.10",
      ({ kind, command }) => (kind + command === "nativerefresh" ? { seconds: 23 } : {}),
    ],
    [
      "`up`: conventional",
      ({ kind, command }) => (kind + command === "conventionalup" ? { seconds: 20 } : {}),
    ],
    ["`refresh`: requests", ({ command }) => (command === "refresh" ? { requests: { GET: 13 } } : {})],
    ["`up` without a change", ({ command }) => (command === "again" ? { requests: { GET: 1 } } : {})],
    ["`up` with one change: writes", ({ command }) => (command === "edit" ? { requests: { PUT: 2 } } : {})],
    [
      "`up` with one change: reads",
      ({ command }) => (command === "edit" ? { requests: { PUT: 1, GET: 2 } } : {}),
    ],
  ])("%s: does not hold for what is beyond it", async (what, change) => {
    const failed = await failing(await measured(change));
    expect(failed).toHaveLength(1);
    expect(failed[0]).toContain(what);
  });

  test("state and memory have limits, and what was not measured neither holds nor fails", async () => {
    const { limitsOf } = await report();
    const results = await measured();
    const sizes = results.sizes.map((size) => ({ ...size, state: 1_900_000, own: 321, peak: 200 }));
    expect(await failing({ ...results, sizes })).toHaveLength(4);
    const limits = limitsOf({ ...results, runs: [], sizes: [] });
    expect(limits).toHaveLength(16);
    expect(limits.every(({ holds }) => holds === undefined)).toBe(true);
  });
});

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

test("tables and picture show what was measured, and find their place in the documentation", async () => {
  const { between, markdownOf, svgOf } = await report();
  const results = await measured();
  const markdown = markdownOf([results]);
  expect(markdown).toContain("Measured on 2026-03-01: A machine. Times are wall seconds, medians of 2;");
  expect(markdown).toContain("| `up`, all are new | 15 | 12 | 18 | 14.3 | 60 | 1.05 | 0.80 | 4 | 1001 | 0 |");
  expect(markdown).toContain("| pulumi-uptime | 1000 | 1900 | 1900 | 263 | 180 |");
  const svg = svgOf([results]);
  expect(svg.match(/<rect class="ours"/g)).toHaveLength(7);
  expect(svg).toContain("1000 monitors, 20 ms of latency");
  expect(svg).not.toMatch(/NaN|undefined/);

  const page = readFileSync(join(__dirname, "..", "..", "docs", "performance.md"), "utf8");
  for (const marker of ["bench", "options"]) {
    const written = between(page, marker, markdown);
    expect(written).toContain(markdown);
    expect(between(written, marker, markdown)).toBe(written);
  }
  expect(() => between("# Performance", "bench", markdown)).toThrow("<!-- bench -->");
});

test("the page and the picture show the results that are kept", async () => {
  const { between, limitsOfAll, markdownOf, svgOf, textOf } = await report();
  const read = (...path: string[]) => readFileSync(join(__dirname, "..", "..", ...path), "utf8");
  const kept = read("tools", "bench", "results.json");
  const results = JSON.parse(kept) as Results[];
  expect(textOf(results)).toBe(kept);
  const page = read("docs", "performance.md");
  const figures = `![Seconds of each command](performance.svg)\n\n${markdownOf(results)}`;
  expect(between(page, "bench", figures)).toBe(page);
  expect(read("docs", "performance.svg")).toBe(svgOf(results));
  expect(limitsOfAll(results).filter(({ holds }) => holds !== true)).toEqual([]);
});

test("a part that is measured again takes the place of what it was, on the same machine", async () => {
  const { limitsOfAll, markdownOf, merged } = await report();
  const before = await measured();
  const again = (await measured(() => ({ seconds: 1, date: "2026-03-02" }))).runs;
  const part = { ...before, runs: again.filter(({ kind }) => kind === "ours"), sizes: [] };
  const [after, ...none] = merged([before], part);
  expect(none).toEqual([]);
  expect(after?.runs).toHaveLength(before.runs.length);
  for (const { kind, seconds } of after?.runs ?? []) expect(seconds === 1).toBe(kind === "ours");
  expect(after?.sizes).toEqual(before.sizes.filter(({ kind }) => kind !== "ours"));
  expect(markdownOf(merged([before], part))).toContain("Measured from 2026-03-01 to 2026-03-02:");
  const ups = { ...part, runs: part.runs.filter(({ command }) => command === "up") };
  const [withUps] = merged([before], ups);
  expect(withUps?.runs.filter(({ seconds }) => seconds === 1)).toEqual(ups.runs);
  const smaller = { ...part, runs: part.runs.map((run) => ({ ...run, n: 10 })) };
  const [withSmaller] = merged([before], smaller);
  expect(withSmaller?.runs).toHaveLength(before.runs.length + part.runs.length);
  expect(withSmaller?.runs[0]?.n).toBe(10);

  // Another machine has figures of its own, and is asked first.
  const elsewhere = merged([before], { ...part, machine: "Another" });
  expect(elsewhere).toEqual([{ ...part, machine: "Another" }, before]);
  const limits = limitsOfAll(elsewhere);
  expect(limits.every(({ holds }) => holds)).toBe(true);
  expect(markdownOf(elsewhere)).toContain("### Another\n");
});

test("what cannot be measured is refused before anything runs", () => {
  const run =
    (...args: string[]) =>
    () =>
      execFileSync(process.execPath, [join(__dirname, "..", "..", "tools", "bench", "run.mjs"), ...args], {
        stdio: "pipe",
      });
  expect(run("--n", "many")).toThrow('--n takes whole numbers from 1, separated by commas, not "many".');
  expect(run("--only", "theirs")).toThrow("--only takes ours, native, yaml, floor, conventional");
  expect(run("--commands", "down")).toThrow("--commands takes up, preview, again, refresh, edit, destroy");
  expect(run("--commands", "refresh")).toThrow("--commands needs up");
});

fullTest(
  "it measures every command of every program",
  () => {
    const args = ["--n", "2", "--latency", "0", "--repeat", "1", "--no-limits"];
    const output = execFileSync(
      process.execPath,
      [join(__dirname, "..", "..", "tools", "bench", "run.mjs"), ...args],
      {
        encoding: "utf8",
      },
    );
    for (const title of ["`up`, all are new", "`preview`, no change", "`refresh`", "`destroy`"])
      expect(output).toContain(`| ${title} | `);
    expect(output).toMatch(/\| pulumi-uptime \| 2 \| \d+ \| \d+ \| \d+ \| \d+ \|/);
  },
  600_000,
);
