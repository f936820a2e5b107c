import type { Settings } from "../../api/settings";
import type { Project } from "../shared/project";
import { freeName, shellWord } from "../shared/quoting";
import { setSecret } from "../shared/scaffold";
import type { ConfigValue, ModuleResource } from "./module-source";

/** What the next steps of an export depend on. */
export interface ExportFacts {
  readonly project: Project;
  readonly resources: readonly ModuleResource[];
  readonly settings: Settings;
  readonly stack: string | undefined;
  /** The file with the values of the secrets, from the project's folder; undefined if none is written. */
  readonly secretsFile: string | undefined;
}

/** A paragraph, or a step with its reason and the lines to type. A step without lines is left out. */
export type NextStep =
  string | false | { readonly text: string; readonly lines: readonly string[]; readonly language?: "ts" };

/** The page NEXT-STEPS.md: some steps, with paragraphs between them. */
export function nextSteps(parts: readonly NextStep[]): string {
  const paragraphs = parts.flatMap((part) => {
    if (part === false) return [];
    if (typeof part === "string") return [part];
    const { text, lines, language = "sh" } = part;
    return lines.length === 0 ? [] : [text, [`\`\`\`${language}`, ...lines, "```"].join("\n")];
  });
  return `${["# Next steps", ...paragraphs].join("\n\n")}\n`;
}

/** Makes the stack of the export the one that all later commands are about. */
export function selectStack({ stack }: ExportFacts): NextStep {
  return {
    text: "Select the stack with which the records were compared.",
    lines: stack === undefined ? [] : [`pulumi stack select ${shellWord(stack)}`],
  };
}

/** What the option `protect` does, and how to delete a record. */
export const protectText =
  "The option `protect` keeps Pulumi from deleting a record. To delete one, or to accept that somebody has deleted it by hand, remove " +
  "the resource from the program and run `pulumi state unprotect URN`; `pulumi stack --show-urns` prints the URN.";

/** The commands that set the values of secrets: from the file or, without one, by asking. No value is on a command line. */
export function secretCommands(values: readonly ConfigValue[], secretsFile: string | undefined): string[] {
  if (secretsFile === undefined) return values.map(({ key }) => setSecret(key));
  // Unlike `require`, this reads JSON from a file of any name. If it failed, Pulumi would set an empty value.
  const content = `JSON.parse(fs.readFileSync(${JSON.stringify(secretsFile)}))`;
  const commands = values.map(({ key, secret }) => {
    const reading = `node -p ${shellWord(`${content}[${JSON.stringify(key)}]`)}`;
    return secret === undefined ? setSecret(key) : `${reading} | ${setSecret(key)}`;
  });
  return [...commands, `rm ${shellWord(secretsFile)}`];
}

/** A name for a file that nothing has yet, nor a module that programs would import in its place. */
export function unusedFileName({ files }: Project, wanted: string, extension: string): string {
  const isTaken = (name: string): boolean =>
    ["", extension, ".js"].some((end) => files.has(`${name}${end}`.toLowerCase()));
  return freeName(wanted, isTaken) + extension;
}
