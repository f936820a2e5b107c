import { rmSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { pluginType, dynamicType } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";
import { beginOperation } from "../../lifecycle/record-scope";
import { assertFree, ownerOnly, writeNewFile } from "../shared/files";
import { jsonText } from "../shared/json";
import { readProject, type Project } from "../shared/project";
import { exportState } from "../shared/pulumi-cli";
import { listOf } from "../shared/quoting";
import { readDeclarable, type DeclarableRecord } from "../shared/records";
import { findDefinition } from "../shared/resource-types";
import { packageFiles, writeProject } from "../shared/scaffold";
import { settingsInFolder, type SettingOptions } from "../shared/setting-options";
import { managedResources, managersIn, type StackState } from "../shared/state";
import { writeLine, type CommandContext } from "../shared/terminal";
import { assertRuntime, planImport, reservedNames, type Language } from "./import-file";
import { moduleResource } from "./module-resource";
import { configValuesOf, protectKey, type ModuleResource } from "./module-source";
import { planProgram } from "./program-files";

export interface ExportOptions extends SettingOptions {
  readonly out: string;
  readonly language?: Language;
  readonly only?: string;
  readonly search?: string;
  readonly stack?: string;
  readonly account?: string;
  readonly secrets?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The result of an export, or of a dry run. */
export type ExportReport = Awaited<ReturnType<typeof exportAccount>>;

/** Reads an account and writes a program that imports its records. Writes nothing to the API. */
export async function exportAccount(options: ExportOptions, context: CommandContext) {
  const { cwd } = context;
  const { dryRun = false, language = "typescript", secrets, stack } = options;
  const isProgram = language === "typescript";
  if (secrets !== undefined) assertFree(resolve(cwd, secrets));
  const project = readProject(resolve(cwd, options.out));
  assertRuntime(project, language);
  const account = await readAccount(options, project, language, context);
  const { resources, refused, known, settings } = account;
  const values = resources.flatMap(configValuesOf);
  const found = values.filter(({ secret }) => secret !== undefined);
  const secretsPath = secrets !== undefined && found.length > 0 ? resolve(cwd, secrets) : undefined;
  const notes = [...account.notes];
  if (secrets !== undefined && secretsPath === undefined)
    notes.push(`${secrets} is not written, because no exported record has a secret.`);
  if (secretsPath !== undefined && !dryRun)
    notes.push(
      `${secrets} has secrets in plain text: do not commit it, and delete it once they are set, as the next steps do.`,
    );
  // The steps are run in the project's folder. Git reads a backslash as another character.
  const secretsFile = secretsPath && relative(project.directory, secretsPath).replaceAll(sep, "/");
  const facts = { project, resources, settings, stack, secretsFile };
  const files = isProgram ? planProgram(facts) : planImport(facts, language);
  if (!dryRun) {
    // The secrets first: their folder is a person's choice, and without them there must not be half an export.
    const content = jsonText(Object.fromEntries(found.map(({ key, secret }) => [key, secret])));
    if (secretsPath !== undefined) writeNewFile(secretsPath, content, ownerOnly);
    try {
      writeProject(project.directory, files);
    } catch (error) {
      if (secretsPath !== undefined) rmSync(secretsPath);
      throw error;
    }
  }
  return {
    directory: relative(cwd, project.directory) || ".",
    dryRun,
    files: [...files.keys(), ...packageFiles(files), ...(secretsFile === undefined ? [] : [secretsFile])],
    language,
    resources: resources.map(({ definition, id, name }) => {
      const type = isProgram ? dynamicType(definition) : pluginType(definition);
      return { type, id, name };
    }),
    /** The records that are left out because the provider would refuse them. */
    refused: refused.map(({ definition, id, name, problems }) => ({
      title: `${definition.label} ${id} (${name})`,
      reasons: problems,
    })),
    /** The number of records that the stack manages already. */
    known,
    /** The keys that the stack's configuration must hold, or may hold. */
    secrets: values.map(({ key }) => key),
    notes,
  };
}

/**
 * Reads the records that the stack does not manage, as resources of the program.
 *
 * @returns also the records that the provider would refuse, and how many the stack manages
 */
async function readAccount(
  options: ExportOptions,
  project: Project,
  language: Language,
  context: CommandContext,
) {
  const { only, search, stack, account } = options;
  const isProgram = language === "typescript";
  const location = { cwd: project.directory, env: context.env, stack };
  const stackSettings = await settingsInFolder(options, context, location, stack !== undefined);
  const { config, forAccount, unreadStack } = stackSettings;
  if (unreadStack !== undefined)
    writeLine(context.stderr, `${unreadStack} Records that the stack manages already are exported too.`);
  const hasStack = project.exists && unreadStack === undefined;
  const state: StackState = hasStack ? await exportState(location) : { version: 3, deployment: {} };
  const settings = forAccount(account);
  const connect = (definition: Definition) => context.session.connect(definition, settings);
  const reading = definitions
    .filter(({ plural }) => only === undefined || plural === only)
    .map((definition) => readDeclarable(beginOperation(connect(definition)), search, context));
  const records = (await Promise.all(reading)).flat();

  const findManager = managersIn(managedResources(state));
  const accountNames = new Set([account]);
  const unmanaged = records.filter(
    ({ definition, record }) => !findManager(connect(definition), accountNames, record),
  );
  const added = unmanaged.filter(({ problems }) => problems.length === 0);
  // In YAML, resources of all types share their names.
  const named = (state.deployment.resources ?? []).filter(
    ({ type }) => language === "yaml" || findDefinition(type),
  );
  const names = new Set([...reservedNames(language), ...named.map(({ urn }) => parseUrn(urn).name)]);
  const configKeys = new Set([protectKey, ...[...config.keys()].map((key) => key.replace(/^.*:/, ""))]);
  const asResource = (record: DeclarableRecord): ModuleResource =>
    moduleResource(record, account, names, configKeys, isProgram);
  const resources = added.map(asResource);
  const refused = unmanaged
    .filter(({ problems }) => problems.length > 0)
    .map((record) => ({ ...asResource(record), problems: record.problems }));
  const withPassword = resources.filter(({ hasPasswordInUrl }) => hasPasswordInUrl).map(({ name }) => name);
  const useOfPassword = isProgram
    ? "The program reads it from the stack's configuration, as a secret."
    : "Pulumi writes it in plain text into the code and into state: make it a secret in the program.";
  const notes = [
    hasStack &&
      added.length > 0 &&
      "Records in the stack's state are left out. If the program imports others, run `pulumi up`, and export again.",
    withPassword.length > 0 && `A URL of ${listOf(withPassword)} has a password. ${useOfPassword}`,
  ].filter((note) => note !== false);
  return { settings, resources, refused, known: records.length - unmanaged.length, notes };
}
