import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";

import { hasSecret, unwrapSecrets, type Properties } from "../../common/marks";
import { hiddenNames } from "../../common/pulumi";
import { isObject } from "../../common/values";
import { secretInputNames } from "../properties";

/** Properties as the engine sends them. Secrets become their plain values. */
export function fromStruct(struct: Struct | undefined): Properties {
  return withoutMarks(struct?.toJavaScript() ?? {});
}

/**
 * The same, and in a hidden option, as the class of a dynamic resource passes it, the names of the properties that are secret or have a
 * secret part.
 */
export function fromMarkedStruct(struct: Struct | undefined): Properties {
  const marked: Properties = struct?.toJavaScript() ?? {};
  const properties = withoutMarks(marked);
  const secrets = Object.keys(marked).filter((name) => hasSecret(marked[name]));
  if (secrets.length === 0) return properties;
  return { ...properties, [hiddenNames.options]: { secrets: [...secretInputNames(properties), ...secrets] } };
}

export function isBlank(struct: Struct): boolean {
  return struct.getFieldsMap().getLength() === 0;
}

function withoutMarks(marked: Properties): Properties {
  const plain = unwrapSecrets(marked);
  return isObject(plain) ? plain : {};
}

/** Properties in the protocol's form, which has no undefined, and marks for secrets instead of their names. */
export function toStruct(properties: Properties): Struct {
  const { [hiddenNames.options]: options, ...others } = properties;
  if (isObject(options) && options.secrets !== undefined) return toStruct(others);
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Record<string, JavaScriptValue>);
}
