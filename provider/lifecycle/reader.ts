import { setImmediate } from "node:timers/promises";

import type { ApiRecord } from "../api/record";
import type { Collection } from "../api/collection";
import { OperationTimeoutError, UptimeError } from "../api/errors";
import { CachedList } from "../api/cached-list";
import type { Operation } from "../api/operation";
import { shownNames, type Field } from "../definitions/field";
import { fieldOf } from "../definitions/keys";
import { mayBeUnloadedIn, missingInList, showsAll, type WantedValues } from "./difference";
import type { Ledger } from "./ledger";

/** For each group of this many records that are asked for, one page of the list may be read, besides the {@link sparePages}. */
const readsPerPage = 4;
/** Limits how far the list is read: the number of records asked for ÷ {@link readsPerPage}, plus this many pages. */
const sparePages = 10;
/** The first requests of a refresh arrive within this time, up to as many as the engine sends at once. */
const gatherMilliseconds = 20;
/** A list that was begun so recently shows that the API can be read. */
const readableMilliseconds = 5000;
/** How many records are kept as examples of what their own addresses show. */
const maxExamples = 8;
/** After a list could not be read, records are read by their ids for a while. */
const listPauseMilliseconds = 60_000;

/**
 * Reads the records that state knows: a few of them by id, many from the list, a hundred at once.
 *
 * | a record                                                                 | is read       |
 * | ------------------------------------------------------------------------ | ------------- |
 * | while no more than {@link readsPerPage} have been asked for              | by its id     |
 * | that is wanted as its own address shows it, or that this run has changed | by its id     |
 * | whose list has just failed, or would take too many pages                 | by its id     |
 * | that is not in the list, or not with every wanted value                  | by its id     |
 * | that may only look empty in the list                                     | by its id     |
 * | any other                                                                | from the list |
 */
export class RecordReader {
  private readonly askedIds = new Set<string>();
  private latestList: CachedList | undefined;
  /** The last list that was begun to check whether the API can be read. */
  private latestProbe: CachedList | undefined;
  /** When a list could not be read, on the clock. */
  private listFailedAt = -Infinity;
  /** Records as their own addresses have shown them. */
  private readonly examples: ApiRecord[] = [];
  private exampleRead: Promise<unknown> | undefined;

  constructor(
    private readonly collection: Collection,
    private readonly ledger: Ledger,
  ) {}

  /**
   * The record under an id. Throws NotFoundError.
   *
   * @param wanted undefined if the record is wanted as its own address shows it
   * @param options.withAttributes whether the other fields at the record's own address are wanted too
   */
  async get(
    id: string,
    wanted: WantedValues | undefined,
    operation: Operation,
    { withAttributes = false } = {},
  ): Promise<ApiRecord> {
    this.askedIds.add(id);
    const listed = wanted && (await this.findInList(id, operation));
    const isEnough =
      listed &&
      showsAll(this.collection.definition, wanted, listed) &&
      (await this.isLoaded(wanted, listed, operation)) &&
      (!withAttributes || this.listShowsAsMuch());
    return isEnough ? listed : this.getById(id, operation);
  }

  private async getById(id: string, operation: Operation): Promise<ApiRecord> {
    const record = await this.collection.get(id, operation);
    if (this.examples.length < maxExamples) this.examples.push(record);
    return record;
  }

  /**
   * Whether the list has loaded a field that it shows as empty: some servers show no channels in a list, for example. The list has
   * loaded the field if it shows it for some record, or if an example's own address shows it as empty too.
   */
  private async isLoaded(wanted: WantedValues, listed: ApiRecord, operation: Operation): Promise<boolean> {
    const { definition } = this.collection;
    const fields = [...wanted.keys()].map((key) => fieldOf(definition, key));
    const empty = fields.filter((field) => !field.writeOnly && mayBeUnloadedIn(field, listed));
    const isShown = (field: Field): boolean =>
      // A list that shows false has usually loaded the field.
      field.type === "boolean" || shownNames(field).some((name) => this.latestList?.hasLoaded(name));
    const unclear = empty.filter((field) => !isShown(field));
    if (unclear.length > 0 && this.examples.length === 0) {
      this.exampleRead ??= this.getById(listed.id, operation.forSharedWork()).catch(() => undefined);
      await operation.inTime(this.exampleRead);
    }
    const examples = this.listedExamples();
    const alike = (field: Field) => examples.filter(({ inList }) => mayBeUnloadedIn(field, inList));
    return (
      unclear.every((field) => alike(field).length > 0) &&
      empty.every((field) => alike(field).every(({ own }) => mayBeUnloadedIn(field, own)))
    );
  }

  /** The record in the list; undefined if the list does not show it, or is not read for so few records. */
  private async findInList(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    // The engine asks for several at once, so they are counted together.
    if (this.askedIds.size <= readsPerPage)
      await Promise.all([setImmediate(), operation.sleep(gatherMilliseconds).catch(() => undefined)]);
    const { size } = this.askedIds;
    const hasJustFailed = operation.clock.now() - this.listFailedAt < listPauseMilliseconds;
    if (size <= readsPerPage || hasJustFailed || this.ledger.wasChanged(id)) return undefined;
    try {
      return await operation.inTime(this.list(operation).find(id, size / readsPerPage + sparePages));
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      // Even if the list cannot be read, the record itself may be readable.
      if (!(error instanceof OperationTimeoutError)) this.listFailedAt = operation.clock.now();
      return undefined;
    }
  }

  /** Whether the list shows everything that a record's own address does, as far as examples prove it. */
  private listShowsAsMuch(): boolean {
    const { definition } = this.collection;
    const examples = this.listedExamples();
    return (
      examples.length > 0 &&
      examples.every(({ own, inList }) => missingInList(definition, inList, own).length === 0)
    );
  }

  /** The examples that the list holds too, as far as it was read. */
  private listedExamples(): { own: ApiRecord; inList: ApiRecord }[] {
    return this.examples.flatMap((own) => {
      const inList = this.latestList?.get(own.id);
      return inList ? [{ own, inList }] : [];
    });
  }

  /**
   * All records, from a list whose last page was asked for less than a minute ago.
   *
   * @param id the list is read again if the provider may have changed this record since
   * @param since the list is read again if it was begun at this time on the clock, or before
   */
  async wholeList(operation: Operation, id?: string, since = -Infinity): Promise<CachedList> {
    const isOutdated = id !== undefined && this.ledger.wasChanged(id);
    if (isOutdated || (this.latestList && this.latestList.createdAt <= since)) this.latestList = undefined;
    const list = this.list(operation);
    await operation.inTime(list.complete());
    return list;
  }

  /** Throws if the first page of the list cannot be read now. What was read a few seconds ago counts. */
  async assertListIsReadable(operation: Operation): Promise<void> {
    const since = operation.clock.now() - readableMilliseconds;
    const isRecent = (list: CachedList | undefined): boolean =>
      list?.isFresh === true && list.createdAt >= since;
    this.latestProbe =
      [this.latestList, this.latestProbe].find(isRecent) ??
      // A list that others read to its end is not begun anew for this.
      (this.latestList?.isFresh ? this.newList(operation) : this.list(operation));
    await operation.inTime(this.latestProbe.readFirstPage());
  }

  /** The list, which begins with the oldest record: a stack's resources are mostly read in the order in which they were created. */
  private list(operation: Operation): CachedList {
    if (!this.latestList?.isFresh) this.latestList = this.newList(operation);
    return this.latestList;
  }

  private newList(operation: Operation): CachedList {
    return new CachedList(this.collection.list(operation.forSharedWork(), { sort: "asc" }), operation.clock);
  }
}
