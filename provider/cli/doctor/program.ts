import { parseUrn, providerUrnOf, urnSuffixOf } from "../../common/urn";
import { hasUnknown, isEmpty } from "../../common/values";
import { comparableIdentity, identityKeys } from "../../definitions/keys";
import { decodeInputs } from "../../engine/properties";
import type { Session } from "../../lifecycle/session";
import { collectingPreview } from "../shared/collecting-preview";
import { importIdIn, type PlannedChange } from "../shared/planned-changes";
import { usesStackSettings } from "../shared/providers";
import type { StackLocation } from "../shared/pulumi-cli";
import { listOf } from "../shared/quoting";
import { titleOf } from "../shared/resource-types";
import type { CommandSettings } from "../shared/setting-options";
import { adoptedAmong, NamesakeFinder, twinsAmong, valuesToFind } from "./namesakes";
import type { DeclaredResource } from "./namesakes";

/** What a `pulumi up` would do, and what a person may want to think about twice; printed by `doctor --json`. */
export type ProgramReport = Awaited<ReturnType<typeof checkProgram>>;

/** A step of a preview that changes something. */
interface PlannedStep extends DeclaredResource {
  readonly change: PlannedChange;
}

/** Runs a preview in which the provider collects what it would refuse. Changes nothing. */
export async function checkProgram(location: StackLocation, settings: CommandSettings, session: Session) {
  const { state, steps, refused, errors } = await collectingPreview(location);
  const finder = new NamesakeFinder(state, settings, session);
  const planned: PlannedStep[] = [];
  for (const { urn, newState, change, checked } of steps) {
    const definition = change?.definition;
    if (!change || !definition || (checked && checked.problems.length > 0)) continue;
    const { provider = "" } = newState ?? {};
    const inputs = decodeInputs(definition, checked?.inputs ?? {});
    if (checked || !newState) planned.push({ definition, change, provider, inputs });
    // The engine does not call a provider whose own settings are not known yet.
    else {
      const { name } = parseUrn(providerUrnOf(provider));
      finder.unchecked.add(
        `The settings of the provider ${name} are not known before \`pulumi up\`, so ${titleOf(urn)} was not checked.`,
      );
    }
  }
  const plan = await planOf(planned, finder);
  const importIdOf = new Map(steps.map(({ urn, newState }) => [urnSuffixOf(urn), importIdIn(newState)]));
  return {
    /** The number of resources of this package that the program declares. */
    resources: new Set(steps.flatMap(({ urn, newState }) => (newState ? [urn] : []))).size,
    ...plan,
    refused: refused.map(({ title, urnSuffix, problems }) => ({
      title,
      /** The id in the option `import`. */
      importId: importIdOf.get(urnSuffix),
      reasons: problems,
    })),
    errors,
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
  const resources = steps.map(async (one) => {
    const { title, operation, importId } = one.change;
    const found = operation === "create" ? await finder.find(one) : [];
    const unknown = unknownIn(one);
    if (found.length > 0 && unknown.length > 0)
      finder.unchecked.add(
        `${title}: not known before \`pulumi up\`, so not compared with records of its name: ${listOf(unknown)}.`,
      );
    const namesakes = found.map((namesake) => ({
      ...namesake,
      owner: namesake.owner ?? titleByImportId.get(keyInAccount(one, namesake.id)),
    }));
    return {
      title,
      operation,
      /** The id of the record that an import takes. */
      record: importId,
      /** The records with the same name (and URL, for a monitor), if the resource is to be created: it would be another one. */
      namesakes,
    };
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

/** The properties whose values depend on what is not made yet. What no record shows is never compared. */
function unknownIn({ definition: { fields }, inputs: { values } }: PlannedStep): string[] {
  return Object.keys(values).filter((key) => hasUnknown(values[key]) && !fields[key]?.writeOnly);
}

/** An id or another text that identifies a record, with the kind and account of a step. */
function keyInAccount({ definition, provider, inputs }: PlannedStep, identity: string | undefined): string {
  return JSON.stringify([definition.plural, provider, inputs.account, identity]);
}

/** What people know the new record by, in its account. */
function identityOfStep(one: PlannedStep): string | undefined {
  const wanted = valuesToFind(one);
  const identity = wanted && comparableIdentity(one.definition, (key) => wanted.get(key));
  return wanted && keyInAccount(one, identity);
}

/** Whether a resource can have alert channels and declares none. */
function hasNoChannels({ definition: { fields }, inputs: { values } }: PlannedStep): boolean {
  const channels = Object.keys(fields).filter((key) => fields[key]?.type === "idList");
  return channels.length > 0 && channels.every((key) => isEmpty(values[key]));
}
