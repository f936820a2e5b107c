import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";

import * as z from "zod/mini";

import { identityKeys } from "../../definitions/keys";
import { settings, type Setting } from "../../definitions/settings";
import { unknownValue } from "../../common/marks";
import { providerType, stackType } from "../../common/pulumi";
import { isDefaultProvider, parseUrn } from "../../common/urn";
import { withoutHidden } from "../../engine/request";
import { topLevel } from "../../lifecycle/paths";
import { byName } from "./quoting";
import { findDefinition, isOwn, titleOf } from "./resource-types";

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
  protect: z.optional(z.boolean()),
  retainOnDelete: z.optional(z.boolean()),
});

/** What `pulumi preview --json --show-replacement-steps` prints, as far as it is used here. */
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

/** Operations that are a part of another one, or that write nothing. */
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
  /** Such as `Monitor shop`; with the whole type for a resource of another package. */
  readonly title: string;
  /** The id of the record that an import takes. */
  readonly importId: string | undefined;
  /** The record that is there before: its id, and the name or URL as JSON. */
  readonly record: readonly string[];
  /** The account or the explicit provider, if it has a name. */
  readonly account: string | undefined;
  /** The URN of the explicit provider. */
  readonly provider: string | undefined;
  /** Of a replacement: the old record is deleted before the new one is made. */
  readonly isDeletedFirst: boolean;
  /** Of a delete: an earlier run has replaced the resource, and could not delete this record. */
  readonly isLeftover: boolean;
  /** Options that say what may become of the record. */
  readonly isProtected: boolean;
  readonly isRetained: boolean;
  readonly properties: readonly PlannedProperty[];
  /** The properties whose values are secret, whether they change or not. */
  readonly secrets: readonly string[];
}

/** A property before and after, as JSON; undefined if it is not there. */
export interface PlannedProperty {
  readonly property: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a preview changes, what matters most first, and by name. The stack itself is none. */
export interface PlannedChanges {
  /** Of this package. */
  readonly own: readonly PlannedChange[];
  readonly others: readonly PlannedChange[];
}

export function plannedChanges({ steps }: Preview): PlannedChanges {
  const all = (steps ?? []).filter((step) => !isStack(step));
  const changes = [...all.flatMap((step) => changeOf(step) ?? []), ...leftovers(all)];
  const weight = ({ operation }: PlannedChange): number => operations.indexOf(operation);
  // The engine's order is another one in each run.
  const sorted = changes.sort(
    (a, b) => weight(a) - weight(b) || byName(a.title, b.title) || byName(a.urn, b.urn),
  );
  return { own: sorted.filter(isOwn), others: sorted.filter((change) => !isOwn(change)) };
}

/** The deletes that are no part of a replacement of this run. */
function leftovers(steps: readonly PreviewStep[]): PlannedChange[] {
  const key = ({ urn, oldState }: PreviewStep): string => JSON.stringify([urn, oldState?.id]);
  const replaced = new Set(steps.filter(({ op }) => op === "replace").map(key));
  return steps
    .filter((step) => step.op === "delete-replaced" && !replaced.has(key(step)))
    .flatMap((step) => changeOf({ ...step, op: "delete" }) ?? [])
    .map((change) => ({ ...change, isLeftover: true }));
}

/** The stack of a preview, as `PROJECT/STACK`. */
export function stackNameIn({ steps }: Preview): string | undefined {
  const [first] = steps ?? [];
  if (!first) return undefined;
  const { project, stack } = parseUrn(first.urn);
  return `${project}/${stack}`;
}

/** Why the steps may not be all that an `up` does. */
export function unknownSteps({ steps }: Preview): string[] {
  const found = new Set((steps ?? []).map(({ op }) => op));
  const known = [...operations, ...silentOperations];
  const unknown = [...found].filter((op) => !known.includes(op));
  return [
    ...unknown.map(
      (op) => `The preview has the operation ${op}, which pulumi-uptime does not know: update it.`,
    ),
    ...(found.has("replace") && !found.has("create-replacement") && !found.has("import-replacement")
      ? ["The preview was made without --show-replacement-steps, so it hides what earlier runs have left."]
      : []),
  ];
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
export function changeOf(step: PreviewStep): PlannedChange | undefined {
  const { op, urn, oldState, newState, detailedDiff } = step;
  const after = visibleIn(urn, newState?.inputs);
  const present = newState ?? oldState;
  const provider = providerOf(present);
  const isExplicit = provider !== "" && !isDefaultProvider(provider);
  const change = {
    urn,
    title: isOwn({ urn }) ? titleOf({ urn }) : `${parseUrn(urn).type} ${parseUrn(urn).name}`,
    importId: undefined,
    record: recordIn(urn, oldState),
    account: accountOf(present) ?? (isExplicit ? parseUrn(provider).name : undefined),
    provider: isExplicit ? provider : undefined,
    isDeletedFirst: false,
    isLeftover: false,
    isProtected: present?.protect === true,
    isRetained: present?.retainOnDelete === true,
    properties: [],
    secrets: Object.keys(after).filter((key) => after[key] === secretText),
  };
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
      const declared = changedProperties(visibleIn(urn, oldState?.inputs), after);
      // After a refresh, drift is in the outputs.
      const outputs = visibleIn(urn, oldState?.outputs);
      const managed = Object.fromEntries(Object.keys(after).map((key) => [key, outputs[key] ?? null]));
      const found = declared.length > 0 ? declared : changedProperties(managed, after);
      const secrets = [...new Set(Object.keys(detailedDiff ?? {}).map(topLevel))]
        .filter((key) => change.secrets.includes(key) && !found.some(({ property }) => property === key))
        .map((property) => ({ property, before: secretText, after: secretText }));
      return {
        ...change,
        operation: op,
        isDeletedFirst: op === "replace" && oldState?.pendingReplacement === true,
        properties: [...found, ...secrets],
      };
    }
    case "delete":
      return { ...change, operation: op };
    default:
      // Nothing changes, or it is a part of a replacement.
      return undefined;
  }
}

/** The id of a resource's record, and what people know it by. */
function recordIn(urn: string, state: PreviewStep["oldState"]): string[] {
  const definition = findDefinition(parseUrn(urn).type);
  if (state?.id === undefined || !definition) return [];
  const known = identityKeys(definition).map((key) => state.outputs?.[key] ?? state.inputs?.[key]);
  return [state.id, ...known.flatMap((value) => (value === secretText ? [] : (jsonOf(value) ?? [])))];
}

function accountOf(state: PreviewStep["oldState"]): string | undefined {
  const account = state?.inputs?.account;
  return typeof account === "string" ? account : undefined;
}

/** Properties without those that Pulumi hides too. Keys in a provider are secret, also if the program does not say so. */
function visibleIn(urn: string, properties: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { importId: _, ...visible } = withoutHidden(properties);
  if (parseUrn(urn).type !== providerType) return visible;
  const all: Readonly<Record<string, Setting>> = settings;
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
