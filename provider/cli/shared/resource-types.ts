import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { dynamicType, pluginType, providerType } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";

/** The kind of record that a resource stands for, with or without the plugin; undefined for one of another package. */
export function findDefinition(type: string): Definition | undefined {
  return definitions.find((definition) => [dynamicType(definition), pluginType(definition)].includes(type));
}

/** Whether a resource is of this package: a record, or an explicit provider. */
export function isOfThisPackage(urn: string): boolean {
  const { type } = parseUrn(urn);
  return type === providerType || findDefinition(type) !== undefined;
}

/** The last part of a type token: `Monitor`, for example. */
export function labelIn(type: string): string {
  if (type === providerType) return "Provider";
  return type.split(":").at(-1) ?? type;
}

/** A resource as people read it: `Monitor shop`. */
export function titleOf(urn: string): string {
  const { type, name } = parseUrn(urn);
  return `${labelIn(type)} ${name}`;
}
