import { idNumber } from "./answer";
import type { ApiRecord } from "./answer";
import type { Clock } from "./clock";
import type { RecordPages } from "./collection";

/** Milliseconds after which a list is read anew: a run of any length then reads one a minute. */
const maxAge = 60_000;

/** A collection's records as its list shows them, newest first, read page by page and no further than asked for. */
export class Listing {
  pages = 0;
  /** When it was begun, on the clock. */
  readonly begun: number;
  private isComplete = false;
  private isBroken = false;
  /** When the last page was asked for; a slow list is not older for that. */
  private asked: number;
  private readonly records = new Map<string, ApiRecord>();
  /** The first and the last id of the last page, as long as they are numbers that only fall. */
  private span: readonly [first: bigint, last: bigint] | undefined;
  private isFalling = true;
  private next: Promise<void> | undefined;

  constructor(
    private readonly source: RecordPages,
    private readonly clock: Clock,
  ) {
    this.asked = this.begun = clock.now();
  }

  /** Whether its records are as good as those of a new list. */
  get isFresh(): boolean {
    return !this.isBroken && this.clock.now() - this.asked < maxAge;
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

  /** Reads on until the record is found, no further page can hold it, or going on is not worthwhile. */
  async find(id: string, isWorthwhile: () => boolean): Promise<ApiRecord | undefined> {
    while (!this.records.has(id) && this.pagesLeft(id) !== 0 && isWorthwhile())
      await this.advance(this.pagesLeft(id) ?? 1);
    return this.records.get(id);
  }

  async complete(): Promise<void> {
    while (!this.isComplete) await this.advance(Infinity);
  }

  /** How many more pages it takes to a record, as far as the ids tell: the list is sorted by them. */
  pagesLeft(id: string): number | undefined {
    if (this.isComplete) return 0;
    const number = idNumber(id);
    if (!this.span || number === undefined) return undefined;
    const [first, last] = this.span;
    const distance = last - number;
    return distance < 0n ? 0 : Math.ceil(Number(distance) / Number(first - last + 1n));
  }

  /** One more page, for all who wait for it. `wanted` is how many are needed, as far as is known. */
  private advance(wanted: number): Promise<void> {
    return (this.next ??= this.read(wanted).finally(() => (this.next = undefined)));
  }

  private async read(wanted: number): Promise<void> {
    this.asked = this.clock.now();
    try {
      const result = await this.source.next(wanted);
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
    const ids = page.map(({ id }) => idNumber(id) ?? -1n);
    const before = this.span?.[1];
    this.isFalling &&= ids.every(
      (id, index) => id >= 0n && id < ((index > 0 ? ids[index - 1] : before) ?? id + 1n),
    );
    const [first, last] = [ids[0], ids.at(-1)];
    this.span = this.isFalling && first !== undefined && last !== undefined ? [first, last] : undefined;
  }
}
