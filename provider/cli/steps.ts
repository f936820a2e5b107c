import type { Settings } from "../api/settings";
import { code } from "./markdown";
import type { Project } from "./project";
import { settingsIn } from "./source";
import type { Resource } from "./source";

/** What an export has made, as far as it matters for what comes next. */
export interface Made {
  readonly project: Project;
  readonly modules: readonly string[];
  readonly resources: readonly Resource[];
  readonly settings: Settings;
  /** The file with the state to import, if there is one. */
  readonly state: string | undefined;
  /** The file with the values of the secrets, if there is one. */
  readonly secretsFile: string | undefined;
}

/** What a person does after an export: as commands, and as a page that explains them. */
export function nextSteps(made: Made): { commands: string[]; document: string } {
  const { project, modules, resources, settings, state, secretsFile } = made;
  const secrets = resources
    .flatMap(({ properties }) => [...properties.values()].flatMap(settingsIn))
    .filter(({ optional }) => !optional)
    .map(({ key }) => key);
  const passwords = resources.flatMap(({ properties }) =>
    [...properties.values()].flatMap(settingsIn).flatMap(({ key, optional }) => (optional ? [key] : [])),
  );
  const refused = resources.filter(({ problems }) => problems.length > 0);

  const start = project.exists
    ? []
    : [
        "npm install",
        "pulumi stack init dev",
        `pulumi config set uptime:baseUrl ${settings.baseUrl.url}`,
        ...(settings.monitorsBaseUrl.url === settings.baseUrl.url
          ? []
          : [`pulumi config set uptime:monitorsBaseUrl ${settings.monitorsBaseUrl.url}`]),
        "pulumi config set --secret uptime:apiKey",
      ];
  const set =
    secrets.length === 0
      ? []
      : secretsFile === undefined
        ? secrets.map((key) => `pulumi config set --secret ${key}`)
        : [`pulumi config set-all --json "$(cat ${secretsFile})"`, `rm ${secretsFile}`];
  const load = state === undefined ? [] : [`pulumi stack import --file ${state}`, `rm ${state}`];
  const imports = modules.map((name) => `import "./${name}${project.extension}";`);

  const lines = ["# Next steps", ""];
  const section = (text: string, language: string, block: readonly string[]): void => {
    if (block.length > 0) lines.push(text, "", `\`\`\`${language}`, ...block, "```", "");
  };
  section("Make a stack, and say where the install is. The last command asks for the API key.", "sh", start);
  if (project.exists)
    section("Load what was written from the program's main file; nothing else was changed.", "ts", imports);
  section(
    "The values of request headers are secrets, so the program takes them from the stack's configuration. Each of these " +
      "must be set; a command without a value asks for it.",
    "sh",
    set,
  );
  section(
    "The API does not show whether a monitor has a password. These are not needed; set those that Pulumi shall send with " +
      "the next update of the monitor.",
    "sh",
    passwords.map((key) => `pulumi config set --secret ${key}`),
  );
  section("Put the state in place. The file may hold secrets: delete it afterwards.", "sh", load);
  section(
    "Look at what would happen, and take the records over. " +
      (state === undefined
        ? "The preview lists them as resources to create, each with its `importId`, and an "
        : "An ") +
      "`import` writes nothing at the API: a property that differs from its record is refused.",
    "sh",
    ["pulumi preview", "pulumi up"],
  );
  lines.push(
    "When that is done, the option `import` can be taken out of the program. `protect: true` keeps Pulumi from deleting a " +
      "record; take it out where Pulumi may.",
    "",
  );
  if (refused.length > 0) {
    lines.push(
      "These records hold what the provider would refuse. They are in the program as comments; mend them at the API and " +
        "there:",
      "",
      ...refused.map(
        ({ definition, id, name, problems }) =>
          `- ${definition.singular} ${code(id)}, ${code(name)}: ${code(problems.join("; "))}`,
      ),
      "",
    );
  }
  return {
    commands: [...start, ...set, ...load, "pulumi preview", "pulumi up"],
    document: `${lines.join("\n").trimEnd()}\n`,
  };
}
