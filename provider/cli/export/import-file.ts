import { UptimeError } from "../../api/errors";
import { pluginType } from "../../common/pulumi";
import { jsonText } from "../shared/json";
import type { Project } from "../shared/project";
import { codeSpan, listOf, shellWord } from "../shared/quoting";
import { packageWord, settingCommands } from "../shared/scaffold";
import { configValuesIn, configValuesOf, type ModuleResource } from "./module-source";
import { nextSteps, protectText, secretCommands, selectStack, unusedFileName } from "./next-steps";
import type { ExportFacts, NextStep } from "./next-steps";

/** Pulumi itself generates the code of all but the first one. */
export const languages = ["typescript", "yaml", "python", "go"] as const;
export type Language = (typeof languages)[number];
type GeneratedLanguage = Exclude<Language, "typescript">;

/** The file with the generated code, and the program that it is copied to. */
const generated: Record<GeneratedLanguage, { readonly code: string; readonly program: string }> = {
  yaml: { code: "imported.yaml", program: "Pulumi.yaml" },
  python: { code: "imported.py", program: "__main__.py" },
  // Go compiles every file of a folder that ends with .go.
  go: { code: "imported.go.txt", program: "main.go" },
};

/**
 * The names that no resource can have: Pulumi generates no code, or broken code, if it refers to one called `true` or `range`, and in the
 * code of its older versions a variable called `pulumi` or `uptime` hides the module. YAML has a `pulumi` of its own.
 */
export function reservedNames(language: Language): string[] {
  return language === "typescript" ? [] : ["true", "false", "null", "range", "pulumi", "uptime"];
}

/** Throws if a project is written in another language. */
export function assertRuntime({ directory, runtime }: Project, language: Language): void {
  const runtimeOf = (one: Language): string => (one === "typescript" ? "nodejs" : one);
  if (runtime === undefined || runtime === runtimeOf(language)) return;
  const fitting = languages.find((one) => runtimeOf(one) === runtime);
  throw new UptimeError(
    `The project in ${directory} has the runtime ${runtime}, so its program is not in ${language}: use ` +
      `${fitting === undefined ? "" : `--language ${fitting}, or `}another folder.`,
  );
}

/** The files of an export that Pulumi imports; none if nothing is new. */
export function planImport(facts: ExportFacts, language: GeneratedLanguage): Map<string, string> {
  const { project, resources } = facts;
  const importFile = unusedFileName(project, "uptime-import", ".json");
  if (resources.length === 0) return new Map();
  return new Map([
    [importFile, jsonText({ resources: resources.map(importOf) })],
    [unusedFileName(project, "NEXT-STEPS", ".md"), nextSteps(importSteps(facts, language, importFile))],
  ]);
}

/** A resource in the file that `pulumi import --file` reads. */
function importOf({ definition, name, id, properties }: ModuleResource): object {
  const account = properties.get("account");
  return { type: pluginType(definition), name, id: typeof account === "string" ? `${account}/${id}` : id };
}

/** The commands that import what was exported, with their explanations. */
function importSteps(facts: ExportFacts, language: GeneratedLanguage, importFile: string): NextStep[] {
  const { project, resources, secretsFile, settings } = facts;
  const { code, program } = generated[language];
  const withSecrets = resources.filter((resource) => configValuesOf(resource).length > 0);
  const withPassword = resources.filter(({ hasPasswordInUrl }) => hasPasswordInUrl);
  const hasRunning = resources.some(({ properties }) => properties.get("pause") === false);
  return [
    selectStack(facts),
    {
      text: "Create a project. The command asks for the names of the project and of its stack.",
      lines: project.exists ? [] : [`pulumi new ${language} --force`],
    },
    {
      text: "Install the package, and its provider plugin for Pulumi.",
      lines: [
        ...(project.hasPackage ? [] : [`npm install --omit=peer ${packageWord()}`]),
        ...(project.namesPlugin ? [] : ["npx --no pulumi-uptime plugin install"]),
      ],
    },
    {
      text: "Set the server's address. The last command asks for the API key.",
      lines: project.exists ? [] : settingCommands(settings),
    },
    {
      text: "Generate the SDK for the program.",
      lines:
        language === "yaml" ? [] : ["pulumi package add ./node_modules/pulumi-uptime/plugin/schema.json"],
    },
    {
      text:
        `Import the records into the stack's state. Pulumi shows the list and asks before it does. It writes the code to ${codeSpan(code)}, ` +
        "and nothing to the API.",
      lines: [`pulumi import --file ${shellWord(importFile)} --out ${shellWord(code)}`],
    },
    {
      text: "Copy the resources to the program. Then the preview must show no change. Run `pulumi up` before you change anything.",
      lines: [`# Copy the resources in ${code} to ${program}, then:`, "pulumi preview", "pulumi up"],
    },
    hasRunning &&
      "The generated code does not have `pause: false`, so a monitor that somebody pauses by hand is no drift. To see that, declare " +
        "`pause` as false in the program before this `pulumi up`; it changes nothing in the API.",
    protectText,
    withPassword.length > 0 &&
      `The generated code has a password, in a URL of ${listOf(withPassword.map(({ name }) => codeSpan(name)))}. After this \`pulumi up\`, set ` +
        "each such URL as a secret in the stack's configuration, let the program read it from there, and run `pulumi up` again. " +
        "Commit the program only then.",
    withSecrets.length > 0 &&
      "The import file and the generated code have no secrets: no `requestHeaders` and no `requestAuthPassword`. " +
        "They stay as they are in the API: Pulumi neither changes nor empties them as long as the program does not declare them. " +
        "To manage them, set their values as secrets in the stack's configuration, and declare them in the program:\n\n" +
        withSecrets.map(secretsItem).join("\n"),
    {
      text:
        secretsFile === undefined
          ? "Each command asks for a value."
          : "A command asks for a value that is not in the file. Delete the file afterwards.",
      lines: secretCommands(resources.flatMap(configValuesOf), secretsFile),
    },
  ];
}

/** Lists the secrets that a resource has or may have, with their keys in the configuration. */
function secretsItem({ name, definition, id, properties }: ModuleResource): string {
  const secrets = [...properties].flatMap(([property, value]) => {
    const values = configValuesIn(value);
    const keys = values.map(({ key }) => codeSpan(key)).join(", ");
    // The API does not show whether there is a password.
    const doubt = values.some(({ secret }) => secret === undefined) ? ", if it has one" : "";
    return values.length === 0 ? [] : [`${codeSpan(property)}${doubt} (${keys})`];
  });
  return `- ${codeSpan(name)}, the ${definition.singular} ${codeSpan(id)}: ${secrets.join("; ")}`;
}
