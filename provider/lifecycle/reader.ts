import { isDeepStrictEqual } from "node:util";

import type { ApiRecord } from "../api/answer";
import { shownOf } from "./attributes";
import { isEmpty, isShown } from "../definitions/kinds";
import type { Collection } from "../api/collection";
import { UptimeError } from "../api/errors";
import type { Deadline } from "../api/limiter";
import type { Listing } from "../api/listing";
import type { Values } from "./writer";

/** What the caller expects of a record; a list is believed only where it says the same. */
export interface Expected {
  /** By property; null is "managed as empty". */
  readonly values: Values;
  /** Names that the record is known to show, under the API's own names. */
  readonly names: readonly string[];
}

/** So few reads are done one by one. */
const handful = 4;
/** So many pages may be read in vain. */
const sparePages = 8;

/**
 * Reads the records that state knows or is to know: a handful by their ids, many from the list, a hundred at once. The list is believed
 * only where it shows as much as a record's own address does, which is tried, and where it shows what is expected; all
 * else, every difference included, is asked for by id.
 */
export class Reader {
  private readonly asked = new Set<string>();
  /** The first read, which is by id: meanwhile it shows whether there are many. */
  private first: Promise<unknown> | undefined;
  /** What the first read has shown. */
  private sample: ApiRecord | undefined;
  /** Whether lists show whole records. */
  private isWhole: boolean | undefined;
  private trial: Promise<void> | undefined;
  /** Properties that neither the list nor a record's own address shows. */
  private readonly hidden = new Set<string>();

  constructor(private readonly collection: Collection) {}

  /** The record under an id. Throws {@link Gone} when it is proven that there is none. */
  async read(id: string, deadline: Deadline, expected?: Expected): Promise<ApiRecord> {
    const { collection } = this;
    this.asked.add(id);
    collection.expect(id);
    if (!this.first) {
      const first = collection.show(id, deadline);
      this.first = first.catch(() => undefined);
      this.sample = await first;
      return this.sample;
    }
    await this.first;
    const listed = expected && (await this.listed(id, deadline));
    if (!listed) return collection.show(id, deadline);
    if (this.isWhole && this.agrees(listed, expected)) return listed;
    const shown = await collection.show(id, deadline);
    this.learn(listed, shown, expected);
    return shown;
  }

  /** What the list shows of a record; undefined where it is not there, not to be trusted, or not worth reading so far. */
  private async listed(id: string, deadline: Deadline): Promise<ApiRecord | undefined> {
    if (this.asked.size <= handful || this.isWhole === false || this.collection.isWritten(id))
      return undefined;
    const listing = this.collection.listing(deadline);
    try {
      const listed = await listing.find(
        id,
        () => listing.pages + (listing.pagesLeft(id) ?? 1) <= this.asked.size + sparePages,
      );
      if (listed && this.isWhole === undefined)
        await (this.trial ??= this.try(listed, listing, deadline).finally(() => (this.trial = undefined)));
      return listed;
    } catch {
      // Whatever is wrong with the list, the record itself may well be read.
      this.isWhole = false;
      return undefined;
    }
  }

  /** Compares a listed record with what its own address shows. */
  private async try(listed: ApiRecord, listing: Listing, deadline: Deadline): Promise<void> {
    const same = this.sample && listing.get(this.sample.id);
    const shown = same ? this.sample : await this.collection.show(listed.id, deadline);
    this.isWhole = shown !== undefined && this.areSame(same ?? listed, shown);
  }

  private areSame(listed: ApiRecord, shown: ApiRecord): boolean {
    const fields = Object.values(this.collection.definition.fields);
    return (
      isDeepStrictEqual(Object.keys(listed.shown).sort(), Object.keys(shown.shown).sort()) &&
      fields.every((field) => isDeepStrictEqual(shownOf(field, listed), shownOf(field, shown)))
    );
  }

  private agrees(listed: ApiRecord, { values, names }: Expected): boolean {
    return (
      names.every((name) => Object.hasOwn(listed.shown, name)) &&
      [...values].every(([key, value]) => {
        const field = this.collection.definition.fields[key];
        if (!field || field.writeOnly) return true;
        const shown = shownOf(field, listed);
        if (!shown) return isEmpty(value) || this.hidden.has(key);
        try {
          return isShown(field, value, shown.value);
        } catch (error) {
          // It cannot be read, which is for the person to hear of the record itself.
          if (error instanceof UptimeError) return false;
          throw error;
        }
      })
    );
  }

  private learn(listed: ApiRecord, shown: ApiRecord, { values }: Expected): void {
    if (!this.areSame(listed, shown)) this.isWhole = false;
    else
      for (const [key, value] of values) {
        const field = this.collection.definition.fields[key];
        if (field && !isEmpty(value) && !shownOf(field, shown)) this.hidden.add(key);
      }
  }
}
