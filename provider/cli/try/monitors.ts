import { quote, UptimeError } from "../../api/errors";
import { message } from "../../api/errors";
import { parseUrn } from "../../common/urn";
import { unwrapSecrets } from "../../common/marks";
import { monitor } from "../../definitions/monitor";
import { stringsIn } from "../../engine/secret-strings";
import { decodeDeclared } from "../../engine/request";
import type { RecordScope } from "../../lifecycle/record-scope";
import { readDeclared } from "../export/records";
import { changeOf, errorsIn, secretText, type PreviewStep } from "../shared/preview";
import { runPreview, type StackLocation } from "../shared/pulumi-cli";
import { firstWords } from "../shared/quoting";
import { findDefinition, titleOf } from "../shared/resource-types";
import { managedResources, secretPropertiesOf, type Deployment } from "../shared/state";
import type { CommandContext } from "../shared/terminal";

/** A monitor with what is known of it. */
export interface ReadMonitor {
  /** Such as `Monitor shop`. */
  readonly title: string;
  /** Of a resource. */
  readonly urn?: string;
  /** Of a record that exists. */
  readonly id?: string;
  /** By property. Secrets are in the clear. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The properties that are secret. */
  readonly secret: ReadonlySet<string>;
  /** Why properties are missing in the values. */
  readonly missing: ReadonlyMap<string, string>;
}

const alwaysSecret = Object.keys(monitor.fields).filter((key) => monitor.fields[key]?.secret);

/** The monitors that a preview of a program would create or change. Changes nothing, and writes no file. */
export async function previewedMonitors(
  location: StackLocation,
  show: (text: string) => void,
): Promise<ReadMonitor[]> {
  show("Running `pulumi preview`, which may take a minute …");
  const masked = new Map((await changedSteps(location, false)).map((step) => [step.urn, step]));
  const isAnySecret = [...masked.values()].some((step) => secretKeysIn(step).length > 0);
  if (isAnySecret) show("Running `pulumi preview` again, for the values of secrets …");
  // Only what hides secrets says which values are.
  const steps = isAnySecret ? await changedSteps(location, true) : [...masked.values()];
  return steps.map((step) => {
    const { urn, oldState, newState } = step;
    const values = decodeDeclared(newState?.inputs ?? {});
    const first = masked.get(urn);
    const secret = new Set([...alwaysSecret, ...(first ? secretKeysIn(first) : Object.keys(values))]);
    const id = oldState?.id;
    return {
      title: titleOf({ urn }),
      urn,
      ...(id !== undefined && { id }),
      values,
      secret,
      missing: new Map(),
    };
  });
}

/** The steps that create or change a monitor. An import changes nothing. */
async function changedSteps(location: StackLocation, showSecrets: boolean): Promise<PreviewStep[]> {
  const preview = await runPreview(location, showSecrets);
  const [error] = errorsIn(preview);
  if (error !== undefined)
    throw new UptimeError(
      showSecrets
        ? "The second preview failed, after one that did not. Its errors are not shown, because they may quote secrets."
        : message`The preview failed, so nothing was tried: ${quote(firstWords(error))}`,
    );
  return (preview.steps ?? []).filter((step) => {
    if (findDefinition(parseUrn(step.urn).type) !== monitor) return false;
    return ["create", "update", "replace"].includes(changeOf(step)?.operation ?? "");
  });
}

function secretKeysIn({ newState: { inputs = {} } = { type: "" } }: PreviewStep): string[] {
  return Object.keys(inputs).filter((key) => stringsIn(inputs[key]).includes(secretText));
}

/** The monitors that a stack has. */
export function monitorsInState(state: Deployment): ReadMonitor[] {
  const managed = managedResources(state).filter(({ definition }) => definition === monitor);
  return managed.map(({ resource }) => {
    const { urn, id = "", outputs = {} } = resource;
    const values = Object.entries(outputs).map(([key, value]) => [key, unwrapSecrets(value)] as const);
    const encrypted = values.flatMap(([key, value]) =>
      value === undefined
        ? [[key, "is encrypted in this state; `pulumi stack export --show-secrets` writes it"] as const]
        : [],
    );
    return {
      title: titleOf({ urn }),
      urn,
      id,
      values: Object.fromEntries(values),
      secret: new Set([...alwaysSecret, ...secretPropertiesOf(resource)]),
      missing: new Map(encrypted),
    };
  });
}

/** The monitors of an account. */
export async function monitorsInAccount(scope: RecordScope, context: CommandContext): Promise<ReadMonitor[]> {
  const records = await readDeclared(scope, undefined, context);
  return records.map(({ record: { id }, values: shown }) => {
    const values = Object.fromEntries(shown);
    const hidden = Object.entries(monitor.fields).flatMap(([key, { goesWith = "" }]) =>
      goesWith in values ? [[key, "is not shown by the API"] as const] : [],
    );
    const name = typeof values.name === "string" ? ` (${values.name})` : "";
    return {
      title: `Monitor ${id}${name}`,
      id,
      values,
      secret: new Set(alwaysSecret),
      missing: new Map(hidden),
    };
  });
}
