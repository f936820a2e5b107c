import { parseUrn, providerUrnOf, urnSuffixOf } from "../../common/urn";
import { isEmpty } from "../../common/values";
import type { Definition } from "../../definitions/field";
import { comparableIdentity, identityKeys } from "../../definitions/keys";
import { decodeInputs } from "../../engine/properties";
import { wantedValuesOnCreate, type WantedValues } from "../../lifecycle/difference";
import type { Session } from "../../lifecycle/session";
import { collectingPreview } from "../shared/collecting-preview";
import { changeOf, type PlannedChange } from "../shared/planned-changes";
import { errorsIn, secretText, type PreviewStep } from "../shared/preview";
import { usesStackSettings } from "../shared/providers";
import type { StackLocation } from "../shared/pulumi-cli";
import { byName } from "../shared/quoting";
import { findDefinition, titleOf } from "../shared/resource-types";
import type { CommandSettings } from "../shared/setting-options";
import { adoptedAmong, NamesakeFinder, twinsAmong, type FoundNamesake } from "./namesakes";

/** What a `pulumi up` would do, and what a person may want to think about twice; printed by `doctor --json`. */
export type ProgramReport = Awaited<ReturnType<typeof checkProgram>>;

interface PlannedResource extends Pick<PlannedChange, "title" | "operation"> {
  /** The id of the record that an import takes. */
  readonly record: string | undefined;
  /** The records with the same name (and URL, for a monitor), if the resource is to be created: it would be another one. */
  readonly namesakes: readonly FoundNamesake[];
  /** The declared properties that are not compared with those records: a preview does not show secrets. */
  readonly notCompared: readonly string[];
}

/** A step of a preview that changes something. */
interface PlannedStep {
  readonly definition: Definition;
  readonly step: PreviewStep;
  readonly change: PlannedChange;
}

/** Runs a preview in which the provider collects what it would refuse. Changes nothing. */
export async function checkProgram(location: StackLocation, settings: CommandSettings, session: Session) {
  const { state, preview, collected } = await collectingPreview(location);
  // The engine plans in parallel, so the order changes from run to run.
  const steps = preview.steps
    .filter(({ urn }) => findDefinition(parseUrn(urn).type))
    .sort((a, b) => byName(a.urn, b.urn));
  const finder = new NamesakeFinder(state, settings, session);
  const planned: PlannedStep[] = [];
  for (const step of steps) {
    const checked = collected.get(urnSuffixOf(step.urn));
    const change = changeOf(step);
    const definition = change?.definition;
    if (!change || !definition || (checked && checked.problems.length > 0)) continue;
    if (checked || !step.newState) planned.push({ definition, step, change });
    // The engine does not call a provider whose own settings are not known yet.
    else {
      const { name } = parseUrn(providerUrnOf(step.newState.provider));
      finder.unchecked.add(
        `The settings of the provider ${name} are not known before \`pulumi up\`, so ${titleOf(step.urn)} was not checked.`,
      );
    }
  }
  const plan = await planOf(planned, finder);
  // The engine itself imports a resource of the plugin.
  const importIdOf = new Map(steps.map(({ urn, newState }) => [urnSuffixOf(urn), newState?.importID]));
  const refused = [...collected.values()].filter(({ problems }) => problems.length > 0);
  return {
    /** The number of resources of this package that the program declares. */
    resources: new Set(steps.flatMap(({ urn, newState }) => (newState ? [urn] : []))).size,
    ...plan,
    refused: refused
      .map(({ title, urnSuffix, importId = importIdOf.get(urnSuffix), problems }) => ({
        title,
        /** The id in the option `import`. */
        importId,
        reasons: problems,
      }))
      .sort((a, b) => byName(a.title, b.title)),
    /** Errors of the preview other than refused resources. */
    errors: errorsIn(preview),
    /** A sentence for what could not be checked. */
    unchecked: [...finder.unchecked],
    /** False if every resource has an explicit provider, so that the stack needs no settings of its own. */
    usesStackSettings: usesStackSettings(
      steps.map(({ newState, oldState }) => (newState ?? oldState)?.provider),
    ),
  };
}

async function planOf(steps: readonly PlannedStep[], finder: NamesakeFinder) {
  const added = steps.filter(({ change }) => change.operation === "create" || change.operation === "import");
  const creates = added.filter(({ change }) => change.importId === undefined);
  const titleByImportId = new Map(
    added.map((one) => [keyInAccount(one, one.change.importId), one.change.title] as const),
  );
  const resources = steps.map(async (one): Promise<PlannedResource> => {
    const { title, operation, importId: record } = one.change;
    const wanted = operation === "create" ? declaredIn(one) : undefined;
    const found = wanted ? await finder.find(one.step, one.definition, wanted) : [];
    const namesakes = found.map((namesake) => ({
      ...namesake,
      owner: namesake.owner ?? titleByImportId.get(keyInAccount(one, namesake.id)),
    }));
    return { title, operation, record, namesakes, notCompared: notComparedIn(one) };
  });
  const planned = await Promise.all(resources);
  const adopting = new Set(steps.filter((_, at) => adoptedAmong(planned[at]?.namesakes ?? [])));
  return {
    planned,
    /** New resources whose records people could not tell apart, and what is the same: `name and url`, for example. */
    twins: twinsAmong(creates, identityOfStep).map((group) => ({
      same: identityKeys(group[0].definition).join(" and "),
      resources: group.map(({ change }) => change.title),
    })),
    /**
     * The new resources that can have alert channels and declare none, so that nobody is told of a failure. An import and an adoption
     * keep the channels that the program does not declare.
     */
    withoutChannels: creates
      .filter((one) => hasNoChannels(one) && !adopting.has(one))
      .map(({ change }) => change.title),
  };
}

/** An id or another text that identifies a record, with the kind and account of a step. */
function keyInAccount({ definition, step: { newState } }: PlannedStep, identity: string | undefined): string {
  return JSON.stringify([definition.plural, newState?.provider, newState?.inputs?.account, identity]);
}

/** The properties whose values the preview does not show. What no record shows, an adoption does not compare either. */
function notComparedIn({ definition: { fields }, step: { newState } }: PlannedStep): string[] {
  return Object.entries(newState?.inputs ?? {})
    .filter(([key, value]) => value === secretText && fields[key]?.writeOnly !== true)
    .map(([key]) => key);
}

/** What a new resource declares, without what is secret; undefined if its name is secret, or not known yet. */
function declaredIn({ definition, step: { newState } }: PlannedStep): WantedValues | undefined {
  const shown = Object.entries(newState?.inputs ?? {}).filter(([, value]) => value !== secretText);
  const { values } = decodeInputs(definition, Object.fromEntries(shown));
  const wanted = wantedValuesOnCreate(definition, values);
  return identityKeys(definition).every((key) => wanted.has(key)) ? wanted : undefined;
}

/** What people know the new record by, in its account. */
function identityOfStep(one: PlannedStep): string | undefined {
  const wanted = declaredIn(one);
  const identity = wanted && comparableIdentity(one.definition, (key) => wanted.get(key));
  return wanted && keyInAccount(one, identity);
}

/** Whether a resource can have alert channels and declares none. */
function hasNoChannels({ definition: { fields }, step: { newState } }: PlannedStep): boolean {
  const channels = Object.keys(fields).filter((key) => fields[key]?.type === "idList");
  return channels.length > 0 && channels.every((key) => isEmpty(newState?.inputs?.[key]));
}
