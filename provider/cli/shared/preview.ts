import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";

import * as z from "zod/mini";

import { identityKeys } from "../../definitions/keys";
import { unknownValue } from "../../common/marks";
import { stackType } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";
import { withoutHidden } from "../../engine/request";
import { topLevel } from "../../lifecycle/paths";
import { findDefinition, titleOf } from "./resource-types";

const stepState = z.looseObject({
  type: z.string(),
  id: z.optional(z.string()),
  /** The resource is deleted, and its replacement is not made yet. */
  pendingReplacement: z.optional(z.boolean()),
  inputs: z.optional(z.record(z.string(), z.unknown())),
  outputs: z.optional(z.record(z.string(), z.unknown())),
  /** The provider's URN and id. */
  provider: z.optional(z.string()),
  /** The option `import` of a native resource. */
  importID: z.optional(z.string()),
});

/** What `pulumi preview --json` prints, as far as it is used here. */
export const previewReport = z.looseObject({
  steps: z.nullish(
    z.array(
      z.looseObject({
        op: z.string(),
        urn: z.string(),
        oldState: z.optional(stepState),
        newState: z.optional(stepState),
        /** By the path of a property or of its part; of native resources only. */
        detailedDiff: z.nullish(z.record(z.string(), z.unknown())),
      }),
    ),
  ),
  /** How many resources there are for each operation. */
  changeSummary: z.nullish(z.record(z.string(), z.number())),
  diagnostics: z.nullish(
    z.array(
      z.looseObject({ urn: z.optional(z.string()), message: z.string(), severity: z.optional(z.string()) }),
    ),
  ),
});

export type Preview = z.infer<typeof previewReport>;
export type PreviewStep = NonNullable<Preview["steps"]>[number];

/** What becomes of a resource, what matters most first. To Pulumi an adoption is a create, so a preview cannot show it. */
const operations = ["replace", "delete", "create", "update", "import"] as const;
export type PlannedOperation = (typeof operations)[number];

/** How many resources there are for each operation. */
export type OperationCounts = Readonly<Partial<Record<PlannedOperation | "same", number>>>;

export function countsOf(changes: readonly { readonly operation: PlannedOperation }[]): OperationCounts {
  const counts = operations.map(
    (operation) => [operation, changes.filter((change) => change.operation === operation).length] as const,
  );
  return Object.fromEntries(counts);
}

/** The counts as people read them, such as `2 to create`. */
export function countTexts(counts: OperationCounts): string[] {
  return operations.flatMap((operation) => {
    const count = counts[operation] ?? 0;
    return count > 0 ? [`${count} to ${operation}`] : [];
  });
}

/** The URN of a resource's provider; a reference is the URN and the id. */
export function providerOf(resource: { readonly provider?: string | undefined } | undefined): string {
  return (resource?.provider ?? "").replace(/::[^:]*$/, "");
}

/** What a preview does to one resource. */
export interface PlannedChange {
  readonly operation: PlannedOperation;
  readonly urn: string;
  /** Such as `Monitor shop`. */
  readonly title: string;
  /** The id of the record that an import takes. */
  readonly importId: string | undefined;
  /** Of a record that is deleted: its id, and the name or URL. */
  readonly lost?: readonly string[];
  /** The old record is deleted before the new one is made. */
  readonly isDeletedFirst?: boolean;
  readonly properties: readonly PlannedProperty[];
  /** The properties whose change Pulumi does not show, because they are secret. */
  readonly secrets: readonly string[];
}

/** A property before and after, as JSON; undefined if it is not there. */
export interface PlannedProperty {
  readonly property: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a preview changes, what matters most first. The stack itself is none. */
export interface PlannedChanges {
  /** Of this package. */
  readonly own: readonly PlannedChange[];
  readonly others: readonly PlannedChange[];
}

export function plannedChanges({ steps }: Preview): PlannedChanges {
  const changes = (steps ?? []).filter((step) => !isStack(step)).flatMap((step) => changeOf(step) ?? []);
  const weight = ({ operation }: PlannedChange): number => operations.indexOf(operation);
  const sorted = changes.sort((a, b) => weight(a) - weight(b));
  const isOwn = ({ urn }: PlannedChange): boolean => findDefinition(parseUrn(urn).type) !== undefined;
  return { own: sorted.filter(isOwn), others: sorted.filter((change) => !isOwn(change)) };
}

const isStack = ({ urn }: PreviewStep): boolean => parseUrn(urn).type === stackType;

/** The counts of all resources but the stack. Unlike in Pulumi, the import of a dynamic resource is no create. */
export function summaryOf(preview: Preview): OperationCounts {
  const { own, others } = plannedChanges(preview);
  const same = preview.changeSummary?.same ?? 0;
  const isStackSame = (preview.steps?.find(isStack)?.op ?? "same") === "same";
  return { ...countsOf([...own, ...others]), same: Math.max(0, isStackSame ? same - 1 : same) };
}

/** What a failed preview says: its errors or, as it is with a program in YAML, what the program has printed. */
export function failureIn(preview: Preview): string[] {
  const errors = errorsIn(preview);
  if (errors.length > 0) return errors;
  const printed = (preview.diagnostics ?? []).filter(({ severity }) => severity === "info#err");
  const text = stripVTControlCharacters(printed.map(({ message }) => message).join("")).trim();
  return text === "" ? [] : [text.replace(/\n{2,}/g, "\n")];
}

export function errorsIn({ diagnostics }: Preview): string[] {
  return (diagnostics ?? [])
    .filter(({ severity }) => severity === "error")
    .map(({ urn, message }) => {
      const text = message.replace(/^error: /, "").trim();
      const { name } = parseUrn(urn ?? "");
      return name === "" || text.includes(name) ? text : `${name}: ${text}`;
    });
}

/** What a step does to its resource, if it is not a part of another step. */
export function changeOf({
  op,
  urn,
  oldState,
  newState,
  detailedDiff,
}: PreviewStep): PlannedChange | undefined {
  const change = { urn, title: titleOf({ urn }), importId: undefined, properties: [], secrets: [] };
  const after = visibleIn(newState?.inputs);
  switch (op) {
    case "create":
    case "import": {
      const given = newState?.inputs?.importId ?? newState?.importID;
      return {
        ...change,
        operation: newState?.inputs?.importId === undefined ? op : "import",
        importId: typeof given === "string" && given !== "" ? given : undefined,
        properties: changedProperties({}, after),
      };
    }
    case "update":
    case "replace": {
      const declared = changedProperties(visibleIn(oldState?.inputs), after);
      // After a refresh, drift is in the outputs.
      const outputs = visibleIn(oldState?.outputs);
      const managed = Object.fromEntries(Object.keys(after).map((key) => [key, outputs[key] ?? null]));
      const found = declared.length > 0 ? declared : changedProperties(managed, after);
      const isChangedSecret = (key: string): boolean =>
        after[key] === secretText && !found.some(({ property }) => property === key);
      const secrets = [...new Set(Object.keys(detailedDiff ?? {}).map(topLevel))]
        .filter(isChangedSecret)
        .map((property) => ({ property, before: secretText, after: secretText }));
      return {
        ...change,
        operation: op,
        isDeletedFirst: op === "replace" && oldState?.pendingReplacement === true,
        properties: [...found, ...secrets],
        secrets: Object.keys(after).filter(isChangedSecret),
      };
    }
    case "delete":
      return { ...change, operation: op, lost: lostRecord(urn, oldState) };
    default:
      // Nothing changes, or it is a part of a replacement.
      return undefined;
  }
}

/** The id of a resource's record, and what people know it by. */
function lostRecord(urn: string, state: PreviewStep["oldState"]): string[] {
  const definition = findDefinition(parseUrn(urn).type);
  if (state?.id === undefined || !definition) return [];
  const known = identityKeys(definition).map((key) => state.outputs?.[key] ?? state.inputs?.[key]);
  return [state.id, ...known.flatMap((value) => (value === secretText ? [] : (jsonOf(value) ?? [])))];
}

/** Properties without those that Pulumi hides too. */
function visibleIn(properties: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { importId: _, ...visible } = withoutHidden(properties);
  return visible;
}

function changedProperties(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): PlannedProperty[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys
    .filter((key) => !isDeepStrictEqual(before[key] ?? null, after[key] ?? null))
    .map((property) => ({ property, before: jsonOf(before[property]), after: jsonOf(after[property]) }));
}

/** What `pulumi preview --json` prints in place of a secret. */
export const secretText = "[secret]";

function jsonOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === secretText) return secretText;
  if (value === unknownValue) return "(known after apply)";
  return JSON.stringify(value);
}
