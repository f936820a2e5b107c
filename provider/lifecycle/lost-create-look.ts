import { idNumber, type ApiRecord } from "../api/record";
import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys } from "../definitions/keys";
import { differences, shows, type WantedValues } from "./difference";
import { wasListed, type Baseline } from "./baseline";
import type { LostCreate } from "./run-creates";
import type { OperationScope, RecordScope } from "./record-scope";
import { compareIdentity } from "./same-record";
import type { Claim } from "./resource";

/** Between two looks, for a replica that lags a little. */
export const lookPauseMilliseconds = 5000;

/** The result of a look: new records that a lost create may have made. */
export interface Look {
  /** Surely new, and equal in everything that is declared and shown; or with the id that the answer had. */
  readonly equal: readonly ApiRecord[];
  /** Perhaps ours: the name, its beginning or the URL is the same, but something differs or another resource has the record. */
  readonly doubtful: readonly ApiRecord[];
  /** One of `doubtful` may be a record that this run is deleting or has just deleted, so a later look decides. */
  readonly isUndecided?: boolean;
  /** Why the look has failed; undefined if it has not. */
  readonly failure?: unknown;
}

/**
 * Looks once for the record of a lost create among the new ones of the list. If the list is newest first, a look ends at the first page
 * that is all old. Only the last look reads the whole list, because a server may give a new record a lower id.
 */
export async function lookOnce(
  scope: OperationScope,
  lostCreate: LostCreate,
  isLast: boolean,
): Promise<Look> {
  const { clock, collection, creates, definition, operation } = scope;
  const { wanted, baseline, highestIdBefore } = lostCreate;
  const age = new RecordAge(scope, lostCreate, clock.now());
  try {
    const candidates: ApiRecord[] = [];
    let isEmpty = true;
    for await (const page of collection.list(operation)) {
      isEmpty = false;
      for (const record of page) if (age.isNew(record)) candidates.push(record);
      const isOld = page.every(({ id }) => wasListed(baseline, id));
      if (isOld && highestIdBefore !== undefined && !isLast) break;
    }
    if (isEmpty) assertMayBeEmpty(scope, baseline);
    // A create that is still in flight may have made one of them, and its answer will show that.
    await creates.waitForInFlight(operation);
    // An id alone proves nothing.
    const isShownAlike = (record: ApiRecord): boolean =>
      ["same", "alike"].includes(compareIdentity(definition, wanted, record));
    const answered = candidates.find((record) => age.hasAnsweredId(record) && isShownAlike(record));
    if (answered) return { equal: [answered], doubtful: [] };
    const look = { equal: [] as ApiRecord[], doubtful: [] as ApiRecord[] };
    for (const candidate of candidates) {
      if (!age.isNew(candidate) || isListedAsOther(definition, wanted, candidate)) continue;
      const record = await collection.find(candidate.id, operation);
      // A replica that lags may not show it at its own address yet, and then only the list does.
      const found = likeness(scope, lostCreate, age, record, candidate);
      if (found) look[found].push(record ?? candidate);
    }
    return { ...look, isUndecided: look.doubtful.some(({ id }) => age.isUndecided(id)) };
  } catch (failure) {
    return { equal: [], doubtful: [], failure };
  }
}

/**
 * What a new record is to a lost create: its own address decides.
 *
 * | a new record                                                          | is         |
 * | --------------------------------------------------------------------- | ---------- |
 * | is equal, and another resource has its id in state, or by another key | `doubtful` |
 * | was created later than the create was sent, and is equal              | `equal`    |
 * | has its name or URL, and is equal to no other lost create             | `doubtful` |
 * | is anything else                                                      | nothing    |
 *
 * @param record undefined if its own address does not show it
 */
function likeness(
  scope: RecordScope,
  lostCreate: LostCreate,
  age: RecordAge,
  record: ApiRecord | undefined,
  listed: ApiRecord,
): "equal" | "doubtful" | undefined {
  const { claims, creates, definition } = scope;
  const { wanted } = lostCreate;
  const shown = record ?? listed;
  const isEqual = record !== undefined && differences(definition, wanted, record).length === 0;
  if (claims.hasOtherClaim(shown.id, record, { claim: unconfirmedClaim(scope, shown) }))
    return isEqual ? "doubtful" : undefined;
  if (isEqual && age.isSurelyNew(shown.id)) return "equal";
  const equalsAnother = creates
    .otherLostCreates(lostCreate)
    .some((other) => differences(definition, other.wanted, shown).length === 0);
  return !equalsAnother && compareIdentity(definition, wanted, shown) !== "differs" ? "doubtful" : undefined;
}

/** Which records of a list may be that of a create: the new ones that no resource has got, and of these the one that its answer has named. */
class RecordAge {
  constructor(
    private readonly scope: RecordScope,
    private readonly lostCreate: LostCreate,
    private readonly now: number,
  ) {}

  /** Whether a delete of this run makes it unclear who has the id: servers reuse ids, and a replica may show a deleted record. */
  isUndecided(id: string): boolean {
    const { ledger } = this.scope;
    return ledger.isBeingDeleted(id) || ledger.isDeleted(id, this.now - lookPauseMilliseconds);
  }

  /** Whether the id was given after the create was sent, or again after this run has deleted the record that had it. */
  isSurelyNew(id: string): boolean {
    const { baseline, highestIdBefore } = this.lostCreate;
    // A record that the list still showed after its delete may be shown for longer.
    if (this.isUndecided(id) || baseline.deletedIds.has(id)) return false;
    return this.scope.ledger.isDeleted(id) || (isHigher(id, highestIdBefore) && !wasListed(baseline, id));
  }

  /** Whether the record may be new, and no resource has got it in this run. */
  isNew(record: ApiRecord): boolean {
    const { id } = record;
    const { claims } = this.scope;
    const wasBefore = wasListed(this.lostCreate.baseline, id) && !claims.mayBeUsedAgain(id);
    return !wasBefore && !isTaken(this.scope, record);
  }

  /** Whether the record is new and has the id that the answer had. */
  hasAnsweredId(record: ApiRecord): boolean {
    const { id } = record;
    const { answeredId, otherId } = this.lostCreate.lostAnswer;
    return [answeredId, otherId].includes(id) && this.isNew(record) && !this.scope.ledger.isBeingDeleted(id);
  }
}

/** Throws if an empty list must have left records out: then it does not prove that there is no new one. */
function assertMayBeEmpty({ claims, definition, ledger }: RecordScope, baseline: Baseline): void {
  const hadOthers = [...baseline.ids].some((id) => !claims.mayBeUsedAgain(String(id)));
  if (!ledger.hasHeardOfLivingRecord && !hadOthers) return;
  const contradiction = ledger.hasHeardOfLivingRecord
    ? "this run knows of some"
    : "it was not before the first create of this run";
  throw new UptimeError(`the list of ${definition.plural} is empty, although ${contradiction}.`);
}

/** Whether a resource has got the record in this run. */
export function isTaken(scope: RecordScope, record: ApiRecord): boolean {
  return scope.claims.isTakenInRun(record.id, unconfirmedClaim(scope, record));
}

/**
 * The claim on a record that does not count. One create was answered with the id 7 alone and kept it, unconfirmed. If the monitor 7
 * has another name and URL, that create cannot have made it.
 */
function unconfirmedClaim({ creates, definition }: RecordScope, record: ApiRecord): Claim | undefined {
  const kept = creates.unconfirmedIds.get(record.id);
  return kept && compareIdentity(definition, kept.wanted, record) === "differs" ? kept.claim : undefined;
}

/** Whether an id was given after the highest known one; true if ids do not show that. */
function isHigher(id: string, highest: bigint | undefined): boolean {
  const number = idNumber(id);
  return highest === undefined || number === undefined || number > highest;
}

/** Whether a listed record has another name and URL. It may show less of them than its own address does. */
function isListedAsOther(definition: Definition, wanted: WantedValues, listed: ApiRecord): boolean {
  const showsBoth = identityKeys(definition).every((key) => shows(fieldOf(definition, key), listed));
  return showsBoth && compareIdentity(definition, wanted, listed) === "differs";
}
