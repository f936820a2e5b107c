import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { pluginType, typeToken } from "../../definitions/pulumi";
import { parseUrn } from "../../definitions/urn";

/** The kind of record that a resource stands for, with or without the plugin; undefined for one of another package. */
export function findDefinition(type: string): Definition | undefined {
  return definitions.find((definition) => [typeToken(definition), pluginType(definition)].includes(type));
}

/** The last part of a type token: `Monitor`, for example. */
export function labelIn(type: string): string {
  return type.split(":").at(-1) ?? type;
}

/** A resource as people read it: `Monitor shop`. */
export function titleOf({ urn }: { readonly urn: string }): string {
  const { type, name } = parseUrn(urn);
  return `${labelIn(type)} ${name}`;
}
