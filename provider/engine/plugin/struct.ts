import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";

import { unwrapSecrets, type Properties } from "../../common/marks";
import { isObject } from "../../common/values";

/** Properties as the engine sends them. Secrets become their plain values. */
export function fromStruct(struct: Struct | undefined): Properties {
  const decoded = struct ? unwrapSecrets(struct.toJavaScript()) : {};
  return isObject(decoded) ? decoded : {};
}

/** Properties in the protocol's form, which has no undefined. */
export function toStruct(properties: Properties): Struct {
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Record<string, JavaScriptValue>);
}
