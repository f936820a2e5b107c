import type { ApiRecord } from "../api/answer";
import { isObject } from "../definitions/kinds";
import type { Definition, Field } from "../definitions/field";
import { markKey, unknownValue } from "../engine/marks";

const redacted = "[secret]";

/** What a record shows of a field, under whichever of its names. Undefined where it shows nothing of it. */
export function shownOf(field: Field, record: ApiRecord): { readonly value: unknown } | undefined {
  const name = namesOf(field).find((one) => Object.hasOwn(record.shown, one));
  return name === undefined ? undefined : { value: record.shown[name] };
}

/**
 * Everything that a record shows and that is not managed, untouched but for what must not be in state: fields that may
 * hold a secret are left out, texts that equal a declared secret are blotted out, and the key by which the engine marks
 * what is no plain map is renamed, since it would fail the operation. A null says no more than an absent field, and would
 * be written twice for each resource of a run.
 */
export function attributesOf(
  definition: Definition,
  record: ApiRecord,
  managed: readonly string[],
  secrets: ReadonlySet<string>,
): Record<string, unknown> {
  const left = new Set<string>();
  for (const [key, field] of Object.entries(definition.fields))
    if (field.secret || managed.includes(key)) for (const name of namesOf(field)) left.add(name);
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return secrets.has(value) || value === unknownValue ? redacted : value;
    if (Array.isArray(value)) return value.map(clean);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key === markKey ? `${key}_` : key, clean(entry)]),
    );
  };
  const rest = Object.entries(record.shown).filter(([name, value]) => value !== null && !left.has(name));
  return clean(Object.fromEntries(rest)) as Record<string, unknown>;
}

/** The strings of a resource's secret values. */
export function secretsIn(
  definition: Definition,
  ...properties: Readonly<Record<string, unknown>>[]
): Set<string> {
  const secrets = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === "string" && value !== "") secrets.add(value);
    else if (Array.isArray(value)) value.forEach(collect);
    // A header's name is no secret, its value is.
    else if (isObject(value)) collect(value.value);
  };
  for (const [key, field] of Object.entries(definition.fields))
    if (field.secret) for (const source of properties) collect(source[key]);
  return secrets;
}

function namesOf(field: Field): string[] {
  return [field.wire, ...(field.shownAs ?? [])];
}
