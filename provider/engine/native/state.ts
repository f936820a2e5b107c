import { isEmpty } from "../../definitions/kinds";
import type { Value } from "../../definitions/kinds";
import type { Definition } from "../../definitions/field";
import type { Inputs, Outputs } from "../../lifecycle/resource";
import { secretOf } from "../marks";
import type { Properties } from "./values";

/** The inputs in a resource's properties, without what Pulumi or the dynamic front keeps beside them. */
export function inputsIn(definition: Definition, properties: Properties): Inputs {
  return { values: fieldsIn(definition, properties), account: textIn(properties, "account") };
}

/**
 * The outputs in a resource's properties.
 *
 * @param inputs the inputs that state holds with them. They say what is managed, because an import leaves everything that
 * the record shows in the outputs, and secrets nowhere. Without them the outputs say it.
 */
export function outputsIn(definition: Definition, properties: Properties, inputs?: Properties): Outputs {
  const isPartial = properties.__partial === true;
  const shown = fieldsIn(definition, properties);
  const values = inputs && properties.__readOnly !== true ? managed(shown, fieldsIn(definition, inputs), isPartial) : shown;
  const { attributes } = properties;
  return {
    values: values as Record<string, Value>,
    attributes: (attributes ?? {}) as Record<string, unknown>,
    account: textIn(properties, "account"),
    importId: textIn(properties, "importId"),
    server: textIn(properties, "__server"),
    key: textIn(properties, "__key"),
    claim: textIn(properties, "__claim"),
    isPartial,
    isReadOnly: properties.__readOnly === true,
  };
}

function managed(shown: Properties, declared: Properties, isPartial: boolean): Properties {
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(declared))
    if (key in shown) values[key] = shown[key];
    else if (!isPartial) values[key] = value;
  return values;
}

/** Inputs as state keeps them, secrets marked. */
export function inputProperties(definition: Definition, { values, account }: Inputs): Properties {
  return marked(definition, { ...values, account });
}

/** Outputs as state keeps them, secrets marked. */
export function outputProperties(definition: Definition, outputs: Outputs): Properties {
  const { values, attributes, account, importId, server, key, claim, isPartial, isReadOnly } = outputs;
  return marked(definition, {
    ...values,
    attributes,
    account,
    importId,
    __server: server,
    __key: key,
    __claim: claim,
    // Absent unless it is so, because each byte of state is written for every resource of a run.
    __partial: isPartial === true || undefined,
    __readOnly: isReadOnly === true || undefined,
  });
}

/** Properties as the engine encrypts them, whatever the program or the SDK says. */
function marked(definition: Definition, properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      definition.fields[key]?.secret === true && !isEmpty(value) ? secretOf(value) : value,
    ]),
  );
}

function fieldsIn(definition: Definition, properties: Properties): Record<string, unknown> {
  const fields = Object.entries(properties).filter(([key]) => Object.hasOwn(definition.fields, key));
  return Object.fromEntries(fields);
}

function textIn(properties: Properties, key: string): string | undefined {
  const value = properties[key];
  return typeof value === "string" ? value : undefined;
}
