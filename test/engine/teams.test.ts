import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { blocksOf, commandsIn } from "../support/blocks";
import { namesIn, startStack } from "../support/stack";

test("docs/teams.md: each block does what the page says", async () => {
  const { emulator, workspace } = await startStack({ language: "ts" });
  const at = (name: string): string => join(workspace.project, name);
  const edit = (name: string, change: (text: string) => string): void => {
    writeFileSync(at(name), change(readFileSync(at(name), "utf8")));
  };
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
  const prod = readFileSync(at("Pulumi.prod.yaml"), "utf8");
  const others = prod.replace(/ *- \{name: store.*\n/, "").replace(/^encryptionsalt.*/m, "");
  edit("Pulumi.prod.yaml", (text) => text.replace(/ *- \{name: blog.*\n/, ""));
  // A secret is encrypted for one stack, so the other gets it from its own settings.
  edit("Pulumi.blog.yaml", (text) => text + others.replace(/^ *uptime:accounts:\n.*\n/m, ""));
  await workspace.pulumi("config", "set", "--stack", "blog", "--secret", "uptime:accounts", accounts);
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
