import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { hiddenNames } from "../../common/pulumi";
import { isDefaultProvider, parseUrn, providerUrn } from "../../common/urn";
import { collectedRefusal, collectVariable, type CollectedRefusal } from "../../engine/collected";
import type { Session } from "../../lifecycle/session";
import { exists, readText } from "../shared/files";
import { changeOf } from "../shared/planned-changes";
import { errorsIn, secretText, type Preview, type PreviewStep } from "../shared/preview";
import { runPreview, type StackLocation } from "../shared/pulumi-cli";
import { byName } from "../shared/quoting";
import { findDefinition, labelIn, titleOf } from "../shared/resource-types";
import type { CommandSettings } from "../shared/setting-options";
import { managedResources, type Deployment } from "../shared/state";
import { Accounts } from "./accounts";
import { planOf, type Plan } from "./plan";

/** A resource that would be refused. */
interface RefusedResource {
  readonly title: string;
  /** The id in the option `import`. */
  readonly importId: string | undefined;
  readonly reasons: readonly string[];
}

/** The result of a preview of a program. */
export interface ProgramReport extends Plan {
  /** The number of resources of this package that the program declares. */
  readonly resources: number;
  readonly refused: readonly RefusedResource[];
  /** Errors of the preview other than refused resources. */
  readonly errors: readonly string[];
  /** A sentence for what could not be checked. */
  readonly unchecked: readonly string[];
  /** False if every resource has an explicit provider, so that the stack needs no settings of its own. */
  readonly usesStackSettings: boolean;
}

/**
 * Runs a preview in which the provider collects what it would refuse. Changes nothing.
 *
 * @param state with secrets in the clear
 */
export async function checkProgram(
  location: StackLocation,
  state: Deployment,
  settings: CommandSettings,
  session: Session,
): Promise<ProgramReport> {
  const { preview, refusals } = await collectRefusals(location);
  // The engine plans in parallel, so the order changes from run to run.
  const steps = (preview.steps ?? [])
    .filter(({ urn }) => findDefinition(parseUrn(urn).type))
    .sort((a, b) => byName(a.urn, b.urn));
  const stepOf = new Map(refusals.map((refusal) => [refusal, steps.find((step) => isAbout(step, refusal))]));
  const refusedSteps = new Set(stepOf.values());
  const refused = refusals.map((refusal) => refusedResource(refusal, stepOf.get(refusal)));
  const managed = managedResources(state).map(({ resource }) => resource);
  const accounts = new Accounts(state, preview.steps ?? [], settings, session);
  const planned = steps.flatMap((step) => {
    const change = refusedSteps.has(step) ? undefined : changeOf(step);
    return change && accounts.isChecked(step) ? [{ step, change }] : [];
  });
  const plan = await planOf(planned, accounts);
  const deleted = new Set(steps.filter(({ op }) => op === "delete").map(({ urn }) => urn));
  const declared = new Set([...managed, ...steps].map(({ urn }) => urn).filter((urn) => !deleted.has(urn)));
  const providers = [...steps.map(({ newState }) => newState), ...managed].map((one) =>
    providerUrn(one?.provider),
  );
  return {
    resources: declared.size,
    ...plan,
    refused: refused.sort((a, b) => byName(a.title, b.title)),
    errors: errorsIn(preview),
    unchecked: [...accounts.unchecked],
    usesStackSettings: providers.length === 0 || providers.some(isDefaultProvider),
  };
}

async function collectRefusals(
  location: StackLocation,
): Promise<{ preview: Preview; refusals: CollectedRefusal[] }> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-doctor-"));
  try {
    const file = join(folder, "collected");
    const preview = await runPreview({ ...location, env: { ...location.env, [collectVariable]: file } });
    const lines = exists(file) ? readText(file).split("\n").slice(0, -1) : [];
    return { preview, refusals: lines.map((line) => collectedRefusal.parse(JSON.parse(line))) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether a step is that of a refused resource. */
function isAbout(
  { urn, oldState, newState }: PreviewStep,
  { label, resource, id }: CollectedRefusal,
): boolean {
  if (resource !== undefined) return [urn, newState?.inputs?.[hiddenNames.refused]].includes(resource);
  return id === oldState?.id && labelIn(parseUrn(urn).type) === label;
}

function refusedResource(
  { label, importId, problems }: CollectedRefusal,
  step: PreviewStep | undefined,
): RefusedResource {
  return {
    title: step ? titleOf(step) : label,
    importId: importId ?? step?.newState?.importID,
    reasons: problems.map((problem) => withoutSecrets(problem, step)),
  };
}

/** A reason may quote values. The provider hides the fields that are always secret, but may not know which others the program marks. */
function withoutSecrets(problem: string, step: PreviewStep | undefined): string {
  if (!step) return problem;
  const [property = ""] = /^\w+/.exec(problem) ?? [];
  const isAlwaysSecret = findDefinition(parseUrn(step.urn).type)?.fields[property]?.secret === true;
  return step.newState?.inputs?.[property] === secretText && !isAlwaysSecret
    ? `${property} is refused; it is secret, so the reason is not shown`
    : problem;
}
