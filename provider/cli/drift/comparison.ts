import { AnotherRecordError, KeyRefusedError, UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { fixedKeys, identityKeys } from "../../definitions/keys";
import type { Properties } from "../../common/marks";
import { parseUrn } from "../../common/urn";
import { Redactor } from "../../engine/redactor";
import { stringsIn } from "../../engine/secret-strings";
import { decodeInputs, decodeOptions, decodeOutputs } from "../../engine/request";
import { changedKeys } from "../../lifecycle/diff";
import { pathsInclude } from "../../lifecycle/paths";
import { read } from "../../lifecycle/read";
import type { Connect } from "../../lifecycle/record-scope";
import type { State } from "../../lifecycle/resource";
import { clearProperties, secretPropertiesOf, type StateResource } from "../shared/state";
import type { DriftedResource } from "./report";

/** The result of comparing one resource. */
export interface ComparedResource {
  readonly drift?: DriftedResource;
  /** The reason for which the resource could not be compared. */
  readonly problem?: string;
  /** The problem is the account's key. */
  readonly isKeyRefused?: boolean;
}

/** Compares a resource with its record, as the provider itself reads and compares it. */
export async function compareResource(
  definition: Definition,
  resource: StateResource,
  connect: Connect,
  secrets: Iterable<string>,
): Promise<ComparedResource> {
  const { urn, type, id = "", outputs: { account } = {} } = resource;
  const { fields } = definition;
  const secretProperties = secretPropertiesOf(resource);
  const isSecret = (key: string): boolean => fields[key]?.secret === true || secretProperties.has(key);
  const drift = (
    differing: Partial<DriftedResource> & Pick<DriftedResource, "outcome">,
  ): ComparedResource => {
    const [nameKey = ""] = identityKeys(definition);
    const record = isSecret(nameKey) ? undefined : stored[nameKey];
    return {
      drift: {
        urn,
        type,
        name: parseUrn(urn).name,
        id,
        ...(typeof account === "string" && { account }),
        ...(typeof record === "string" && { record }),
        properties: [],
        ...differing,
      },
    };
  };

  let declared: Properties = {};
  let stored: Properties = {};
  let state: State | undefined;
  try {
    declared = clearProperties(resource.inputs);
    stored = clearProperties(resource.outputs);
    const outputs = decodeOutputs(definition, stored);
    state = await read(connect(outputs.account), id, outputs, {});
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    const own = [declared, stored].flatMap((properties) =>
      Object.keys(properties).flatMap((key) => (isSecret(key) ? stringsIn(properties[key]) : [])),
    );
    const message = new Redactor([...secrets, ...own]).error(error);
    if (!(error instanceof AnotherRecordError))
      return { problem: message, isKeyRefused: error instanceof KeyRefusedError };
    // Its message quotes values, which may be secret.
    const isQuoted = fixedKeys(definition).some(isSecret);
    return drift({
      outcome: "another record",
      message: isQuoted ? "is another record than in state" : message,
    });
  }
  if (!state) {
    const properties = identityKeys(definition).map((property) => {
      const secret = isSecret(property);
      return { property, secret, ...(!secret && { inState: stored[property] ?? null }) };
    });
    return drift({ outcome: "gone", message: "is not in the API any more", properties });
  }

  const { values: found } = state.outputs;
  const checked = decodeInputs(definition, declared);
  // The inputs of a `pulumi import` leave out defaults, although these are managed.
  const defaults = Object.entries(fields).flatMap(([key, field]) =>
    field.default === undefined || found[key] === undefined ? [] : [[key, field.default] as const],
  );
  const inputs = { ...checked, values: { ...Object.fromEntries(defaults), ...checked.values } };
  const ignoreChanges = resource.ignoreChanges ?? decodeOptions(declared).ignoreChanges;
  const properties = changedKeys(definition, state.outputs, inputs)
    .filter((property) => !pathsInclude(ignoreChanges, property))
    .map((property) => {
      if (isSecret(property)) return { property, secret: true };
      return {
        property,
        inState: inputs.values[property] ?? null,
        inApi: found[property] ?? null,
        secret: false,
      };
    });
  return properties.length > 0 ? drift({ outcome: "changed", properties }) : {};
}
