import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { nativeType, typeToken } from "../../definitions/identity";

export { nativeType, typeToken };

/** The kind of record that a resource stands for, with or without the plugin; undefined for one of another package. */
export function definitionOf(type: string): Definition | undefined {
  return definitions.find((definition) => [typeToken(definition), nativeType(definition)].includes(type));
}

/** The last part of a type token: `Monitor`, for example. */
export function labelIn(type: string): string {
  return type.split(":").at(-1) ?? type;
}

/** The logical name in a URN. */
export function nameIn(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/** A resource as people read it: `Monitor shop`. */
export function titleOf({ type, urn }: { readonly type: string; readonly urn: string }): string {
  return `${labelIn(type)} ${nameIn(urn)}`;
}
