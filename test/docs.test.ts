import { readFileSync } from "node:fs";
import { join } from "node:path";

import { domain } from "../provider/domain";
import type { Definition } from "../provider/fields";
import { monitor } from "../provider/monitor";
import { readSettings } from "../provider/settings";

const root = join(__dirname, "..");
const definitions = [domain, monitor];
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
const readme = read("README.md");

const docs = () => import("./docs.mjs");

describe("the tables of fields", () => {
  test("README.md has them as the declarations are", async () => {
    const { withTables } = await docs();
    // If this fails: npm run docs
    expect(readme).toBe(withTables(readme, definitions));
  });

  test("a declaration that has changed changes them", async () => {
    const { withTables } = await docs();
    const [[name, interval] = [], ...others] = Object.entries(monitor.fields).sort(
      ([a], [b]) => Number(b === "interval") - Number(a === "interval"),
    );
    if (name === undefined || interval === undefined) throw new Error("Monitor has no fields.");
    const changed: Definition = {
      ...monitor,
      fields: { ...Object.fromEntries(others), [name]: { ...interval, allowed: [60, 7200] } },
    };
    const text = withTables(readme, [changed]);
    expect(text).not.toBe(readme);
    expect(text).toContain("| `60`, `7200` |");
  });

  test("a sentence that has changed changes them, and a field needs one", async () => {
    const { sentencesOf, tableOf } = await docs();
    const source = read("provider", "monitor.ts");
    const before = tableOf(monitor, sentencesOf(source));
    const after = tableOf(monitor, sentencesOf(source.replace("Check interval", "How often, in seconds")));
    expect(readme).toContain(before);
    expect(after).toBe(before.replace("Check interval", "How often, in seconds"));
    const without = sentencesOf(source.replace(/\/\*\*\s+\* Check interval[^/]*\*\//, ""));
    expect(() => tableOf(monitor, without)).toThrow(
      "Monitor.interval has no comment that says what it means.",
    );
  });

  test("a resource without a place in README.md is noticed", async () => {
    const { withTables } = await docs();
    expect(() => withTables("# pulumi-uptime\n", definitions)).toThrow(
      "README.md has no place for the fields of Domain",
    );
  });

  test.each(definitions)(
    "the sentences of $label name each allowed value and default",
    async (definition) => {
      const { sentencesOf } = await docs();
      const sentences = sentencesOf(read("provider", `${definition.singular}.ts`));
      const missing = Object.entries(definition.fields).flatMap(([key, { allowed = [], default: preset }]) =>
        [...allowed, ...(preset === undefined ? [] : [preset])]
          .filter((value) => !new RegExp(`\\b${value}\\b`).test(sentences.get(key) ?? ""))
          .map((value) => `${key}: ${value}`),
      );
      expect(missing).toEqual([]);
    },
  );
});

test("README.md lists each setting that is read, and no other", () => {
  const asked = new Set<string>();
  const noting = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void asked.add(String(name)) });
  const get = (key: string): string | undefined => {
    asked.add(key);
    return key === "uptime:accounts" ? '{"name": {}}' : undefined;
  };
  for (const account of [undefined, "name"]) expect(() => readSettings({ get }, noting, account)).toThrow();
  const [, section = ""] = /\n## Settings\n(.*?)\n## /s.exec(readme) ?? [];
  const listed = section
    .split("\n")
    .filter((line) => line.startsWith("| `uptime:"))
    .flatMap(
      (line) =>
        line
          .split("|")
          .slice(1, 3)
          .join()
          .match(/[\w:]+/g) ?? [],
    );
  expect(listed.sort()).toEqual([...asked].sort());
});
