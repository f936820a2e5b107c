import type { ApiRecord } from "./record";
import { mayBeUnloaded } from "./server-spelling";
import type { Clock } from "./clock";
import type { RecordPages } from "./collection";

/** A list whose last page was asked for longer ago is read again. */
const maxAgeMilliseconds = 60_000;

/** A collection's list, of which only the pages that are needed are read. */
export class CachedList {
  /** When it was begun, on the clock. */
  readonly createdAt: number;
  private pages = 0;
  private isComplete = false;
  private isBroken = false;
  /** When the last page was asked for, so that a list does not expire while it is read slowly. */
  private lastAskedAt: number;
  private readonly records = new Map<string, ApiRecord>();
  private readonly loadedNames = new Set<string>();
  private next: Promise<void> | undefined;

  constructor(
    private readonly source: RecordPages,
    private readonly clock: Clock,
  ) {
    this.lastAskedAt = this.createdAt = clock.now();
  }

  get isFresh(): boolean {
    return !this.isBroken && this.clock.now() - this.lastAskedAt < maxAgeMilliseconds;
  }

  /** How many records were read so far. */
  get size(): number {
    return this.records.size;
  }

  get(id: string): ApiRecord | undefined {
    return this.records.get(id);
  }

  /** The records that were read so far. */
  all(): readonly ApiRecord[] {
    return [...this.records.values()];
  }

  /** Whether a record that was read so far shows more than an empty value under this name. */
  hasLoaded(name: string): boolean {
    return this.loadedNames.has(name);
  }

  /** Reads pages until the record is found, or `maxPages` were read. */
  async find(id: string, maxPages: number): Promise<ApiRecord | undefined> {
    while (!this.records.has(id) && !this.isComplete && this.pages < maxPages) await this.advance();
    return this.records.get(id);
  }

  async readFirstPage(): Promise<void> {
    if (this.pages === 0 && !this.isComplete) await this.advance();
  }

  async complete(): Promise<void> {
    while (!this.isComplete) await this.advance();
  }

  private add(record: ApiRecord): void {
    this.records.set(record.id, record);
    for (const [name, value] of Object.entries(record.raw))
      if (!mayBeUnloaded(value)) this.loadedNames.add(name);
  }

  /** Reads the next page, once for all callers that wait for it. */
  private advance(): Promise<void> {
    return (this.next ??= this.read().finally(() => (this.next = undefined)));
  }

  private async read(): Promise<void> {
    this.lastAskedAt = this.clock.now();
    try {
      const result = await this.source.next();
      this.isComplete = result.done === true;
      if (result.done) return;
      this.pages++;
      for (const record of result.value) this.add(record);
    } catch (error) {
      this.isBroken = true;
      throw error;
    }
  }
}
