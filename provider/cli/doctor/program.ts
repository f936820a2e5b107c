import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { unknownValue } from "../../definitions/marks";
import { hiddenNames } from "../../definitions/pulumi";
import { parseUrn } from "../../definitions/urn";
import { isEmpty } from "../../definitions/values";
import { collectedLine, collectVariable } from "../../engine/collected";
import type {
  CollectedLine,
  CollectedProvider,
  CollectedResource,
  NamesakeLine,
} from "../../engine/collected";
import { chooseNamesake } from "../../lifecycle/adopt";
import { exists, readText } from "../shared/files";
import { changeOf, errorsIn, secretText } from "../shared/preview";
import type { PlannedOperation, Preview, PreviewStep } from "../shared/preview";
import { runPreview, type StackLocation } from "../shared/pulumi-cli";
import { findDefinition, titleOf } from "../shared/resource-types";
import type { ManagedResource } from "../shared/state";

/** A record of the same name as a new resource, and which other one imports it. */
interface ReportedRecord extends NamesakeLine {
  /** The resource of the program that imports it. */
  readonly importer?: string | undefined;
}

/** What a `pulumi up` would do to a resource. */
interface PlannedResource {
  readonly title: string;
  readonly operation: PlannedOperation;
  /** The id of the record that an import or adoption takes. */
  readonly record: string | undefined;
  /** Of a create: the records of the same name (a monitor: and URL), which it makes a second time. */
  readonly namesakes: readonly ReportedRecord[];
}

/** A resource that would be refused. */
interface RefusedResource {
  readonly title: string;
  /** The id in the option `import`. */
  readonly importId: string | undefined;
  readonly reasons: readonly string[];
}

/** The result of a preview of a program. */
export interface ProgramReport {
  /** The number of resources of this package that the program declares. */
  readonly resources: number;
  readonly planned: readonly PlannedResource[];
  /** The new resources that can have alert channels and declare none, so that nobody is told of a failure. */
  readonly silent: readonly string[];
  readonly refused: readonly RefusedResource[];
  /** Errors of the preview other than refused resources. */
  readonly errors: readonly string[];
  /** A sentence for each resource that could not be checked. */
  readonly unchecked: readonly string[];
  /** The explicit providers. */
  readonly providers: readonly CollectedProvider[];
  /** False if every resource has an explicit provider, so that the stack needs no settings of its own. */
  readonly usesStackSettings: boolean;
}

/** Runs a preview in which the provider collects what it would refuse. Changes nothing. */
export async function checkProgram(
  location: StackLocation,
  state: readonly ManagedResource[],
): Promise<ProgramReport> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-doctor-"));
  try {
    const file = join(folder, "collected");
    const preview = await runPreview({ ...location, env: { ...location.env, [collectVariable]: file } });
    const lines = exists(file) ? readText(file).split("\n").slice(0, -1) : [];
    return reportOf(
      preview,
      lines.map((line) => collectedLine.parse(JSON.parse(line))),
      state,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function reportOf(
  preview: Preview,
  lines: readonly CollectedLine[],
  state: readonly ManagedResource[],
): ProgramReport {
  // The engine plans in parallel, so the order changes from run to run.
  const steps = (preview.steps ?? [])
    .filter(({ urn }) => findDefinition(parseUrn(urn).type))
    .sort((a, b) => byName(a.urn, b.urn));
  const stepOf = new Map(steps.map((step) => [stepIdOf(step), step]));
  const resources = lines
    .filter((line) => "problems" in line)
    .map((line) => {
      const step = stepOf.get(line.stepId ?? "");
      return { ...line, step, title: step ? titleOf(step) : line.label };
    });
  const { planned, unchecked, silent, impossible } = planOf(steps, resources, state);
  const refused = resources
    .filter(({ problems }) => problems.length > 0)
    .map(({ title, importId, problems, step }) => ({
      title,
      importId,
      reasons: problems.map((problem) => withoutSecrets(problem, step)),
    }));
  const changed = planned.filter(({ operation }) => operation === "update" || operation === "replace");
  const kept = resources.filter(({ isInState, problems }) => isInState && problems.length === 0);
  const declared = new Set(steps.filter(({ op }) => op !== "delete").map(({ urn }) => urn));
  return {
    resources: declared.size + kept.length - changed.length,
    planned,
    silent,
    refused: [...refused, ...impossible].sort((a, b) => byName(a.title, b.title)),
    errors: errorsIn(preview),
    unchecked,
    providers: lines.filter((line) => "address" in line),
    usesStackSettings: resources.length === 0 || resources.some(({ provider }) => provider === undefined),
  };
}

/** A resource that was checked, with its step of the preview. */
interface CheckedResource extends CollectedResource {
  /** Undefined if the preview changes nothing about it. */
  readonly step: PreviewStep | undefined;
  readonly title: string;
}

/** The part of a report that is about steps. `impossible` are resources that only a `pulumi up` would refuse. */
interface Plan extends Pick<ProgramReport, "planned" | "unchecked" | "silent"> {
  readonly impossible: readonly RefusedResource[];
}

function planOf(
  steps: readonly PreviewStep[],
  resources: readonly CheckedResource[],
  state: readonly ManagedResource[],
): Plan {
  const resourceOf = new Map(resources.map((resource) => [resource.step, resource]));
  const importers = new Map(resources.map((one) => [recordKey(one, one.importId), one.title]));
  const presentFingerprints = new Set(resources.flatMap(({ keyFingerprint }) => keyFingerprint ?? []));
  const planned: PlannedResource[] = [];
  const unchecked: string[] = [];
  const silent: string[] = [];
  const impossible: RefusedResource[] = [];
  /** The resource that imports or adopts a record. */
  const owners = new Map<string, string>();
  for (const step of steps) {
    const change = changeOf(step);
    const resource = resourceOf.get(step);
    if (!change || (resource && resource.problems.length > 0)) continue;
    const { title, operation } = change;
    if (operation !== "create" && operation !== "import") {
      planned.push({ title, operation, record: undefined, namesakes: [] });
      continue;
    }
    if (!resource) {
      unchecked.push(uncheckedText(step));
      continue;
    }
    const free = (resource.namesakes ?? []).filter(
      ({ id }) => !isManaged(resource, id, state, presentFingerprints),
    );
    const { record, reason } = plannedRecord(resource, free, owners);
    if (reason !== undefined) {
      impossible.push({ title, importId: resource.importId, reasons: [reason] });
      continue;
    }
    if (record !== undefined) owners.set(recordKey(resource, record), title);
    planned.push({
      title,
      operation: record === undefined || operation === "import" ? operation : "adopt",
      record,
      namesakes:
        record === undefined
          ? free.map((one) => ({ ...one, importer: importers.get(recordKey(resource, one.id)) }))
          : [],
    });
    if (isSilent(step)) silent.push(title);
  }
  return { planned, unchecked, silent, impossible };
}

/** In alphabetical order, with numbers by value. */
function byName(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

function stepIdOf({ urn, newState }: PreviewStep): string {
  const stepId = newState?.inputs?.[hiddenNames.stepId];
  return typeof stepId === "string" ? stepId : urn;
}

/** A reason may quote values. The provider hides the fields that are always secret, but does not know which others the program marks. */
function withoutSecrets(problem: string, step: PreviewStep | undefined): string {
  if (!step) return problem;
  const [property = ""] = /^\w+/.exec(problem) ?? [];
  const isAlwaysSecret = findDefinition(parseUrn(step.urn).type)?.fields[property]?.secret === true;
  return step.newState?.inputs?.[property] === secretText && !isAlwaysSecret
    ? `${property} is refused; it is secret, so the reason is not shown`
    : problem;
}

/** Whether a resource can have alert channels and declares none. */
function isSilent({ urn, newState }: PreviewStep): boolean {
  const { fields = {} } = findDefinition(parseUrn(urn).type) ?? {};
  const channels = Object.keys(fields).filter((key) => fields[key]?.type === "idList");
  return channels.length > 0 && channels.every((key) => isEmpty(newState?.inputs?.[key]));
}

const recordKey = ({ label, keyFingerprint }: CollectedResource, id: string | undefined): string =>
  `${label} ${keyFingerprint} ${id}`;

/**
 * Whether a resource of the stack has a record.
 *
 * @param presentFingerprints the fingerprints of all accounts. If one in state is not among them, its key was changed since, and
 * the servers are compared instead.
 */
function isManaged(
  { label, keyFingerprint, servers = [] }: CollectedResource,
  id: string,
  state: readonly ManagedResource[],
  presentFingerprints: ReadonlySet<unknown>,
): boolean {
  return state.some(({ definition, resource: { id: ofState, outputs = {} } }) => {
    if (ofState !== id || definition.label !== label) return false;
    const { [hiddenNames.keyFingerprint]: fingerprint, [hiddenNames.serverHash]: hash } = outputs;
    if (presentFingerprints.has(fingerprint)) return fingerprint === keyFingerprint;
    return hash === undefined || servers.some((server) => server === hash);
  });
}

/** The record that a new resource imports or adopts, if any, or why it can have none. */
function plannedRecord(
  resource: CollectedResource,
  free: readonly NamesakeLine[],
  owners: ReadonlyMap<string, string>,
): { record?: string | undefined; reason?: string } {
  const { importId, mayAdopt } = resource;
  const { chosen, equal } = chooseNamesake(free, ({ differs }) => differs.length === 0);
  const record = importId ?? (mayAdopt ? chosen?.id : undefined);
  const owner = owners.get(recordKey(resource, record));
  if (owner !== undefined)
    return { reason: `record ${record} is taken by ${owner} too: only one resource can have it` };
  if (record !== undefined || !mayAdopt || free.length === 0) return { record };
  const found =
    equal.length > 1
      ? `several records are equal to what is declared (${equal.map(({ id }) => id).join(", ")})`
      : `${free.map(differenceText).join("; ")}, and is alike otherwise`;
  return {
    reason:
      `cannot be created, because uptime:adoptExisting is set and ${found}: name the id with the option import, choose ` +
      "another name, or switch the setting off for one run",
  };
}

/** The engine does not call a provider whose settings are not known yet. */
function uncheckedText({ urn, newState }: PreviewStep): string {
  const [, provider = "", id] = /^(.*)::([^:]*)$/.exec(newState?.provider ?? "") ?? [];
  const title = titleOf({ urn });
  return id === unknownValue
    ? `The settings of the provider ${parseUrn(provider).name} are not known before \`pulumi up\`, so ${title} was not checked.`
    : `${title} was not checked: its provider is another version of pulumi-uptime than this command.`;
}

/** Names a record of the same name, and the properties that differ. */
export function differenceText({ id, differs, importer }: ReportedRecord): string {
  const whose = importer === undefined ? "" : `, which ${importer} imports,`;
  return `record ${id}${whose} ${differs.length === 0 ? "is equal" : `differs in ${differs.join(", ")}`}`;
}
