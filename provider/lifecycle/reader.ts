import type { Collection } from "../api/collection";
import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Operation } from "../api/operation";
import { GoneError, message, MissingError, unfinished, UptimeError } from "../api/errors";
import { Listing } from "../api/listing";
import { isEmpty } from "../definitions/kinds";
import { compare } from "./compare";
import { mostGone } from "./ledger";
import type { Ledger, RecordsOfKind } from "./ledger";
import type { ServerTraits, Values } from "./server";

/** Up to this many records are read individually. */
const handful = 4;
/** How many pages of a list may be read without saving a request. */
const sparePages = 8;

/**
 * Reads the records that state knows: a few of them by id, many from the list, a hundred at once. The list is believed
 * only if it shows what is expected; every difference is looked at by id. A record counts as gone only if that is proven.
 */
export class Reader {
  private readonly asked = new Set<string>();
  /** The first read, which is by id; meanwhile it shows whether there are many. */
  private first: Promise<unknown> | undefined;
  private sample: ApiRecord | undefined;
  private current: Listing | undefined;
  private readonly records: RecordsOfKind;

  constructor(
    private readonly collection: Collection,
    private readonly ledger: Ledger,
    private readonly traits: ServerTraits,
    private readonly clock: Clock,
    /** The present key as a hash, see {@link Outputs.key}. */
    private readonly key: string,
  ) {
    this.records = ledger.of(collection.definition.plural);
  }

  /**
   * The record under an id, from the list if that shows the expected values, else from its own address. Throws
   * {@link GoneError}.
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
      const answer = this.collection.show(id, operation);
      // Others wait for the answer alone: whether a missing record is gone is not known before they have asked.
      this.first = answer.then(
        (record) => (this.sample = record),
        () => undefined,
      );
      return this.proving(id, operation, () => answer);
    }
    await this.ledger.awaiting(this.first);
    const listed = expected && (await this.ledger.awaiting(this.listed(id, operation)));
    if (listed && this.agrees(listed, expected) && (!isWhole || this.isListWhole())) {
      this.records.see(id);
      return listed;
    }
    const shown = await this.show(id, operation);
    if (listed) this.learn(listed, shown, expected);
    return shown;
  }

  /** The record at its own address. Throws {@link GoneError} if it is proven that there is none. */
  show(id: string, operation: Operation): Promise<ApiRecord> {
    return this.proving(id, operation, () => this.collection.show(id, operation));
  }

  /** Does something to a record. Throws {@link GoneError} if it is proven that there is none. */
  async proving<T>(id: string, operation: Operation, action: () => Promise<T>): Promise<T> {
    try {
      const result = await this.ledger.awaiting(action());
      this.records.see(id);
      return result;
    } catch (error) {
      throw error instanceof MissingError ? await this.verdict(id, error, operation) : error;
    }
  }

  /** What the list shows of a record; undefined if it is not there, or not worth reading so far. */
  private async listed(id: string, operation: Operation): Promise<ApiRecord | undefined> {
    if (this.asked.size <= handful || this.traits.areListsBrief || this.records.isWritten(id))
      return undefined;
    const listing = this.listing(operation);
    try {
      const record = await listing.find(
        id,
        () => listing.pages + (listing.pagesLeft(id) ?? 1) <= this.asked.size + sparePages,
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
    return (
      listed !== undefined && Object.keys(this.sample?.shown ?? {}).every((name) => name in listed.shown)
    );
  }

  private agrees(listed: ApiRecord, expected: Values): boolean {
    return [...expected].every(([key, value]) => {
      const field = this.collection.definition.fields[key];
      if (!field || field.writeOnly) return true;
      const { outcome } = compare(field, value, listed);
      if (outcome !== "hidden") return outcome === "same";
      return isEmpty(value) ? this.traits.isListed(key) : this.traits.isHidden(key);
    });
  }

  /** What the record's own address shows and the list does not. */
  private learn(listed: ApiRecord, shown: ApiRecord, expected: Values): void {
    this.traits.learnShown(expected, shown);
    this.traits.areListsBrief ||= [...expected].some(([key, value]) => {
      const field = this.collection.definition.fields[key];
      return (
        field !== undefined &&
        compare(field, value, listed).outcome === "hidden" &&
        compare(field, value, shown).outcome !== "hidden"
      );
    });
  }

  /** The list as far as it has been read in the last minute; a new one for a record that was written since. */
  private listing(operation: Operation, id?: string): Listing {
    const make = (): Listing => new Listing(this.collection.list(operation), this.clock);
    if (id !== undefined && this.records.isWritten(id)) return make();
    if (!this.current?.isFresh) this.current = make();
    return this.current;
  }

  /** Whether a missing record is gone: the list does not hold it either, and the account is the one that state means. */
  private async verdict(id: string, missing: MissingError, operation: Operation): Promise<UptimeError> {
    const { definition, client } = this.collection;
    const { plural, singular, label } = definition;
    const listing = this.listing(operation, id);
    await this.ledger.awaiting(listing.complete());
    const answer = unfinished(missing);
    if (listing.get(id))
      return new UptimeError(message`${answer}, but the list of ${plural} holds ${id}.`, {
        cause: missing,
      });
    const gone = new GoneError(message`${label} ${id} does not exist (${answer}).`, { cause: missing });
    if (!this.records.isInState(id)) return gone;
    this.records.miss(id, (other) => listing.get(other) !== undefined);
    const evidence = await this.ledger.evidence(operation);
    if (evidence === "found") return gone;
    if (evidence === "no time")
      return new UptimeError(
        message`${answer}, and the operation ended before it was known whether ${singular} ${id} is really gone.`,
        { cause: missing },
      );
    if (evidence === "too many missing")
      return new UptimeError(
        `More than ${mostGone} records that state knows do not exist, and none that it knows was found. That looks like ` +
          `another server or another account, so nothing is removed from state: check ${client.address.source} ` +
          `(${client.address.url}) and the API key. If all of them were really deleted, remove them from state with ` +
          "`pulumi state delete URN`.",
        { cause: missing },
      );
    const stateKey = this.records.stateKeyOf(id);
    if (stateKey === undefined || stateKey === this.key) return gone;
    return new UptimeError(
      message`${label} ${id} does not exist for the present API key, and state was made with another key or address, so it may
        be in another account (${answer}). If the ${singular} was really deleted, remove it from state with
        \`pulumi state delete URN\`; otherwise set the key of its account.`,
      { cause: missing },
    );
  }
}
