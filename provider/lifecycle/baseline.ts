import { idNumber, type ApiRecord } from "../api/record";
import type { Collection } from "../api/collection";
import type { Operation } from "../api/operation";
import { comparableHost } from "../definitions/codecs";
import { decodeEntities, getOrMake, type Value } from "../common/values";
import { nameIn } from "./difference";
import type { Ledger } from "./ledger";

/** The records that were there before the first create of this process. */
export interface Baseline {
  /** Numeric ids are compared as numbers, because some servers also accept 01 for 1. */
  readonly ids: ReadonlySet<string | bigint>;
  /** The ids of records that were still listed after this process had deleted them; the server may go on to show them. */
  readonly deletedIds: ReadonlySet<string>;
  /**
   * The highest id, if the list is in descending order of ids; otherwise undefined. If the list has 9, 7 and 4, the id 12 is certainly
   * new; 8 may be new too, because some servers give ids at random.
   */
  readonly highestId: bigint | undefined;
  /** The list was empty although this run knew of records, so it may leave records out and cannot show which ones are new. */
  readonly isImplausiblyEmpty: boolean;
  /** The records by {@link searchKeyOf}, for adoption; under {@link namelessKey} those whose names the list does not show. */
  readonly byName: ReadonlyMap<string, readonly ApiRecord[]>;
  /**
   * Records by id, as an earlier create has read them at their own addresses. If the list does not show names, each record is thus read
   * once, and not once for each create.
   */
  readonly recordsByOwnAddress: Map<string, ApiRecord>;
}

export const namelessKey = "";

/** Reads the whole list: other records are new. */
export async function readBaseline(
  collection: Collection,
  ledger: Ledger,
  operation: Operation,
): Promise<Baseline> {
  const { definition } = collection;
  const ids = new Set<string | bigint>();
  const deletedIds = new Set<string>();
  const byName = new Map<string, ApiRecord[]>();
  const numbers: (bigint | undefined)[] = [];
  for await (const page of collection.list(operation))
    for (const record of page) {
      const number = idNumber(record.id);
      ids.add(number ?? record.id);
      if (ledger.isDeleted(record.id)) deletedIds.add(record.id);
      numbers.push(number);
      const key = searchKeyOf(nameIn(definition, record));
      getOrMake(byName, key, () => []).push(record);
    }
  return {
    ids,
    deletedIds,
    // An empty list does not show how it is sorted, but then every record is new.
    highestId: isDescending(numbers) ? (numbers[0] ?? -1n) : undefined,
    isImplausiblyEmpty: ids.size === 0 && ledger.hasHeardOfLivingRecord,
    byName,
    recordsByOwnAddress: new Map(),
  };
}

function isDescending(numbers: readonly (bigint | undefined)[]): boolean {
  return numbers.every((number, index) => {
    const before = numbers[index - 1];
    return number !== undefined && (before === undefined || number < before);
  });
}

/** Whether the list held a record before the first create. */
export function wasListed({ ids }: Baseline, id: string): boolean {
  return ids.has(idNumber(id) ?? id);
}

/** A name may have entities of its own, and no real server escapes it more often than this. */
const maxEscapes = 5;

/**
 * A key for finding names: equal names have equal keys, with HTML entities decoded and a host in lower case. Unequal names may
 * share a key, so compare the names themselves afterwards.
 */
export function searchKeyOf(name: Value | undefined): string {
  if (typeof name !== "string") return namelessKey;
  let decoded = name;
  for (let level = 0; level < maxEscapes; level++) decoded = decodeEntities(decoded) as string;
  return comparableHost(decoded);
}
