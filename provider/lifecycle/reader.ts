import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import { MissingError, TimeIsOverError } from "../api/errors";
import { Listing } from "../api/listing";
import type { Operation } from "../api/operation";
import { isEmpty } from "../common/values";
import { fieldOf } from "../definitions/keys";
import { compare, leftOut, type WantedValues } from "./difference";
import type { Ledger } from "./ledger";
import type { ServerTraits } from "./server-traits";

/**
 * A page of a list is worth this many single records: a compromise, because it counts as one request for a rate limit and has
 * the bytes of a hundred records.
 */
const pageCost = 4;
/** How many pages may be read beyond that, so that all but the largest accounts are read from their list. */
const sparePages = 10;

/**
 * Reads the records that state knows: a few of them by id, many from the list, a hundred at once. A listed record is used
 * only if it has the wanted values; if it differs, the record is read by its id.
 */
export class RecordReader {
  private readonly askedIds = new Set<string>();
  /** The first read, by id. Other reads wait for it: if many do, a list is read next. */
  private firstRead: Promise<unknown> | undefined;
  private firstRecord: ApiRecord | undefined;
  private latestList: Listing | undefined;

  constructor(
    private readonly collection: Collection,
    private readonly ledger: Ledger,
    private readonly traits: ServerTraits,
    private readonly clock: Clock,
  ) {}

  /**
   * The record under an id, from the list if that shows the wanted values, else from its own address. Throws
   * {@link MissingError}.
   *
   * @param withAttributes whether everything else that its own address shows is wanted too
   */
  async read(
    id: string,
    wanted: WantedValues | undefined,
    operation: Operation,
    withAttributes = false,
  ): Promise<ApiRecord> {
    this.askedIds.add(id);
    if (!this.firstRead) {
      const answer = this.readSingle(id, operation);
      this.firstRead = answer.then(
        (record) => (this.firstRecord = record),
        () => undefined,
      );
      return answer;
    }
    await operation.inTime(this.firstRead);
    const listed = wanted && (await this.recordInList(id, operation));
    if (listed && this.hasWantedValues(listed, wanted) && (!withAttributes || this.listShowsAsMuch())) {
      return listed;
    }
    const shown = await this.readSingle(id, operation);
    if (listed) this.learn(listed, shown, wanted);
    return shown;
  }

  /** The record at its own address. Throws {@link MissingError}. */
  readSingle(id: string, operation: Operation): Promise<ApiRecord> {
    return this.collection.get(id, operation);
  }

  /**
   * All records, from a list that is at most a minute old.
   *
   * @param id the list is read again if the provider may have changed this record since
   * @param since the list is read again if it was begun at this time on the clock, or before
   */
  async wholeList(operation: Operation, id?: string, since = -Infinity): Promise<Listing> {
    const isOutdated = id !== undefined && this.ledger.mayHaveChanged(id);
    if (isOutdated || (this.latestList && this.latestList.begun <= since)) this.latestList = undefined;
    const list = this.list(operation);
    await operation.inTime(list.complete());
    return list;
  }

  /** The record at its own address; undefined if it does not exist. */
  async readUnlessMissing(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    try {
      return await this.readSingle(id, operation);
    } catch (error) {
      if (!(error instanceof MissingError)) throw error;
      return undefined;
    }
  }

  /** Reads the first page of a list that is at most a minute old. Throws if it cannot be read. */
  async assertListIsReadable(operation: Operation): Promise<void> {
    await operation.inTime(this.list(operation).begin());
  }

  /** The record in a list; undefined if it is not there, or if it is cheaper so far to read single records. */
  private async recordInList(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    if (this.askedIds.size <= pageCost || this.traits.avoidsLists || this.ledger.mayHaveChanged(id))
      return undefined;
    try {
      const record = await operation.inTime(this.find(id, operation));
      if (record) this.traits.learnListed(record);
      return record;
    } catch (error) {
      // If the list cannot be read, the record itself may still be.
      if (!(error instanceof TimeIsOverError)) this.traits.avoidsLists = true;
      return undefined;
    }
  }

  /** Finds a record in the list, unless that takes more pages than it is worth. */
  private async find(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    const list = this.list(operation);
    // If the last search needed many pages, fetch as many at once for this one.
    return list.find(id, () => this.askedIds.size / pageCost + sparePages, list.pages);
  }

  /** Compares the first record in a list with what its own address has shown. */
  private listShowsAsMuch(): boolean {
    const { firstRecord } = this;
    if (!firstRecord) return false;
    const listed = this.latestList?.get(firstRecord.id);
    return listed !== undefined && leftOut(listed, firstRecord).length === 0;
  }

  private hasWantedValues(listed: ApiRecord, wanted: WantedValues): boolean {
    return [...wanted].every(([key, value]) => {
      const field = fieldOf(this.collection.definition, key);
      if (field.writeOnly) return true;
      const { outcome } = compare(field, value, listed);
      if (outcome !== "notShown") return outcome === "same";
      return isEmpty(value) ? this.traits.isListed(key) : this.traits.isNeverShown(key);
    });
  }

  /** Learns what the record's own address shows and the list does not. */
  private learn(listed: ApiRecord, shown: ApiRecord, wanted: WantedValues): void {
    this.traits.learnShown(wanted, shown);
    this.traits.avoidsLists ||= [...wanted].some(([key, value]) => {
      const field = fieldOf(this.collection.definition, key);
      return (
        compare(field, value, listed).outcome === "notShown" &&
        compare(field, value, shown).outcome !== "notShown"
      );
    });
  }

  /** The list, which begins with the oldest record: a stack's resources are mostly read in the order in which they were created. */
  private list(operation: Operation): Listing {
    if (this.latestList?.isFresh) return this.latestList;
    const pages = this.collection.list(operation.forOthersToo(), { sort: "asc" });
    return (this.latestList = new Listing(pages, "asc", this.clock));
  }
}
