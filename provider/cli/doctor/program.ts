import { parseUrn, providerUrnOf, urnSuffixOf } from "../../common/urn";
import type { Session } from "../../lifecycle/session";
import { collectingPreview } from "../shared/collecting-preview";
import { changeOf } from "../shared/planned-changes";
import { errorsIn, type PreviewStep } from "../shared/preview";
import { usesStackSettings } from "../shared/providers";
import type { StackLocation } from "../shared/pulumi-cli";
import { byName } from "../shared/quoting";
import { findDefinition, titleOf } from "../shared/resource-types";
import type { CommandSettings } from "../shared/setting-options";
import { managedResources, type StackState } from "../shared/state";
import { NamesakeFinder } from "./namesakes";
import { planOf, type Plan, type PlannedStep } from "./plan";

interface RefusedResource {
  readonly title: string;
  /** The id in the option `import`. */
  readonly importId: string | undefined;
  readonly reasons: readonly string[];
}

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
  state: StackState,
  settings: CommandSettings,
  session: Session,
): Promise<ProgramReport> {
  const { preview, collected } = await collectingPreview(location);
  // The engine plans in parallel, so the order changes from run to run.
  const steps = preview.steps
    .filter(({ urn }) => findDefinition(parseUrn(urn).type))
    .sort((a, b) => byName(a.urn, b.urn));
  const managed = managedResources(state).map(({ resource }) => resource);
  const refused = [...collected.values()].filter(({ problems }) => problems.length > 0);
  const namesakeFinder = new NamesakeFinder(state, settings, session);
  const planned: PlannedStep[] = [];
  for (const step of steps) {
    const told = collected.get(urnSuffixOf(step.urn));
    const change = changeOf(step);
    const definition = findDefinition(parseUrn(step.urn).type);
    if (!change || !definition || (told && refused.includes(told))) continue;
    if (told || !step.newState) planned.push({ definition, step, change });
    // The engine does not call a provider whose own settings are not known yet.
    else namesakeFinder.unchecked.add(uncheckedText(step));
  }
  // The engine itself imports a resource of the plugin.
  const importIdOf = new Map(steps.map(({ urn, newState }) => [urnSuffixOf(urn), newState?.importID]));
  const plan = await planOf(planned, namesakeFinder);
  const deleted = new Set(steps.filter(({ op }) => op === "delete").map(({ urn }) => urn));
  // The program may rename a resource, with an alias or by a move to the plugin.
  const former = new Set(steps.map(({ oldState }) => oldState?.urn));
  const kept = managed.filter(({ urn }) => !former.has(urn));
  const declared = new Set([...kept, ...steps].map(({ urn }) => urn).filter((urn) => !deleted.has(urn)));
  return {
    resources: declared.size,
    ...plan,
    refused: refused
      .map(({ title, urnSuffix, importId = importIdOf.get(urnSuffix), problems }) => ({
        title,
        importId,
        reasons: problems,
      }))
      .sort((a, b) => byName(a.title, b.title)),
    errors: errorsIn(preview),
    unchecked: [...namesakeFinder.unchecked],
    usesStackSettings: usesStackSettings([...steps.map(({ newState }) => newState), ...managed]),
  };
}

function uncheckedText({ urn, newState }: PreviewStep): string {
  const { name } = parseUrn(providerUrnOf(newState?.provider));
  return `The settings of the provider ${name} are not known before \`pulumi up\`, so ${titleOf({ urn })} was not checked.`;
}
