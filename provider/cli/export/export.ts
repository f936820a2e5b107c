import { basename, relative, resolve } from "node:path";

import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { parseUrn } from "../../definitions/urn";
import type { Account, Connect } from "../../lifecycle/account";
import { isEscaped } from "../../lifecycle/records";
import { readRecords } from "../shared/account-records";
import { assertFree, assertPrintable, readText, writeNewFiles, writeSecretFile } from "../shared/files";
import { readProject } from "../shared/project";
import type { Project } from "../shared/project";
import { exportedState, stackName } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { findDefinition } from "../shared/resource-types";
import { addSettingOptions, commandSettings } from "../shared/setting-options";
import type { SettingOptions } from "../shared/setting-options";
import { parseDeployment, withResources } from "../shared/state";
import type { AddedResource, Deployment, StateResource } from "../shared/state";
import type { CommandContext } from "../shared/terminal";
import { declaredOf, moduleResource } from "./declared-values";
import type { DeclaredRecord } from "./declared-values";
import { assertRuntime, languageNamed, planImport } from "./import-file";
import type { Language } from "./import-file";
import { importedResources } from "./imported-state";
import { KnownRecords } from "./known-records";
import { configValuesOf } from "./module-source";
import type { ModuleResource } from "./module-source";
import { ConfigKeys, Names } from "./names";
import { planProgram, splits } from "./program-files";
import { readProgram } from "./program-text";
import type { ProgramText } from "./program-text";
import { exportText } from "./report";
import type { ExportReport } from "./report";

/** The options of `pulumi-uptime export`. */
export interface ExportOptions extends SettingOptions {
  /** The folder to write to. */
  readonly out: string;
  /** The language of the program; TypeScript if it is not given. */
  readonly language?: string;
  /** The plural of the only kind to export. */
  readonly only?: string;
  readonly search?: string;
  readonly searchBy?: string;
  readonly statusPage?: string;
  /** How the program is divided into files; by kind if it is not given. */
  readonly split?: (typeof splits)[number];
  readonly stack?: string;
  /** An account of `uptime:accounts`, in place of the one without a name. */
  readonly account?: string;
  /** A file to write the stack's deployment to, with the records in it. */
  readonly state?: string;
  /** A file that holds the stack's own deployment; without it Pulumi is asked for it. */
  readonly stackExport?: string;
  /** A file to write the values of secrets to. */
  readonly secrets?: string;
  readonly dryRun?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  const kinds = definitions.map(({ plural }) => plural);
  addSettingOptions(
    command
      .option("--out <dir>", "folder to write to: a Pulumi project, or a new folder for one (required)")
      .option(
        "--language <name>",
        "typescript writes a program; yaml, python and go write a file for `pulumi import` (default: typescript)",
      )
      .addOption(new Option("--only <kind>", "export only this kind of record").choices(kinds))
      .option("--search <text>", "export only records that the API finds by this text")
      .addOption(new Option("--search-by <field>", "the field to search in").choices(["name", "url"]))
      .option("--status-page <id>", "export only monitors of this status page", statusPageId)
      .addOption(
        new Option(
          "--split <rule>",
          "one file per kind, per host, or per beginning of the name (`Shop - …`) (default: kind)",
        ).choices(splits),
      )
      .option("--stack <name>", "the project's stack, for settings and for what it manages already")
      .option("--account <name>", "the account of uptime:accounts to export")
      .option(
        "--state <file>",
        "also write the stack's state with the records in it, for `pulumi stack import`",
      )
      .option("--stack-export <file>", "read the stack's state from a file instead of from Pulumi")
      .option("--secrets <file>", "also write the values of secrets, for `pulumi config set-all --json`")
      .option("--dry-run", "write nothing, only print what would be written")
      .option("--json", "print the report as JSON"),
  )
    .addHelpText(
      "after",
      `
The API key comes from the environment (UPTIME_API_KEY) or from the configuration of the project's stack.
In YAML, Python and Go the provider plugin imports the records, and Pulumi generates the code; the export prints the
commands for that.

Examples:
  pulumi-uptime export --out monitoring
  pulumi-uptime export --out monitoring --only monitors --search shop --split host
  pulumi-uptime export --out . --language yaml
  pulumi-uptime export --out . --stack prod --state state.json && pulumi stack import --file state.json
`,
    )
    .action(async (options: Omit<ExportOptions, "out"> & { out?: string; json?: boolean }) => {
      const { out } = options;
      // Commander would miss a required option before it notices one that does not exist.
      if (out === undefined) return command.error("error: required option '--out <dir>' not specified");
      const report = await exportAccount({ ...options, out }, context);
      context.stdout.write(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : exportText(report));
    });
}

function statusPageId(text: string): string {
  if (/^\d+$/.test(text)) return text;
  throw new InvalidArgumentError("It is the id of a status page, a whole number.");
}

/** Reads an account and writes a program that imports its records. Writes nothing to the API. */
export async function exportAccount(options: ExportOptions, context: CommandContext): Promise<ExportReport> {
  const at = (path: string): string => resolve(context.cwd, path);
  const language = languageNamed(options.language ?? "typescript");
  assertUsable(options, language, at);
  const kinds = selectedDefinitions(options);

  const project = readProject(at(options.out));
  assertRuntime(project, language);
  const stack = await readStack(options, project, context);
  const { forAccount } = await commandSettings(options, context, stack.location);
  const settings = forAccount(options.account);
  const { session } = context;
  const connectTo = (definition: Definition): Connect => session.connector(definition, forAccount);

  const kindRecords = kinds.map((definition) =>
    readKind(connectTo(definition)(options.account), options, context),
  );
  const records = (await Promise.all(kindRecords)).flat();
  const program = readProgram(project);
  const known = new KnownRecords(program, stack.resources, options.account, settings);
  const fresh = records.filter((record) => !known.has(record));

  const resources = declare(fresh, language, options.account, program, stack);
  const names = new Map(resources.map(({ definition, id, name }) => [`${definition.label} ${id}`, name]));
  const missing = records.flatMap((record) => {
    const name = names.get(`${record.definition.label} ${record.record.id}`) ?? known.nameInProgram(record);
    return known.isInState(record) || name === undefined ? [] : [{ ...record, name }];
  });
  const added =
    options.state === undefined
      ? []
      : await importedResources(missing, connectTo, options.account, session.keys);
  const deployment = added.length > 0 ? await stateWith(added, stack, project) : undefined;

  // The reader of the steps is in the project's folder.
  const fromProject = (path: string | undefined): string | undefined =>
    path && relative(project.directory, at(path));
  const written = {
    project,
    resources,
    settings,
    stateFile: fromProject(options.state),
    secretsFile: fromProject(options.secrets),
  };
  const plan =
    language === "typescript"
      ? planProgram(written, options.split ?? "kind")
      : planImport(written, language, options.stack);
  if (options.dryRun !== true) {
    writeNewFiles(project.directory, plan.files);
    const secrets = secretsOf(resources);
    if (options.secrets !== undefined && Object.keys(secrets).length > 0)
      writeSecretFile(at(options.secrets), jsonText(secrets));
    if (options.state !== undefined && deployment) writeSecretFile(at(options.state), jsonText(deployment));
  }
  return {
    directory: relative(context.cwd, project.directory) || ".",
    dryRun: options.dryRun === true,
    newProject: !project.exists,
    kinds: kinds.map(({ singular }) => singular),
    files: [...plan.files.keys()],
    language,
    resources: plan.resources,
    known: records.length - fresh.length,
    secrets: resources.flatMap((resource) =>
      configValuesOf(resource).map(({ key, optional }) => ({ key, optional, of: resource.name })),
    ),
    state: deployment && options.state,
    adopted: added.length,
    next: resources.length > 0 || deployment ? plan.commands : [],
    notes: stack.notes,
  };
}

function assertUsable(
  { out, state, secrets, stackExport, split }: ExportOptions,
  language: Language,
  at: (path: string) => string,
): void {
  if (language !== "typescript" && split !== undefined)
    throw new UptimeError(
      `--split divides a program in TypeScript; with --language ${language}, Pulumi writes the code, to one file.`,
    );
  if (language !== "typescript" && state !== undefined)
    throw new UptimeError(
      `--state is for programs in TypeScript; with --language ${language}, \`pulumi import\` adds the records to the stack's state.`,
    );
  const paths = { "--out": out, "--state": state, "--secrets": secrets, "--stack-export": stackExport };
  for (const [option, path] of Object.entries(paths)) if (path !== undefined) assertPrintable(path, option);
  for (const path of [state, secrets]) if (path !== undefined) assertFree(at(path));
}

/** The kinds of record that the filters apply to. */
function selectedDefinitions({ only, searchBy, statusPage }: ExportOptions): readonly Definition[] {
  // Of all kinds, only monitors have a URL to search in and a status page.
  const filter =
    statusPage !== undefined ? "--status-page" : searchBy === "url" ? "--search-by url" : undefined;
  const possible = definitions.filter(({ fields }) => filter === undefined || "url" in fields);
  if (only === undefined) return possible;
  const selected = possible.filter(({ plural }) => plural === only);
  if (selected.length === 0)
    throw new UptimeError(
      `${filter ?? ""} selects ${possible.map(({ plural }) => plural).join(" and ")}, so it cannot be used with --only ${only}.`,
    );
  return selected;
}

/** The stack that the program is for, as far as there is one. */
interface ReadStack {
  /** Undefined if Pulumi cannot be asked about it. */
  readonly location?: StackLocation;
  readonly deployment?: Deployment;
  readonly resources: readonly StateResource[];
  readonly notes: readonly string[];
}

async function readStack(
  options: ExportOptions,
  project: Project,
  { env, cwd }: CommandContext,
): Promise<ReadStack> {
  const location = { cwd: project.directory, env, stack: options.stack };
  if (options.stackExport !== undefined) {
    const path = resolve(cwd, options.stackExport);
    return { ...stackOf(parseDeployment(readText(path), path)), notes: [] };
  }
  if (!project.exists) {
    if (options.state !== undefined || options.stack !== undefined)
      throw new UptimeError(
        `${project.directory} has no Pulumi project yet, so it has no stack. Run the export without --stack and --state, ` +
          "then `pulumi stack init` in that folder, then the export with these options.",
      );
    return { resources: [], notes: [] };
  }
  try {
    return { location, ...stackOf(await exportedState(location, false)), notes: [] };
  } catch (error) {
    if (options.stack !== undefined || options.state !== undefined || !(error instanceof UptimeError))
      throw error;
    const note = `The project's stack cannot be read, so only records whose id is in the program count as known. ${error.message}`;
    return { resources: [], notes: [note] };
  }
}

function stackOf(deployment: Deployment): Pick<ReadStack, "deployment" | "resources"> {
  return { deployment, resources: deployment.deployment.resources ?? [] };
}

async function readKind(
  account: Account,
  filter: ExportOptions,
  { stderr }: CommandContext,
): Promise<DeclaredRecord[]> {
  const { definition } = account;
  const records = await readRecords(account, stderr, filter);
  const escaped = isEscaped(records);
  return records.map((record) => ({
    definition,
    record,
    declaration: declaredOf(definition, record, escaped),
  }));
}

/** The resources to write, each with a name and configuration keys of its own. */
function declare(
  fresh: readonly DeclaredRecord[],
  language: Language,
  account: string | undefined,
  program: ProgramText,
  stack: ReadStack,
): ModuleResource[] {
  const names = new Names([
    // No resource of a program in YAML can have this name.
    ...(language === "yaml" ? ["pulumi"] : []),
    ...program.resources.flatMap(({ name }) => (name === undefined ? [] : [name])),
    ...stack.resources.filter(({ type }) => findDefinition(type)).map(({ urn }) => parseUrn(urn).name),
  ]);
  const keys = new ConfigKeys(program.configKeys);
  return fresh.map(({ definition, record, declaration }) =>
    moduleResource(definition, record.id, declaration, account, names, keys),
  );
}

/** The values of secrets by key, in the form that `pulumi config set-all --json` reads. */
function secretsOf(resources: readonly ModuleResource[]): Record<string, { value: string; secret: true }> {
  const values = resources.flatMap(configValuesOf);
  return Object.fromEntries(
    values.flatMap(({ key, secret }) =>
      secret === undefined ? [] : [[key, { value: secret, secret: true as const }]],
    ),
  );
}

async function stateWith(
  added: readonly AddedResource[],
  { deployment, location, resources }: ReadStack,
  project: Project,
): Promise<Deployment> {
  if (!deployment) throw new UptimeError("The stack has no state to add to.");
  const [first] = resources;
  const given = location?.stack;
  const stack = first
    ? parseUrn(first.urn).stack
    : given !== undefined
      ? basename(given)
      : location && (await stackName(location));
  if (stack === undefined)
    throw new UptimeError(
      "The file of --stack-export has no resource that tells the stack's name. Use --stack instead.",
    );
  return withResources(deployment, { stack, project: project.name }, added);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
