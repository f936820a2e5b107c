import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import { unknownValue } from "../../definitions/marks";
import { parseUrn } from "../../definitions/urn";
import { titleOf } from "./resource-types";

const stepState = z.looseObject({
  type: z.string(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  /** The provider's URN and id. */
  provider: z.string().optional(),
  /** The option `import` of a native resource. */
  importID: z.string().optional(),
});

/** What `pulumi preview --json` prints, as far as it is used here. */
const preview = z.looseObject({
  steps: z
    .array(
      z.looseObject({
        op: z.string(),
        urn: z.string(),
        oldState: stepState.optional(),
        newState: stepState.optional(),
        replaceReasons: z.array(z.string()).nullish(),
        /** By property; of native resources only. */
        detailedDiff: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .nullish(),
  diagnostics: z
    .array(
      z.looseObject({ urn: z.string().optional(), message: z.string(), severity: z.string().optional() }),
    )
    .nullish(),
});

export type Preview = z.infer<typeof preview>;
export type PreviewStep = NonNullable<Preview["steps"]>[number];

/** The preview in the text of a file; undefined if it is none. */
export function parsePreview(text: string): Preview | undefined {
  try {
    return preview.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** What a preview does to one resource. */
export interface PlannedChange {
  readonly operation: "create" | "import" | "update" | "replace" | "delete";
  readonly urn: string;
  /** Such as `Monitor shop`. */
  readonly title: string;
  /** The id of the record that an import takes. */
  readonly importId: string | undefined;
  readonly properties: readonly PlannedProperty[];
  /** A property that Pulumi shows as [secret] before and after may be the only one that changes. */
  readonly isSecretChange: boolean;
}

/** A property before and after, as JSON; undefined if it is not there. */
export interface PlannedProperty {
  readonly property: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a preview changes, in the order of the preview, and how many resources it leaves as they are. */
export function plannedChanges({ steps }: Pick<Preview, "steps">): {
  changes: PlannedChange[];
  unchanged: number;
} {
  const all = steps ?? [];
  return {
    changes: all.flatMap((step) => changeOf(step) ?? []),
    unchanged: all.filter(({ op }) => op === "same").length,
  };
}

/** The errors of a preview. */
export function errorsIn({ diagnostics }: Preview): string[] {
  return (diagnostics ?? [])
    .filter(({ severity }) => severity === "error")
    .map(({ urn, message }) => {
      const text = message.replace(/^error: /, "").trim();
      const { name } = parseUrn(urn ?? "");
      return name === "" || text.includes(name) ? text : `${name}: ${text}`;
    });
}

function changeOf(step: PreviewStep): PlannedChange | undefined {
  const { op, urn, oldState, newState } = step;
  const title = titleOf({ urn });
  const given = newState?.inputs?.importId ?? newState?.importID;
  const importId = typeof given === "string" && given !== "" ? given : undefined;
  const none = { urn, title, importId: undefined, properties: [], isSecretChange: false };
  switch (op) {
    case "create":
      return {
        ...none,
        operation: newState?.inputs?.importId === undefined ? "create" : "import",
        importId,
        properties: differences({}, visibleIn(newState?.inputs)),
      };
    case "import":
      return {
        ...none,
        operation: "import",
        importId,
        properties: differences({}, visibleIn(newState?.inputs)),
      };
    case "update":
    case "replace": {
      const after = visibleIn(newState?.inputs);
      const declared = differences(visibleIn(oldState?.inputs), after);
      // State that has taken drift over holds it in the outputs.
      const outputs = visibleIn(oldState?.outputs);
      const managed = Object.fromEntries(Object.keys(after).map((key) => [key, outputs[key] ?? null]));
      const found = declared.length > 0 ? declared : differences(managed, after);
      const secrets = Object.keys(step.detailedDiff ?? {})
        .filter(
          (property) => after[property] === secretText && !found.some((one) => one.property === property),
        )
        .map((property) => ({ property, before: secretText, after: secretText }));
      const properties = [...found, ...secrets];
      return { ...none, operation: op, properties, isSecretChange: properties.length === 0 };
    }
    case "delete":
      return { ...none, operation: "delete" };
    default:
      // Nothing changes, or it is a part of a replacement.
      return undefined;
  }
}

/** Properties without those that Pulumi hides too. */
function visibleIn(properties: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).filter(([key]) => !key.startsWith("__") && key !== "importId"),
  );
}

function differences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): PlannedProperty[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys
    .filter((key) => !isDeepStrictEqual(before[key] ?? null, after[key] ?? null))
    .map((property) => ({ property, before: json(before[property]), after: json(after[property]) }));
}

/** In place of a secret. */
export const secretText = "[secret]";

function json(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === secretText) return secretText;
  if (value === unknownValue) return "(known after apply)";
  return JSON.stringify(value);
}
