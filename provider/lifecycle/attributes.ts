import type { ApiRecord } from "../api/answer";
import { namesOf } from "../definitions/field";
import type { Definition } from "../definitions/field";

/**
 * Everything that a record shows and that is not managed, untouched, except for fields that may hold a secret. A null says
 * no more than an absent field, and state is written many times in each run, so it is left out too.
 */
export function attributesOf(
  definition: Definition,
  record: ApiRecord,
  managed: readonly string[],
): Record<string, unknown> {
  const left = new Set<string>();
  for (const [key, field] of Object.entries(definition.fields))
    if (field.secret || managed.includes(key)) for (const name of namesOf(field)) left.add(name);
  return Object.fromEntries(
    Object.entries(record.shown).filter(([name, value]) => value !== null && !left.has(name)),
  );
}
