import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";

import { hasSecret, unwrapSecrets, type Properties } from "../../common/marks";
import { hiddenNames } from "../../common/pulumi";
import { isObject } from "../../common/values";

/** Properties as the engine sends them. Secrets become their plain values. */
export function fromStruct(struct: Struct | undefined): Properties {
  return withoutMarks(markedProperties(struct));
}

/**
 * The properties of a resource as the engine sends them: plain values, and in a hidden option, as the class of a dynamic
 * resource passes it, the names of those that are secret or have a secret part.
 */
export function resourceFromStruct(struct: Struct | undefined): Properties {
  const marked = markedProperties(struct);
  const properties = withoutMarks(marked);
  const secrets = secretNames(marked);
  if (secrets.length === 0) return properties;
  const options = properties[hiddenNames.options];
  return { ...properties, [hiddenNames.options]: { ...(isObject(options) && options), secrets } };
}

/** The names of the properties that are secret or have a secret part. */
export function namesOfSecretsIn(struct: Struct | undefined): string[] {
  return secretNames(markedProperties(struct));
}

const markedProperties = (struct: Struct | undefined): Properties => struct?.toJavaScript() ?? {};

const secretNames = (marked: Properties): string[] =>
  Object.keys(marked).filter((name) => hasSecret(marked[name]));

function withoutMarks(marked: Properties): Properties {
  const plain = unwrapSecrets(marked);
  return isObject(plain) ? plain : {};
}

/** Properties in the protocol's form, which has no undefined, and marks for secrets instead of their names. */
export function toStruct(properties: Properties): Struct {
  const { [hiddenNames.options]: options, ...others } = properties;
  if (isObject(options) && options.secrets !== undefined) {
    const { secrets: _, ...rest } = options;
    return toStruct({ ...others, ...(Object.keys(rest).length > 0 && { [hiddenNames.options]: rest }) });
  }
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Record<string, JavaScriptValue>);
}
