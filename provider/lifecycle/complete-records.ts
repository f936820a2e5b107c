import type { ApiRecord } from "../api/record";
import { ifError, KeyRefusedError, NotFoundError, UnreachableError } from "../api/errors";
import type { Field } from "../definitions/field";
import { missingInList, shows } from "./difference";
import { assertNotListed } from "./gone";
import type { OperationScope } from "./record-scope";

/**
 * Completes listed records: if the list leaves fields out, each record is read by its id.
 *
 * @param needed fields that the caller needs: if the list shows one of them for no record, every record is read by its id
 */
export async function completeRecords(
  scope: OperationScope,
  listed: readonly ApiRecord[],
  needed: readonly Field[] = [],
): Promise<readonly ApiRecord[]> {
  const sample = await findSample(scope, listed);
  // All of them were deleted since.
  if (!sample) return [];
  const isShown = (field: Field): boolean => listed.some((record) => shows(field, record));
  if (sample.missingInList.length === 0 && needed.every(isShown)) return listed;
  const records = await Promise.all(listed.map(({ id }) => findUnlessGone(scope, id)));
  return records.filter((record) => record !== undefined);
}

/** A record at its own address, and the names that the list leaves out. */
interface Sample {
  readonly record: ApiRecord;
  readonly missingInList: readonly string[];
}

/** After this many records that cannot be read, no other one is tried. */
const maxFailures = 5;

/**
 * Reads one listed record at its own address: the one with the most fields, because some servers leave out empty ones. Undefined if
 * none exists any more.
 */
export async function findSample(
  scope: OperationScope,
  listed: readonly ApiRecord[],
): Promise<Sample | undefined> {
  const size = ({ raw }: ApiRecord): number => Object.keys(raw).length;
  const failures: unknown[] = [];
  for (const candidate of [...listed].sort((a, b) => size(b) - size(a)))
    try {
      const record = await findUnlessGone(scope, candidate.id);
      if (record) return { record, missingInList: missingInList(scope.definition, candidate, record) };
    } catch (error) {
      // One unreadable record does not mean that the others are unreadable.
      const isOfServer = error instanceof KeyRefusedError || error instanceof UnreachableError;
      if (isOfServer || failures.push(error) === maxFailures) throw error;
    }
  if (failures.length > 0) throw failures.at(-1);
  return undefined;
}

/** The record at its own address; undefined if neither that nor the list has it. */
export async function findUnlessGone(scope: OperationScope, id: string): Promise<ApiRecord | undefined> {
  return scope.collection.get(id, scope.operation).catch(
    ifError(NotFoundError, async (missing) => {
      await assertNotListed(scope, id, missing);
      return undefined;
    }),
  );
}
