import { basename, relative, resolve } from "node:path";

import { Option, type Command } from "commander";

import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { pluginType, typeToken } from "../../definitions/pulumi";
import { parseUrn } from "../../definitions/urn";
import type { Connect } from "../../lifecycle/record-scope";
import { packageFiles, writeProject } from "../shared/dependency";
import { assertFree, ownerOnly, writeNewFile } from "../shared/files";
import { jsonText } from "../shared/json";
import { readProject, type Project } from "../shared/project";
import { exportState, stackName, type StackLocation } from "../shared/pulumi-cli";
import { listOf } from "../shared/quoting";
import { isSampleIn } from "../shared/scaffold";
import { addSettingOptions, commandSettings, type SettingOptions } from "../shared/setting-options";
import type { Deployment } from "../shared/state";
import type { CommandContext } from "../shared/terminal";
import { findExisting, type ExistingResources } from "./existing";
import { moduleResource, type ExportedRecord } from "./exported-record";
import { assertRuntime, languages, planImport, type Language } from "./import-file";
import { addImported, type NamedRecord } from "./imported-state";
import { configValuesOf, type ModuleResource } from "./module-source";
import { planProgram } from "./program-files";
import { readDeclared } from "./records";
import { exportText, type ExportReport } from "./report";

interface ExportOptions extends SettingOptions {
  readonly out: string;
  readonly language?: Language;
  readonly only?: string;
  readonly search?: string;
  readonly stack?: string;
  readonly account?: string;
  readonly state?: string;
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
In YAML, Python and Go the provider plugin imports the records, and Pulumi generates the code. The page NEXT-STEPS.md
says what to do after an export.

Examples:
  pulumi-uptime export --out monitoring
  pulumi-uptime export --out monitoring --only monitors --search shop
  pulumi-uptime export --out . --language yaml
  pulumi-uptime export --out . --stack prod --state state.json && pulumi stack import --file state.json
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
  const { session, cwd } = context;
  const { only, search, account, state, secrets, dryRun = false, language = "typescript" } = options;
  const at = (path: string): string => resolve(cwd, path);
  if (language !== "typescript" && state !== undefined)
    throw new UptimeError(
      `--state is for programs in TypeScript; with --language ${language}, \`pulumi import\` adds the records to the stack's state.`,
    );
  for (const path of [state, secrets]) if (path !== undefined) assertFree(at(path));
  const chosen = definitions.filter(({ plural }) => only === undefined || plural === only);
  const project = readProject(at(options.out));
  assertRuntime(project, language);
  const stack = await readStack(options, project, context);
  const { forAccount } = await commandSettings(options, context, stack.found?.location);
  const settings = forAccount(account);
  const connectTo =
    (definition: Definition): Connect =>
    (account) =>
      session.connect(definition, forAccount(account));

  const reading = chosen.map((definition) => readDeclared(connectTo(definition)(account), search, context));
  const records = (await Promise.all(reading)).flat();
  const managed = stack.found?.deployment.deployment.resources ?? [];
  const existing = findExisting(project, managed, account, settings);
  const { resources, missing } = divide(records, existing, account, language);
  const deployment =
    state === undefined || missing.length === 0 || !stack.found
      ? undefined
      : await addImported(
          stack.found.deployment,
          { stack: await shortName(stack.found), project: project.name },
          missing,
          { connectTo, account, secrets: session.secrets },
        );

  // The steps are run in the project's folder.
  const fromProject = (path: string | undefined): string | undefined =>
    path && relative(project.directory, at(path));
  const isSample = isSampleIn(project);
  const paths = { stateFile: deployment && fromProject(state), secretsFile: fromProject(secrets) };
  const facts = { project, resources, settings, stack: options.stack, ...paths, isSample };
  const files = language === "typescript" ? planProgram(facts) : planImport(facts, language);
  const notes = [...stack.notes, ...notesOn(records, resources, isSample ? [] : existing.withoutId, secrets)];
  if (!dryRun) {
    writeProject(project.directory, files);
    const found = resources.flatMap(configValuesOf).filter(({ secret }) => secret !== undefined);
    const values = jsonText(Object.fromEntries(found.map(({ key, secret }) => [key, secret])));
    if (secrets !== undefined && found.length > 0) writeNewFile(at(secrets), values, ownerOnly);
    if (state !== undefined && deployment) writeNewFile(at(state), jsonText(deployment), ownerOnly);
  }
  return {
    directory: relative(cwd, project.directory) || ".",
    dryRun,
    newProject: !project.exists,
    files: [...files.keys(), ...packageFiles(files)],
    language,
    resources: resources.map(({ definition, id, name, problems }) => {
      const type = language === "typescript" ? typeToken(definition) : pluginType(definition);
      return { type, id, name, problems };
    }),
    known: records.length - resources.length,
    secrets: resources.flatMap((resource) =>
      configValuesOf(resource).map(({ key, optional }) => ({ key, optional, of: resource.name })),
    ),
    state: deployment && state,
    adopted: deployment ? missing.length : 0,
    notes,
  };
}

/** @param withoutId see {@link ExistingResources.withoutId} */
function notesOn(
  records: readonly ExportedRecord[],
  resources: readonly ModuleResource[],
  withoutId: ExistingResources["withoutId"],
  secrets: string | undefined,
): string[] {
  const hasNoSecrets = secrets !== undefined && resources.length === 0 && records.length > 0;
  const mayDouble = resources.length > 0 && withoutId.length > 0;
  return [
    ...(hasNoSecrets ? [noSecretsText(secrets)] : []),
    ...(mayDouble ? [withoutIdText(withoutId)] : []),
  ];
}

/** Finds the resources that the program does not have, and the records that the stack does not have. */
function divide(
  records: readonly ExportedRecord[],
  { isManaged, importOf, names, possibleKeys }: ExistingResources,
  account: string | undefined,
  language: Language,
): { resources: ModuleResource[]; missing: NamedRecord[] } {
  // No resource of a program in YAML can have the name pulumi.
  const given = new Set([...(language === "yaml" ? ["pulumi"] : []), ...names]);
  const keys = new Set(possibleKeys);
  const resources: ModuleResource[] = [];
  const missing: NamedRecord[] = [];
  for (const record of records.filter((one) => !isManaged(one))) {
    const imported = importOf(record);
    const resource = imported ?? moduleResource(record, account, given, keys);
    if ("properties" in resource) resources.push(resource);
    const { name } = resource;
    if (name !== undefined && record.problems.length === 0) missing.push({ ...record, name });
  }
  return { resources, missing };
}

/** Only the export that wrote a resource knows under which key the program reads its secret. */
function noSecretsText(path: string): string {
  return `${path} is not written: it would hold the secrets of new records only. To have it, remove what the export before wrote, and export again.`;
}

/** An export beside a program that declares the same records would have each of them twice. */
function withoutIdText(resources: ExistingResources["withoutId"]): string {
  const names = resources.map(({ label, name }) => (name === undefined ? `a ${label}` : `${label} ${name}`));
  return (
    `The program declares ${listOf(names)} without an id, and the stack does not have them. If their ` +
    "records exist already, this export declares them a second time. Then remove what it wrote, set uptime:adoptExisting to " +
    "true, run `pulumi up`, which adopts them, and export again."
  );
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
    return { found: { location, deployment: await exportState(location, false) }, notes: [] };
  } catch (error) {
    if (isAsked || !(error instanceof UptimeError)) throw error;
    const note = `The project's stack cannot be read, so only records whose id is in the program count as known. ${error.message}`;
    return { notes: [note] };
  }
}

/** The stack's name in URNs. */
async function shortName({ deployment, location }: NonNullable<ReadStack["found"]>): Promise<string> {
  const [first] = deployment.deployment.resources ?? [];
  return first ? parseUrn(first.urn).stack : basename(location.stack ?? (await stackName(location)));
}
