import { readFileSync } from "node:fs";
import { join } from "node:path";

import { blocksOf } from "./blocks";

export const exampleLanguages = ["typescript", "python", "go", "csharp", "java", "yaml"] as const;
type ExampleLanguage = (typeof exampleLanguages)[number];

/** The plugin's schema as the build has it. */
export const schemaFile = join(__dirname, "..", "..", "plugin", "schema.json");

interface Described {
  description: string;
}

/** The examples in a language that the plugin's schema has, by what they are for, such as `getMonitors`. */
export function examplesIn(language: ExampleLanguage): Map<string, string> {
  const { resources, functions } = JSON.parse(readFileSync(schemaFile, "utf8")) as Record<
    "resources" | "functions",
    Record<string, Described>
  >;
  const examples = Object.entries({ ...resources, ...functions }).flatMap(([token, { description }]) =>
    blocksOf(token, description)
      .filter((block) => block.language === language)
      .map(({ code }) => [token.split(":").at(-1) ?? "", code] as const),
  );
  return new Map(examples);
}
