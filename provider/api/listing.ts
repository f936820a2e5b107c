import { idNumber, type ApiRecord } from "./answer";
import type { Clock } from "./clock";
import type { RecordPages } from "./collection";
import { pageSize } from "./paging";

/** Milliseconds after which a list is read again: at most one list a minute. */
const maxAge = 60_000;

/** A list begins with the newest record, or with the oldest. */
type Order = "desc" | "asc";

/** A collection's list, read page by page as far as it is needed. */
export class Listing {
  pages = 0;
  /** When it was begun, on the clock. */
  readonly begun: number;
  private isComplete = false;
  private isBroken = false;
  /** When the last page was asked for, so that a list does not expire while it is read slowly. */
  private lastAskedAt: number;
  private readonly records = new Map<string, ApiRecord>();
  /** The first and the last place of the last page, if it is sorted. */
  private span: readonly [first: bigint, last: bigint] | undefined;
  private isSorted = true;
  private next: Promise<void> | undefined;

  constructor(
    private readonly source: RecordPages,
    private readonly order: Order,
    private readonly clock: Clock,
  ) {
    this.lastAskedAt = this.begun = clock.now();
  }

  get isFresh(): boolean {
    return !this.isBroken && this.clock.now() - this.lastAskedAt < maxAge;
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

  /**
   * Reads pages until the record is found, no further page can hold it, or more than `mostPages()` would be needed. Asks for
   * at least `atOnce` pages at the same time.
   */
  async find(id: string, mostPages: () => number, atOnce = 1): Promise<ApiRecord | undefined> {
    while (!this.records.has(id)) {
      const left = this.pagesLeft(id) ?? 1;
      if (left === 0 || this.pages + left > mostPages()) break;
      await this.advance(Math.max(left, atOnce));
    }
    return this.records.get(id);
  }

  /** Reads the first page. */
  async begin(): Promise<void> {
    if (this.pages === 0 && !this.isComplete) await this.advance(1);
  }

  async complete(): Promise<void> {
    while (!this.isComplete) await this.advance(Infinity);
  }

  /**
   * How many more pages must be read to reach a record, estimated from the ids; 0 if no later page can hold it. Undefined if
   * nothing was read yet or the list is not sorted by id.
   */
  pagesLeft(id: string): number | undefined {
    if (this.isComplete) return 0;
    const place = this.placeOf(id);
    if (!this.span || place === undefined) return undefined;
    const [first, last] = this.span;
    const distance = place - last;
    // A page with few records is likely to be the last one.
    const width = Math.max(pageSize, Number(last - first + 1n));
    return distance < 0n ? 0 : Math.ceil(Number(distance) / width);
  }

  /** Reads one more page for all callers that wait. `pagesWanted` is an estimate. */
  private advance(pagesWanted: number): Promise<void> {
    return (this.next ??= this.read(pagesWanted).finally(() => (this.next = undefined)));
  }

  private async read(pagesWanted: number): Promise<void> {
    this.lastAskedAt = this.clock.now();
    try {
      const result = await this.source.next(pagesWanted);
      if (result.done) this.isComplete = true;
      else this.take(result.value);
    } catch (error) {
      this.isBroken = true;
      throw error;
    }
  }

  private take(page: readonly ApiRecord[]): void {
    this.pages++;
    for (const record of page) this.records.set(record.id, record);
    const places = page.map(({ id }) => this.placeOf(id));
    let before = this.span?.[1];
    for (const place of places) {
      this.isSorted &&= place !== undefined && (before === undefined || place > before);
      before = place;
    }
    const [first, last] = [places[0], places.at(-1)];
    this.span = this.isSorted && first !== undefined && last !== undefined ? [first, last] : undefined;
  }

  /** A number that rises along a sorted list; undefined if the id is not a number. */
  private placeOf(id: string): bigint | undefined {
    const number = idNumber(id);
    return number !== undefined && this.order === "desc" ? -number : number;
  }
}
