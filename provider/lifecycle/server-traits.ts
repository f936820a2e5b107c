import type { ApiRecord } from "../api/answer";
import type { Definition } from "../definitions/field";
import type { EmptyListForm } from "../definitions/codecs";
import { isEmpty } from "../common/values";
import { shows, type WantedValues } from "./difference";

/** What this process has learned about a server that the API does not specify, for one kind of record. (docs/api.md) */
export class ServerTraits {
  /** The method of updates: PUT after PATCH was answered with 405. */
  updateMethod: "PATCH" | "PUT" = "PATCH";
  /** The form of empty lists that worked. */
  emptyLists: EmptyListForm = "entry";
  /** Lists leave out fields, or could not be read. */
  avoidsLists = false;
  /** Properties that lists have shown. */
  private readonly listed = new Set<string>();
  /** Properties that have a value and are not shown at the record's own address. */
  private readonly neverShown = new Set<string>();

  constructor(private readonly definition: Definition) {}

  /** Learns which of the properties that have a value a record does not show. */
  learnShown(wanted: WantedValues, record: ApiRecord): void {
    for (const [key, value] of wanted) {
      const field = this.definition.fields[key];
      if (!field || field.writeOnly || isEmpty(value)) continue;
      if (shows(field, record)) this.neverShown.delete(key);
      else this.neverShown.add(key);
    }
  }

  /** Learns which properties lists show. */
  learnListed(record: ApiRecord): void {
    for (const [key, field] of Object.entries(this.definition.fields))
      if (!this.listed.has(key) && shows(field, record)) this.listed.add(key);
  }

  /** Whether the server does not show a property, even if it has a value. */
  isNeverShown(key: string): boolean {
    return this.neverShown.has(key);
  }

  /** Whether lists show a property that has a value, so that a listed record without it has none. */
  isListed(key: string): boolean {
    return this.listed.has(key);
  }

  /** Whether a record shows all properties, apart from those that this server never shows. */
  showsAll(record: ApiRecord): boolean {
    return Object.entries(this.definition.fields).every(
      ([key, field]) => field.writeOnly === true || this.isNeverShown(key) || shows(field, record),
    );
  }
}
