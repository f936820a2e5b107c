import type { ApiRecord } from "../api/record";
import {
  joinMessages,
  message,
  NotFoundError,
  quoteId,
  quoteValue,
  UptimeError,
  type Message,
} from "../api/errors";
import type { Definition } from "../definitions/field";
import { fieldOf } from "../definitions/keys";
import { isEmpty } from "../common/values";
import { newClaim } from "./claims";
import { describeRecord } from "./describe";
import { compare, differences, isSecretDifference, wantedValues, type WantedValues } from "./difference";
import type { Changes } from "./diff";
import { outputsOf } from "./outputs";
import { pathsInclude } from "./paths";
import { readUnmanaged } from "./read";
import type { OperationScope } from "./record-scope";
import type { InputProblem, Inputs, OperationResult, Outputs } from "./resource";

export interface CheckedImport {
  readonly problems: readonly InputProblem[];
  /** Names the record that it imports. */
  readonly announcement?: Message | undefined;
  readonly warnings: readonly Message[];
}

/** Checks an import. It must change nothing, so every difference is a problem. */
export async function checkImport(scope: OperationScope, inputs: Inputs, id: string): Promise<CheckedImport> {
  const { claims, definition, options, owners } = scope;
  const { owner } = options;
  const { label, singular } = definition;
  const refuse = (reason: string | Message): CheckedImport => ({
    problems: [{ property: "import", reason }],
    warnings: [],
  });
  const shownId = quoteId(id);
  if (claims.isDeleted(id))
    return refuse(message`names ${singular} ${shownId}, which this run deletes: remove the option import`);
  const rival = claims.otherDeclaredOwner(id, owner);
  if (rival !== undefined)
    return refuse(
      message`names ${singular} ${shownId}, which ${owners.describe(rival)} already manages or imports: only one resource
        can manage a record. If that is the former name of this resource, use the option aliases instead`,
    );
  let record: ApiRecord;
  try {
    record = await getToImport(scope, id, inputs);
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    return refuse(message`of ${singular} ${shownId} is not possible: ${error}`);
  }
  scope.checkedImports.set(id, record);
  const compared = valuesToCompare(scope, inputs);
  const problems = problemsOfImport(definition, compared, record);
  const unseen = [...compared].flatMap(([key, value]) => {
    const isNotShown = compare(fieldOf(definition, key), value, record).outcome === "notShown";
    return isNotShown && !isEmpty(value) ? [key] : [];
  });
  const name = owners.resourceName(owner);
  const announcement = message`${label} ${name} imports ${singular} ${describeRecord(definition, record)}. Nothing is created or
    changed.`;
  const warning = message`${label} ${name}: the API does not show ${unseen.join(", ")} of ${singular} ${shownId}, so the import
    cannot compare it; what the program declares is sent with the first update.`;
  return {
    problems,
    announcement: problems.length === 0 ? announcement : undefined,
    warnings: unseen.length > 0 ? [warning] : [],
  };
}

/** Makes an existing record the resource's. Writes nothing to the API. */
export async function importRecord(
  scope: OperationScope,
  id: string,
  inputs: Inputs,
): Promise<OperationResult> {
  const { claims, definition, checkedImports, options, owners } = scope;
  const { label } = definition;
  const { owner } = options;
  const record = checkedImports.get(id) ?? (await getToImport(scope, id, inputs));
  checkedImports.delete(id);
  const problems = problemsOfImport(definition, valuesToCompare(scope, inputs), record);
  if (problems.length > 0) {
    const reasons = problems.map(({ property, reason }) => message`${property} ${reason}`);
    throw new UptimeError(
      message`${label} ${quoteId(id)} was not imported, and nothing was written: ${joinMessages(reasons, "; ")}.`,
    );
  }
  // A create of this run may have made the record since it was checked.
  const rival = claims.otherDeclaredOwner(id, owner);
  if (rival !== undefined)
    throw new UptimeError(
      message`${label} ${quoteId(id)} was not imported, because ${owners.describe(rival)} of this stack has it: remove the
        option import.`,
    );
  const claim = claims.take(record, owner);
  return { id, outputs: outputsOf(scope, inputs, record, { claim, tookExisting: true }) };
}

/** Reads the record that the engine itself imports. `take` makes it the resource's. Throws NotFoundError if it does not exist. */
export async function importForEngine(
  scope: OperationScope,
  id: string,
  account: string | undefined,
): Promise<{ readonly outputs: Outputs; readonly take: () => void }> {
  const { record, outputs } = await readUnmanaged(scope, id, account);
  const claim = newClaim();
  return {
    outputs: { ...outputs, isReadOnly: undefined, importId: id, tookExisting: true, claim },
    take: () => scope.claims.take(record, scope.options.owner, claim),
  };
}

/**
 * Returns the changes of a resource that the engine itself has imported. The engine stores the record before `check` compares it, and
 * keeps it if that fails. So throws if the first run that declares it would change the record; it may add what the record does not
 * show, such as a password.
 */
export async function assertNothingOverwritten(
  { collection, definition, operation, options, owners }: OperationScope,
  id: string,
  { values }: Inputs,
  changes: Changes,
): Promise<Changes> {
  const { changed, replaces } = changes;
  if (changed.length === 0 || !owners.isDeclared(options.owner)) return changes;
  const overwritten = async (): Promise<string[]> => {
    // State does not tell what the record shows as empty, so it is read.
    const record = await collection.find(id, operation);
    const declared = wantedValues(definition, values, (key) => changed.includes(key));
    return record ? differences(definition, declared, record).map(({ key }) => key) : [];
  };
  const others = replaces.length > 0 ? replaces : await overwritten();
  if (others.length === 0) return changes;
  throw new UptimeError(
    message`${definition.label} ${quoteId(id)} was imported, and the program declares another ${others.join(", ")}. The
      first \`pulumi up\` after an import must change nothing: declare what is there, and run it once. If the record
      is not to be managed, run \`pulumi state delete URN\` before you remove the resource.`,
  );
}

async function getToImport(
  { definition, ledger, operation, options, reader }: OperationScope,
  id: string,
  { values }: Inputs,
): Promise<ApiRecord> {
  const wanted = wantedValues(definition, values);
  try {
    const record = await reader.get(id, wanted, operation, { withAttributes: true });
    ledger.markSeen(id);
    return record;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    ledger.dropImport(id, options.owner);
    throw new UptimeError(
      message`${definition.label} ${quoteId(id)} does not exist (${error}). Check the id. If it was
        imported before, and has been replaced or deleted since, remove the option import.`,
      { cause: error },
    );
  }
}

/** The declared values that an import compares: without unknown ones and those that `ignoreChanges` names. */
function valuesToCompare({ definition, options }: OperationScope, { values }: Inputs): WantedValues {
  return wantedValues(definition, values, (key) => !pathsInclude(options.ignoreChanges, key));
}

/** How declared values differ from the record that is imported. */
function problemsOfImport(definition: Definition, wanted: WantedValues, record: ApiRecord): InputProblem[] {
  const there = message`${definition.singular} ${quoteId(record.id)}`;
  return differences(definition, wanted, record).map((difference) => {
    const { key, field, wanted, actual, problem } = difference;
    const found = quoteValue(actual);
    // The classes fill in defaults, so a default may not be in the program's text.
    const isDefault = wanted === field.default ? ", its default," : "";
    const reason = isSecretDifference(difference)
      ? message`differs from what ${there} has (both are secret, so neither is shown)`
      : problem !== undefined
        ? message`cannot be compared: ${problem}`
        : message`is ${quoteValue(wanted)}${isDefault} in the program and ${found} in ${there}`;
    return {
      property: key,
      reason: message`${reason}. An import changes nothing: declare the record's value, or change the record first`,
    };
  });
}
