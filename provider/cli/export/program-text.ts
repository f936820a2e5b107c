import { readdirSync } from "node:fs";
import { join } from "node:path";

import { definitions } from "../../definitions";
import { isObject } from "../../definitions/values";
import { exists, readText } from "../shared/files";
import { readYaml, textOf } from "../shared/project";
import type { Project } from "../shared/project";

/** What the files of a project tell without running the program; one that computes its names or ids tells less. */
export interface ProgramText {
  readonly resources: readonly DeclaredResource[];
  /** Keys of the stack's configuration that the program reads, or that a stack of the project sets. */
  readonly configKeys: readonly string[];
}

/** A resource that a program declares, also in a comment: that is a record that cannot be managed yet. */
export interface DeclaredResource {
  /** The class: `Domain`, for example. */
  readonly label: string;
  /** These are as the program writes them, with escapes. */
  readonly name: string | undefined;
  readonly account: string | undefined;
  /** The id in the option `import`. */
  readonly importId: string | undefined;
}

/** Reads the files of a project. */
export function readProgram({ directory, runtime, settings }: Project): ProgramText {
  if (!exists(directory)) return { resources: [], configKeys: [] };
  const sources = programFilesIn(directory).map(readText);
  const stacks = readdirSync(directory).filter((name) => /^Pulumi\..+\.ya?ml$/.test(name));
  return {
    resources: [...sources.flatMap(resourcesIn), ...(runtime === "yaml" ? resourcesInYaml(settings) : [])],
    configKeys: [
      ...sources.flatMap((source) => textsAfter(source, String.raw`\b(?:get|require)\w*\(`)),
      ...stacks.flatMap((name) => keysIn(join(directory, name))),
    ],
  };
}

const foreignFolders = ["node_modules", "dist", "bin", "build", "coverage"];

function programFilesIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory())
      return foreignFolders.includes(entry.name) || entry.name.startsWith(".") ? [] : programFilesIn(path);
    return entry.isFile() && /(?<!\.d)\.[cm]?[jt]sx?$/.test(entry.name) ? [path] : [];
  });
}

/** A string, with its content in the second of two groups. */
const string = String.raw`(["'\x60])((?:\\.|(?!\1)[^\\\n])*)\1`;

/** Where a resource begins: one of this package, whose class is captured, or any other that has a name and arguments. */
const beginning = new RegExp(
  String.raw`\bnew\s+(?:[\w$]+\.)*(?:(${definitions.map(({ label }) => label).join("|")})\s*\(|[\w$]+\s*\(\s*["'\x60][^"'\x60\n]*["'\x60]\s*,)`,
);

/** Resources such as `new Monitor("name", { account: "other" }, { import: "7" })`. Each ends where the next one begins. */
function resourcesIn(source: string): DeclaredResource[] {
  const parts: readonly (string | undefined)[] = source.split(beginning);
  return parts.flatMap((label, index) => {
    const text = parts[index + 1] ?? "";
    if (index % 2 === 0 || label === undefined) return [];
    const [name] = textsAfter(text, String.raw`^[\s/]*`);
    const [account] = textsAfter(text, String.raw`\baccount:`);
    // The last one: others are text, or deeper.
    return [{ label, name, account, importId: textsAfter(text, String.raw`\bimport:`).at(-1) }];
  });
}

/** The strings that follow a pattern. */
function textsAfter(source: string, pattern: string): string[] {
  return [...source.matchAll(new RegExp(String.raw`${pattern}\s*${string}`, "g"))].map(
    ([, , text = ""]) => text,
  );
}

/** The resources of a program in YAML, which is in Pulumi.yaml. The name of any of them is taken. */
function resourcesInYaml({ resources }: Project["settings"]): DeclaredResource[] {
  return Object.entries(isObject(resources) ? resources : {}).map(([key, resource]) => {
    const { type, name, properties, options } = isObject(resource) ? resource : {};
    const [, label = ""] = /^uptime:(?:index:)?(\w+)$/.exec(textOf(type) ?? "") ?? [];
    return {
      label,
      name: textOf(name) ?? key,
      account: isObject(properties) ? textOf(properties.account) : undefined,
      importId: isObject(options) ? textOf(options.import) : undefined,
    };
  });
}

/** The keys in a stack's settings file, without the project's name in front. */
function keysIn(path: string): string[] {
  const { config } = readYaml(path);
  return isObject(config) ? Object.keys(config).map((key) => key.split(":").slice(1).join(":") || key) : [];
}
