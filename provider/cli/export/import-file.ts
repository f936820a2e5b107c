import { UptimeError } from "../../api/errors";
import { nearest } from "../../definitions/nearest";
import { pluginType } from "../../definitions/pulumi";
import { configValuesOf } from "./module-source";
import type { ModuleResource } from "./module-source";
import { freeName } from "./program-files";
import type { ExportPlan } from "./program-files";
import { reported } from "./report";
import { secretsFileCommands, setSecret, settingCommands, StepsPage } from "./next-steps";
import type { NextSteps, WrittenExport } from "./next-steps";
import type { Project } from "../shared/project";
import { codeSpan, shellWord } from "../shared/quoting";

/** Languages whose code Pulumi itself generates, with the program that it is copied to. */
const generated = {
  yaml: { runtime: "yaml", code: "imported.yaml", program: "Pulumi.yaml" },
  python: { runtime: "python", code: "imported.py", program: "__main__.py" },
  // Go compiles every file of a folder that ends with .go.
  go: { runtime: "go", code: "imported.go.txt", program: "main.go" },
} as const;

/** A language whose code Pulumi generates. */
export type GeneratedLanguage = keyof typeof generated;
export type Language = "typescript" | GeneratedLanguage;

const languages: readonly Language[] = ["typescript", ...(Object.keys(generated) as GeneratedLanguage[])];

/** The language with a name. Throws an error that says which there are. */
export function languageNamed(name: string): Language {
  const language = languages.find((one) => one === name);
  if (language !== undefined) return language;
  const near = nearest(name, languages);
  throw new UptimeError(
    `--language must be ${languages.slice(0, -1).join(", ")} or ${languages.at(-1) ?? ""}, not ${JSON.stringify(name)}` +
      `${near === undefined ? "" : `; the nearest is ${near}`}.`,
  );
}

/** Throws if a project is written in another language. */
export function assertRuntime({ directory, runtime }: Project, language: Language): void {
  const wanted = language === "typescript" ? "nodejs" : generated[language].runtime;
  if (runtime === undefined || runtime === wanted) return;
  const fitting = runtime === "nodejs" ? "typescript" : languages.find((one) => one === runtime);
  throw new UptimeError(
    `The project in ${directory} has the runtime ${runtime}, so its program is not in ${language}: use ` +
      `${fitting === undefined ? "" : `--language ${fitting}, or `}another folder.`,
  );
}

/** The file that `pulumi import --file` reads. A record that the provider would refuse is left out. */
function importFileOf(resources: readonly ModuleResource[]): string {
  const entries = resources
    .filter(({ problems }) => problems.length === 0)
    .map(({ definition, name, id, properties }) => {
      const account = properties.get("account");
      return {
        type: pluginType(definition),
        name,
        id: typeof account === "string" ? `${account}/${id}` : id,
      };
    });
  return `${JSON.stringify({ resources: entries }, undefined, 2)}\n`;
}

/** The files of an export that Pulumi imports. */
export function planImport(
  written: WrittenExport,
  language: GeneratedLanguage,
  stack: string | undefined,
): ExportPlan {
  const { project, resources } = written;
  const importFile = freeName(project, "uptime-import", ".json");
  const { commands, page } = importSteps(written, language, importFile, stack);
  const files = new Map<string, string>();
  if (resources.some(({ problems }) => problems.length === 0)) files.set(importFile, importFileOf(resources));
  if (resources.length > 0) files.set(freeName(project, "NEXT-STEPS", ".md"), page);
  return {
    files,
    resources: resources.map((resource) => reported(resource, pluginType, importFile)),
    commands,
  };
}

/** The commands that import what was exported, and a page that explains them. */
function importSteps(
  written: WrittenExport,
  language: GeneratedLanguage,
  importFile: string,
  stack: string | undefined,
): NextSteps {
  const { project, secretsFile, settings } = written;
  const { code, program } = generated[language];
  const resources = written.resources.filter(({ problems }) => problems.length === 0);
  const page = new StepsPage();
  const addRefused = (): void => {
    page.addRefused(written.resources, "They are left out; correct them in the API and export again:");
  };
  if (resources.length === 0) {
    addRefused();
    return { commands: [], page: page.text() };
  }
  const plugin = [
    ...(project.hasPackage ? [] : ["npm install --omit=peer pulumi-uptime"]),
    ...(project.namesPlugin ? [] : ["npx pulumi-uptime plugin install"]),
  ];
  const start = project.exists ? [] : [`pulumi new ${language} --force`];
  const configure = project.exists ? [] : settingCommands(settings);
  const sdk =
    language === "yaml" ? [] : ["pulumi package add ./node_modules/pulumi-uptime/plugin/schema.json"];
  const onStack = stack === undefined ? "" : ` --stack ${shellWord(stack)}`;
  const load = [`pulumi import --file ${shellWord(importFile)} --out ${shellWord(code)}${onStack}`];
  const preview = [`pulumi preview${onStack}`];
  const withSecrets = resources.filter((resource) => configValuesOf(resource).length > 0);
  const set = secretsFile === undefined || withSecrets.length === 0 ? [] : secretsFileCommands(secretsFile);

  page.section("Create a project. The command asks for the names of the project and of its stack.", start);
  page.section("Install the package, and its provider plugin for Pulumi.", plugin);
  page.section("Set the server's address. The last command asks for the API key.", configure);
  page.section("Generate the SDK for the program.", sdk);
  page.section(
    `Import the records into the stack's state. Pulumi shows the list and asks before it does. It writes the code to ${codeSpan(code)}, ` +
      "and nothing to the API.",
    load,
  );
  page.section(
    `Copy the resources in ${codeSpan(code)} to the program, ${codeSpan(program)}. Then the preview must show no change.`,
    preview,
  );
  page.add("`protect` keeps Pulumi from deleting a record; remove it from resources that Pulumi may delete.");
  if (withSecrets.length > 0) {
    page.add(
      "The import file and the generated code have no secrets: no `requestHeaders` and no `requestAuthPassword`. " +
        "They stay as they are in the API: Pulumi neither changes nor empties them as long as the program does not declare them. " +
        "To manage them, set their values as secrets in the stack's configuration, and declare them in the program:",
      withSecrets.map(secretsItem).join("\n"),
    );
    page.section("The values are in a file. Delete it afterwards.", set);
    if (set.length === 0)
      page.section(
        "Each command asks for a value.",
        withSecrets.flatMap((resource) => configValuesOf(resource).map(({ key }) => setSecret(key))),
      );
  }
  addRefused();
  return {
    commands: [
      ...start,
      ...plugin,
      ...configure,
      ...sdk,
      ...load,
      `# Copy the resources in ${code} to ${program}, then:`,
      ...preview,
      ...set,
    ],
    page: page.text(),
  };
}

/** Which secrets a resource has or may have, and under which keys of the configuration they belong. */
function secretsItem({ name, definition, id, properties }: ModuleResource): string {
  const secrets = [...properties].flatMap(([property, value]) => {
    const keys = configValuesOf({ properties: new Map([[property, value]]) });
    if (keys.length === 0) return [];
    const names = keys.map(({ key }) => codeSpan(key)).join(", ");
    // The API does not show whether there is a password.
    return [
      `${codeSpan(property)}${keys.some(({ optional }) => optional) ? ", if it has one" : ""} (${names})`,
    ];
  });
  return `- ${codeSpan(name)}, the ${definition.singular} ${codeSpan(id)}: ${secrets.join("; ")}`;
}
