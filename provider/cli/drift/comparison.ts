import { KeyRefusedError, RecordMismatchError, UptimeError } from "../../api/errors";
import { fixedKeys, identityKeys, nameKeyOf } from "../../definitions/keys";
import { parseUrn } from "../../common/urn";
import { Redactor } from "../../engine/redactor";
import { secretsOfProperty } from "../../engine/secret-strings";
import { decodeInputs, decodeOutputs, pick } from "../../engine/properties";
import { changedKeys } from "../../lifecycle/diff";
import { pathsInclude, pathsTouch, withPartsOf } from "../../lifecycle/paths";
import { read } from "../../lifecycle/read";
import { beginOperation } from "../../lifecycle/record-scope";
import type { OperationResult } from "../../lifecycle/resource";
import { assertSameAddress } from "../../lifecycle/state-account";
import type { DriftedResource, DriftReport } from "../shared/drift-report";
import { shownAccount, type ConnectTo } from "../shared/providers";
import { clearProperties, optionsOf, secretPropertiesInState, type ManagedResource } from "../shared/state";

export interface ComparedResource {
  readonly drift?: DriftedResource | undefined;
  /** Why the resource could not be compared. */
  readonly error?: DriftReport["errors"][number];
  /** Whether the reason is the account's key. */
  readonly isKeyRefused?: boolean;
}

/**
 * Notes that a resource has its record, so that an account with an empty list is known to lack more than one record, which is an error
 * and no drift. Returns the account, as its server and key; "" if it is not known.
 */
export function hearClaim({ definition, resource }: ManagedResource, connectTo: ConnectTo): string {
  try {
    const outputs = decodeOutputs(definition, resource.outputs ?? {});
    const scope = beginOperation(connectTo(resource.provider, definition, outputs.account));
    assertSameAddress(scope, outputs);
    scope.claims.hear(resource.id, outputs, undefined);
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
  connectTo: ConnectTo,
  secrets: ReadonlySet<string>,
): Promise<ComparedResource> {
  const { definition, resource } = managed;
  const { urn, id, provider } = resource;
  let clear: ClearResource | undefined;
  try {
    clear = clearResource(managed, secrets);
    const { values, ...others } = decodeOutputs(definition, clear.outputs);
    // After an import by the engine, state has all fields; those that are not managed are like attributes.
    const outputs = { ...others, values: pick(values, ...managedIn(clear)) as typeof values };
    const scope = beginOperation(connectTo(provider, definition, outputs.account));
    const state = await read(scope, id, outputs);
    return { drift: state ? driftOfEdits(clear, state) : driftOfGone(clear) };
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    // The error about an encrypted resource has none of its values.
    const message = (clear?.redactor ?? new Redactor(secrets)).error(error);
    if (!clear || !(error instanceof RecordMismatchError))
      return { error: { urn, id, message }, isKeyRefused: error instanceof KeyRefusedError };
    // The message quotes the values of fixed properties, which may be secret.
    const isQuoted = fixedKeys(definition).some(clear.isSecret);
    const shown = isQuoted ? "is not the record in state" : message;
    return { drift: driftOf(clear, { outcome: "another record", message: shown }) };
  }
}

type ClearResource = ReturnType<typeof clearResource>;

/** A resource with its secrets in the clear. Throws if state has a property encrypted. */
function clearResource({ definition, resource }: ManagedResource, keys: ReadonlySet<string>) {
  const secretProperties = secretPropertiesInState(resource);
  /** Whether the values of a property must not be shown. */
  const isSecret = (property: string): boolean =>
    definition.fields[property]?.secret === true || secretProperties.has(property);
  const [inputs, outputs] = [clearProperties(resource.inputs), clearProperties(resource.outputs)];
  const secrets = [inputs, outputs].flatMap((properties) =>
    Object.entries(properties).flatMap(([key, value]) =>
      isSecret(key) ? secretsOfProperty(definition, key, value) : [],
    ),
  );
  return {
    ...{ definition, resource, inputs, outputs, isSecret },
    /** Knows the secrets in these values, and the API keys: when it is needed, because the connection to an account adds its key. */
    get redactor() {
      return new Redactor([...keys, ...secrets]);
    },
  };
}

/** The managed properties: the declared ones, and those with a default, which the inputs of a `pulumi import` leave out. */
const managedIn = ({ definition, inputs }: ClearResource): string[] =>
  Object.keys(definition.fields).filter(
    (key) => key in inputs || definition.fields[key]?.default !== undefined,
  );

function driftOfGone(clear: ClearResource): DriftedResource {
  // With the option, the next `pulumi up` would import the record, and fail. State knows the option of the last one.
  const message =
    (clear.inputs.importId ?? clear.resource.importID) === undefined
      ? "is no longer in the API"
      : "is gone; remove the option import if the program has it";
  const properties = identityKeys(clear.definition).map((property) => {
    const secret = clear.isSecret(property);
    const inState = secret ? undefined : clear.redactor.value(clear.outputs[property] ?? null);
    return { property, secret, inState };
  });
  return driftOf(clear, { outcome: "gone", message, properties });
}

/** The managed properties that the record has with other values; undefined if there are none. */
function driftOfEdits(clear: ClearResource, { outputs }: OperationResult): DriftedResource | undefined {
  const { definition, resource, inputs, redactor, isSecret } = clear;
  const { values: found } = outputs;
  const declared = decodeInputs(definition, inputs);
  // What a create or update has not brought is set by the next `up`, and a preview shows it: nobody has edited it.
  const { isPartial, values: last } = decodeOutputs(definition, clear.outputs);
  const edited = isPartial ? changedKeys(definition, outputs, { ...declared, values: last }) : undefined;
  // The inputs of a `pulumi import` leave out defaults, although these are managed.
  const defaults = Object.entries(definition.fields).flatMap(([key, field]) =>
    field.default === undefined || found[key] === undefined ? [] : [[key, field.default] as const],
  );
  const managed = { ...Object.fromEntries(defaults), ...declared.values };
  const { ignoreChanges, replaceOnChanges } = optionsOf({ ...resource, inputs });
  const compared = Object.fromEntries(
    Object.entries(managed).map(([key, value]) => [key, withPartsOf(ignoreChanges, key, value, found[key])]),
  );
  const drifted = changedKeys(definition, outputs, { ...declared, values: compared })
    .filter((property) => !pathsInclude(ignoreChanges, property))
    .filter((property) => edited?.includes(property) ?? true);
  if (drifted.length === 0) return undefined;
  const replaces = drifted.some((key) =>
    pathsTouch(replaceOnChanges, key, managed[key] ?? null, found[key] ?? null),
  );
  const properties = drifted.map((property) => {
    if (isSecret(property)) return { property, secret: true };
    const [inState, inApi] = [managed, found].map((values) => redactor.value(values[property] ?? null));
    return { property, inState, inApi, secret: false };
  });
  return driftOf(clear, { outcome: "changed", properties, ...(replaces && { replaces: true as const }) });
}

function driftOf(
  { definition, resource, outputs, isSecret, redactor }: ClearResource,
  differing: Partial<DriftedResource> & Pick<DriftedResource, "outcome">,
): DriftedResource {
  const { urn, type, id, provider } = resource;
  const nameKey = nameKeyOf(definition);
  const name = isSecret(nameKey) ? undefined : redactor.value(outputs[nameKey]);
  return {
    urn,
    type,
    name: parseUrn(urn).name,
    id,
    account: shownAccount(provider, resource.outputs?.account),
    record: typeof name === "string" ? name : undefined,
    properties: [],
    ...differing,
  };
}
