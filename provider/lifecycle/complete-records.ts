import type { ApiRecord } from "../api/answer";
import { MissingError } from "../api/errors";
import type { Operation } from "../api/operation";
import type { RecordScope } from "./record-scope";
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
    return await scope.reader.readSingle(id, operation);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    await assertNotListed(scope, id, error, operation);
    return undefined;
  }
}
