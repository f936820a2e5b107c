import { KeyRefusedError, RecordMismatchError, UptimeError } from "../../api/errors";
import { fixedKeys, identityKeys, nameKeyOf } from "../../definitions/keys";
import type { Properties } from "../../common/marks";
import { safeName } from "../../common/text";
import { parseUrn } from "../../common/urn";
import { Redactor } from "../../engine/redactor";
import { secretsOfProperty } from "../../engine/secret-strings";
import { decodeInputs, decodeOptions, decodeOutputs } from "../../engine/request";
import { changedKeys } from "../../lifecycle/diff";
import { pathsInclude, pathsTouch, withPartsOf } from "../../lifecycle/paths";
import { read } from "../../lifecycle/read";
import type { Connect } from "../../lifecycle/record-scope";
import type { OperationResult } from "../../lifecycle/resource";
import { assertSameAddress } from "../../lifecycle/same-record";
import type { DriftedResource, DriftReport } from "../shared/drift-report";
import { accountOrProviderName } from "../shared/providers";
import { clearProperties, secretKeysInState, type ManagedResource } from "../shared/state";

export interface ComparedResource {
  readonly drift?: DriftedResource;
  /** Why the resource could not be compared. */
  readonly error?: DriftReport["errors"][number];
  /** Whether the reason is the account's key. */
  readonly isKeyRefused?: boolean;
}

/** A resource with its secrets in the clear. */
interface ClearResource extends ManagedResource {
  readonly inputs: Properties;
  readonly outputs: Properties;
  /** Whether the values of a property must not be shown. */
  readonly isSecret: (property: string) => boolean;
  /** The secret strings in these values. */
  readonly secrets: readonly string[];
}

/**
 * Notes a record in state. An account that lacks all records in state is then not taken for one that lacks its first. Returns the
 * account, as its server and key; "" if it is not known.
 */
export function hearOfResource({ definition, resource }: ManagedResource, connect: Connect): string {
  try {
    const outputs = decodeOutputs(definition, resource.outputs ?? {});
    const scope = connect(outputs.account);
    assertSameAddress(scope, outputs, {});
    scope.claims.hear(resource.id ?? "", outputs, {});
    return `${scope.address.hash} ${scope.keyFingerprint}`;
  } catch (error) {
    // The comparison reports it.
    if (!(error instanceof UptimeError)) throw error;
    return "";
  }
}

/** Compares a resource with its record, as the provider itself reads and compares it. */
export async function compareResource(
  managed: ManagedResource,
  connect: Connect,
  secrets: Iterable<string>,
): Promise<ComparedResource> {
  let clear: ClearResource | undefined;
  let state: OperationResult | undefined;
  try {
    clear = clearResource(managed);
    const outputs = decodeOutputs(managed.definition, clear.outputs);
    state = await read(connect(outputs.account), managed.resource.id ?? "", outputs, {});
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    return resultOfError(managed, clear, error, secrets);
  }
  const redactor = new Redactor([...secrets, ...clear.secrets]);
  if (!state) return { drift: driftOfGone(clear, redactor) };
  const drifted = driftedValues(clear, state);
  return drifted.length > 0 ? { drift: driftOfEdits(clear, drifted, redactor) } : {};
}

/** Throws if state has a property encrypted. */
function clearResource({ definition, resource }: ManagedResource): ClearResource {
  const secretProperties = secretKeysInState(resource);
  const isSecret = (property: string): boolean =>
    definition.fields[property]?.secret === true || secretProperties.has(property);
  const [inputs, outputs] = [clearProperties(resource.inputs), clearProperties(resource.outputs)];
  const secrets = [inputs, outputs].flatMap((properties) =>
    Object.entries(properties).flatMap(([key, value]) =>
      isSecret(key) ? secretsOfProperty(definition, key, value) : [],
    ),
  );
  return { definition, resource, inputs, outputs, isSecret, secrets };
}

/** @param clear undefined if the resource is encrypted; the error then has none of its values */
function resultOfError(
  { resource: { urn, id } }: ManagedResource,
  clear: ClearResource | undefined,
  error: UptimeError,
  secrets: Iterable<string>,
): ComparedResource {
  const redactor = new Redactor([...secrets, ...(clear?.secrets ?? [])]);
  const message = redactor.error(error);
  if (!clear || !(error instanceof RecordMismatchError))
    return { error: { urn, id, message }, isKeyRefused: error instanceof KeyRefusedError };
  // The message quotes the values of fixed properties, which may be secret.
  const isQuoted = fixedKeys(clear.definition).some(clear.isSecret);
  return {
    drift: driftOf(clear, redactor, {
      outcome: "another record",
      message: isQuoted ? "is not the record in state" : message,
    }),
  };
}

function driftOfGone(clear: ClearResource, redactor: Redactor): DriftedResource {
  // With the option, the next `pulumi up` would import the record, and fail. State knows the option of the last one.
  const message =
    clear.inputs.importId === undefined
      ? "is not in the API any more"
      : "is gone; remove the option import if the program has it";
  const properties = identityKeys(clear.definition).map((property) => {
    const secret = clear.isSecret(property);
    return { property, secret, ...(!secret && { inState: redactor.value(clear.outputs[property] ?? null) }) };
  });
  return driftOf(clear, redactor, { outcome: "gone", message, properties });
}

/** A managed property that the record has with another value. */
interface DriftedValue {
  readonly property: string;
  readonly inState: unknown;
  readonly inApi: unknown;
}

function driftedValues(
  { definition, resource, inputs, outputs: stored }: ClearResource,
  { outputs }: OperationResult,
): DriftedValue[] {
  const { values: found } = outputs;
  const declared = decodeInputs(definition, inputs);
  // What a create or update has not brought is set by the next `up`, and a preview shows it: nobody has edited it.
  const { isPartial, values: last } = decodeOutputs(definition, stored);
  const edited = isPartial ? changedKeys(definition, outputs, { ...declared, values: last }) : undefined;
  // The inputs of a `pulumi import` leave out defaults, although these are managed.
  const defaults = Object.entries(definition.fields).flatMap(([key, field]) =>
    field.default === undefined || found[key] === undefined ? [] : [[key, field.default] as const],
  );
  const managed = { ...Object.fromEntries(defaults), ...declared.values };
  const ignoreChanges = resource.ignoreChanges ?? decodeOptions(inputs).ignoreChanges;
  const compared = Object.fromEntries(
    Object.entries(managed).map(([key, value]) => [key, withPartsOf(ignoreChanges, key, value, found[key])]),
  );
  return changedKeys(definition, outputs, { ...declared, values: compared })
    .filter((property) => !pathsInclude(ignoreChanges, property))
    .filter((property) => edited?.includes(property) ?? true)
    .map((property) => ({
      property,
      inState: managed[property] ?? null,
      inApi: found[property] ?? null,
    }));
}

function driftOfEdits(
  clear: ClearResource,
  drifted: readonly DriftedValue[],
  redactor: Redactor,
): DriftedResource {
  const paths = clear.resource.replaceOnChanges ?? decodeOptions(clear.inputs).replaceOnChanges;
  const replaces = drifted.some(({ property, inState, inApi }) =>
    pathsTouch(paths, property, inState, inApi),
  );
  const properties = drifted.map(({ property, inState, inApi }) => {
    if (clear.isSecret(property)) return { property, secret: true };
    return { property, inState: redactor.value(inState), inApi: redactor.value(inApi), secret: false };
  });
  return driftOf(clear, redactor, {
    outcome: "changed",
    properties,
    ...(replaces && { replaces: true as const }),
  });
}

function driftOf(
  { definition, resource, outputs, isSecret }: ClearResource,
  redactor: Redactor,
  differing: Partial<DriftedResource> & Pick<DriftedResource, "outcome">,
): DriftedResource {
  const { urn, type, id = "", provider } = resource;
  const account = accountOrProviderName(provider, resource.outputs?.account);
  const nameKey = nameKeyOf(definition);
  const name = isSecret(nameKey) ? undefined : redactor.value(outputs[nameKey]);
  return {
    urn,
    type,
    name: parseUrn(urn).name,
    id,
    ...(account !== undefined && { account: safeName(account) }),
    ...(typeof name === "string" && { record: name }),
    properties: [],
    ...differing,
  };
}
