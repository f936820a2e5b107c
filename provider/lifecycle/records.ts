import type { ApiRecord } from "../api/answer";
import { message, MissingError, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { Operation } from "../api/operation";
import type { Definition } from "../definitions/field";
import type { Value } from "../definitions/values";
import type { RecordScope } from "./record-scope";
import { shownValue } from "./difference";
import { assertNotListed } from "./gone";
import { leavesOut } from "./reader";

/** Completes listed records: if the list leaves fields out, each record is read by its id. */
export async function completeRecords(
  scope: RecordScope,
  operation: Operation,
  listed: readonly ApiRecord[],
): Promise<readonly ApiRecord[]> {
  if (await listsShowAll(scope, operation, listed)) return listed;
  const records = await Promise.all(listed.map(({ id }) => showUnlessMissing(scope, id, operation)));
  return records.filter((record) => record !== undefined);
}

/** Compares one listed record with its own address: the one with the most fields, because some servers leave out empty ones. */
async function listsShowAll(
  scope: RecordScope,
  operation: Operation,
  listed: readonly ApiRecord[],
): Promise<boolean> {
  const size = ({ raw }: ApiRecord): number => Object.keys(raw).length;
  for (const sample of [...listed].sort((a, b) => size(b) - size(a))) {
    const shown = await showUnlessMissing(scope, sample.id, operation);
    if (shown) return !leavesOut(sample, shown);
  }
  return true;
}

/** The record at its own address; undefined if it does not exist. */
export async function showUnlessMissing(
  scope: RecordScope,
  id: string,
  operation: Operation,
): Promise<ApiRecord | undefined> {
  try {
    return await scope.reader.show(id, operation);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    await assertNotListed(scope, id, error, operation);
    return undefined;
  }
}

/**
 * The fields that a record shows, by property; null if it shows an empty one.
 *
 * @param options.escaped whether strings are HTML-escaped and are to be unescaped; default true
 * @param options.refuse is called for a field that shows a value it cannot have; without it, such a value is an error
 */
export function shownValues(
  definition: Definition,
  record: ApiRecord,
  options: {
    readonly escaped?: boolean;
    readonly refuse?: (property: string, reason: Message) => void;
  } = {},
): Map<string, Value> {
  const { escaped = true, refuse } = options;
  const values = new Map<string, Value>();
  for (const [key, field] of Object.entries(definition.fields)) {
    try {
      const value = shownValue(field, record, escaped);
      if (value !== undefined) values.set(key, value);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      if (!refuse)
        throw new UptimeError(message`${definition.label} ${record.id} cannot be read. ${error}`, {
          cause: error,
        });
      refuse(key, message`cannot be read. ${error}`);
    }
  }
  return values;
}
