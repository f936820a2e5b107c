import { isEmpty } from "../../common/values";
import type { Definition } from "../../definitions/field";
import { comparableIdentity, identityKeys } from "../../definitions/keys";
import { decodeInputs } from "../../engine/request";
import { wantedValuesOnCreate, type WantedValues } from "../../lifecycle/difference";
import type { PlannedChange } from "../shared/planned-changes";
import { secretText, type PreviewStep } from "../shared/preview";
import type { NamesakeFinder, FoundNamesake } from "./namesakes";
import { twinsAmong } from "./twins";

/** What a `pulumi up` would do to a resource; printed by `doctor --json`. */
interface PlannedResource extends Pick<PlannedChange, "title" | "operation"> {
  /** The id of the record that an import takes. */
  readonly record: string | undefined;
  /** The records with the same name (and URL, for a monitor), if the resource is to be created: it would be another one. */
  readonly namesakes: readonly FoundNamesake[];
}

/** New resources whose records people could not tell apart. */
interface Twins {
  /** What is the same: `name and url`, for example. */
  readonly same: string;
  readonly resources: readonly string[];
}

/** What a `pulumi up` would do, and what a person may want to think about twice. */
export interface Plan {
  readonly planned: readonly PlannedResource[];
  readonly twins: readonly Twins[];
  /** The new resources that can have alert channels and declare none, so that nobody is told of a failure. */
  readonly silent: readonly string[];
}

/** A step of a preview that changes something. */
export interface PlannedStep {
  readonly definition: Definition;
  readonly step: PreviewStep;
  readonly change: PlannedChange;
}

export async function planOf(steps: readonly PlannedStep[], finder: NamesakeFinder): Promise<Plan> {
  const added = steps.filter(({ change }) => change.operation === "create" || change.operation === "import");
  const creates = added.filter(({ change }) => change.importId === undefined);
  const titleByImportId = new Map(
    added.map((one) => [keyInAccount(one, one.change.importId), one.change.title] as const),
  );
  const planned = steps.map(async (one): Promise<PlannedResource> => {
    const { title, operation, importId: record } = one.change;
    const wanted = operation === "create" ? declaredIn(one) : undefined;
    const found = wanted ? await finder.find(one.step, one.definition, wanted) : [];
    const namesakes = found.map((namesake) => ({
      ...namesake,
      owner: namesake.owner ?? titleByImportId.get(keyInAccount(one, namesake.id)),
    }));
    return { title, operation, record, namesakes };
  });
  return {
    planned: await Promise.all(planned),
    twins: twinsAmong(creates, identityOfStep).map((group) => ({
      same: identityKeys(group[0].definition).join(" and "),
      resources: group.map(({ change }) => change.title),
    })),
    // An import keeps the channels that the program does not declare.
    silent: creates.filter(isSilent).map(({ change }) => change.title),
  };
}

/** An id or another text that identifies a record, with the kind and account of a step. */
function keyInAccount({ definition, step: { newState } }: PlannedStep, identity: string | undefined): string {
  return JSON.stringify([definition.plural, newState?.provider, newState?.inputs?.account, identity]);
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
  return (
    wanted &&
    keyInAccount(
      one,
      comparableIdentity(one.definition, (key) => wanted.get(key)),
    )
  );
}

/** Whether a resource can have alert channels and declares none. */
function isSilent({ definition: { fields }, step: { newState } }: PlannedStep): boolean {
  const channels = Object.keys(fields).filter((key) => fields[key]?.type === "idList");
  return channels.length > 0 && channels.every((key) => isEmpty(newState?.inputs?.[key]));
}
