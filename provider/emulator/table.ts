import type { Resource } from "./resources";

/**
 * A record as the emulator keeps it: the API's field names; numbers for `interval`, the alert days and
 * `cache_buster`; a boolean for `pause`; dates as `YYYY-MM-DDTHH:MM:SS`; `alert_channel_ids` as numbers;
 * `request_headers` as `{key, value}[]`; null for what is empty. Frozen: an edit puts a new one in its place.
 */
export interface StoredRecord {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** Fields of a record, under the API's names. */
export type Fields = Readonly<Record<string, unknown>>;

/** What a table needs to know. */
interface TableOptions {
  /** What a new record holds if nothing else is given. */
  readonly defaults: Fields;
  readonly firstId: number;
  readonly now: () => Date;
  /** Called after every change. */
  readonly changed: () => void;
}

/** A table as it is written to a file. */
interface SavedTable {
  readonly nextId: number;
  readonly records: readonly StoredRecord[];
}

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}

/** The records of one resource. They are changed as in the web UI: nothing is validated, refused or logged. */
export class Table {
  readonly #records = new Map<number, StoredRecord>();
  readonly #options: TableOptions;
  #nextId: number;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#nextId = options.firstId;
  }

  /** How many records there are. */
  get size(): number {
    return this.#records.size;
  }

  /** All records, in the order in which they were added. */
  all(): StoredRecord[] {
    return [...this.#records.values()];
  }

  get(id: number | string): StoredRecord | undefined {
    return this.#records.get(Number(id));
  }

  /** Adds a record; fields that are not given have their default, and `id` is the next one. */
  add(fields: Fields = {}): StoredRecord {
    const { defaults } = this.#options;
    const at = this.#timestamp();
    const id = typeof fields.id === "number" ? fields.id : this.#nextId;
    return this.#put({ ...defaults, created_at: at, updated_at: at, ...fields, id });
  }

  /**
   * Changes these fields of a record, and `updated_at`.
   * @throws {Error} when there is no record with this id.
   */
  edit(id: number | string, fields: Fields): StoredRecord {
    const record = this.get(id);
    if (record === undefined) throw new Error(`There is no record ${id} to edit.`);
    return this.#put({ ...record, updated_at: this.#timestamp(), ...fields, id: record.id });
  }

  /** Removes a record; false when there was none. Its id is not given out again. */
  remove(id: number | string): boolean {
    const removed = this.#records.delete(Number(id));
    if (removed) this.#options.changed();
    return removed;
  }

  /** Removes all records. */
  clear(): void {
    this.#records.clear();
    this.#options.changed();
  }

  /** The content, for a file. */
  save(): SavedTable {
    return { nextId: this.#nextId, records: this.all() };
  }

  /** Takes over what a file holds. */
  restore(saved: SavedTable): void {
    for (const record of saved.records) this.#put(record);
    this.#nextId = Math.max(this.#nextId, saved.nextId);
  }

  #put(record: StoredRecord): StoredRecord {
    const stored = freeze(structuredClone(record));
    this.#records.set(stored.id, stored);
    this.#nextId = Math.max(this.#nextId, stored.id + 1);
    this.#options.changed();
    return stored;
  }

  #timestamp(): string {
    return this.#options.now().toISOString();
  }
}

/** A table for each resource. */
export type Tables = Readonly<Record<Resource["collection"], Table>>;
