import type { Value } from "../common/values";
import { comparableValue } from "./codecs";
import { shownNames, type Definition, type Field } from "./field";

/** The properties by which a person recognizes a record: a domain's name, a monitor's name and URL. The name is the first. */
export function identityKeys(definition: Definition): string[] {
  return keysOf(definition, ({ identifies }) => identifies === true);
}

/** The first of the {@link identityKeys}. */
export function nameKeyOf(definition: Definition): string {
  return identityKeys(definition)[0] ?? "";
}

/**
 * The values by which a person recognizes a record, in one spelling, so that two records can be compared. Undefined if a part is not known.
 */
export function comparableIdentity(
  definition: Definition,
  valueOf: (key: string) => Value | undefined,
): string | undefined {
  const identity = identityKeys(definition).map((key) => {
    const value = valueOf(key);
    return value == null ? undefined : comparableValue(fieldOf(definition, key), value);
  });
  return identity.includes(undefined) ? undefined : JSON.stringify(identity);
}

/** The secret fields by all names under which a server may show them. Servers in .NET use the properties' names. */
export function secretFieldsByName({ fields }: Definition): (readonly [name: string, field: Field])[] {
  return Object.entries(fields).flatMap(([key, field]) =>
    field.secret ? [key, ...shownNames(field)].map((name) => [name, field] as const) : [],
  );
}

/** The properties that no update can change: another value replaces the resource. */
export function fixedKeys(definition: Definition): string[] {
  return keysOf(definition, ({ fixed }) => fixed === true);
}

/** Whether no update can change the name. Such names are nearly always unique. */
export function hasUniqueName(definition: Definition): boolean {
  return fixedKeys(definition).includes(nameKeyOf(definition));
}

export function secretKeys(definition: Definition): string[] {
  return keysOf(definition, ({ secret }) => secret === true);
}

/** Whether no message may show the field's value. */
export function isConfidential({ secret, isMarkedSecret }: Field): boolean {
  return secret === true || isMarkedSecret === true;
}

/** The definition for a resource whose inputs of these names the program has marked as secret. */
export function withMarkedSecrets(definition: Definition, names: readonly string[]): Definition {
  if (names.length === 0) return definition;
  const fields = Object.entries(definition.fields).map(([key, field]) => [
    key,
    names.includes(key) ? { ...field, isMarkedSecret: true } : field,
  ]);
  return { ...definition, fields: Object.fromEntries(fields) as Definition["fields"] };
}

/** The managed properties: those that have a value, or null. */
export function managedKeys(definition: Definition, values: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(definition.fields).filter((key) => values[key] !== undefined);
}

export function fieldOf({ label, fields }: Definition, key: string): Field {
  const field = fields[key];
  if (!field) throw new Error(`${label} has no property ${key}.`);
  return field;
}

function keysOf({ fields }: Definition, has: (field: Field) => boolean): string[] {
  return Object.entries(fields).flatMap(([key, field]) => (has(field) ? [key] : []));
}
