import { rmSync } from "node:fs";
import { relative, resolve } from "node:path";

import { Option, type Command } from "commander";

import { UptimeError } from "../../api/errors";
import type { Settings } from "../../api/settings";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { pluginType, dynamicType } from "../../common/pulumi";
import { hasPassword } from "../../common/url";
import { parseUrn } from "../../common/urn";
import { groupBy } from "../../common/values";
import { packageFiles, writeProject } from "../shared/dependency";
import { assertFree, ownerOnly, writeNewFile } from "../shared/files";
import { jsonText } from "../shared/json";
import { readProject, type Project } from "../shared/project";
import { exportState, type StackLocation } from "../shared/pulumi-cli";
import { listOf } from "../shared/quoting";
import { readDeclarable } from "../shared/records";
import { findDefinition } from "../shared/resource-types";
import { addSettingOptions, commandSettings, type SettingOptions } from "../shared/setting-options";
import { managedResources, managesRecord, type StackState } from "../shared/state";
import type { CommandContext } from "../shared/terminal";
import { assertRuntime, languages, planImport, reservedNames, type Language } from "./import-file";
import { moduleResource } from "./module-resource";
import { configValuesOf, protectKey, type ModuleResource } from "./module-source";
import type { ExportFacts } from "./next-steps";
import { isInside, planProgram } from "./program-files";
import { exportText, type ExportReport } from "./report";

interface ExportOptions extends SettingOptions {
  readonly out: string;
  readonly language?: Language;
  readonly only?: string;
  readonly search?: string;
  readonly stack?: string;
  readonly account?: string;
  readonly secrets?: string;
  readonly dryRun?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  const plurals = definitions.map(({ plural }) => plural);
  addSettingOptions(
    command
      .option(
        "--out <dir>",
        "folder to write to: a Pulumi project, or a new folder for one (required, except with --dry-run)",
      )
      .addOption(
        new Option(
          "--language <name>",
          "typescript writes a program; the others write a file for `pulumi import` (default: typescript)",
        ).choices(languages),
      )
      .addOption(new Option("--only <kind>", "export only this kind of record").choices(plurals))
      .option("--search <text>", "export only records that the API finds by this text")
      .option("--stack <name>", "the project's stack, for settings and for what it manages already")
      .option("--account <name>", "the account of uptime:accounts to export")
      .option(
        "--secrets <file>",
        "also write the secrets to this file, from which the steps in NEXT-STEPS.md set them",
      )
      .option("--dry-run", "write nothing, only list the files")
      .option("--json", "print the report as JSON"),
  )
    .addHelpText(
      "after",
      `
Reads the API and writes nothing to it. The key comes from the environment
(UPTIME_API_KEY) or from the stack's configuration. In YAML, Python and Go, the
plugin imports the records, and Pulumi generates the code. NEXT-STEPS.md says
what to do after an export.

Examples:
  pulumi-uptime export --out monitoring
  pulumi-uptime export --out monitoring --only monitors --search shop
  pulumi-uptime export --out . --language yaml
  pulumi-uptime export --out . --stack prod --secrets secrets.json
`,
    )
    .action(async (options: Omit<ExportOptions, "out"> & { out?: string; json?: boolean }) => {
      const { out = options.dryRun ? "." : undefined } = options;
      // Commander would miss a required option before it notices one that does not exist.
      if (out === undefined) return command.error("error: required option '--out <dir>' not specified");
      const report = await exportAccount({ ...options, out }, context);
      context.stdout.write(options.json ? jsonText(report) : exportText(report));
    });
}

/** Reads an account and writes a program that imports its records. Writes nothing to the API. */
async function exportAccount(options: ExportOptions, context: CommandContext): Promise<ExportReport> {
  const { cwd } = context;
  const { dryRun = false, language = "typescript" } = options;
  const isProgram = language === "typescript";
  const secretsPath = options.secrets === undefined ? undefined : resolve(cwd, options.secrets);
  if (secretsPath !== undefined) assertFree(secretsPath);
  const project = readProject(resolve(cwd, options.out));
  assertRuntime(project, language);
  const account = await readAccount(options, project, language, context);
  const { resources } = account;

  const facts: ExportFacts = {
    project,
    resources,
    settings: account.settings,
    stack: options.stack,
    // The steps are run in the project's folder.
    secretsFile: secretsPath && relative(project.directory, secretsPath),
  };
  const files = isProgram ? planProgram(facts) : planImport(facts, language);
  const values = resources.flatMap((resource) =>
    configValuesOf(resource).map(({ key, optional, secret }) => ({
      key,
      optional,
      secret,
      of: resource.name,
    })),
  );
  const found = values.filter(({ secret }) => secret !== undefined);
  const writtenSecrets = found.length > 0 ? secretsPath : undefined;
  if (!dryRun) {
    // The secrets first: their folder is a person's choice, and without them there must not be half an export.
    const content = jsonText(Object.fromEntries(found.map(({ key, secret }) => [key, secret])));
    if (writtenSecrets !== undefined) writeNewFile(writtenSecrets, content, ownerOnly);
    try {
      writeProject(project.directory, files);
    } catch (error) {
      if (writtenSecrets !== undefined) rmSync(writtenSecrets);
      throw error;
    }
  }
  const isIgnored = files.has(".gitignore") && isInside(facts.secretsFile);
  return {
    directory: relative(cwd, project.directory) || ".",
    dryRun,
    newProject: !project.exists,
    files: [
      ...files.keys(),
      ...packageFiles(files),
      ...(writtenSecrets === undefined ? [] : [relative(project.directory, writtenSecrets)]),
    ],
    language,
    resources: resources.map(({ definition, id, name, problems }) => {
      const type = isProgram ? dynamicType(definition) : pluginType(definition);
      return { type, id, name, problems };
    }),
    known: account.known,
    secrets: values.map(({ key, optional, of }) => ({ key, optional, of })),
    notes: notesOf(account, options.secrets, {
      hasSecrets: found.length > 0,
      isExposed: writtenSecrets !== undefined && !isIgnored,
      isProgram,
    }),
  };
}

interface AccountContents {
  readonly stack: ExistingStack;
  readonly settings: Settings;
  /** The records that the stack does not manage, as resources of the program. */
  readonly resources: readonly ModuleResource[];
  /** The number of records that it manages. */
  readonly known: number;
  /** The resources with a password in a URL. */
  readonly withPassword: readonly string[];
}

async function readAccount(
  options: ExportOptions,
  project: Project,
  language: Language,
  context: CommandContext,
): Promise<AccountContents> {
  const { session } = context;
  const { only, search, account } = options;
  const stack = await readStack(options, project, context);
  const { config, forAccount } = await commandSettings(options, context, stack.location);
  const settings = forAccount(account);
  const connect = (definition: Definition) => session.connect(definition, settings);
  const reading = definitions
    .filter(({ plural }) => only === undefined || plural === only)
    .map((definition) => readDeclarable(connect(definition), search, context));
  const records = (await Promise.all(reading)).flat();

  const inState = stack.deployment?.deployment.resources ?? [];
  const managed = groupBy(
    stack.deployment ? managedResources(stack.deployment) : [],
    ({ resource }) => resource.id ?? "",
  );
  const added = records.filter(({ definition, record }) => {
    const rivals = managed.get(record.id) ?? [];
    return !rivals.some((one) => managesRecord(one, connect(definition), account, record));
  });
  // In YAML, resources of all types share their names.
  const named = inState.filter(({ type }) => language === "yaml" || findDefinition(type));
  const names = new Set([...reservedNames(language), ...named.map(({ urn }) => parseUrn(urn).name)]);
  const configKeys = new Set([protectKey, ...[...config.keys()].map((key) => key.replace(/^.*:/, ""))]);
  const isProgram = language === "typescript";
  const resources = added.map((record) => moduleResource(record, account, names, configKeys, isProgram));
  const withPassword = added.flatMap(({ values }, index) =>
    [...values.values()].some(hasPassword) ? [resources[index]?.name ?? ""] : [],
  );
  return { stack, settings, resources, known: records.length - added.length, withPassword };
}

function notesOf(
  { stack, resources, known, withPassword }: AccountContents,
  secretsFile: string | undefined,
  { hasSecrets, isExposed, isProgram }: { hasSecrets: boolean; isExposed: boolean; isProgram: boolean },
): string[] {
  const isAnyNew = resources.length > 0;
  const useOfPassword = isProgram
    ? "The program reads it from the stack's configuration, as a secret."
    : "Pulumi writes it in plain text into the code and into state: make it a secret in the program.";
  const notes = [
    stack.problem !== undefined &&
      `The project's stack cannot be read, so every record is exported, including those that it manages already. ${stack.problem}`,
    stack.deployment !== undefined &&
      isAnyNew &&
      "Records in the stack's state are left out. What the program declares and state does not have yet is exported again: run " +
        "`pulumi up` first.",
    withPassword.length > 0 && `A URL of ${listOf(withPassword)} has a password. ${useOfPassword}`,
  ];
  const notesOnSecrets = secretsFile !== undefined && [
    // Only the export that wrote a resource knows under which key the program reads its secret.
    !isAnyNew &&
      known > 0 &&
      `${secretsFile} is not written: it would hold the secrets of new records only. To have it, remove what the export before wrote, and export again.`,
    isAnyNew && !hasSecrets && `No exported record has a secret, so ${secretsFile} is not written.`,
    // A new project has a .gitignore that names the file, if it is inside.
    isExposed &&
      `${secretsFile} has secrets in plain text: do not commit it, and delete it once they are set, as the next steps do.`,
  ];
  return [...notes, ...(notesOnSecrets || [])].filter((note) => note !== false);
}

/** The stack that the program is for, if there is one, or why it cannot be read. */
interface ExistingStack {
  readonly location?: StackLocation;
  readonly deployment?: StackState;
  readonly problem?: string;
}

async function readStack(
  { stack }: ExportOptions,
  { directory, exists }: Project,
  { env }: CommandContext,
): Promise<ExistingStack> {
  if (!exists && stack !== undefined)
    throw new UptimeError(
      `${directory} has no Pulumi project yet, so it has no stack. Run the export without --stack.`,
    );
  if (!exists) return {};
  const location = { cwd: directory, env, stack };
  try {
    return { location, deployment: await exportState(location) };
  } catch (error) {
    if (stack !== undefined || !(error instanceof UptimeError)) throw error;
    return { problem: error.message };
  }
}
