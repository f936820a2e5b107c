import { idNumber, type ApiRecord } from "../api/answer";
import type { Collection } from "../api/collection";
import { UptimeError } from "../api/errors";
import type { Operation } from "../api/operation";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys } from "../definitions/keys";
import { isAlike } from "./alike";
import { IdOrder, wasListed } from "./baseline";
import { showsNoDifference, shows, type WantedValues } from "./difference";
import type { LostCreate } from "./run-creates";
import type { RecordScope } from "./record-scope";
import type { Claim } from "./resource";

/** Between two looks, for a replica that lags a little. */
export const lookPauseMilliseconds = 5000;

/** The result of a look: new records that a lost create may have made. */
export interface Look {
  /** Surely new, and equal in everything that is declared and shown; or the one that the answer has named. */
  readonly equal: readonly ApiRecord[];
  /** With the same name or URL, or with the beginning of the name, and something else that differs. */
  readonly alike: readonly ApiRecord[];
  /** This run deletes one of them, or has just deleted it, and a replica may still show that, so a later look decides. */
  readonly isUndecided?: boolean;
  /** Why the look has failed; undefined if it has not. */
  readonly failure?: unknown;
}

/**
 * Looks once for the record of a lost create. A record of the list is new if it was not there before the first create, or if
 * this run has deleted the one that had its id (five seconds ago, because a replica may still show that, and unless the list
 * showed it before the first create all the same), and if no resource has got it in this run. If the delete is not answered yet, that is not known, so the look is undecided. What a new record is, its own
 * address decides:
 *
 * | a new record                                                                            |         |
 * | --------------------------------------------------------------------------------------- | ------- |
 * | has the id that the answer named, and is alike in the list                              | `equal` |
 * | is equal, and another resource has its id in state, or by another key                   | `alike` |
 * | was created later than the create was sent, and is equal                                | `equal` |
 * | has its name or URL, is equal to no other lost create, and no resource has it           | `alike` |
 * | is anything else                                                                        | nothing |
 *
 * @param isLast for the look that decides: it reads the whole list, because on a server whose ids do not rise the record may have a
 *   lower id
 */
export async function lookOnce(
  scope: RecordScope,
  lostCreate: LostCreate,
  operation: Operation,
  isLast: boolean,
): Promise<Look> {
  const { claims, collection, creates, definition, ledger } = scope;
  const { wanted, baseline, highestIdBefore, lostAnswer } = lostCreate;
  const justNow = operation.clock.now() - lookPauseMilliseconds;
  /** Whether a delete of this run leaves open what has the id: servers use ids again, and replicas lag. */
  const isUndecided = (id: string): boolean => ledger.isBeingDeleted(id) || ledger.isDeleted(id, justNow);
  const isSurelyNew = (id: string): boolean =>
    !isUndecided(id) &&
    !baseline.deletedIds.has(id) &&
    (ledger.isDeleted(id) || (isHigher(id, highestIdBefore) && !wasListed(baseline, id)));
  const wasBefore = (id: string): boolean => wasListed(baseline, id) && !claims.mayBeUsedAgain(id);
  const isNamed = (id: string): boolean => id === lostAnswer.answeredId && !isUndecided(id);
  const isNew = (record: ApiRecord): boolean => {
    const { id } = record;
    return (isLast || isSurelyNew(id) || isNamed(id)) && !wasBefore(id) && !isTaken(scope, record);
  };
  const equalsAnotherLostCreate = (record: ApiRecord): boolean =>
    [...creates.lostCreates].some(
      (other) => other !== lostCreate && showsNoDifference(definition, other.wanted, record),
    );
  try {
    const listed = await listAbove(collection, isLast ? undefined : highestIdBefore, operation);
    // Such a list leaves records out, so it does not show that there is no new one.
    const hadOthers = (): boolean => [...baseline.ids].some((id) => !claims.mayBeUsedAgain(String(id)));
    if (listed.length === 0 && (ledger.knowsLivingRecord || hadOthers())) {
      const contradiction = ledger.knowsLivingRecord
        ? "this run knows of some"
        : "it was not before the first create of this run";
      throw new UptimeError(`the list of ${definition.plural} is empty, although ${contradiction}.`);
    }
    const candidates = listed.filter(isNew);
    // A create that is still in flight may have made one of them, and is about to say so.
    await operation.inTime(Promise.allSettled(creates.inFlight));
    const answered = candidates.find(
      (record) =>
        record.id === lostAnswer.answeredId &&
        isNew(record) &&
        !ledger.isBeingDeleted(record.id) &&
        identityKeys(definition).some((key) => shows(fieldOf(definition, key), record)) &&
        isAlike(definition, wanted, record),
    );
    if (answered) return { equal: [answered], alike: [] };
    const equal: ApiRecord[] = [];
    const alike: ApiRecord[] = [];
    for (const candidate of candidates) {
      if (!isNew(candidate) || !mayBeAlike(definition, wanted, candidate)) continue;
      const record = await collection.find(candidate.id, operation);
      // A replica that lags may not show it at its own address yet, and then only the list does.
      const isSame = record !== undefined && showsNoDifference(definition, wanted, record);
      if (claims.hasOther(candidate.id, record, { claim: keptClaim(scope, record ?? candidate) })) {
        if (isSame) alike.push(record);
      } else if (isSame && isSurelyNew(record.id)) equal.push(record);
      else if (
        isAlike(definition, wanted, record ?? candidate) &&
        !equalsAnotherLostCreate(record ?? candidate)
      )
        alike.push(record ?? candidate);
    }
    return { equal, alike, isUndecided: alike.some(({ id }) => isUndecided(id)) };
  } catch (failure) {
    return { equal: [], alike: [], failure };
  }
}

/** Whether a resource has got the record in this run. */
export function isTaken(scope: RecordScope, record: ApiRecord): boolean {
  return scope.claims.isTakenInRun(record.id, keptClaim(scope, record));
}

/** The claim that does not count: of a create whose kept id the record has, although it cannot be that create's. */
function keptClaim({ creates, definition }: RecordScope, record: ApiRecord): Claim | undefined {
  const kept = creates.keptIds.get(record.id);
  return kept && !isAlike(definition, kept.wanted, record) ? kept.claim : undefined;
}

/** Whether an id was given after the highest known one; true if ids do not show it. */
function isHigher(id: string, highest: bigint | undefined): boolean {
  const number = idNumber(id);
  return highest === undefined || number === undefined || number > highest;
}

/** The records of a list down to an id if it is in descending order of ids, otherwise all. */
async function listAbove(
  collection: Collection,
  id: bigint | undefined,
  operation: Operation,
): Promise<ApiRecord[]> {
  const listed: ApiRecord[] = [];
  const order = new IdOrder();
  const pages = collection.list(operation);
  // Each page may be the last that is needed, so no others are asked for at once.
  const pagesWanted = id === undefined ? undefined : 1;
  for (let step = await pages.next(); !step.done; step = await pages.next(pagesWanted)) {
    listed.push(...step.value);
    for (const record of step.value) order.add(record.id);
    // One id does not show the order.
    const { isDescending, count, last } = order;
    if (isDescending && count > 1 && last !== undefined && id !== undefined && last <= id) break;
  }
  return listed;
}

/** A listed record, which may show less than its own address does. */
function mayBeAlike(definition: Definition, wanted: WantedValues, listed: ApiRecord): boolean {
  const isBrief = !identityKeys(definition).every((key) => shows(fieldOf(definition, key), listed));
  return isBrief || isAlike(definition, wanted, listed);
}
