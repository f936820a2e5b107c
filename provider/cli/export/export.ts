import { basename, join, relative, resolve } from "node:path";

import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { pluginType, typeToken } from "../../definitions/pulumi";
import { parseUrn } from "../../definitions/urn";
import type { Account, Connect } from "../../lifecycle/account";
import { isEscaped, readRecords } from "../shared/account-records";
import type { RecordFilter } from "../shared/account-records";
import {
  assertFree,
  assertPrintable,
  exists,
  readText,
  writeNewFiles,
  writeSecretFile,
} from "../shared/files";
import { readProject } from "../shared/project";
import { listOf } from "../shared/quoting";
import type { Project } from "../shared/project";
import { exportedState, stackName } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { jsonText } from "../shared/json";
import { sampleProgram } from "../shared/scaffold";
import { addSettingOptions, commandSettings } from "../shared/setting-options";
import type { SettingOptions } from "../shared/setting-options";
import type { Deployment } from "../shared/state";
import type { CommandContext, OutputStream } from "../shared/terminal";
import { declaredOf, moduleResource } from "./declared-values";
import type { DeclaredRecord } from "./declared-values";
import { assertRuntime, languages, planImport } from "./import-file";
import type { Language } from "./import-file";
import { importedResources, withResources } from "./imported-state";
import { known } from "./known";
import type { Known } from "./known";
import { configValuesOf } from "./module-source";
import type { ModuleResource } from "./module-source";
import { Names } from "./names";
import { planProgram, splits } from "./program-files";
import { exportText } from "./report";
import type { ExportReport } from "./report";

interface ExportOptions extends SettingOptions, RecordFilter {
  readonly out: string;
  readonly language?: Language;
  readonly only?: string;
  readonly split?: (typeof splits)[number];
  readonly stack?: string;
  readonly account?: string;
  readonly state?: string;
  readonly secrets?: string;
  readonly dryRun?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  const kinds = definitions.map(({ plural }) => plural);
  addSettingOptions(
    command
      .option("--out <dir>", "folder to write to: a Pulumi project, or a new folder for one (required)")
      .addOption(
        new Option(
          "--language <name>",
          "typescript writes a program; the others write a file for `pulumi import` (default: typescript)",
        ).choices(languages),
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
      .option(
        "--secrets <file>",
        "also write the values of secrets, which NEXT-STEPS.md sets one after the other",
      )
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
      context.stdout.write(options.json ? jsonText(report) : exportText(report));
    });
}

function statusPageId(text: string): string {
  if (/^\d+$/.test(text)) return text;
  throw new InvalidArgumentError("It is the id of a status page, a whole number.");
}

/** Reads an account and writes a program that imports its records. Writes nothing to the API. */
async function exportAccount(options: ExportOptions, context: CommandContext): Promise<ExportReport> {
  const { session, cwd } = context;
  const { account, state, secrets, dryRun = false, language = "typescript" } = options;
  const at = (path: string): string => resolve(cwd, path);
  assertUsable(options, language, at);
  const kinds = selectedDefinitions(options);
  const project = readProject(at(options.out));
  assertRuntime(project, language);
  const stack = await readStack(options, project, context);
  const { forAccount } = await commandSettings(options, context, stack.found?.location);
  const settings = forAccount(account);
  const connectTo = (definition: Definition): Connect => session.connector(definition, forAccount);

  const reading = kinds.map((kind) => readKind(connectTo(kind)(account), options, context.stderr));
  const records = (await Promise.all(reading)).flat();
  const managed = stack.found?.deployment.deployment.resources ?? [];
  const { isManaged, importOf, names, words, unidentified } = known(project, managed, account, settings);

  // No resource of a program in YAML can have the name pulumi.
  const given = new Names([...(language === "yaml" ? ["pulumi"] : []), ...names]);
  const keys = new Set(words);
  const resources: ModuleResource[] = [];
  /** What the stack does not have, with the name that it gets. */
  const missing: (DeclaredRecord & { readonly name: string })[] = [];
  for (const record of records.filter((one) => !isManaged(one))) {
    const imported = importOf(record);
    const resource = imported ?? moduleResource(record, account, given, keys);
    if ("properties" in resource) resources.push(resource);
    if (resource.name !== undefined) missing.push({ ...record, name: resource.name });
  }
  const added = state === undefined ? [] : await importedResources(missing, connectTo, account, session.keys);
  const deployment =
    added.length > 0 && stack.found ? await stateWith(added, stack.found, project) : undefined;

  // The reader of the steps is in the project's folder.
  const fromProject = (path: string | undefined): string | undefined =>
    path && relative(project.directory, at(path));
  const index = join(project.directory, "index.ts");
  const isSample = exists(index) && readText(index) === sampleProgram;
  const files = { stateFile: fromProject(state), secretsFile: fromProject(secrets) };
  const written = { project, resources, settings, stack: options.stack, ...files, isSample };
  const plan =
    language === "typescript" ? planProgram(written, options.split ?? "kind") : planImport(written, language);
  if (!dryRun) {
    writeNewFiles(project.directory, plan.files);
    const values = resources.flatMap(configValuesOf).filter(({ secret }) => secret !== undefined);
    if (secrets !== undefined && values.length > 0)
      writeSecretFile(
        at(secrets),
        jsonText(Object.fromEntries(values.map(({ key, secret }) => [key, secret]))),
      );
    if (state !== undefined && deployment) writeSecretFile(at(state), jsonText(deployment));
  }
  return {
    directory: relative(cwd, project.directory) || ".",
    dryRun,
    newProject: !project.exists,
    kinds: kinds.map(({ singular }) => singular),
    files: [...plan.files.keys()],
    language,
    resources: [...plan.places].map(([{ definition, id, name, problems }, file]) => {
      const type = language === "typescript" ? typeToken(definition) : pluginType(definition);
      return { type, id, name, file, problems };
    }),
    known: records.length - resources.length,
    secrets: resources.flatMap((resource) =>
      configValuesOf(resource).map(({ key, optional }) => ({ key, optional, of: resource.name })),
    ),
    state: deployment && state,
    adopted: added.length,
    next: resources.length > 0 || deployment ? plan.commands : [],
    notes: [
      ...stack.notes,
      ...(resources.length > 0 && unidentified.length > 0 && !isSample
        ? [unidentifiedText(unidentified)]
        : []),
    ],
  };
}

/** An export beside a program that declares the same records would have each of them twice. */
function unidentifiedText(resources: Known["unidentified"]): string {
  const names = resources.map(({ label, name }) => (name === undefined ? `a ${label}` : `${label} ${name}`));
  return (
    `The program declares ${listOf(names)} without an id, and the stack does not have them. If their ` +
    "records exist already, this export declares them a second time. Then remove what it wrote, set uptime:adoptExisting to " +
    "true, run `pulumi up`, which adopts them, and export again."
  );
}

function assertUsable(
  { out, state, secrets, split }: ExportOptions,
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
  const paths = { "--out": out, "--state": state, "--secrets": secrets };
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

/** The stack that the program is for, if there is one and it can be read. */
interface ReadStack {
  readonly found?: { readonly location: StackLocation; readonly deployment: Deployment };
  readonly notes: readonly string[];
}

async function readStack(
  { stack, state }: ExportOptions,
  { directory, exists }: Project,
  { env }: CommandContext,
): Promise<ReadStack> {
  const isAsked = stack !== undefined || state !== undefined;
  if (!exists && isAsked)
    throw new UptimeError(
      `${directory} has no Pulumi project yet, so it has no stack. Run the export without --stack and --state, ` +
        "then `pulumi stack init` in that folder, then the export with these options.",
    );
  if (!exists) return { notes: [] };
  const location = { cwd: directory, env, stack };
  try {
    return { found: { location, deployment: await exportedState(location, false) }, notes: [] };
  } catch (error) {
    if (isAsked || !(error instanceof UptimeError)) throw error;
    const note = `The project's stack cannot be read, so only records whose id is in the program count as known. ${error.message}`;
    return { notes: [note] };
  }
}

async function readKind(
  account: Account,
  filter: RecordFilter,
  stderr: OutputStream,
): Promise<DeclaredRecord[]> {
  const { definition } = account;
  const records = await readRecords(account, stderr, filter);
  const escaped = isEscaped(records);
  return records.map((record) => declaredOf(definition, record, escaped));
}

/** The state of a stack with more resources in it. */
async function stateWith(
  added: Parameters<typeof withResources>[2],
  { deployment, location }: NonNullable<ReadStack["found"]>,
  { name: project }: Project,
): Promise<Deployment> {
  const [first] = deployment.deployment.resources ?? [];
  const stack = first ? parseUrn(first.urn).stack : basename(location.stack ?? (await stackName(location)));
  return withResources(deployment, { stack, project }, added);
}
