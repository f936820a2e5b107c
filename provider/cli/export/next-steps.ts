import type { Settings } from "../../api/settings";
import { configValuesOf } from "./module-source";
import type { ModuleResource } from "./module-source";
import type { Project } from "../shared/project";
import { codeSpan, shellWord } from "../shared/quoting";

/** What an export has written, as far as the next steps depend on it. */
export interface WrittenExport {
  readonly project: Project;
  readonly resources: readonly ModuleResource[];
  readonly settings: Settings;
  /** The file with the state to import, from the project's folder. */
  readonly stateFile: string | undefined;
  /** The file with the values of the secrets, from the project's folder. */
  readonly secretsFile: string | undefined;
}

/** The commands that follow an export, and a page that explains them. */
export interface NextSteps {
  readonly commands: readonly string[];
  readonly page: string;
}

export const setSecret = (key: string): string => `pulumi config set --secret ${shellWord(key)}`;

/** @param modules the names of the modules that were written */
export function nextSteps(written: WrittenExport, modules: readonly string[]): NextSteps {
  const { project, resources, stateFile, secretsFile } = written;
  const configValues = resources.flatMap(configValuesOf);
  const required = configValues.filter(({ optional }) => !optional).map(({ key }) => key);
  const passwords = configValues.filter(({ optional }) => optional).map(({ key }) => key);

  const start = project.exists ? [] : startCommands(written.settings);
  const set =
    required.length === 0
      ? []
      : secretsFile === undefined
        ? required.map(setSecret)
        : secretsFileCommands(secretsFile);
  const load =
    stateFile === undefined
      ? []
      : [`pulumi stack import --file ${shellWord(stateFile)}`, `rm ${shellWord(stateFile)}`];

  const page = new StepsPage();
  page.section("Create a stack and set the server's address. The last command asks for the API key.", start);
  if (project.exists)
    page.section(
      "Import the new modules in the program's main file; no existing file was changed.",
      modules.map((name) => `import "./${name}${project.extension}";`),
      "ts",
    );
  page.section(
    "The values of request headers are secrets, so the program reads them from the stack's configuration. Each of these " +
      "must be set; a command without a value asks for it.",
    set,
  );
  page.section(
    "The API does not show whether a monitor has a password. Set the passwords that Pulumi must send with the next " +
      "update of the monitor; the others are not needed.",
    passwords.map(setSecret),
  );
  page.section("Import the state. The file may hold secrets: delete it afterwards.", load);
  page.section(
    `Look at what would happen, then import the records. ${
      stateFile === undefined
        ? "The preview lists them as resources to create, and says under Diagnostics which record each imports. An "
        : "An "
    }import writes nothing to the API: a property that differs from its record is refused.`,
    ["pulumi preview", "pulumi up"],
  );
  page.add(
    "After that you can remove the option `import` from the program. `protect: true` keeps Pulumi from deleting a " +
      "record; remove it from resources that Pulumi may delete.",
  );
  page.addRefused(resources, "They are comments in the program; correct them in the API and in the program:");
  return {
    commands: [...start, ...set, ...load, "pulumi preview", "pulumi up"],
    page: page.text(),
  };
}

/** A page in Markdown that explains commands. */
export class StepsPage {
  private readonly parts = ["# Next steps"];

  /** A paragraph with what to type; nothing if there is nothing to type. */
  section(text: string, lines: readonly string[], language = "sh"): void {
    if (lines.length > 0) this.add(text, [`\`\`\`${language}`, ...lines, "```"].join("\n"));
  }

  add(...paragraphs: readonly string[]): void {
    this.parts.push(...paragraphs);
  }

  /** The records that the provider would refuse, if there are any, with what becomes of them. */
  addRefused(resources: readonly ModuleResource[], consequence: string): void {
    const items = resources.flatMap(({ definition, id, name, problems }) =>
      problems.length === 0
        ? []
        : [`- ${definition.singular} ${codeSpan(id)}, ${codeSpan(name)}: ${codeSpan(problems.join("; "))}`],
    );
    if (items.length > 0)
      this.add(`The provider would refuse these records. ${consequence}`, items.join("\n"));
  }

  text(): string {
    return `${this.parts.join("\n\n")}\n`;
  }
}

/** The commands that set the values of secrets from a file. */
export function secretsFileCommands(file: string): string[] {
  return [`pulumi config set-all --json "$(cat ${shellWord(file)})"`, `rm ${shellWord(file)}`];
}

/** The commands between a new project's files and its first preview. */
export function startCommands(settings?: Addresses): string[] {
  return ["npm install", "pulumi stack init dev", ...settingCommands(settings)];
}

type Addresses = Pick<Settings, "baseUrl" | "monitorsBaseUrl">;

/** The commands that set the server's address and the key. */
export function settingCommands(settings?: Addresses): string[] {
  const { baseUrl, monitorsBaseUrl } = settings ?? {};
  const hasOwnMonitors = monitorsBaseUrl !== undefined && monitorsBaseUrl.url !== baseUrl?.url;
  return [
    `pulumi config set uptime:baseUrl ${shellWord(baseUrl?.url ?? "https://uptime.example.com")}`,
    ...(hasOwnMonitors ? [`pulumi config set uptime:monitorsBaseUrl ${shellWord(monitorsBaseUrl.url)}`] : []),
    setSecret("uptime:apiKey"),
  ];
}
