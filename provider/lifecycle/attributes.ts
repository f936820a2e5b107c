import type { ApiRecord } from "../api/answer";
import { Redactor } from "../api/redact";
import { namesOf } from "../definitions/field";
import type { Definition } from "../definitions/field";
import { isObject } from "../definitions/kinds";

/** Removes a resource's secrets from strings that go into state. */
export type Clean = (text: string) => string;

/**
 * Everything that a record shows and that is not managed, untouched except for what must not be in state: fields that may
 * hold a secret are left out, and strings are cleaned. A null says no more than an absent field, and state is written many
 * times in each run, so it is left out too.
 */
export function attributesOf(
  definition: Definition,
  record: ApiRecord,
  managed: readonly string[],
  clean: Clean,
): Record<string, unknown> {
  const left = new Set<string>();
  for (const [key, field] of Object.entries(definition.fields))
    if (field.secret || managed.includes(key)) for (const name of namesOf(field)) left.add(name);
  const rest = Object.entries(record.shown).filter(([name, value]) => value !== null && !left.has(name));
  return cleaned(Object.fromEntries(rest), clean);
}

/** Properties with each of their strings cleaned. */
export function cleaned(
  properties: Readonly<Record<string, unknown>>,
  clean: Clean,
): Record<string, unknown> {
  const of = (value: unknown): unknown => {
    if (typeof value === "string") return clean(value);
    if (Array.isArray(value)) return value.map(of);
    return isObject(value) ? cleaned(value, clean) : value;
  };
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [clean(key), of(value)]));
}

/**
 * What removes a resource's secrets from its outputs. A secret that is an ordinary word is removed only if it is the whole
 * string: names and other outputs that contain it must not be damaged.
 */
export function outputCleaner(
  definition: Definition,
  ...values: readonly Readonly<Record<string, unknown>>[]
): Clean {
  const secrets = secretsIn(definition, ...values);
  if (secrets.length === 0) return (text) => text;
  const words = new Set(secrets.filter((secret) => /^(?:\p{L}{1,15}|.{1,3})$/u.test(secret)));
  const redactor = new Redactor().with(secrets.filter((secret) => !words.has(secret)));
  return (text) => (words.has(text) ? "[secret]" : redactor.text(text));
}

/** The strings that are secret in some values of a resource: passwords, and the values of headers, not their names. */
export function secretsIn(
  definition: Definition,
  ...values: readonly Readonly<Record<string, unknown>>[]
): string[] {
  const secrets = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === "string" && value !== "") secrets.add(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (isObject(value)) collect(value.value);
  };
  for (const [key, field] of Object.entries(definition.fields))
    if (field.secret) for (const source of values) collect(source[key]);
  return [...secrets];
}
