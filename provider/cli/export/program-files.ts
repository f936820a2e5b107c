import { isAbsolute } from "node:path";

import { definitions } from "../../definitions";
import { addCommands, isSampleIn, scaffold, setSecret, startCommands } from "../shared/scaffold";
import type { Project } from "../shared/project";
import { configValuesOf, moduleSource, protectKey } from "./module-source";
import { nextSteps, protectText, secretCommands, selectStack, unusedFileName } from "./next-steps";
import type { ExportFacts, NextStep } from "./next-steps";

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
  const program = names.map((name) => importLine(name, project)).join("\n") + "\n";
  const scaffolded = project.exists ? [] : [...scaffold(project, program, secretFiles)];
  return new Map([
    ...scaffolded.filter(([name]) => !project.files.has(name.toLowerCase())),
    ...modules.map(({ name, source }) => [`${name}.ts`, source] as const),
    [unusedFileName(project, "NEXT-STEPS", ".md"), nextSteps(programSteps(facts, names))] as const,
  ]);
}

const importLine = (module: string, { extension }: Project): string => `import "./${module}${extension}";`;

/** Whether a path that is relative to a folder leads to something in it. */
function isInside(path: string): boolean {
  return !isAbsolute(path) && !/^\.\.(?:[\\/]|$)/.test(path);
}

/** The steps after these modules were written. */
function programSteps(facts: ExportFacts, modules: readonly string[]): NextStep[] {
  const { project, resources, settings, secretsFile } = facts;
  const values = resources.flatMap(configValuesOf);
  // A folder without a Pulumi project may hold a package of its own.
  const isPackage = project.files.has("package.json");
  const isMainKept = project.exists || project.files.has("index.ts");
  return [
    selectStack(facts),
    {
      text: "Create a stack (without a Pulumi account, run `pulumi login --local` first), set the server's address and the API key (the command asks for it), then check both.",
      lines: project.exists ? [] : startCommands(settings, isPackage ? addCommands() : undefined),
    },
    {
      text: isSampleIn(project)
        ? "Replace all of `index.ts`: it declares only the sample monitor `home`, which `pulumi up` would create. If `pulumi up` has " +
          "already created it, keep the declaration, or remove it to delete the record."
        : "Import the new modules in the program's main file, by their paths from there; no existing file was changed.",
      lines: isMainKept ? modules.map((name) => importLine(name, project)) : [],
      language: "ts",
    },
    {
      text:
        "The values of request headers, and URLs with a password, are secrets, so the program reads them from the stack's configuration. Set " +
        "each of them; a command without a value asks for it." +
        (secretsFile === undefined
          ? " The option `--secrets FILE` of the export writes the values to a file: to use it, remove what the export wrote, and export again."
          : ""),
      lines: secretCommands(
        values.filter(({ secret }) => secret !== undefined),
        secretsFile,
      ),
    },
    {
      text: "The API shows no passwords. A password stays as it is, unless you set it here: then the monitor's next update sends it.",
      lines: values.flatMap(({ key, secret }) => (secret === undefined ? [setSecret(key)] : [])),
    },
    {
      text:
        "Preview, then import the records. The preview lists them as resources to create, and names the first 19 records under " +
        "Diagnostics. An import writes nothing to the API, and is refused if a property differs from the record.",
      lines: ["pulumi preview", "pulumi up"],
    },
    {
      text:
        "After the first `pulumi up`, remove the option `import` from the program: with it, Pulumi cannot recreate a record that somebody " +
        "has deleted by hand. Then run `pulumi up` once more, which stores the change.",
      lines: [`node -e '${removeImports}' ${modules.map((name) => `${name}.ts`).join(" ")}`, "pulumi up"],
    },
    `${protectText} To let Pulumi delete any of them, run \`pulumi config set ${protectKey} false\` and then \`pulumi up\`.`,
  ];
}

/** Takes the option `import` out of exported modules, which have it at the beginning of the options. */
const removeImports =
  'for (const f of process.argv.slice(1)) fs.writeFileSync(f, fs.readFileSync(f, "utf8").replace(/^(\\s*)\\{ import: "[^"]*", /gm, "$1{ "))';
