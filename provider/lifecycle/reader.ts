import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import { Listing } from "../api/listing";
import type { Operation } from "../api/operation";
import { isEmpty } from "../definitions/values";
import { compare, fieldOf } from "./difference";
import type { Values } from "./difference";
import type { Evidence } from "./evidence";
import type { Ledger } from "./ledger";
import type { ServerTraits } from "./server-traits";

/** Up to this many records are read one by one: a page of a list costs the server more than a record. */
const mostSingleReads = 4;
/** How many pages of a list may be read without saving a request, so that one record far behind does not stop a refresh of many. */
const sparePages = 8;

/**
 * Reads the records that state knows: a few of them by id, many from the list, a hundred at once. The list is believed
 * only if it shows what is expected; every difference is looked at by id.
 */
export class RecordReader {
  private readonly asked = new Set<string>();
  /** The first read, which is by id; meanwhile it shows whether there are many. */
  private first: Promise<unknown> | undefined;
  private sample: ApiRecord | undefined;
  private current: Listing | undefined;

  constructor(
    private readonly collection: Collection,
    private readonly ledger: Ledger,
    private readonly evidence: Evidence,
    private readonly traits: ServerTraits,
    private readonly clock: Clock,
  ) {}

  /**
   * The record under an id, from the list if that shows the expected values, else from its own address. Throws
   * {@link MissingError}.
   *
   * @param isWhole whether everything else that its own address shows is wanted too
   */
  async read(
    id: string,
    expected: Values | undefined,
    operation: Operation,
    isWhole = false,
  ): Promise<ApiRecord> {
    this.asked.add(id);
    if (!this.first) {
      const answer = this.show(id, operation);
      this.first = answer.then(
        (record) => (this.sample = record),
        () => undefined,
      );
      return answer;
    }
    await operation.inTime(this.first);
    const listed = expected && (await this.listed(id, operation));
    if (listed && this.isAsExpected(listed, expected) && (!isWhole || this.isListWhole())) {
      this.evidence.see(this.collection.definition, listed);
      return listed;
    }
    const shown = await this.show(id, operation);
    if (listed) this.learn(listed, shown, expected);
    return shown;
  }

  /** The record at its own address. Throws {@link MissingError}. */
  async show(id: string, operation: Operation): Promise<ApiRecord> {
    const record = await this.collection.show(id, operation);
    this.evidence.see(this.collection.definition, record);
    return record;
  }

  /**
   * All records: of the list of the last minute, if that was begun after some time on the clock, and the provider has not
   * written the record that is asked for.
   */
  async wholeList(operation: Operation, id?: string, since = -Infinity): Promise<Listing> {
    if ((id !== undefined && this.ledger.isWritten(id)) || (this.current?.begun ?? since) <= since)
      this.current = undefined;
    const list = this.listing(operation);
    await operation.inTime(list.complete());
    return list;
  }

  /** What the list shows of a record; undefined if it is not there, or not worth reading so far. */
  private async listed(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    if (this.asked.size <= mostSingleReads || this.traits.areListsBrief || this.ledger.isWritten(id))
      return undefined;
    const list = this.listing(operation);
    try {
      const record = await list.find(
        id,
        () => list.pages + (list.pagesLeft(id) ?? 1) <= this.asked.size + sparePages,
      );
      if (record) this.traits.learnListed(record);
      return record;
    } catch {
      // Whatever is wrong with the list, the record itself may well be readable.
      this.traits.areListsBrief = true;
      return undefined;
    }
  }

  /** Whether the list shows as much of the first record as its own address has shown. */
  private isListWhole(): boolean {
    const listed = this.sample && this.current?.get(this.sample.id);
    return listed !== undefined && this.sample !== undefined && !leavesOut(listed, this.sample);
  }

  private isAsExpected(listed: ApiRecord, expected: Values): boolean {
    return [...expected].every(([key, value]) => {
      const field = fieldOf(this.collection.definition, key);
      if (field.writeOnly) return true;
      const { outcome } = compare(field, value, listed);
      if (outcome !== "hidden") return outcome === "same";
      return isEmpty(value) ? this.traits.isListed(key) : this.traits.isHidden(key);
    });
  }

  /** What the record's own address shows and the list does not. */
  private learn(listed: ApiRecord, shown: ApiRecord, expected: Values): void {
    this.traits.learnShown(expected, shown);
    this.traits.areListsBrief ||= [...expected].some(([key, value]) => {
      const field = fieldOf(this.collection.definition, key);
      return (
        compare(field, value, listed).outcome === "hidden" &&
        compare(field, value, shown).outcome !== "hidden"
      );
    });
  }

  private listing(operation: Operation): Listing {
    if (!this.current?.isFresh) this.current = new Listing(this.collection.list(operation), this.clock);
    return this.current;
  }
}

/** Whether a list shows less of a record than the record's own address. */
export function leavesOut(listed: ApiRecord, shown: ApiRecord): boolean {
  return Object.keys(shown.shown).some((name) => !(name in listed.shown));
}
