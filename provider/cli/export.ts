import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";

import type { ApiRecord } from "../api/answer";
import { isEmpty } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import { connect } from "../lifecycle/connection";
import { domain } from "../definitions/domain";
import { UptimeError } from "../api/errors";
import type { Definition, RequestHeader } from "../definitions/field";
import { Lifecycle } from "../lifecycle/lifecycle";
import { deadlineAfter } from "../api/deadline";
import type { Deadline } from "../api/deadline";
import { monitor } from "../definitions/monitor";
import { isEscaped, readAll, valuesIn } from "../lifecycle/records";
import { typeToken } from "../engine/identity";
import type { Settings } from "../api/settings";
import { parseUrl } from "../definitions/url";
import { problemsOf } from "../lifecycle/validate";
import { withResources } from "./deployment";
import type { Adopted } from "./deployment";
import { Names, slug } from "./names";
import { isThere, projectIn, scaffold, writeNew, writeSecret } from "./project";
import type { Project } from "./project";
import { deploymentIn, exportedState, nameIn, stackName } from "./pulumi";
import type { Deployment, StateResource } from "./pulumi";
import { settingsOf } from "./settings";
import type { SettingFlags } from "./settings";
import { moduleOf, Setting, settingsIn } from "./source";
import type { Declared, Resource, SecretHeader } from "./source";
import { nextSteps } from "./steps";
import { Progress } from "./terminal";
import type { Surroundings } from "./terminal";
import { dependency } from "./version";

export const splits = ["kind", "host", "prefix"] as const;

/** The options of `pulumi-uptime export`. */
export interface ExportOptions extends SettingFlags {
  /** The folder to write to. */
  readonly out: string;
  readonly only?: "domains" | "monitors";
  readonly search?: string;
  readonly searchBy?: "name" | "url";
  readonly statusPage?: string;
  readonly split: (typeof splits)[number];
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

/** A resource of the report. */
export interface ExportedResource {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly file: string;
  /** Why the provider would refuse it; then it is a comment in the file. */
  readonly problems: readonly string[];
}

/** What an export did, or in a dry run would do. */
export interface ExportReport {
  readonly directory: string;
  readonly dryRun: boolean;
  readonly newProject: boolean;
  readonly files: readonly string[];
  readonly resources: readonly ExportedResource[];
  /** How many records the program or the stack had already. */
  readonly known: number;
  /** What the stack's configuration must hold, or may. */
  readonly secrets: readonly { readonly key: string; readonly optional: boolean; readonly of: string }[];
  /** The file that holds the state to import. */
  readonly state: string | undefined;
  /** How many resources that state has more than the stack has. */
  readonly adopted: number;
  readonly next: readonly string[];
  /** What a person should know beside that. */
  readonly notes: readonly string[];
}

/** A whole account may be large, and the install slow. */
const hour = 3_600_000;
const definitions = [domain, monitor];

/** Reads an account, and writes a program that takes over what is there. Writes nothing at the API. */
export async function exportAccount(
  options: ExportOptions,
  surroundings: Surroundings,
): Promise<ExportReport> {
  const at = (path: string): string => resolve(surroundings.cwd, path);
  const project = projectIn(at(options.out));
  for (const path of [options.state, options.secrets])
    if (path !== undefined && isThere(at(path)))
      throw new UptimeError(`${path} is there already, and nothing is written over it.`);
  const notes: string[] = [];
  const stack = await readStack(options, project, surroundings, notes);
  const { settings: settingsFor } = await settingsOf(
    options,
    surroundings,
    stack.isReadable ? stack.place : undefined,
  );
  const settings = settingsFor(options.account);
  const deadline = deadlineAfter(hour);

  const present = stack.deployment?.deployment.resources ?? [];
  const names = new Names([...project.names, ...present.filter(isOurs).map(({ urn }) => nameIn(urn))]);
  const found: Found[] = [];
  for (const definition of selected(options)) {
    const records = await read(definition, options, settings, deadline, surroundings);
    const escaped = isEscaped(records);
    for (const record of records) {
      const inProgram = project.imports.find(
        ({ label, id, account }) =>
          label === definition.label && id === record.id && account === options.account,
      );
      const inState = present.some((resource) =>
        isRecord(resource, definition, record.id, settings, options.account),
      );
      found.push({ definition, record, escaped, inProgram, inState });
    }
  }
  const fresh = found
    .filter(({ inProgram, inState }) => !inProgram && !inState)
    .map((one) => resourceOf(one, names, options.account));

  const modules = modulesOf(fresh, options.split, project);
  const steps = {
    project,
    modules: [...modules.keys()],
    resources: fresh,
    settings,
    // The steps are for somebody in that folder.
    state: options.state && relative(project.directory, at(options.state)),
    secretsFile: options.secrets && relative(project.directory, at(options.secrets)),
  };
  const files = new Map<string, string>();
  if (fresh.length > 0) {
    if (!project.exists)
      for (const [name, content] of scaffold(project, dependency(), [...modules.keys()]))
        if (!project.files.has(name.toLowerCase())) files.set(name, content);
    for (const [name, resources] of modules) files.set(`${name}.ts`, moduleOf(resources));
    files.set(`${freeName(project, "NEXT-STEPS", ".md")}.md`, nextSteps(steps).document);
  }

  const fileOf = (resource: Resource): string =>
    `${[...modules].find(([, resources]) => resources.includes(resource))?.[0] ?? ""}.ts`;
  const adopted = options.state === undefined ? [] : await adoptable(found, fresh, settings, options.account);
  const state = adopted.length > 0 ? await stateWith(adopted, stack, project) : undefined;
  const secrets = secretsOf(fresh, found);
  if (!options.dryRun) {
    writeNew(project.directory, files);
    if (options.secrets !== undefined && Object.keys(secrets).length > 0)
      writeSecret(at(options.secrets), jsonText(secrets));
    if (options.state !== undefined && state) writeSecret(at(options.state), jsonText(state));
  }
  return {
    directory: relative(surroundings.cwd, project.directory) || ".",
    dryRun: options.dryRun === true,
    newProject: !project.exists,
    files: [...files.keys()],
    resources: fresh.map((resource) => ({
      type: typeToken(resource.definition),
      id: resource.id,
      name: resource.name,
      file: fileOf(resource),
      problems: resource.problems,
    })),
    known: found.length - fresh.length,
    secrets: fresh.flatMap((resource) =>
      [...resource.properties.values()]
        .flatMap(settingsIn)
        .map(({ key, optional }) => ({ key, optional, of: resource.name })),
    ),
    state: state && options.state,
    adopted: adopted.length,
    next: fresh.length > 0 || adopted.length > 0 ? nextSteps(steps).commands : [],
    notes,
  };
}

interface Found {
  readonly definition: Definition;
  readonly record: ApiRecord;
  /** Whether the install shows texts HTML-escaped. */
  readonly escaped: boolean;
  readonly inProgram: { readonly name: string | undefined } | undefined;
  readonly inState: boolean;
}

interface Stack {
  readonly place: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly stack: string | undefined;
  };
  /** Whether Pulumi can be asked about it. */
  readonly isReadable: boolean;
  readonly deployment: Deployment | undefined;
}

/** The stack that the program is for, where there is one. */
async function readStack(
  options: ExportOptions,
  project: Project,
  { env, cwd }: Surroundings,
  notes: string[],
): Promise<Stack> {
  const place = { cwd: project.directory, env, stack: options.stack };
  if (options.stackExport !== undefined) {
    const path = resolve(cwd, options.stackExport);
    return { place, isReadable: false, deployment: deploymentIn(readText(path), path) };
  }
  if (!project.exists) {
    if (options.state !== undefined || options.stack !== undefined)
      throw new UptimeError(
        `${project.directory} has no Pulumi project yet, and so no stack: run the export without --stack and --state, then ` +
          "`pulumi stack init` there, then the export with them again.",
      );
    return { place, isReadable: false, deployment: undefined };
  }
  try {
    return { place, isReadable: true, deployment: await exportedState(place, false) };
  } catch (error) {
    if (options.stack !== undefined || options.state !== undefined || !(error instanceof UptimeError))
      throw error;
    notes.push(
      `The project's stack cannot be read, so a record counts as managed only where the program names its id. ${error.message}`,
    );
    return { place, isReadable: false, deployment: undefined };
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UptimeError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function isOurs({ type }: StateResource): boolean {
  return definitions.some((definition) => typeToken(definition) === type);
}

function isRecord(
  resource: StateResource,
  definition: Definition,
  id: string,
  settings: Settings,
  account: string | undefined,
): boolean {
  const server = resource.outputs?.__server;
  return (
    resource.type === typeToken(definition) &&
    resource.id === id &&
    resource.external !== true &&
    resource.outputs?.account === account &&
    // Of another install, the same id is another record.
    (server === undefined ||
      server === settings[definition.baseUrl].hash ||
      settings.movedFrom.some((hash) => hash === server))
  );
}

function selected({ only, searchBy, statusPage }: ExportOptions): Definition[] {
  const ofMonitors = statusPage !== undefined ? "--status-page" : searchBy === "url" ? "--search-by url" : "";
  if (only === "domains" && ofMonitors !== "")
    throw new UptimeError(`${ofMonitors} selects monitors, so it cannot go with --only domains.`);
  if (only === "domains") return [domain];
  return only === "monitors" || ofMonitors !== "" ? [monitor] : definitions;
}

/** The records of one kind, the oldest first. */
async function read(
  definition: Definition,
  { search, searchBy, statusPage }: ExportOptions,
  settings: Settings,
  deadline: Deadline,
  { stderr }: Surroundings,
): Promise<readonly ApiRecord[]> {
  const { collection } = connect(definition, settings);
  const filter = {
    ...(search !== undefined && { search }),
    ...(search !== undefined && searchBy !== undefined && { search_by: searchBy }),
    ...(statusPage !== undefined && { status_page_id: statusPage }),
  };
  const progress = new Progress(stderr);
  try {
    progress.show(`Reading ${definition.plural} …`);
    const records = await readAll(collection, deadline, filter, (count) => {
      progress.show(`Reading ${definition.plural}: ${count} …`);
    });
    return [...records].sort((a, b) => (isBefore(a.id, b.id) ? -1 : 1));
  } finally {
    progress.end();
  }
}

/** Numbers of any size: the longer is the larger. */
function isBefore(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/** A record as a program would declare it, and what the provider would say to that. */
function resourceOf(found: Found, names: Names, account: string | undefined): Resource {
  const { definition, record } = found;
  const problems: string[] = [];
  const values = declaredIn(found, (property, reason) => {
    problems.push(`${property} ${reason}`);
  });
  const unread = new Set(problems.map((problem) => problem.split(" ")[0]));
  for (const { property, reason } of problemsOf(definition, Object.fromEntries(values)))
    if (!unread.has(property)) problems.push(`${property} ${reason}`);
  const texts = [values.get("name"), values.get("url")].filter((value) => typeof value === "string");
  const { name, identifier } = names.give(definition.singular, record.id, ...texts);
  const properties = new Map<string, Declared>(account === undefined ? [] : [["account", account]]);
  for (const [key, value] of values) {
    const isSecret = definition.fields[key]?.secret === true;
    properties.set(key, isSecret && isHeaders(value) ? secretHeaders(name, value) : value);
    // Whether there is a password, the API does not show.
    if (key === "requestAuthUsername")
      properties.set("requestAuthPassword", new Setting(`${name}-password`, true));
  }
  return { definition, id: record.id, name, identifier, properties, problems };
}

/** What of a record a program has to declare: what is shown, is not empty, and is not what it would be anyway. */
function declaredIn(
  { definition, record, escaped }: Found,
  refuse: (property: string, reason: string) => void,
): Map<string, Exclude<Value, null>> {
  const declared = new Map<string, Exclude<Value, null>>();
  for (const [key, value] of valuesIn(definition, record, { escaped, refuse })) {
    const field = definition.fields[key];
    if (!field || field.writeOnly || value === null || isEmpty(value)) continue;
    const isPreset =
      field.default === undefined
        ? value === false || (field.zeroIsEmpty === true && value === 0)
        : value === field.default;
    if (!isPreset || field.required) declared.set(key, value);
  }
  return declared;
}

function isHeaders(value: Exclude<Value, null>): value is readonly RequestHeader[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "object");
}

function secretHeaders(name: string, headers: readonly RequestHeader[]): SecretHeader[] {
  const taken = new Set<string>();
  return headers.map(({ key }) => {
    const readable = `${name}-${slug(key, 24) || "header"}`;
    let setting = readable;
    for (let number = 2; taken.has(setting); number++) setting = `${readable}-${number}`;
    taken.add(setting);
    return { key, value: new Setting(setting, false) };
  });
}

/** The modules to write, by name without its ending, each with its resources. */
function modulesOf(
  resources: readonly Resource[],
  split: ExportOptions["split"],
  project: Project,
): Map<string, Resource[]> {
  const groups = new Map<string, Resource[]>();
  for (const resource of resources) {
    const group = groupOf(resource, split);
    groups.set(group, [...(groups.get(group) ?? []), resource]);
  }
  const modules = new Map<string, Resource[]>();
  for (const [group, members] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1)))
    modules.set(freeName(project, group, ".ts", modules), members);
  return modules;
}

function groupOf({ definition, properties }: Resource, split: ExportOptions["split"]): string {
  const text = (key: string): string => {
    const value = properties.get(key);
    return typeof value === "string" ? value : "";
  };
  const name = text("name");
  const url = text("url");
  const [prefix = "", ...rest] = name.split(/\s+[-–—]\s+|\s*[|/:]\s*/);
  const host = parseUrl(url)?.hostname ?? (definition === domain ? name : "");
  const group = split === "host" ? host : split === "prefix" && rest.length > 0 ? prefix : "";
  return slug(group) || definition.plural;
}

/** Names that mean something else: to Node.js, or to Windows. */
const unusable = /^(index|con|prn|aux|nul|com\d|lpt\d)$/;

function freeName(
  { files }: Project,
  wanted: string,
  ending: string,
  taken: ReadonlyMap<string, unknown> = new Map(),
): string {
  const base = unusable.test(wanted) ? `${wanted}-resources` : wanted;
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    const isFree = [ending, ".js", "/index.ts"].every((end) => !files.has(`${name}${end}`.toLowerCase()));
    if (isFree && !files.has(name.toLowerCase()) && !taken.has(name)) return name;
  }
}

/** Secrets' values by key, as `pulumi config set-all --json` reads them. */
type Secrets = Record<string, { readonly value: string; readonly secret: true }>;

function secretsOf(fresh: readonly Resource[], found: readonly Found[]): Secrets {
  const values: Secrets = {};
  for (const { definition, id, properties } of fresh) {
    const source = found.find((one) => one.definition === definition && one.record.id === id);
    const shown = source && declaredIn(source, () => undefined);
    for (const [key, declared] of properties) {
      const headers = shown?.get(key);
      if (headers === undefined || !isHeaders(headers)) continue;
      settingsIn(declared).forEach((setting, index) => {
        values[setting.key] = { value: headers[index]?.value ?? "", secret: true };
      });
    }
  }
  return values;
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** What state lacks of what the program declares, as the provider itself would have it in state. */
async function adoptable(
  found: readonly Found[],
  fresh: readonly Resource[],
  settings: Settings,
  account: string | undefined,
): Promise<Adopted[]> {
  const lifecycles = new Map(
    definitions.map((definition) => {
      const connection = connect(definition, settings);
      return [definition, new Lifecycle(definition, () => connection)];
    }),
  );
  const adopted = await Promise.all(
    found.map(async (one): Promise<Adopted | undefined> => {
      const { definition, record, inProgram, inState } = one;
      const written = fresh.find(
        (resource) => resource.definition === definition && resource.id === record.id,
      );
      const name = written ? written.name : inProgram?.name;
      const lifecycle = lifecycles.get(definition);
      if (inState || name === undefined || !lifecycle) return undefined;
      const { inputs, problems } = lifecycle.check(
        {},
        {
          ...Object.fromEntries(declaredIn(one, () => undefined)),
          ...(account !== undefined && { account }),
          importId: record.id,
          __options: { importer: name },
        },
      );
      if (problems.length > 0) return undefined;
      // Outputs that hold attributes are those of a resource that is managed.
      const state = await lifecycle.read(record.id, { ...inputs, attributes: {} });
      return state && { definition, name, inputs, state };
    }),
  );
  return adopted.filter((one) => one !== undefined);
}

async function stateWith(adopted: readonly Adopted[], stack: Stack, project: Project): Promise<Deployment> {
  const { deployment, place } = stack;
  if (!deployment) throw new UptimeError("There is no state to add to.");
  const [, known] = /^urn:pulumi:(.+?)::/.exec(deployment.deployment.resources?.[0]?.urn ?? "") ?? [];
  const name = known ?? place.stack?.split("/").at(-1) ?? (await stackName(place));
  return withResources(deployment, { stack: name, project: project.name }, adopted);
}
