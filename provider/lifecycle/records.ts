import type { ApiRecord } from "../api/answer";
import type { Value } from "../definitions/kinds";
import { GoneError, message, UptimeError } from "../api/errors";
import { valueIn } from "./compare";
import type { Connection } from "./connection";
import type { Definition } from "../definitions/field";
import type { Operation } from "../api/operation";
import type { Reader } from "./reader";

/** What reads records. */
type Reading = Pick<Connection, "collection" | "reader">;

/**
 * All records that a filter of the API selects, newest first, each with all that the API shows of it.
 *
 * @param progress is called with the number of records that have been listed so far
 */
export async function readAll(
  connection: Reading,
  operation: Operation,
  filter: Readonly<Record<string, string>> = {},
  progress: (listed: number) => void = () => undefined,
): Promise<readonly ApiRecord[]> {
  const listed: ApiRecord[] = [];
  for await (const page of connection.collection.list(operation, filter)) {
    listed.push(...page);
    progress(listed.length);
  }
  return complete(connection, operation, listed);
}

/** Listed records with all that the API shows of them. If the list leaves something out, they are read one by one. */
export async function complete(
  { reader }: Pick<Reading, "reader">,
  operation: Operation,
  listed: readonly ApiRecord[],
): Promise<readonly ApiRecord[]> {
  const isWhole = await wholeness(reader, operation, listed);
  const records = await Promise.all(
    listed.map(async (record) => (isWhole(record) ? record : unlessGone(reader.show(record.id, operation)))),
  );
  return records.filter((record) => record !== undefined);
}

/** A test for listed records: whether the list shows all of a record, or leaves something out. */
async function wholeness(
  reader: Reader,
  operation: Operation,
  listed: readonly ApiRecord[],
): Promise<(record: ApiRecord) => boolean> {
  for (const sample of listed) {
    const shown = await unlessGone(reader.show(sample.id, operation));
    if (!shown) continue;
    if (Object.keys(shown.shown).some((key) => !(key in sample.shown))) return () => false;
    // Some servers leave out empty fields. A record with fewer fields than others may then be complete, or may not.
    const keys = new Set(listed.flatMap((record) => Object.keys(record.shown)));
    return (record) => Object.keys(record.shown).length === keys.size;
  }
  return () => true;
}

/** Undefined if it is proven that there is no such record. */
export async function unlessGone(record: Promise<ApiRecord>): Promise<ApiRecord | undefined> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof GoneError) return undefined;
    throw error;
  }
}

/** Whether the server may show strings HTML-escaped: no string in the records has a character that would be escaped. */
export function isEscaped(records: readonly ApiRecord[]): boolean {
  return !records.some(({ shown }) =>
    Object.values(shown).some((value) => typeof value === "string" && /[<>"]|&(?!#?\w+;)/.test(value)),
  );
}

/**
 * What a record shows of its fields, by property; null if it shows an empty field.
 *
 * @param options.escaped whether strings are HTML-escaped and are to be unescaped; default true
 * @param options.refuse is called for a field that shows a value it cannot have; without it, such a value is an error
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
        throw new UptimeError(message`${definition.label} ${record.id} cannot be read. ${error}`, {
          cause: error,
        });
      refuse(key, `cannot be read. ${error.message}`);
    }
  }
  return values;
}
