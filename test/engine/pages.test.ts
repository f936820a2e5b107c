import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { parseDocument, type YAMLMap, type YAMLSeq } from "yaml";

import { blocksOf, commandsIn } from "../support/blocks";
import { fullTest, isFull } from "../support/size";
import { namesIn, startStack } from "../support/stack";

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

// `npm test` compiles the page's programs and parses its commands: package/blocks.
fullTest("docs/teams.md: each block does what the page says", async () => {
  const { emulator, workspace } = await startStack({ language: "ts" });
  const at = (name: string): string => join(workspace.project, name);
  const edit = (name: string, change: (text: string) => string): void =>
    writeFileSync(at(name), change(readFileSync(at(name), "utf8")));
  await workspace.clear();
  writeFileSync(at("package.json"), JSON.stringify({ name: "monitoring", main: "index.ts" }));
  writeFileSync(at("Pulumi.yaml"), "name: monitoring\nruntime: nodejs\n");

  const blocks = blocksOf("docs/teams.md");
  const accounts = JSON.stringify({ eu: { apiKey: emulator.apiKey, baseUrl: emulator.url } });
  const wordOf = (word: string): string =>
    word.startsWith("'{") ? accounts : word.replace(/^'(.*)'$/, "$1");
  /** Runs the next block of commands. */
  const runNext = async (): Promise<void> => {
    const index = blocks.findIndex(({ language }) => language === "sh");
    const [block] = blocks.splice(index, 1);
    for (const [program, ...words] of commandsIn(block?.code ?? "")) {
      expect(program).toBe("pulumi");
      const answers = words[0] === "up" && !words.includes("--yes") ? ["--yes", "--skip-preview"] : [];
      await workspace.pulumi(...words.map(wordOf), ...answers);
    }
  };
  const ids = () => emulator.monitors.all().map(({ id, name }) => [id, name]);

  for (const { file, code } of blocks) if (file !== undefined) writeFileSync(at(file), code);
  await runNext();
  expect(namesIn(emulator.domains)).toEqual(["blog.example", "shop.example"]);
  const before = ids();
  expect(before).toHaveLength(3);

  const renamed = blocks.find(({ language, file }) => language === "yaml" && file === undefined)?.code ?? "";
  edit("Pulumi.prod.yaml", (text) => text.replace(/- \{name: shop.*\n/, renamed));
  expect(readFileSync(at("Pulumi.prod.yaml"), "utf8")).toContain("was: shop");
  await workspace.up("--expect-no-changes");

  await runNext();
  expect(await workspace.failed("destroy", "--run-program")).toContain("protect");

  await runNext();
  edit("Pulumi.prod.yaml", (text) => text.replace(/ *- \{name: blog.*\n/, ""));
  // Pulumi has written it in another form.
  const copied = parseDocument(readFileSync(at("Pulumi.blog.yaml"), "utf8"));
  const sites = copied.getIn(["config", "monitoring:sites"]) as YAMLSeq<YAMLMap>;
  sites.items = sites.items.filter((site) => site.get("name") === "blog");
  expect(sites.items).toHaveLength(1);
  writeFileSync(at("Pulumi.blog.yaml"), String(copied));
  await runNext();
  expect(ids()).toEqual(before);

  const pauses = () =>
    emulator
      .writes()
      .flatMap(({ body }) => body.filter(([name]) => name === "pause").map(([, value]) => value));
  emulator.forget();
  await runNext();
  expect(pauses()).toEqual(["1", "1", "0", "0"]);
  expect(blocks.filter(({ language }) => language === "sh")).toEqual([]);
});
