import { message, quote, UptimeError } from "../../api/errors";
import { fieldOf, secretKeys } from "../../definitions/keys";
import { monitor } from "../../definitions/monitor";
import { stringsIn } from "../../engine/secret-strings";
import { decodeDeclared } from "../../engine/properties";
import { shows } from "../../lifecycle/difference";
import { beginOperation, type RecordScope } from "../../lifecycle/record-scope";
import { collectingPreview } from "../shared/collecting-preview";
import { secretText } from "../shared/preview";
import type { StackLocation } from "../shared/pulumi-cli";
import { oneLine } from "../shared/quoting";
import { readDeclarable } from "../shared/records";
import { titleOf } from "../shared/resource-types";
import { decryptedProperties, managedResources, secretPropertiesInState } from "../shared/state";
import type { StackState } from "../shared/state";
import type { CommandContext } from "../shared/terminal";

/** What is known of a monitor. */
export interface KnownMonitor {
  /** Such as `Monitor shop`. */
  readonly title: string;
  /** Undefined if it is a record of an account and not a resource of a stack. */
  readonly urn?: string;
  /** Undefined if there is no record yet. */
  readonly id?: string | undefined;
  /** By property. Secrets are in the clear. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The properties that are secret. */
  readonly secret: ReadonlySet<string>;
  /** Why properties are missing in the values. */
  readonly missing: ReadonlyMap<string, string>;
  /** The properties that the API shows of no monitor, so that a failure may be due to what was not sent. */
  readonly unshown?: readonly string[];
}

const alwaysSecret = secretKeys(monitor);

/** The monitors that a preview of a program would create or change. Changes nothing, and writes no file. */
export async function previewedMonitors(location: StackLocation): Promise<KnownMonitor[]> {
  const { steps, refused, errors } = await collectingPreview(location);
  const reasons = refused.flatMap(({ title, problems }) => problems.map((problem) => `${title}: ${problem}`));
  const [error] = [...errors, ...reasons];
  if (error !== undefined)
    throw new UptimeError(message`The preview failed, so nothing was tried: ${quote(oneLine(error))}`);
  // An import changes nothing.
  const changed = steps.filter(
    ({ change }) =>
      change?.definition === monitor && ["create", "update", "replace"].includes(change.operation),
  );
  return changed.map(({ urn, oldState, newState, checked }) => {
    const shown = newState?.inputs ?? {};
    const hidden = Object.keys(shown).filter((key) => stringsIn(shown[key]).includes(secretText));
    // The engine does not call a provider whose own settings are not known yet.
    const unknown = checked ? [] : hidden;
    return {
      title: titleOf(urn),
      urn,
      id: oldState?.id,
      values: decodeDeclared(checked?.inputs ?? shown),
      secret: new Set([...alwaysSecret, ...hidden]),
      missing: new Map(
        unknown.map((key) => [key, "is secret, and its provider is not known before `pulumi up`"]),
      ),
    };
  });
}

export function monitorsInState(state: StackState): KnownMonitor[] {
  const managed = managedResources(state).filter(({ definition }) => definition === monitor);
  return managed.map(({ resource }) => {
    const { urn, id, outputs } = resource;
    const { values, encrypted } = decryptedProperties(outputs);
    const reason = "is encrypted in this state; `pulumi stack export --show-secrets` writes it";
    return {
      title: titleOf(urn),
      urn,
      id,
      values,
      secret: new Set([...alwaysSecret, ...secretPropertiesInState(resource)]),
      missing: new Map(encrypted.map((key) => [key, reason])),
    };
  });
}

/** Without these it is not known what to send or when to alert. */
const required = ["requestMethod", "alertCondition"];
/** Without these a request may fail that the server's own succeeds with. */
const optional = ["requestHeaders", "requestAuthUsername"];

export async function monitorsInAccount(
  scope: RecordScope,
  context: CommandContext,
): Promise<KnownMonitor[]> {
  const needed = [...required, ...optional, "alertTextLookup"].map((key) => fieldOf(monitor, key));
  const records = await readDeclarable(beginOperation(scope), undefined, context, needed);
  // Some servers leave out empty fields: if they show one of a single monitor, the others have none.
  const isUnshown = (key: string): boolean =>
    !records.some(({ record }) => shows(fieldOf(monitor, key), record));
  const unknown = required.filter(isUnshown);
  const unshown = optional.filter(isUnshown);
  return records.map(({ record: { id }, values: shown }) => {
    const values = Object.fromEntries(shown);
    const passwords = Object.keys(monitor.fields).filter(
      (key) => (fieldOf(monitor, key).goesWith ?? "") in values,
    );
    // The default condition is not among the values. The others need a text.
    const texts = "alertCondition" in values && !("alertTextLookup" in values) ? ["alertTextLookup"] : [];
    const hidden = [...unknown, ...passwords, ...texts];
    const name = typeof values.name === "string" ? ` (${values.name})` : "";
    return {
      title: `Monitor ${id}${name}`,
      id,
      values,
      secret: new Set(alwaysSecret),
      missing: new Map(hidden.map((key) => [key, "is not shown by the API"])),
      unshown,
    };
  });
}
