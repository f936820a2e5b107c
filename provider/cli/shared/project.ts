import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { parse } from "yaml";

import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import { isObject } from "../../definitions/kinds";
import { exists, readText } from "./files";
import { slug } from "../export/names";
import { scanSource } from "../export/source-scan";
import type { DeclaredResource } from "../export/source-scan";

/** A folder that holds a Pulumi project, or will hold one. */
export interface Project {
  readonly directory: string;
  /** Whether there is a Pulumi project already. */
  readonly exists: boolean;
  /** The project's name in Pulumi. */
  readonly name: string;
  /** What the program is written in, as Pulumi calls it: `nodejs`, `yaml`, `python`. Undefined if there is no project. */
  readonly runtime: string | undefined;
  /** Whether the project has this package. */
  readonly hasPackage: boolean;
  /** Whether Pulumi.yaml says where the provider plugin is. */
  readonly namesPlugin: boolean;
  /** The folder of the program: the project's, unless Pulumi.yaml has `main`. */
  readonly main: string;
  /** The options of the language host in Pulumi.yaml, such as `typescript`. */
  readonly runtimeOptions: Readonly<Record<string, unknown>>;
  /** What modules of the program append to a module's name when they import it. */
  readonly extension: "" | ".js";
  /** The resources that the program declares. */
  readonly resources: readonly DeclaredResource[];
  /** Keys of the stack's configuration that the program reads, or that a stack of the project sets. */
  readonly configKeys: ReadonlySet<string>;
  /** Names of what is directly in the folder, in lower case. */
  readonly files: ReadonlySet<string>;
}

const foreignFolders = new Set(["node_modules", "dist", "bin", "build", "coverage"]);
const programFile = /\.[cm]?[jt]sx?$/;
const projectFiles = ["Pulumi.yaml", "Pulumi.yml"];

/** Whether a folder is a Pulumi project. */
export function isProject(directory: string): boolean {
  return projectFiles.some((file) => exists(join(directory, file)));
}

/** What a project's program is written in, as Pulumi calls it; undefined if there is no project. */
export function runtimeOf(directory: string): string | undefined {
  const file = projectFiles.map((name) => join(directory, name)).find(exists);
  return file === undefined ? undefined : runtimeIn(readYaml(file));
}

function runtimeIn({ runtime }: Readonly<Record<string, unknown>>): string | undefined {
  return textOf(isObject(runtime) ? runtime.name : runtime);
}

/** Reads a folder, which need not exist. */
export function readProject(directory: string): Project {
  const entries = entriesOf(directory);
  const file = projectFiles.find((name) => entries.includes(name));
  const settings = file === undefined ? {} : readYaml(join(directory, file));
  const name = textOf(settings.name) ?? newName(basename(directory));
  const sources = sourceFilesIn(directory).map((path) => readFileSync(path, "utf8"));
  const labels = definitions.map(({ label }) => label);
  const scans = sources.map((source) => scanSource(source, labels));
  const { runtime } = settings;
  const { providers } = isObject(settings.plugins) ? settings.plugins : {};
  const runtimeName = runtimeIn(settings);
  return {
    directory,
    exists: file !== undefined,
    name,
    runtime: runtimeName,
    hasPackage: exists(join(directory, "node_modules", "pulumi-uptime")),
    namesPlugin:
      Array.isArray(providers) && providers.some((one: unknown) => isObject(one) && one.name === "uptime"),
    main: join(directory, textOf(settings.main) ?? "."),
    runtimeOptions: isObject(runtime) && isObject(runtime.options) ? runtime.options : {},
    extension: isModule(directory, entries) ? ".js" : "",
    resources: [
      ...scans.flatMap(({ resources }) => resources),
      ...(runtimeName === "yaml" ? resourcesInYaml(settings) : []),
    ],
    configKeys: new Set([
      ...scans.flatMap(({ configKeys }) => configKeys),
      ...entries
        .filter((entry) => /^Pulumi\..+\.ya?ml$/.test(entry))
        .flatMap((entry) => keysIn(join(directory, entry))),
    ]),
    files: new Set(entries.map((entry) => entry.toLowerCase())),
  };
}

/** A new project's name. One named uptime would have its own settings among the provider's, which nobody could check. */
function newName(folder: string): string {
  const name = slug(folder);
  return name === "" || name === "uptime" ? "monitoring" : name;
}

function entriesOf(directory: string): string[] {
  if (!exists(directory)) return [];
  try {
    return readdirSync(directory);
  } catch (error) {
    throw new UptimeError(
      `${directory} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function readYaml(path: string): Readonly<Record<string, unknown>> {
  let settings: unknown;
  try {
    settings = parse(readText(path), { logLevel: "silent" });
  } catch (error) {
    if (error instanceof UptimeError) throw error;
    throw new UptimeError(`${path} is not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  return isObject(settings) ? settings : {};
}

/** The resources of a program in YAML, which is in Pulumi.yaml. The name of any of them is taken. */
function resourcesInYaml({ resources }: Readonly<Record<string, unknown>>): DeclaredResource[] {
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

/** A setting that a person may have written without quotes although it looks like a number. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** The keys in a stack's settings file, without the project's name in front. */
function keysIn(path: string): string[] {
  const { config } = readYaml(path);
  return isObject(config) ? Object.keys(config).map((key) => key.split(":").slice(1).join(":") || key) : [];
}

function isModule(directory: string, entries: readonly string[]): boolean {
  if (!entries.includes("package.json")) return false;
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    return isObject(manifest) && manifest.type === "module";
  } catch {
    // npm refuses it with a better message.
    return false;
  }
}

function sourceFilesIn(directory: string): string[] {
  let entries;
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory())
      return foreignFolders.has(entry.name) || entry.name.startsWith(".") ? [] : sourceFilesIn(path);
    return entry.isFile() && programFile.test(entry.name) && !entry.name.endsWith(".d.ts") ? [path] : [];
  });
}
