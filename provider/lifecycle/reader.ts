import { setImmediate } from "node:timers/promises";

import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import { TimeIsOverError } from "../api/errors";
import { Listing } from "../api/listing";
import type { Operation } from "../api/operation";
import { fieldOf } from "../definitions/keys";
import { compare, leftOut, type WantedValues } from "./difference";
import type { Ledger } from "./ledger";

/** The first records are read by their ids: for a few, a list is not worth it. */
const fewRecords = 4;
/** Milliseconds for which a list that was read shows that the API can be read. */
const stillReadable = 5000;
/** Milliseconds in which records are read by their ids after a list could not be read. */
const failurePause = 60_000;
/** At most one page of a list is read for each four records that were asked for, and this many more. */
const sparePages = 10;

/**
 * Reads the records that state knows: a few of them by id, many from the list, a hundred at once. A listed record counts if
 * it shows every wanted value; else the record is read by its id.
 */
export class RecordReader {
  private readonly askedIds = new Set<string>();
  private latestList: Listing | undefined;
  /** The last list that was begun to see whether the API can be read. */
  private latestProof: Listing | undefined;
  /** When a list could not be read, on the clock. */
  private listFailedAt = -Infinity;
  /** A record as its own address has shown it. */
  private example: ApiRecord | undefined;

  constructor(
    private readonly collection: Collection,
    private readonly ledger: Ledger,
    private readonly clock: Clock,
  ) {}

  /**
   * The record under an id, from the list if that shows the wanted values, else from its own address. Throws
   * MissingError.
   *
   * @param wanted undefined if the record is wanted as its own address shows it
   * @param withAttributes whether everything else that its own address shows is wanted too
   */
  async get(
    id: string,
    wanted: WantedValues | undefined,
    operation: Operation,
    withAttributes = false,
  ): Promise<ApiRecord> {
    this.askedIds.add(id);
    const listed = wanted && (await this.findInList(id, operation));
    if (listed && this.isAsWanted(listed, wanted) && (!withAttributes || this.listShowsAsMuch()))
      return listed;
    return (this.example = await this.collection.get(id, operation));
  }

  /**
   * All records, from a list whose last page was asked for less than a minute ago.
   *
   * @param id the list is read again if the provider may have changed this record since
   * @param since the list is read again if it was begun at this time on the clock, or before
   */
  async wholeList(operation: Operation, id?: string, since = -Infinity): Promise<Listing> {
    const isOutdated = id !== undefined && this.ledger.isOutdated(id);
    if (isOutdated || (this.latestList && this.latestList.begun <= since)) this.latestList = undefined;
    const list = this.list(operation);
    await operation.inTime(list.complete());
    return list;
  }

  /** Throws if the first page of the list cannot be read now. What was read a few seconds ago counts. */
  async assertListIsReadable(operation: Operation): Promise<void> {
    const since = this.clock.now() - stillReadable;
    const isRecent = (list: Listing | undefined): boolean => list?.isFresh === true && list.begun >= since;
    // A list that others read to its end is not begun anew for this.
    const newProof = () => (this.latestList?.isFresh ? this.newList(operation) : this.list(operation));
    this.latestProof = [this.latestList, this.latestProof].find(isRecent) ?? newProof();
    await operation.inTime(this.latestProof.begin());
  }

  /** The record in a list, unless that takes more pages than it is worth. */
  private async findInList(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    // The engine asks for several at once, so they are counted together.
    if (this.askedIds.size <= fewRecords) await setImmediate();
    const { size } = this.askedIds;
    const hasJustFailed = this.clock.now() - this.listFailedAt < failurePause;
    if (size <= fewRecords || hasJustFailed || this.ledger.isOutdated(id)) return undefined;
    try {
      return await operation.inTime(this.list(operation).find(id, size / fewRecords + sparePages));
    } catch (error) {
      // If the list cannot be read, the record itself may still be.
      if (!(error instanceof TimeIsOverError)) this.listFailedAt = this.clock.now();
      return undefined;
    }
  }

  private isAsWanted(listed: ApiRecord, wanted: WantedValues): boolean {
    return [...wanted].every(([key, value]) => {
      const field = fieldOf(this.collection.definition, key);
      return field.writeOnly === true || compare(field, value, listed).outcome === "same";
    });
  }

  private listShowsAsMuch(): boolean {
    const { example, latestList } = this;
    const listed = example && latestList?.get(example.id);
    return example !== undefined && listed !== undefined && leftOut(listed, example).length === 0;
  }

  /** The list, which begins with the oldest record: a stack's resources are mostly read in the order in which they were created. */
  private list(operation: Operation): Listing {
    if (!this.latestList?.isFresh) this.latestList = this.newList(operation);
    return this.latestList;
  }

  private newList(operation: Operation): Listing {
    return new Listing(this.collection.list(operation.forOthersToo(), { sort: "asc" }), this.clock);
  }
}
