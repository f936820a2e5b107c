import { reviewHash } from "../../common/hash";
import { equalValues } from "../../definitions/codecs";
import { fieldOf } from "../../definitions/keys";
import { managedValue } from "../../lifecycle/difference";
import type { DriftedResource, DriftReport } from "../shared/drift-report";
import { changeOf, createInstead, importIdIn, isDestructive } from "../shared/planned-changes";
import type { PlannedChange, PlannedProperty } from "../shared/planned-changes";
import { secretText, type DeclaredSteps } from "../shared/preview";
import { listOf } from "../shared/quoting";
import { findDefinition, isOfThisPackage, titleOf } from "../shared/resource-types";
import { foreignCode } from "../shared/state-code";

/**
 * One thing that an apply does or runs, and that somebody must have reviewed. An apply may fail in the middle. What a later run does
 * to finish it then counts as reviewed too: the create of a resource whose replacement has only deleted the record, for example.
 */
export interface ApplyAction {
  /** The same in each run for the same action. It does not show values. */
  readonly hash: string;
  /** Such as `Monitor shop: delete`. */
  readonly title: string;
  /** It deletes a record or resource, or replaces it. */
  readonly isDestructive?: boolean;
  /** Hashes of what a later run may do without another review, to finish this if the apply fails in the middle. */
  readonly leftovers?: readonly string[];
  /** Of an update: for each value that it sets, the leftovers that allow it, of which one is enough. */
  readonly allowedBy?: readonly (readonly string[])[];
}

export interface ApplyActions {
  /** What writes: the program's changes, and the drift that an apply undoes. A create that was cut off before is two of them. */
  readonly writes: readonly ApplyAction[];
  readonly code: readonly ApplyAction[];
}

export function applyActions(
  declared: DeclaredSteps,
  changes: readonly PlannedChange[],
  drift: DriftReport,
): ApplyActions {
  /** The create that would bring what the program declares of a resource, whatever state has of it. */
  const createOf = ({ urn }: { readonly urn: string }): PlannedChange | undefined => {
    const step = declared.get(urn);
    return step && isOfThisPackage(urn)
      ? changeOf({ ...step, op: "create", oldState: undefined })
      : undefined;
  };
  const gone = new Set(drift.drifted.flatMap(({ urn, outcome }) => (outcome === "gone" ? [urn] : [])));
  // A replacement of a record that is gone is a create.
  const isLeaving = ({ operation, isPendingDelete }: PlannedChange): boolean =>
    !isPendingDelete && ["create", "replace", "delete"].includes(operation);
  const leaving = new Set(changes.filter(isLeaving).map(({ urn }) => urn));
  // A run that was killed has done it already, or somebody by hand, so there is nothing to undo.
  const isDone = (edit: DriftedResource): boolean =>
    edit.outcome === "gone"
      ? leaving.has(edit.urn)
      : isAsDeclared(edit, declared.get(edit.urn)?.newState.inputs);
  const writes = [
    ...changes.map((change) => changeAction(change, createOf(change), gone)),
    ...drift.drifted.filter((edit) => !isDone(edit)).map((edit) => editAction(edit, createOf(edit), leaving)),
    ...pendingChanges(changes, drift).map(({ urn, title }) => ({
      hash: reviewHash(["pending", urn]),
      title: `${title}: a run was killed while it created it`,
    })),
  ];
  return { writes, code: codeActions(drift.code) };
}

/** The code of other packages in state, which Pulumi runs. */
export function codeActions(code: DriftReport["code"]): ApplyAction[] {
  return code.map(({ hash, address, resources }) => ({
    hash,
    title: `code in state of ${listOf(resources, 3)} (${address ?? hash})`,
  }));
}

/** The hashes of the code that the program declares. Outputs are still those of state. */
export function declaredCodeHashes(declared: DeclaredSteps): string[] {
  const resources = [...declared.values()].map(({ urn, newState: { inputs } }) => ({ urn, inputs }));
  return foreignCode(resources).map(({ hash }) => hash);
}

/** What a preview creates although a killed run may have created it already. */
export function pendingChanges(
  changes: readonly PlannedChange[],
  drift: DriftReport | undefined,
): readonly PlannedChange[] {
  const pending = new Set(drift?.pending.map(({ urn }) => urn));
  return changes.filter(
    ({ urn, operation }) => pending.has(urn) && (operation === "create" || operation === "replace"),
  );
}

/** The URNs of resources that cannot be created again, because the program still imports a record that is gone. */
export function importsOfGoneRecords(
  declared: DeclaredSteps,
  edits: readonly DriftedResource[],
): ReadonlySet<string> {
  const missing = edits.filter(({ urn, outcome, id }) => {
    // The plugin also knows ACCOUNT/ID.
    return outcome === "gone" && importIdIn(declared.get(urn)?.newState)?.split("/").at(-1) === id;
  });
  return new Set(missing.map(({ urn }) => urn));
}

/** Whether a record that was edited by hand has what the program declares. */
function isAsDeclared(
  { type, outcome, properties }: DriftedResource,
  inputs: Readonly<Record<string, unknown>> = {},
): boolean {
  const definition = findDefinition(type);
  if (!definition || outcome !== "changed") return false;
  return properties.every(({ property, secret, inApi }) => {
    if (secret || inputs[property] === undefined) return false;
    const found = managedValue({ [property]: inApi }, property);
    return equalValues(fieldOf(definition, property), managedValue(inputs, property), found);
  });
}

/** @param gone the URNs of resources whose records are gone already */
function changeAction(
  change: PlannedChange,
  declared: PlannedChange | undefined,
  gone: ReadonlySet<string>,
): ApplyAction {
  const { title, operation, isPendingDelete, urn, recordId } = change;
  const oldRecord = hashOfOldRecord(urn, recordId);
  const isMade = operation === "create" || operation === "replace";
  const set = declared && operation === "update" ? valuesToSet(change) : [];
  return {
    hash: isPendingDelete ? oldRecord : hashOfChange(change),
    title: `${title}: ${operation}${isPendingDelete ? " what an earlier run has left" : ""}`,
    // What an earlier run has left is another record.
    isDestructive: isDestructive(change) && (isPendingDelete || !gone.has(urn)),
    leftovers: [
      // If it fails between its delete and its create, either is left.
      ...(operation === "replace" ? [oldRecord, hashOfChange(createInstead(change))] : []),
      ...(declared && isMade ? [hashOfRecord(declared)] : []),
      ...set.map((value) => hashOfValue(change, value)),
    ],
    allowedBy: set.map((value) => [
      hashOfValue(change, value),
      // A create empties nothing.
      ...(declared && !isEmptied(value) ? [hashOfRecord(declared)] : []),
    ]),
  };
}

/**
 * What sets an edit by hand back. If a run has stored the edit in state and fails before that, the next preview shows a create (of a
 * record that is gone) or an update, which the leftovers cover.
 *
 * @param leaving the URNs of resources whose record a change deletes or replaces, which an edit does not do a second time
 */
function editAction(
  edit: DriftedResource,
  declared: PlannedChange | undefined,
  leaving: ReadonlySet<string>,
): ApplyAction {
  const { urn, id, outcome, properties } = edit;
  const leftovers = (of: PlannedChange): string[] => {
    if (outcome === "gone") return [hashOfChange(of), hashOfRecord(of)];
    const old = edit.replaces ? [hashOfOldRecord(urn, id)] : [];
    const declaredValue = ({ property }: { property: string }): SetValue =>
      of.properties.find((one) => one.property === property) ?? { property, after: undefined };
    return [...old, ...[noValue, ...properties.map(declaredValue)].map((value) => hashOfValue(of, value))];
  };
  return {
    hash: reviewHash(["drift", urn, id, outcome, properties, ...(edit.replaces ? ["replaces"] : [])]),
    title: `${titleOf(urn)}: ${outcome === "changed" ? "edited by hand" : outcome}`,
    isDestructive: edit.replaces === true && !leaving.has(urn),
    leftovers: declared ? leftovers(declared) : [],
  };
}

/** The hash of the delete that a replacement may leave to a later run. */
function hashOfOldRecord(urn: string, id: string | undefined): string {
  return reviewHash(["leftover", urn, id]);
}

function hashOfChange(change: PlannedChange): string {
  const { operation, urn, importId, recordId, account, provider, isProtected, keptBy } = change;
  const { properties, options, secrets, maybeChanged, valuesHash } = change;
  // Values of other packages may be new in each preview, and the comment does not show them.
  if (!isOfThisPackage(urn)) return reviewHash([operation, urn, importId, recordId, options]);
  const changed = [...properties, ...options].map(({ property, before, after }) =>
    JSON.stringify([property, before, after]),
  );
  const isSecretSent = operation !== "delete" && secrets.length > 0;
  return reviewHash([
    ...[operation, urn, importId, recordId, account, provider, isProtected, keptBy],
    changed.sort(),
    isSecretSent ? valuesHash : undefined,
    maybeChanged,
  ]);
}

/** A value that an update sets: of a property, or of an option that Pulumi keeps in state. */
type SetValue = Pick<PlannedProperty, "property" | "after">;

const isEmptied = ({ after = "null" }: SetValue): boolean => after === "null";

/** Stands for an update that shows no value: it verifies a write that has failed although all of it is in state. */
const noValue: SetValue = { property: "", after: "" };

/** All that an update sets, also the secrets that it may set. */
function valuesToSet({ properties, options, maybeChanged }: PlannedChange): SetValue[] {
  return [
    noValue,
    ...properties,
    ...options,
    ...maybeChanged.map((property) => ({ property, after: secretText })),
  ];
}

function hashOfValue(change: PlannedChange, value: SetValue): string {
  const { urn, account, provider, secrets, valuesHash } = change;
  const secret = secrets.includes(value.property) ? valuesHash : undefined;
  const after = isEmptied(value) ? null : value.after;
  return reviewHash(["value", urn, account, provider, value.property, after, secret]);
}

/** The hash of all values that a record is made with. */
function hashOfRecord(declared: PlannedChange): string {
  return reviewHash(["record", hashOfChange(declared)]);
}
