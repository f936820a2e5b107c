import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";

import { isObject } from "../../definitions/kinds";
import { unknown } from "../../definitions/unknown";
import { markKey, secretMark, unknownValue } from "../marks";

/** Properties of a resource, or settings of the provider, by name. */
export type Properties = Readonly<Record<string, unknown>>;

/** What the engine sends: an unknown value becomes the symbol, a secret its plain value. */
export function decode(struct: Struct | undefined): Record<string, unknown> {
  const decoded = struct ? plain(struct.toJavaScript()) : {};
  return isObject(decoded) ? decoded : {};
}

function plain(value: unknown): unknown {
  if (value === unknownValue) return unknown;
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  if (value[markKey] === secretMark) return plain(value.value);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
}

/** The same in the engine's form; what is undefined is left out. */
export function encode(properties: Properties): Struct {
  return Struct.fromJavaScript(wire(properties) as Record<string, JavaScriptValue>);
}

function wire(value: unknown): unknown {
  if (value === unknown) return unknownValue;
  if (Array.isArray(value)) return value.map(wire);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return Object.fromEntries(entries.map(([key, entry]) => [key, wire(entry)]));
}
