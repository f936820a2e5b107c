import { readFileSync } from "node:fs";
import { join } from "node:path";

import ts from "typescript";
import { Language, Parser } from "web-tree-sitter";

import { Editor } from "../support/editor";
import { exampleLanguages, examplesIn } from "../support/schema-examples";

const root = join(__dirname, "..", "..");

test("each resource and function has an example in each language", () => {
  const all = ["Domain", "Monitor", "getDomain", "getDomains", "getMonitor", "getMonitors"];
  for (const language of exampleLanguages)
    expect({ language, names: [...examplesIn(language).keys()].sort() }).toEqual({ language, names: all });
});

test("the examples in TypeScript compile with pulumi-uptime/native, the only SDK for it", () => {
  const module = ts.ModuleKind.Node16;
  const options = { strict: true, noEmit: true, module, types: [], skipLibCheck: true };
  const editor = new Editor({ ...options, moduleResolution: ts.ModuleResolutionKind.Node16 });
  const files = [...examplesIn("typescript")].map(([name, code]) => [`examples/${name}.ts`, code] as const);
  for (const [, code] of files) expect(code).toContain('from "pulumi-uptime/native";');
  const wrong = examplesIn("typescript").get("Monitor")?.replace("interval: 300", 'interval: "often"') ?? "";
  const problems = editor.problems({ ...Object.fromEntries(files), "examples/wrong.ts": wrong });
  expect(problems).toEqual([expect.stringMatching(/^wrong\.ts: .*string/)]);
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
