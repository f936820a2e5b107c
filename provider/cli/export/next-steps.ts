import type { Settings } from "../../api/settings";
import type { Project } from "../shared/project";
import { codeSpan, shellWord } from "../shared/quoting";
import { addCommands, isSampleIn, setSecret, startCommands } from "../shared/scaffold";
import { configValuesOf, protectKey, type ConfigValue, type ModuleResource } from "./module-source";
import { refusedText } from "./report";

/** What the next steps of an export depend on. */
export interface ExportFacts {
  readonly project: Project;
  readonly resources: readonly ModuleResource[];
  readonly settings: Settings;
  readonly stack: string | undefined;
  /** The file with the values of the secrets, from the project's folder. */
  readonly secretsFile: string | undefined;
}

/** A step after an export, with its reason. */
export interface NextStep {
  readonly text: string;
  /** Lines to type. A step with none is left out. */
  readonly lines: readonly string[];
  readonly language?: "ts";
}

/** The page NEXT-STEPS.md: some steps, with paragraphs between them. */
export function nextSteps(parts: readonly (NextStep | string)[]): string {
  const paragraphs = parts.flatMap((part) => {
    if (typeof part === "string") return [part];
    const { text, lines, language = "sh" } = part;
    return lines.length === 0 ? [] : [text, [`\`\`\`${language}`, ...lines, "```"].join("\n")];
  });
  return `${["# Next steps", ...paragraphs].join("\n\n")}\n`;
}

/**
 * The steps after an export in TypeScript.
 *
 * @param modules the names of the modules that were written
 */
export function programSteps(facts: ExportFacts, modules: readonly string[]): (NextStep | string)[] {
  const { project, resources, settings, secretsFile } = facts;
  const values = resources.flatMap(configValuesOf);
  const passwords = values.filter(({ optional }) => optional);
  // A folder without a Pulumi project may hold a package of its own.
  const isPackage = project.files.has("package.json");
  const isMainKept = project.exists || project.files.has("index.ts");
  return [
    {
      text: "Create a stack (without a Pulumi account, run `pulumi login --local` first), set the server's address and the API key (the command asks for it), then check both.",
      lines: project.exists ? [] : startCommands(settings, isPackage ? addCommands() : undefined),
    },
    {
      text: isSampleIn(project)
        ? "Replace all of `index.ts`, which declares only the sample monitor `home`: `pulumi up` would create it. If it has been " +
          "created already, keep its declaration, or remove it to delete the record."
        : "Import the new modules in the program's main file, by their paths from there; no existing file was changed.",
      lines: isMainKept ? modules.map((name) => `import "./${name}${project.extension}";`) : [],
      language: "ts",
    },
    {
      text:
        "The values of request headers, and URLs with a password, are secrets, so the program reads them from the stack's configuration. Each of these " +
        "must be set; a command without a value asks for it." +
        (secretsFile === undefined
          ? " The option `--secrets FILE` of the export writes the values to a file: to use it, remove what the export wrote, and export again."
          : ""),
      lines: secretCommands(
        values.filter(({ optional }) => !optional),
        secretsFile,
      ),
    },
    {
      text:
        "The API does not show whether a monitor has a password. Set the passwords that Pulumi must send with the next " +
        "update of the monitor; the others are not needed.",
      lines: passwords.map(({ key }) => setSecret(key)),
    },
    {
      text:
        "Look at what would happen, then import the records. The preview lists them as resources to create, and says under " +
        "Diagnostics which record each imports. An import writes nothing to the API: a property that differs from its record is refused.",
      lines: ["pulumi preview", "pulumi up"],
    },
    {
      text:
        "After the first `pulumi up`, remove the option `import` from the program, because while it is there, Pulumi cannot recreate a record " +
        "that somebody has deleted by hand. Then run `pulumi up` once more, which stores that.",
      lines: [`node -e '${removeImports}' ${modules.map((name) => `${name}.ts`).join(" ")}`, "pulumi up"],
    },
    `${protectText} To let Pulumi delete any of them, run \`pulumi config set ${protectKey} false\` and then \`pulumi up\`.`,
    ...refusedList(resources, "typescript"),
  ];
}

/** Takes the option `import` out of exported modules, which have it at the beginning of the options. */
const removeImports =
  'for (const f of process.argv.slice(1)) fs.writeFileSync(f, fs.readFileSync(f, "utf8").replace(/^(\\s*(\\/\\/ *)?)\\{ import: "[^"]*", /gm, "$1{ "))';

/** What the option `protect` does, and how to delete a record. */
export const protectText =
  "The option `protect` keeps Pulumi from deleting a record. To delete one, or to accept that somebody has deleted it by hand, remove " +
  "the resource from the program and run `pulumi state unprotect URN`; `pulumi stack --show-urns` prints the URN.";

/** The records that the provider would refuse, and what to do about them; nothing if there are none. */
export function refusedList(resources: readonly ModuleResource[], language: string): string[] {
  const items = resources
    .filter(({ problems }) => problems.length > 0)
    .map(
      ({ definition, id, name, problems }) =>
        `- ${definition.singular} ${codeSpan(id)}, ${codeSpan(name)}: ${codeSpan(problems.join("; "))}`,
    );
  return items.length === 0 ? [] : [refusedText(language), items.join("\n")];
}

/** The commands that set the values of secrets: from the file or, without one, by asking. No value is on a command line. */
export function secretCommands(values: readonly ConfigValue[], secretsFile: string | undefined): string[] {
  if (secretsFile === undefined) return values.map(({ key }) => setSecret(key));
  // Unlike `require`, this reads JSON from a file of any name. If it failed, Pulumi would set an empty value.
  const content = `JSON.parse(fs.readFileSync(${JSON.stringify(secretsFile)}))`;
  const commands = values.map(({ key, secret }) => {
    const reading = `node -p ${shellWord(`${content}[${JSON.stringify(key)}]`)}`;
    return secret === undefined ? setSecret(key) : `${reading} | ${setSecret(key)}`;
  });
  const isInFile = values.some(({ secret }) => secret !== undefined);
  return isInFile ? [...commands, `rm ${shellWord(secretsFile)}`] : commands;
}
