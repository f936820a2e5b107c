import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { domain } from "../../provider/definitions/domain";
import type { Definition } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";

const root = join(__dirname, "..", "..");
const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");

test("the API's reference can be built, without broken names", async () => {
  const { buildSite } = await import("../../tools/site.mjs");
  // TypeDoc's warnings are errors.
  buildSite();
});

test("the page of a third resource is written from its definition alone", async () => {
  const { interval, url } = monitor.fields;
  if (!interval || !url) throw new Error("Monitor has no interval or URL.");
  const third: Definition = {
    ...monitor,
    label: "Probe",
    singular: "probe",
    plural: "probes",
    fields: { url, interval },
    rules: [],
  };
  const { pageOf } = await import("../../tools/docs.mjs");
  const written = pageOf(third, {
    source: "export const probeFields = {\n/** Where. */ url: 1,\n/** How often. */ interval: 1 };",
  });
  const titles = ["Example", "Arguments", "Outputs", "Import", "Probe.get", "Lookups"];
  expect(written.match(/^## .*$/gm)).toEqual(titles.map((title) => `## ${title}`));
  for (const part of [
    'new Probe("example", {',
    "How often.",
    "getProbes(",
    "Probe.get(name, id, state?, options?)",
  ])
    expect(written).toContain(part);
  expect(written).not.toMatch(/monitor/i);
});

test.each([domain, monitor])(
  "the page of $label names each allowed value and default",
  async (definition) => {
    const { sentencesOf } = await import("../../tools/docs.mjs");
    const sentences = sentencesOf(read("provider", "definitions", `${definition.singular}.ts`));
    const missing = Object.entries(definition.fields).flatMap(([key, { allowed = [], default: preset }]) =>
      [...allowed, ...(preset === undefined ? [] : [preset])]
        .filter((value) => !new RegExp(`\\b${value}\\b`).test(sentences.get(key) ?? ""))
        .map((value) => `${key}: ${value}`),
    );
    expect(missing).toEqual([]);
  },
);

test.each([
  ["README.md", "comment.svg"],
  ["docs/drift.md", "preview.svg"],
])("the picture in %s has a description", (page, file) => {
  const [, description = ""] = new RegExp(`!\\[(.*)\\]\\((?:docs/)?${file}\\)`).exec(read(page)) ?? [];
  const values = description.match(/\d+( => \d+)?/g) ?? [];
  expect(values.length).toBeGreaterThan(1);
  const picture = read("docs", file);
  for (const value of values) expect(picture).toContain(value.replace(">", "&gt;"));
});

test("the README and the users' pages have at most 9,000 words, without what is generated", () => {
  const contributors = ["design.md", "measurements.md"];
  const registry = ["_index.md", "installation-configuration.md"];
  // Most of errors.md is messages, which a command writes.
  const apart = new Set([...contributors, ...registry, "errors.md"]);
  const users = pages.filter((name) => !apart.has(name));
  const texts = [read("README.md"), ...users.map((name) => read("docs", name))];
  const words = texts.flatMap(
    (text) => text.replace(/<!-- (generated:\w+|bench) -->.*?<!-- \/\1 -->/gs, "").match(/\S+/g) ?? [],
  );
  expect(words.length).toBeLessThanOrEqual(9000);
});

test("the README lists each page in docs/ under Documentation, from where the site takes its pages", () => {
  const [, list = ""] = /\n## Documentation\n(.*?)\n## /s.exec(read("README.md")) ?? [];
  expect(pages.filter((name) => !list.includes(`](docs/${name})`))).toEqual([]);
});
