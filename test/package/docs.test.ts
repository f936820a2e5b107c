import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { domain } from "../../provider/definitions/domain";
import type { Definition } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";
import { newFolder } from "../support/folder";

const root = join(__dirname, "..", "..");
const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");

test("the site can be built, and each of its links leads somewhere", () => {
  const site = newFolder();
  // TypeDoc's warnings are errors.
  const typedoc = join(root, "node_modules", "typedoc", "bin", "typedoc");
  execFileSync(process.execPath, [typedoc, "--out", site], { cwd: root, stdio: "pipe" });
  const readPage = (...path: string[]): string => readFileSync(join(site, ...path), "utf8");
  const { repository } = JSON.parse(read("package.json")) as { repository: { url: string } };
  // As long as package.json does not say who has the repository, it has no public address.
  if (repository.url.includes("/OWNER/"))
    for (const page of [
      "index.html",
      ...pages.map((name) => `docs/${name.replace(".md", ".html").toLowerCase()}`),
    ])
      expect([
        page,
        /href="https:\/\/(github\.com\/OWNER|www\.npmjs\.com)[^"]*/.exec(readPage(page)),
      ]).toEqual([page, null]);
  expect(readPage("index.html")).toContain("<h1>pulumi-uptime</h1>");
  const overview = readPage("docs", "_index.html");
  expect(overview).toMatch(/<h1[^>]*>Overview of the provider plugin</);
  expect(overview).not.toContain("choosable");
  const classes = readdirSync(join(site, "classes")).map((name) => /^pulumi-uptime_native\.(\w+)/.exec(name));
  expect(classes.flatMap((found) => found?.[1] ?? [])).toEqual(["Domain", "Monitor", "Provider"]);
});

test("the page of a third resource is written from its definition alone", async () => {
  const { interval, url } = monitor.fields;
  if (!interval || !url) throw new Error("Monitor has no interval or URL.");
  const third: Definition = {
    ...monitor,
    ...{ label: "Probe", singular: "probe", plural: "probes" },
    ...{ fields: { url, interval }, rules: [] },
  };
  const { pageOf } = await import("../../tools/docs.mjs");
  const written = pageOf(third, {
    source: "export const probeFields = {\n/** Where. */ url: 1,\n/** How often. */ interval: 1 };",
  });
  const titles = ["Example", "Arguments", "Outputs", "Import", "Probe.get", "Lookups"];
  expect(written.match(/^## .*$/gm)).toEqual(titles.map((title) => `## ${title}`));
  const all = ['new Probe("example", {', "How often.", "getProbes(", "Probe.get(name, id, state?, options?)"];
  for (const part of all) expect(written).toContain(part);
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

test("a page for users has at most 1,200 words, without what is generated", () => {
  // Most of errors.md is messages, which a command writes.
  const apart = new Set(["design.md", "errors.md"]);
  const users = pages.filter((name) => !apart.has(name));
  const texts = {
    "README.md": read("README.md"),
    ...Object.fromEntries(users.map((name) => [name, read("docs", name)])),
  };
  const generated = /<!-- (generated:\w+|bench|comment|preview) -->.*?<!-- \/\1 -->/gs;
  const long = Object.entries(texts).filter(
    ([, text]) => (text.replace(generated, "").match(/\S+/g) ?? []).length > 1200,
  );
  expect(long.map(([name]) => name)).toEqual([]);
});

test("a picture in docs/ is narrow enough that its text can be read on a phone", () => {
  const pictures = readdirSync(join(root, "docs")).filter((name) => /\.(svg|png|jpe?g|gif)$/.test(name));
  expect(pictures).toContain("performance.svg");
  for (const name of pictures) {
    const [, width = "Infinity"] = /viewBox="0 0 (\d+) /.exec(read("docs", name)) ?? [];
    const sizes = [...read("docs", name).matchAll(/font(?:-size)?: *(\d+)px/g)].map(([, size]) =>
      Number(size),
    );
    // A page leaves 358 pixels of 390.
    const shown = Math.min(1, 358 / Number(width));
    expect([name, sizes.filter((size) => size * shown < 11)]).toEqual([name, []]);
  }
});

test("the README lists each page in docs/ under Documentation, from where the site takes its pages", () => {
  const [, list = ""] = /\n## Documentation\n(.*?)\n## /s.exec(read("README.md")) ?? [];
  expect(pages.filter((name) => !list.includes(`](docs/${name})`))).toEqual([]);
});
