import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { UptimeError } from "../api/errors";
import { slug } from "./names";

/** A resource that a program declares with the option `import`, as far as its text tells. */
export interface DeclaredImport {
  /** `Domain` or `Monitor`. */
  readonly label: string;
  readonly name: string | undefined;
  readonly account: string | undefined;
  readonly id: string;
}

/** The folder that an export writes into, as it was before. */
export interface Project {
  readonly directory: string;
  /** Whether a Pulumi project is there already; nothing of it is changed. */
  readonly exists: boolean;
  /** The project's name for Pulumi. */
  readonly name: string;
  /** How modules of the program import each other: with this behind the name. */
  readonly extension: "" | ".js";
  /** Names of resources that the program has. */
  readonly names: ReadonlySet<string>;
  readonly imports: readonly DeclaredImport[];
  /** Files directly in the folder, in lower case. */
  readonly files: ReadonlySet<string>;
}

const foreign = new Set(["node_modules", "dist", "bin", "build", "coverage"]);
const program = /\.[cm]?[jt]sx?$/;

/** The names that a project's own file may have; the first one counts. */
export const manifests: readonly string[] = ["Pulumi.yaml", "Pulumi.yml"];

/** Whether a folder is a Pulumi project. */
export function isProject(directory: string): boolean {
  return manifests.some((file) => isThere(join(directory, file)));
}

/** Looks at a folder, which need not exist. */
export function projectIn(directory: string): Project {
  let entries: string[];
  try {
    entries = readdirSync(directory);
  } catch (error) {
    if (!isMissing(error)) throw new UptimeError(`${directory} cannot be read: ${messageOf(error)}`);
    entries = [];
  }
  const yaml = manifests.find((file) => entries.includes(file));
  const declared = yaml === undefined ? undefined : nameIn(readFileSync(join(directory, yaml), "utf8"));
  const names = new Set<string>();
  const imports: DeclaredImport[] = [];
  for (const file of sourcesIn(directory)) {
    const found = resourcesIn(readFileSync(file, "utf8"));
    for (const name of found.names) names.add(name);
    imports.push(...found.imports);
  }
  const manifest = entries.includes("package.json")
    ? readFileSync(join(directory, "package.json"), "utf8")
    : "";
  return {
    directory,
    exists: yaml !== undefined,
    name: declared ?? (slug(basename(directory)) || "uptime"),
    extension: /"type"\s*:\s*"module"/.test(manifest) ? ".js" : "",
    names,
    imports,
    files: new Set(entries.map((entry) => entry.toLowerCase())),
  };
}

function nameIn(yaml: string): string | undefined {
  return /^name:\s*["']?([\w.-]+)/m.exec(yaml)?.[1];
}

function sourcesIn(directory: string): string[] {
  let entries;
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory())
      return foreign.has(entry.name) || entry.name.startsWith(".") ? [] : sourcesIn(path);
    return entry.isFile() && program.test(entry.name) && !entry.name.endsWith(".d.ts") ? [path] : [];
  });
}

/** Reads the text only, comments included: a program that computes its names or ids says less. */
function resourcesIn(source: string): { names: string[]; imports: DeclaredImport[] } {
  const names: string[] = [];
  const imports: DeclaredImport[] = [];
  const start = String.raw`\bnew\s+(?:[\w$]+\.)*(?<label>Monitor|Domain)\s*\((?:\s|//)*(?:(?<q>["'\x60])(?<name>.*?)\k<q>)?`;
  const property = String.raw`\baccount:\s*(?<s>["'\x60])(?<account>.+?)\k<s>`;
  const option = String.raw`\bimport:\s*(?<r>["'\x60])(?<id>.+?)\k<r>`;
  let current: Omit<DeclaredImport, "id"> | undefined;
  for (const { groups = {} } of source.matchAll(new RegExp([start, property, option].join("|"), "g"))) {
    const { label, name, account, id } = groups;
    if (label !== undefined) {
      current = { label, name, account: undefined };
      if (name !== undefined) names.push(name);
    } else if (current && account !== undefined) current = { ...current, account };
    else if (current && id !== undefined) imports.push({ ...current, id });
  }
  return { names, imports };
}

/** Files by name, for a project that is not there yet. */
export function scaffold(
  project: Project,
  dependency: string,
  modules: readonly string[],
): Map<string, string> {
  const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
  return new Map([
    ["Pulumi.yaml", `name: ${project.name}\ndescription: Domains and uptime monitors\nruntime: nodejs\n`],
    [
      "package.json",
      json({
        name: project.name,
        private: true,
        main: "index.ts",
        dependencies: { "@pulumi/pulumi": "^3.200.0", "pulumi-uptime": dependency },
        devDependencies: { typescript: "^5.9.0" },
      }),
    ],
    [
      "tsconfig.json",
      json({
        compilerOptions: {
          strict: true,
          target: "es2020",
          module: "nodenext",
          moduleResolution: "nodenext",
          noEmit: true,
          skipLibCheck: true,
          forceConsistentCasingInFileNames: true,
        },
        files: ["index.ts"],
      }).replace(/\[\s+("index\.ts")\s+\]/, "[$1]"),
    ],
    [".gitignore", "node_modules/\n"],
    ["index.ts", modules.map((name) => `import "./${name}";\n`).join("")],
  ]);
}

/** Writes files that are not there yet. */
export function writeNew(directory: string, files: ReadonlyMap<string, string>): void {
  for (const [name, content] of files) writeFile(join(directory, name), content, 0o666);
}

/** Writes a file that only this person can read. */
export function writeSecret(path: string, content: string): void {
  writeFile(path, content, 0o600);
}

function writeFile(path: string, content: string, mode: number): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { flag: "wx", mode });
  } catch (error) {
    if (isObjectWithCode(error) && error.code === "EEXIST")
      throw new UptimeError(`${path} is there already, and nothing is written over it.`);
    throw new UptimeError(`${path} cannot be written: ${messageOf(error)}`);
  }
}

/** Whether something is at a path. */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isMissing(error: unknown): boolean {
  return isObjectWithCode(error) && error.code === "ENOENT";
}

function isObjectWithCode(error: unknown): error is { code: unknown } {
  return typeof error === "object" && error !== null && "code" in error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
