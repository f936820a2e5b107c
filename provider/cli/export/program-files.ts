import { parseUrl } from "../../definitions/url";
import type { Project } from "../shared/project";
import { scaffold } from "../shared/scaffold";
import { slug } from "../shared/slug";
import { moduleSource } from "./module-source";
import type { ModuleResource } from "./module-source";
import { nextSteps, programSteps } from "./next-steps";
import type { WrittenExport } from "./next-steps";

/** How a program can be divided into files. */
export const splits = ["kind", "host", "prefix"] as const;
type Split = (typeof splits)[number];

/** What an export writes, and what a person does next. */
export interface ExportPlan {
  /** By name; none if nothing is new. */
  readonly files: ReadonlyMap<string, string>;
  /** The file that each resource is in. */
  readonly places: ReadonlyMap<ModuleResource, string>;
  readonly commands: readonly string[];
}

/** The files of a program in TypeScript. */
export function planProgram(written: WrittenExport, split: Split): ExportPlan {
  const { project } = written;
  const modules = modulesOf(written.resources, split, project);
  const names = [...modules.keys()];
  const { commands, page } = nextSteps(programSteps(written, names));
  const files = new Map<string, string>();
  if (names.length > 0) {
    if (!project.exists) {
      const program = names.map((module) => `import "./${module}";\n`).join("");
      const secretFiles = [written.stateFile, written.secretsFile].filter((file) => file !== undefined);
      for (const [name, content] of scaffold(project, program, { secretFiles }))
        if (!project.files.has(name.toLowerCase())) files.set(name, content);
    }
    for (const [name, resources] of modules) files.set(`${name}.ts`, moduleSource(resources));
    files.set(freeName(project, "NEXT-STEPS", ".md"), page);
  }
  const places = [...modules].flatMap(([name, members]) =>
    members.map((resource) => [resource, `${name}.ts`] as const),
  );
  return { files, places: new Map(places), commands };
}

/** The modules to write: their names without an extension, each with its resources. */
function modulesOf(
  resources: readonly ModuleResource[],
  split: Split,
  project: Project,
): Map<string, ModuleResource[]> {
  const groups = new Map<string, ModuleResource[]>();
  for (const resource of resources) {
    const group = groupOf(resource, split);
    groups.set(group, [...(groups.get(group) ?? []), resource]);
  }
  const modules = new Map<string, ModuleResource[]>();
  for (const [group, members] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1)))
    modules.set(freeName(project, group, ".ts", modules).slice(0, -3), members);
  return modules;
}

function groupOf({ definition, properties }: ModuleResource, split: Split): string {
  const text = (key: string): string => {
    const value = properties.get(key);
    return typeof value === "string" ? value : "";
  };
  const groups: Record<Split, string | undefined> = {
    kind: undefined,
    // A domain has no URL, and its name is a host.
    host: parseUrl(text("url"))?.hostname ?? text("name"),
    prefix: /^(.*?)(?:\s+[-–—]\s+|\s*[|/:]\s*)/.exec(text("name"))?.[1],
  };
  return slug(groups[split] ?? "") || definition.plural;
}

/** Names that mean something else to Node.js or to Windows. */
const reservedNames = /^(index|con|prn|aux|nul|com\d|lpt\d)$/;

/** A name for a file that nothing has yet. */
export function freeName(
  { files }: Project,
  wanted: string,
  extension: string,
  taken: ReadonlyMap<string, unknown> = new Map(),
): string {
  const base = reservedNames.test(wanted) ? `${wanted}-resources` : wanted;
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    const isFree = [extension, ".js"].every((end) => !files.has(`${name}${end}`.toLowerCase()));
    if (isFree && !files.has(name.toLowerCase()) && !taken.has(name)) return `${name}${extension}`;
  }
}
