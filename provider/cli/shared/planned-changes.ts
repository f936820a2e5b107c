import { isDeepStrictEqual } from "node:util";

import { isEngineUnknown } from "../../common/marks";
import { hiddenNames, providerType, stackType } from "../../common/pulumi";
import { withoutLogin } from "../../common/url";
import { explicitProviderOf, parseUrn } from "../../common/urn";
import type { Definition } from "../../definitions/field";
import { identityKeys } from "../../definitions/keys";
import { settingDeclarations, type Setting } from "../../definitions/settings";
import { withoutHidden } from "../../engine/properties";
import { topLevel } from "../../lifecycle/paths";
import { accountOrProviderName } from "./providers";
import { secretText, type Preview, type PreviewStep } from "./preview";
import { byName } from "./quoting";
import { findDefinition, isOfThisPackage, titleOf } from "./resource-types";

/** What can happen to a resource, what matters most first. To Pulumi an adoption is a create, so a preview cannot show it. */
const operations = ["replace", "delete", "create", "update", "import"] as const;
export type PlannedOperation = (typeof operations)[number];

/** Operations that are a part of another one, such as `create-replacement`, or that write nothing. */
const silentOperations: readonly string[] = [
  "same",
  "read",
  "read-replacement",
  "refresh",
  "discard",
  "discard-replaced",
  "remove-pending-replace",
  "create-replacement",
  "import-replacement",
  "delete-replaced",
  "diff",
  "extend-parameterize",
];

/** How many changes there are of each operation, such as `2 to create`. */
export function countTexts(changes: readonly { readonly operation: PlannedOperation }[]): string[] {
  return operations.flatMap((operation) => {
    const count = changes.filter((change) => change.operation === operation).length;
    return count > 0 ? [`${count} to ${operation}`] : [];
  });
}

/** What a preview does to one resource. */
export interface PlannedChange {
  readonly operation: PlannedOperation;
  readonly urn: string;
  /** The kind of record; undefined for a provider, and for a resource of another package. */
  readonly definition: Definition | undefined;
  /** For example `Monitor shop`; a resource of another package has its whole type. */
  readonly title: string;
  /** The id of the record that an import takes. */
  readonly importId: string | undefined;
  /** The id of what is there before. */
  readonly recordId: string | undefined;
  /** The name and URL as JSON of the record that is there before or that an import takes. */
  readonly recordNames: readonly string[];
  /** The account or the explicit provider, if it has a name. */
  readonly account: string | undefined;
  /** The URN of the explicit provider. */
  readonly provider: string | undefined;
  /** A replacement deletes the old record before it makes the new one. */
  readonly isDeletedFirst: boolean;
  /** A delete of a record that an earlier run has replaced and could not delete. */
  readonly isPendingDelete: boolean;
  /** The option `protect`. */
  readonly isProtected: boolean;
  /** The option by which the record of a resource that is deleted or replaced stays. */
  readonly keptBy: "retainOnDelete" | "deletedWith" | undefined;
  readonly properties: readonly PlannedProperty[];
  /** An earlier run has left something undone, so there is an update even if no value differs. */
  readonly isUnfinished: boolean;
  /** `protect`, `retainOnDelete` and a taint, if they change. Pulumi keeps them in state, so they need an `up` too. */
  readonly options: readonly PlannedProperty[];
  /** The properties whose values are secret, whether they change or not. */
  readonly secrets: readonly string[];
  /** The secrets of which Pulumi does not say whether they change, as in a dynamic resource. */
  readonly maybeChanged: readonly string[];
  /** A keyed hash of all values, secrets too, if the provider has written it. */
  readonly valuesHash: string | undefined;
}

/** Whether a change costs the record or resource that is there. */
export const isDestructive = ({ operation }: PlannedChange): boolean =>
  operation === "delete" || operation === "replace";

/** A property before and after, as JSON; undefined if it is not there. */
export interface PlannedProperty {
  readonly property: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * What a preview changes: what matters most first, then this package's resources, then by name. The stack itself is left out.
 *
 * @returns also the number of resources of all packages that stay as they are
 */
export function plannedChanges({ steps, changeSummary }: Preview): {
  changes: PlannedChange[];
  unchanged: number;
} {
  const all = steps.filter((step) => !isStack(step));
  const updates = optionUpdates(all);
  const deleted = new Set(all.flatMap(({ op, urn }) => (op === "delete" ? [urn] : [])));
  const deletedReplaced = new Set(all.filter(({ op }) => op === "delete-replaced").map(recordKey));
  const planned = all.flatMap((step) => {
    const change = changeOf(step);
    const staysInApi = change?.operation === "delete" && deleted.has(step.oldState?.deletedWith ?? "");
    // An earlier run has deleted the old record, and could not create the new one.
    if (change?.isDeletedFirst && !deletedReplaced.has(recordKey(step))) return [createInstead(change)];
    return change ? [staysInApi ? { ...change, keptBy: "deletedWith" as const } : change] : [];
  });
  const changes = [...planned, ...pendingDeletes(all), ...updates];
  const weight = (change: PlannedChange): number =>
    2 * operations.indexOf(change.operation) + (isOfThisPackage(change.urn) ? 0 : 1);
  // The engine's order changes from run to run.
  changes.sort((a, b) => weight(a) - weight(b) || byName(a.title, b.title) || byName(a.urn, b.urn));
  // Pulumi counts the stack too.
  const isStackSame = (steps.find(isStack)?.op ?? "same") === "same";
  const same = (changeSummary?.same ?? 0) - updates.length - (isStackSame ? 1 : 0);
  return { changes, unchanged: Math.max(0, same) };
}

/** A replacement of a record that is gone: it deletes nothing. */
export const createInstead = (replacement: PlannedChange): PlannedChange => ({
  ...replacement,
  operation: "create",
  recordId: undefined,
  isDeletedFirst: false,
});

/** The resource and the record that are there before. A renamed resource still has its former URN when its record is deleted. */
const recordKey = ({ urn, oldState }: PreviewStep): string =>
  JSON.stringify([oldState?.urn ?? urn, oldState?.id]);

/** The deletes of records that an earlier run has replaced. */
function pendingDeletes(steps: readonly PreviewStep[]): PlannedChange[] {
  const replaced = new Set(steps.filter(({ op }) => op === "replace").map(recordKey));
  return steps
    .filter((step) => step.op === "delete-replaced" && !replaced.has(recordKey(step)))
    .flatMap((step) => changeOf({ ...step, op: "delete" }) ?? [])
    .map((change) => ({ ...change, isPendingDelete: true }));
}

/** What changes in nothing but its options. A preview lists it with --show-sames. */
function optionUpdates(steps: readonly PreviewStep[]): PlannedChange[] {
  return steps
    .filter(({ op }) => op === "same")
    .flatMap((step) => changeOf({ ...step, op: "update" }) ?? [])
    .filter(({ options }) => options.length > 0)
    .map((change) => ({ ...change, properties: [], secrets: [], maybeChanged: [] }));
}

/** Why the steps may not be all that an `up` does. */
export function unknownSteps({ steps }: Preview): string[] {
  const found = new Set(steps.map(({ op }) => op));
  const known = [...operations, ...silentOperations];
  const unknown = [...found].filter((op) => !known.includes(op));
  return [
    ...unknown.map(
      (op) => `The preview has the operation ${op}, which this version does not know: update pulumi-uptime.`,
    ),
    ...(found.has("replace") && !found.has("create-replacement") && !found.has("import-replacement")
      ? [
          "The preview was made without --show-replacement-steps, so deletes that earlier runs have left over are not in it.",
        ]
      : []),
  ];
}

const isStack = ({ urn }: PreviewStep): boolean => parseUrn(urn).type === stackType;

/** What a step does to its resource; undefined if nothing changes, or if it is a part of another step. */
export function changeOf(step: PreviewStep): PlannedChange | undefined {
  const { urn, oldState, newState, valuesHash } = step;
  const { type, name } = parseUrn(urn);
  const definition = findDefinition(type);
  const isImport = definition && step.op === "create" && newState?.inputs?.importId !== undefined;
  const operation = isImport ? "import" : operations.find((one) => one === step.op);
  if (!operation) return undefined;
  const isNew = operation === "create" || operation === "import";
  const after = visibleIn(urn, newState?.inputs);
  const secrets = Object.keys(after)
    .filter((key) => after[key] === secretText)
    .sort();
  const current = newState ?? oldState;
  return {
    operation,
    urn,
    definition,
    title: isOfThisPackage(urn) ? titleOf(urn) : `${type} ${name}`,
    importId: isNew ? importIdIn(newState) : undefined,
    recordId: oldState?.id,
    recordNames: recordNamesIn(definition, operation === "import" ? newState : oldState, secrets),
    account: accountOrProviderName(current?.provider, current?.inputs?.account),
    provider: explicitProviderOf(current?.provider),
    isDeletedFirst: operation === "replace" && oldState?.pendingReplacement === true,
    isPendingDelete: false,
    isProtected: current?.protect === true,
    // The engine asks state, even if the program changes the option.
    keptBy: (oldState ?? newState)?.retainOnDelete === true ? "retainOnDelete" : undefined,
    properties: isNew ? changedProperties({}, after) : [],
    isUnfinished: false,
    options: [],
    secrets,
    maybeChanged: [],
    valuesHash,
    ...((operation === "update" || operation === "replace") && differencesOf(step, after, secrets)),
  };
}

/** What an update or a replacement changes. */
function differencesOf(
  { urn, oldState, newState, detailedDiff, diffReasons }: PreviewStep,
  after: Readonly<Record<string, unknown>>,
  secrets: readonly string[],
): Pick<PlannedChange, "properties" | "isUnfinished" | "options" | "maybeChanged"> {
  const declared = changedProperties(visibleIn(urn, oldState?.inputs), after);
  const outputs = visibleIn(urn, oldState?.outputs);
  // The engine's or the provider's own diff also names secrets, which are the same text before and after, drift that a refresh has put
  // into the outputs, and what an earlier update has left undone.
  const isKnown = detailedDiff != null || diffReasons != null;
  const known = [...Object.keys(detailedDiff ?? {}), ...(diffReasons ?? [])].map(topLevel);
  const isChanged = (key: string): boolean =>
    isKnown
      ? known.includes(key)
      : declared.length === 0 && !isDeepStrictEqual(outputs[key] ?? null, after[key] ?? null);
  const others = Object.keys(after)
    .sort()
    .filter((key) => !declared.some(({ property }) => property === key) && isChanged(key))
    .map((property) => {
      const present = shownJson(after[property]);
      return {
        property,
        before: present === secretText ? secretText : shownJson(outputs[property]),
        after: present,
      };
    });
  const properties = [...declared, ...others];
  return {
    properties,
    isUnfinished: known.includes(hiddenNames.isPartial),
    options: changedOptions(oldState, newState),
    maybeChanged: isKnown
      ? []
      : secrets.filter((key) => !properties.some(({ property }) => property === key)),
  };
}

/** What the option `import` names, if the program has it. */
export function importIdIn(state: PreviewStep["newState"]): string | undefined {
  if (!state) return undefined;
  const given = (findDefinition(state.type) && state.inputs?.importId) ?? state.importID;
  // In JavaScript, it may be a number.
  return typeof given === "string" || typeof given === "number" ? String(given) || undefined : undefined;
}

/** The name and URL of a resource's record, unless they are secret in state or in the program. */
function recordNamesIn(
  definition: Definition | undefined,
  state: PreviewStep["oldState"],
  secrets: readonly string[],
): string[] {
  return (definition ? identityKeys(definition) : [])
    .filter((key) => !secrets.includes(key))
    .map((key) => withoutLogin(state?.outputs?.[key] ?? state?.inputs?.[key]))
    .flatMap((value) => (value === secretText ? [] : (shownJson(value) ?? [])));
}

function changedOptions(before: PreviewStep["oldState"], after: PreviewStep["newState"]): PlannedProperty[] {
  return (["protect", "retainOnDelete", "taint"] as const).flatMap((option) => {
    const [old, current] = [before, after].map((state) => state?.[option] === true);
    return old === current ? [] : [{ property: option, before: String(old), after: String(current) }];
  });
}

/** The properties that Pulumi shows too. Keys in a provider are secret, even if the program does not say so. */
function visibleIn(urn: string, properties: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { importId: _, ...visible } = withoutHidden(properties);
  if (parseUrn(urn).type !== providerType) return visible;
  const all: Readonly<Record<string, Setting>> = settingDeclarations;
  return Object.fromEntries(
    Object.entries(visible).map(([key, value]) => [key, all[key]?.secret ? secretText : value]),
  );
}

function changedProperties(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): PlannedProperty[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys
    .filter((key) => !isDeepStrictEqual(before[key] ?? null, after[key] ?? null))
    .map((property) => {
      const [old, present] = [before[property], after[property]].map(shownJson);
      // The program has marked the value as secret, so state may have the same one in plain text.
      const isMarked = old !== undefined && present === secretText;
      return { property, before: isMarked ? secretText : old, after: present };
    });
}

/** What is shown in place of a value that is unknown in a preview. */
const unknownText = "(known after apply)";

function shownJson(value: unknown): string | undefined {
  if (value === secretText) return secretText;
  if (isEngineUnknown(value)) return unknownText;
  // Also a part of a list may be unknown.
  return JSON.stringify(value, (_, part: unknown) => (isEngineUnknown(part) ? unknownText : part));
}
