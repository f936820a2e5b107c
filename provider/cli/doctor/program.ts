import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { unknownValue } from "../../definitions/marks";
import { parseUrn } from "../../definitions/urn";
import { isEmpty } from "../../definitions/values";
import { collectedKey, collectVariable } from "../../engine/collect";
import type { NamesakeLine, CollectedProvider, CollectedResource } from "../../engine/collect";
import { chooseNamesake } from "../../lifecycle/adopt";
import { exists, readText } from "../shared/files";
import { changeOf, errorsIn, secretText } from "../shared/preview";
import type { Operation, Preview, PreviewStep } from "../shared/preview";
import { runPreview } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { findDefinition, titleOf } from "../shared/resource-types";
import type { StateResource } from "../shared/state";

/** A record of the same name as a new resource, and which other one imports it. */
interface ReportedRecord extends NamesakeLine {
  /** The resource of the program that imports it. */
  readonly importer?: string | undefined;
}

/** The result of a preview of a program; resources have titles such as `Monitor shop`. */
export interface ProgramReport {
  /** The number of resources of this package that the program declares. */
  readonly resources: number;
  /** The operations of a `pulumi up`, and the ids of the records that imports and adoptions take. */
  readonly planned: readonly {
    readonly title: string;
    readonly operation: Operation;
    readonly record: string | undefined;
    /** Of a create: the records of the same name (a monitor: and URL), which it makes a second time. */
    readonly namesakes: readonly ReportedRecord[];
  }[];
  /** The new resources that tell nobody: they have channels, and declare none. */
  readonly silent: readonly string[];
  /** The refused resources, with the ids in their options `import`. */
  readonly refused: readonly {
    readonly title: string;
    readonly importId: string | undefined;
    readonly reasons: readonly string[];
  }[];
  /** Errors of the preview other than refused resources. */
  readonly errors: readonly string[];
  /** A sentence for each resource that could not be checked. */
  readonly unchecked: readonly string[];
  /** The explicit providers. */
  readonly providers: readonly CollectedProvider[];
  /** False if every resource has an explicit provider, so that the stack needs no settings of its own. */
  readonly usesStackSettings: boolean;
}

const collectedResource = z.object({
  key: z.string().optional(),
  label: z.string(),
  isInState: z.boolean(),
  provider: z.string().optional(),
  account: z.string().optional(),
  importId: z.string().optional(),
  problems: z.array(z.string()),
  namesakes: z.array(z.object({ id: z.string(), differs: z.array(z.string()) })).optional(),
  mayAdopt: z.boolean().optional(),
}) satisfies z.ZodType<CollectedResource>;

const collectedProvider = z.object({
  provider: z.string(),
  address: z.string(),
  problem: z.string().optional(),
}) satisfies z.ZodType<CollectedProvider>;

const collectedLine = z.union([collectedResource, collectedProvider]);

/** Runs a preview in which the provider collects what it would refuse. Changes nothing. */
export async function checkProgram(
  location: StackLocation,
  state: readonly StateResource[],
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

type Line = z.infer<typeof collectedLine>;

function reportOf(preview: Preview, lines: readonly Line[], state: readonly StateResource[]): ProgramReport {
  const checked = lines.filter((line) => "problems" in line);
  // The engine plans them in parallel, so in another order each time.
  const own = (preview.steps ?? [])
    .filter(({ urn }) => findDefinition(parseUrn(urn).type))
    .sort((a, b) => byName(a.urn, b.urn));
  const steps = new Map(own.map((step) => [collectedKeyOf(step), step]));
  const resources = checked.map((line) => ({ line, step: steps.get(line.key ?? "") }));
  const lineOf = new Map(resources.map(({ line, step }) => [step?.urn, line]));
  const importers = new Map(
    resources.flatMap(({ line, step }) =>
      line.importId === undefined || !step ? [] : [[recordKey(line, line.importId), titleOf(step)]],
    ),
  );

  const refused = resources
    .filter(({ line }) => line.problems.length > 0)
    .map(({ line: { importId, label, problems }, step }) => ({
      title: step ? titleOf(step) : label,
      importId,
      reasons: problems.map((problem) => withoutSecrets(problem, step)),
    }));
  const planned: ProgramReport["planned"][number][] = [];
  const unchecked: string[] = [];
  const silent: string[] = [];
  /** The resource that imports or adopts a record. */
  const owners = new Map<string, string>();
  for (const step of own) {
    const change = changeOf(step);
    const line = lineOf.get(step.urn);
    if (!change || (line && line.problems.length > 0)) continue;
    const { title, operation } = change;
    const isNew = operation === "create" || operation === "import";
    if (!isNew) planned.push({ title, operation, record: undefined, namesakes: [] });
    else if (!line) unchecked.push(uncheckedText(step));
    else {
      const { record, namesakes = [], reason } = recordOf(line, state, owners);
      if (reason !== undefined) {
        refused.push({ title, importId: line.importId, reasons: [reason] });
        continue;
      }
      if (record !== undefined) owners.set(recordKey(line, record), title);
      planned.push({
        title,
        operation: record === undefined || operation === "import" ? operation : "adopt",
        record,
        namesakes: namesakes.map((one) => ({ ...one, importer: importers.get(recordKey(line, one.id)) })),
      });
      if (isSilent(step)) silent.push(title);
    }
  }
  const changed = planned.filter(({ operation }) => operation === "update" || operation === "replace").length;
  const isKept = ({ isInState, problems }: CollectedResource): boolean => isInState && problems.length === 0;
  const unchanged = checked.filter(isKept).length - changed;
  const declared = new Set(own.filter(({ op }) => op !== "delete").map(({ urn }) => urn));
  return {
    resources: declared.size + unchanged,
    planned,
    silent,
    refused: refused.sort((a, b) => byName(a.title, b.title)),
    errors: errorsIn(preview),
    unchecked,
    providers: lines.filter((line) => "address" in line),
    usesStackSettings: checked.length === 0 || checked.some(({ provider }) => provider === undefined),
  };
}

/** In the order of the alphabet, with numbers as people count. */
function byName(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

function collectedKeyOf({ urn, newState }: PreviewStep): string {
  const key = newState?.inputs?.[collectedKey];
  return typeof key === "string" ? key : urn;
}

/** A reason may quote the value, and the one in the record. The provider knows which fields are always secret, and no others. */
function withoutSecrets(problem: string, step: PreviewStep | undefined): string {
  if (!step) return problem;
  const [property = ""] = /^\w+/.exec(problem) ?? [];
  const isAlwaysSecret = findDefinition(parseUrn(step.urn).type)?.fields[property]?.secret === true;
  return step.newState?.inputs?.[property] === secretText && !isAlwaysSecret
    ? `${property} is refused; it is secret, so the reason is not shown`
    : problem;
}

/** Tells if a resource can have channels, and declares none. */
function isSilent({ urn, newState }: PreviewStep): boolean {
  const { fields = {} } = findDefinition(parseUrn(urn).type) ?? {};
  const channels = Object.keys(fields).filter((key) => fields[key]?.type === "idList");
  return channels.length > 0 && channels.every((key) => isEmpty(newState?.inputs?.[key]));
}

const recordKey = ({ label, account = "" }: CollectedResource, id: string): string =>
  `${label} ${account} ${id}`;

/** The record that a new resource imports or adopts, or why it can have none; else the records of the same name. */
function recordOf(
  line: CollectedResource,
  state: readonly StateResource[],
  owners: ReadonlyMap<string, string>,
): { record?: string | undefined; reason?: string; namesakes?: readonly NamesakeLine[] } {
  const { label, account, importId, namesakes = [], mayAdopt } = line;
  const isManaged = (id: string): boolean =>
    state.some(
      (resource) =>
        resource.id === id &&
        resource.external !== true &&
        findDefinition(resource.type)?.label === label &&
        (resource.outputs?.__key ?? account) === account,
    );
  const free = namesakes.filter(({ id }) => !isManaged(id));
  if (importId === undefined && !mayAdopt) return { namesakes: free };
  const { chosen, equal } = chooseNamesake(free, ({ differs }) => differs.length === 0);
  if (importId !== undefined || free.length === 0 || chosen) {
    const record = importId ?? chosen?.id;
    const owner = record === undefined ? undefined : owners.get(recordKey(line, record));
    if (record === undefined || owner === undefined) return { record };
    return { reason: `record ${record} is taken by ${owner} too: only one resource can have it` };
  }
  const reason =
    equal.length > 1
      ? `several records are equal to what is declared (${equal.map(({ id }) => id).join(", ")})`
      : `${free.map(differenceText).join("; ")}, and is alike otherwise`;
  return {
    reason:
      `cannot be created, because uptime:adoptExisting is set and ${reason}: name the id with the option import, choose ` +
      "another name, or switch the setting off for one run",
  };
}

/** The engine asks a provider whose settings are not known to check nothing. */
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
