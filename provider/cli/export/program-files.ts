import { isAbsolute } from "node:path";

import { definitions } from "../../definitions";
import type { Project } from "../shared/project";
import { scaffold } from "../shared/scaffold";
import { moduleSource } from "./module-source";
import { nextSteps, programSteps, type ExportFacts } from "./next-steps";

/** The files of a program in TypeScript by name: a module for each kind of record. None if nothing is new. */
export function planProgram(facts: ExportFacts): Map<string, string> {
  const { project, resources, secretsFile } = facts;
  const modules = definitions.flatMap((definition) => {
    const members = resources.filter((resource) => resource.definition === definition);
    if (members.length === 0) return [];
    const name = unusedFileName(project, definition.plural, ".ts").slice(0, -3);
    return [{ name, source: moduleSource(definition, members) }];
  });
  const names = modules.map(({ name }) => name);
  if (modules.length === 0) return new Map();
  const secretFiles = secretsFile !== undefined && isInside(secretsFile) ? [secretsFile] : [];
  const program = names.map((name) => `import "./${name}";\n`).join("");
  const scaffolded = project.exists ? [] : [...scaffold(project, program, secretFiles)];
  return new Map([
    ...scaffolded.filter(([name]) => !project.files.has(name.toLowerCase())),
    ...modules.map(({ name, source }) => [`${name}.ts`, source] as const),
    [unusedFileName(project, "NEXT-STEPS", ".md"), nextSteps(programSteps(facts, names))] as const,
  ]);
}

/** Whether a path that is relative to a folder leads to something in it. */
export function isInside(path: string | undefined): boolean {
  return path !== undefined && !isAbsolute(path) && !/^\.\.(?:[\\/]|$)/.test(path);
}

/** A name for a file that nothing has yet, nor a module that programs would import in its place. */
export function unusedFileName({ files }: Project, wanted: string, extension: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    const others = ["", extension, ".js"].map((end) => `${name}${end}`.toLowerCase());
    if (!others.some((other) => files.has(other))) return `${name}${extension}`;
  }
}
