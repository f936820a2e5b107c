import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Language, Parser } from "web-tree-sitter";

import { lookupName } from "../../provider/common/pulumi";
import { definitions } from "../../provider/definitions";
import { exampleLanguages, examplesIn } from "../support/schema-examples";

const root = join(__dirname, "..", "..");

// test/package/blocks.test.ts compiles those in TypeScript.
test("each resource and function has an example in each language", () => {
  const all = definitions.flatMap((one) => [one.label, lookupName(one, "one"), lookupName(one, "all")]);
  for (const language of exampleLanguages)
    expect({ language, names: [...examplesIn(language).keys()].sort() }).toEqual({
      language,
      names: all.sort(),
    });
});

// No compiler of theirs is needed for the tests; CI has one.
test.each([
  ["csharp", "tree-sitter-c-sharp/tree-sitter-c_sharp.wasm"],
  ["java", "tree-sitter-java/tree-sitter-java.wasm"],
] as const)("the examples in %s can be parsed", async (language, grammar) => {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(readFileSync(join(root, "node_modules", grammar))));
  const isCorrect = (code: string) => parser.parse(code)?.rootNode.hasError === false;
  const examples = [...examplesIn(language)];
  expect(examples.filter(([, code]) => !isCorrect(code)).map(([name]) => name)).toEqual([]);
  const [[, first] = ["", ""]] = examples;
  expect(isCorrect(first.replace("=>", "=").replace("public class", "public"))).toBe(false);
});
