import { basename, relative, resolve } from "node:path";

import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import type { Settings } from "../../api/settings";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { parseUrl } from "../../definitions/url";
import { told } from "../../engine/clean";
import { parseUrn } from "../../definitions/urn";
import { Session } from "../../lifecycle/session";
import type { Account, Connect } from "../../lifecycle/account";
import { isEscaped } from "../../lifecycle/records";
import { readRecords } from "../shared/account-records";
import { ConfigKeys, Names, slug } from "./names";
import { declarationOf, moduleResource, secretValuesOf } from "./declaration";
import type { DeclaredRecord, SecretValues } from "./declaration";
import { exportText } from "./report";
import type { ExportedResource, ExportReport } from "./report";
import { assertFree, assertPrintable, readText, writeNewFiles, writeSecretFile } from "../shared/files";
import { assertRuntime, importFileOf, importSteps, languageNamed } from "./import-file";
import type { Language } from "./import-file";
import { importedResources } from "./imported-state";
import { configValuesOf, moduleSource } from "./module-source";
import type { ModuleResource } from "./module-source";
import { nextSteps } from "./next-steps";
import { readProject } from "../shared/project";
import type { Project } from "../shared/project";
import { exportedState, stackName } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { definitionOf, pluginType, typeToken } from "../shared/resource-types";
import { scaffold } from "../shared/scaffold";
import { addSettingOptions, commandSettings } from "../shared/setting-options";
import type { SettingOptions } from "../shared/setting-options";
import { parseDeployment, withResources } from "../shared/state";
import type { AddedResource, Deployment, StateResource } from "../shared/state";
import type { CommandContext } from "../shared/terminal";
import { dependency } from "../shared/version";

const splits = ["kind", "host", "prefix"] as const;

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
  const session = new Session();

  const connectTo = (definition: Definition): Connect => session.connector(definition, forAccount);

  const kindRecords = kinds.map((definition) =>
    readKind(connectTo(definition)(options.account), options, context),
  );
  const records = (await Promise.all(kindRecords).catch(refused(session))).flat();
  const known = records.map((record) => whereKnown(record, options.account, project, stack, settings));
  const fresh = records.filter((_, index) => !known[index]?.inProgram && !known[index]?.isInState);

  const resources = declare(fresh, language, options.account, project, stack);
  const modules =
    language === "typescript"
      ? modulesOf(resources, options.split ?? "kind", project)
      : new Map<string, ModuleResource[]>();
  const missing = options.state === undefined ? [] : missingInState(records, known, resources);
  const added = await importedResources(missing, connectTo, options.account, session.keys);
  const deployment = added.length > 0 ? await stateWith(added, stack, project) : undefined;

  const written = {
    project,
    modules: [...modules.keys()],
    resources,
    settings,
    // The reader of the steps is in the project's folder.
    stateFile: options.state && relative(project.directory, at(options.state)),
    secretsFile: options.secrets && relative(project.directory, at(options.secrets)),
  };
  const importFile = `${freeName(project, "uptime-import", ".json")}.json`;
  const steps =
    language === "typescript"
      ? nextSteps(written)
      : importSteps({ ...written, language, importFile, stack: options.stack });
  const files =
    language === "typescript"
      ? filesOf(project, modules, steps.page)
      : filesToImport(project, resources, importFile, steps.page);
  if (options.dryRun !== true) {
    writeNewFiles(project.directory, files);
    const secrets = secretsOf(fresh, resources);
    if (options.secrets !== undefined && Object.keys(secrets).length > 0)
      writeSecretFile(at(options.secrets), jsonText(secrets));
    if (options.state !== undefined && deployment) writeSecretFile(at(options.state), jsonText(deployment));
  }
  return {
    directory: relative(context.cwd, project.directory) || ".",
    dryRun: options.dryRun === true,
    newProject: !project.exists,
    kinds: kinds.map(({ singular }) => singular),
    files: [...files.keys()],
    language,
    resources:
      language === "typescript"
        ? [...modules].flatMap(([module, members]) =>
            members.map((resource) => reported(resource, typeToken, `${module}.ts`)),
          )
        : resources.map((resource) => reported(resource, pluginType, importFile)),
    known: records.length - fresh.length,
    secrets: resources.flatMap((resource) =>
      configValuesOf(resource).map(({ key, optional }) => ({ key, optional, of: resource.name })),
    ),
    state: deployment && options.state,
    adopted: added.length,
    next: resources.length > 0 || deployment ? steps.commands : [],
    notes: stack.notes,
  };
}

function reported(
  { definition, id, name, problems }: ModuleResource,
  typeOf: (definition: Definition) => string,
  file: string,
): ExportedResource {
  return { type: typeOf(definition), id, name, file, problems };
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
  readonly location: StackLocation | undefined;
  readonly deployment: Deployment | undefined;
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
    return { location: undefined, deployment: parseDeployment(readText(path), path), notes: [] };
  }
  if (!project.exists) {
    if (options.state !== undefined || options.stack !== undefined)
      throw new UptimeError(
        `${project.directory} has no Pulumi project yet, so it has no stack. Run the export without --stack and --state, ` +
          "then `pulumi stack init` in that folder, then the export with these options.",
      );
    return { location: undefined, deployment: undefined, notes: [] };
  }
  try {
    return { location, deployment: await exportedState(location, false), notes: [] };
  } catch (error) {
    if (options.stack !== undefined || options.state !== undefined || !(error instanceof UptimeError))
      throw error;
    const note = `The project's stack cannot be read, so only records whose id is in the program count as known. ${error.message}`;
    return { location: undefined, deployment: undefined, notes: [note] };
  }
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
    declaration: declarationOf(definition, record, escaped),
  }));
}

/** Where a record is known already. */
interface KnownRecord {
  /** The resource of the program that imports it; its name is undefined if the program computes it. */
  readonly inProgram: { readonly name: string | undefined } | undefined;
  readonly isInState: boolean;
}

function whereKnown(
  { definition, record }: DeclaredRecord,
  account: string | undefined,
  project: Project,
  { deployment }: ReadStack,
  settings: Settings,
): KnownRecord {
  const present = deployment?.deployment.resources ?? [];
  return {
    inProgram: project.resources.find(
      (resource) =>
        resource.label === definition.label &&
        resource.importId === record.id &&
        resource.account === account,
    ),
    isInState: present.some(
      (resource) =>
        definitionOf(resource.type) === definition &&
        resource.id === record.id &&
        resource.external !== true &&
        resource.outputs?.account === account &&
        isAtServer(resource, settings[definition.baseUrl].hash, settings.movedFrom),
    ),
  };
}

/** On another server, the same id is another record. */
function isAtServer({ outputs }: StateResource, hash: string, movedFrom: Settings["movedFrom"]): boolean {
  const server = outputs?.__server;
  return server === undefined || server === hash || movedFrom.some((former) => former.hash === server);
}

/** The resources to write, each with a name and configuration keys of its own. */
function declare(
  fresh: readonly DeclaredRecord[],
  language: Language,
  account: string | undefined,
  project: Project,
  { deployment }: ReadStack,
): ModuleResource[] {
  const present = deployment?.deployment.resources ?? [];
  const names = new Names([
    // No resource of a program in YAML can have this name.
    ...(language === "yaml" ? ["pulumi"] : []),
    ...project.resources.flatMap(({ name }) => (name === undefined ? [] : [name])),
    ...present.filter(({ type }) => definitionOf(type)).map(({ urn }) => parseUrn(urn).name),
  ]);
  const keys = new ConfigKeys(project.configKeys);
  return fresh.map(({ definition, record, declaration }) =>
    moduleResource(definition, record.id, declaration, account, names, keys),
  );
}

/** The modules to write: their names without an extension, each with its resources. */
function modulesOf(
  resources: readonly ModuleResource[],
  split: ExportOptions["split"],
  project: Project,
): Map<string, ModuleResource[]> {
  const groups = new Map<string, ModuleResource[]>();
  for (const resource of resources) {
    const group = groupOf(resource, split);
    groups.set(group, [...(groups.get(group) ?? []), resource]);
  }
  const modules = new Map<string, ModuleResource[]>();
  for (const [group, members] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1)))
    modules.set(freeName(project, group, ".ts", modules), members);
  return modules;
}

function groupOf({ definition, properties }: ModuleResource, split: ExportOptions["split"]): string {
  const text = (key: string): string => {
    const value = properties.get(key);
    return typeof value === "string" ? value : "";
  };
  const name = text("name");
  const [prefix = "", ...rest] = name.split(/\s+[-–—]\s+|\s*[|/:]\s*/);
  const host = parseUrl(text("url"))?.hostname ?? (definition.fields.name?.kind === "hostname" ? name : "");
  const group = split === "host" ? host : split === "prefix" && rest.length > 0 ? prefix : "";
  return slug(group) || definition.plural;
}

/** Names that mean something else to Node.js or to Windows. */
const reservedNames = /^(index|con|prn|aux|nul|com\d|lpt\d)$/;

function freeName(
  { files }: Project,
  wanted: string,
  extension: string,
  taken: ReadonlyMap<string, unknown> = new Map(),
): string {
  const base = reservedNames.test(wanted) ? `${wanted}-resources` : wanted;
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    const isFree = [extension, ".js"].every((end) => !files.has(`${name}${end}`.toLowerCase()));
    if (isFree && !files.has(name.toLowerCase()) && !taken.has(name)) return name;
  }
}

/** All files to write by name; none if nothing is new. */
function filesOf(
  project: Project,
  modules: ReadonlyMap<string, readonly ModuleResource[]>,
  page: string,
): Map<string, string> {
  const files = new Map<string, string>();
  if (modules.size === 0) return files;
  if (!project.exists) {
    const program = [...modules.keys()].map((module) => `import "./${module}";\n`).join("");
    for (const [name, content] of scaffold(project, dependency(), program))
      if (!project.files.has(name.toLowerCase())) files.set(name, content);
  }
  for (const [name, resources] of modules) files.set(`${name}.ts`, moduleSource(resources));
  files.set(`${freeName(project, "NEXT-STEPS", ".md")}.md`, page);
  return files;
}

/** All files of an export that Pulumi imports, by name; none if nothing is new. */
function filesToImport(
  project: Project,
  resources: readonly ModuleResource[],
  importFile: string,
  page: string,
): Map<string, string> {
  if (resources.length === 0) return new Map();
  const isEmpty = resources.every(({ problems }) => problems.length > 0);
  return new Map([
    ...(isEmpty ? [] : [[importFile, importFileOf(resources)] as const]),
    [`${freeName(project, "NEXT-STEPS", ".md")}.md`, page],
  ]);
}

function secretsOf(fresh: readonly DeclaredRecord[], resources: readonly ModuleResource[]): SecretValues {
  const all = resources.map((resource, index) => {
    const source = fresh[index];
    return source ? secretValuesOf(resource, source.declaration) : {};
  });
  return Object.assign({}, ...all) as SecretValues;
}

/** What the program declares, or will declare, and the stack's state lacks. */
/** What cannot be read, without the key. */
const refused =
  (session: Session) =>
  (error: unknown): never => {
    throw error instanceof UptimeError ? new UptimeError(told(error, session.keys)) : error;
  };

function missingInState(
  records: readonly DeclaredRecord[],
  known: readonly KnownRecord[],
  resources: readonly ModuleResource[],
): (DeclaredRecord & { name: string })[] {
  return records.flatMap((record, index) => {
    const written = resources.find(
      ({ definition, id }) => definition === record.definition && id === record.record.id,
    );
    const name = written?.name ?? known[index]?.inProgram?.name;
    return known[index]?.isInState === true || name === undefined ? [] : [{ ...record, name }];
  });
}

async function stateWith(
  added: readonly AddedResource[],
  { deployment, location }: ReadStack,
  project: Project,
): Promise<Deployment> {
  if (!deployment) throw new UptimeError("The stack has no state to add to.");
  const [, urnStack] = /^urn:pulumi:(.+?)::/.exec(deployment.deployment.resources?.[0]?.urn ?? "") ?? [];
  const given = location?.stack;
  const stack = urnStack ?? (given !== undefined ? basename(given) : location && (await stackName(location)));
  if (stack === undefined)
    throw new UptimeError(
      "The file of --stack-export has no resource that tells the stack's name. Use --stack instead.",
    );
  return withResources(deployment, { stack, project: project.name }, added);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
