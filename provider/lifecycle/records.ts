import { setMaxListeners } from "node:events";

import type { ApiRecord } from "../api/answer";
import type { Value } from "../definitions/kinds";
import type { Collection } from "../api/collection";
import { Missing } from "../api/collection";
import { UptimeError } from "../api/errors";
import { valueIn } from "./compare";
import type { Definition } from "../definitions/field";
import type { Deadline } from "../api/deadline";

/**
 * All records that a filter of the API selects, newest first, each as whole as `show` has it.
 *
 * @param progress is told how many have been listed so far.
 */
export async function readAll(
  collection: Collection,
  deadline: Deadline,
  filter: Readonly<Record<string, string>> = {},
  progress: (listed: number) => void = () => undefined,
): Promise<readonly ApiRecord[]> {
  const listed: ApiRecord[] = [];
  for await (const page of collection.list(deadline, filter)) {
    listed.push(...page);
    progress(listed.length);
  }
  return complete(collection, deadline, listed);
}

/** Listed records, as whole as `show` has them: where the list shows less, they are asked for one by one. */
export async function complete(
  collection: Collection,
  deadline: Deadline,
  listed: readonly ApiRecord[],
): Promise<readonly ApiRecord[]> {
  // Each request listens for the deadline's end.
  setMaxListeners(0, deadline.signal);
  const isWhole = await wholeness(collection, deadline, listed);
  const records = await Promise.all(
    listed.map(async (record) =>
      isWhole(record) ? record : unlessGone(collection.show(record.id, deadline)),
    ),
  );
  return records.filter((record) => record !== undefined);
}

/** Tells listed records that are whole from those of which the list leaves something out. */
async function wholeness(
  collection: Collection,
  deadline: Deadline,
  listed: readonly ApiRecord[],
): Promise<(record: ApiRecord) => boolean> {
  for (const sample of listed) {
    const shown = await unlessGone(collection.show(sample.id, deadline));
    if (!shown) continue;
    if (Object.keys(shown.shown).some((key) => !(key in sample.shown))) return () => false;
    // Some installs leave out what is empty. Then a key that one record has and another has not says nothing by itself.
    const keys = new Set(listed.flatMap((record) => Object.keys(record.shown)));
    return (record) => Object.keys(record.shown).length === keys.size;
  }
  return () => true;
}

async function unlessGone(record: Promise<ApiRecord>): Promise<ApiRecord | undefined> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof Missing) return undefined;
    throw error;
  }
}

/** Whether an install shows texts HTML-escaped, as far as its records tell: nothing in them is what an escape replaces. */
export function isEscaped(records: readonly ApiRecord[]): boolean {
  return !records.some(({ shown }) =>
    Object.values(shown).some((value) => typeof value === "string" && /[<>"]|&(?!#?\w+;)/.test(value)),
  );
}

/**
 * What a record shows of its fields, under the properties' names; null where it is empty.
 *
 * @param options.escaped whether texts are HTML-escaped, and to be read without that; default true
 * @param options.refuse is told of a field that shows what cannot be its value. Without it, such a record is an error.
 */
export function valuesIn(
  definition: Definition,
  record: ApiRecord,
  options: {
    readonly escaped?: boolean;
    readonly refuse?: (property: string, reason: string) => void;
  } = {},
): Map<string, Value> {
  const { escaped = true, refuse } = options;
  const values = new Map<string, Value>();
  for (const [key, field] of Object.entries(definition.fields)) {
    try {
      const value = valueIn(field, record, escaped);
      if (value !== undefined) values.set(key, value);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      if (!refuse)
        throw new UptimeError(`The ${definition.singular} ${record.id} cannot be read. ${error.message}`, {
          cause: error,
        });
      refuse(key, `cannot be read. ${error.message}`);
    }
  }
  return values;
}
