import { isRecordOf } from "../api/answer";
import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import type { Operation } from "../api/operation";
import { AnotherRecordError, GoneError, LostAnswerError, message, toError, UptimeError } from "../api/errors";
import type { Definition, Field } from "../definitions/field";
import { differs, shows } from "./compare";
import type { RecordsOfKind } from "./ledger";
import type { Reader } from "./reader";
import type { ServerTraits, Values } from "./server";
import type { Writer } from "./writer";

/** How often a create is sent at most, each time after looks that show that the last one had no effect. */
const maxSends = 5;
/** Milliseconds between two looks for the record of a create that was not answered. */
const lookPause = 5000;
/** How many looks must find nothing before a create is sent again or given up. */
const enoughLooks = 2;
/** Milliseconds for which the record of a create is looked for that may still be at work. */
const lookTime = 60_000;

/** Milliseconds that a shared piece of work is given to say why it ended. */
const grace = 100;

/** A record that a create has made, adopted or found. */
export interface CreatedRecord {
  readonly id: string;
  /** The record, if the answer shows it. */
  readonly record: ApiRecord | undefined;
  readonly status: number | undefined;
}

/** What was there before the first create of this process. */
interface Baseline {
  /** Whether a record was there before. */
  readonly has: (id: string) => boolean;
  /** Whether the list is sorted by ids that only fall, so that everything behind an older record is older. */
  readonly isSorted: boolean;
}

/** Creates records, or adopts them: never two for one resource, even if the server's answer is lost. */
export class Creator {
  private before: Promise<Baseline> | undefined;
  /** With adoption: what was there before the first create of this process. */
  private existing: Promise<readonly ApiRecord[]> | undefined;
  /** Creates that are not answered yet. */
  private readonly posts = new Set<Promise<unknown>>();
  /** What creates want whose answer was lost, and which are being looked for. */
  private readonly searches = new Set<Values>();

  constructor(
    private readonly collection: Collection,
    private readonly reader: Reader,
    private readonly writer: Writer,
    private readonly records: RecordsOfKind,
    private readonly traits: ServerTraits,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a record; the answer may show it, or only its id, or nothing at all, or be lost. Never sends a create again
   * before it is known that the last one had no effect.
   *
   * @param resource the resource that the record is for, if the engine tells
   */
  async create(values: Values, resource: string | undefined, operation: Operation): Promise<CreatedRecord> {
    const baseline = await this.baseline(operation);
    for (let sent = 1; ; sent++) {
      const post = this.post(values, resource, baseline, operation);
      this.posts.add(post);
      const result = await post.finally(() => this.posts.delete(post));
      if (!(result instanceof LostAnswerError)) return result;
      const id = await this.lookFor(values, resource, baseline, operation, result);
      if (id !== undefined) return { id, record: undefined, status: undefined };
      if (result.next !== "send again" || sent >= maxSends)
        throw new UptimeError(message`${result} ${this.unknownEffect()}`, { cause: result });
    }
  }

  /**
   * The one record that was there before and is equal in everything that is declared and shown: it becomes the resource's.
   * Throws if there are several, because it is not known which one is meant.
   */
  async adopt(
    values: Values,
    resource: string | undefined,
    operation: Operation,
  ): Promise<CreatedRecord | undefined> {
    const reading = (this.existing ??= this.readAll(operation).catch((error: unknown) => {
      this.existing = undefined;
      throw error;
    }));
    const equal: ApiRecord[] = [];
    for (const brief of await inTime(reading, operation, this.clock)) {
      const isFree = (): boolean => !this.records.isClaimed(brief.id) && !this.records.isEnded(brief.id);
      if (!isFree() || !this.agrees(brief, values)) continue;
      const whole = this.isWhole(brief) ? brief : await this.reader.show(brief.id, operation);
      if (isFree() && this.agrees(whole, values) && isRecordOf(this.definition, whole)) equal.push(whole);
    }
    const [record, ...others] = equal;
    if (!record) return undefined;
    if (others.length > 0)
      throw new UptimeError(
        `uptime:adoptExisting is set, and several ${this.definition.plural} are equal to what is declared ` +
          `(${equal.map(({ id }) => id).join(", ")}), so it is not known which to adopt. Delete all but one, change one, or ` +
          "name the id with the option import.",
      );
    this.records.take(record.id, resource);
    return { id: record.id, record, status: undefined };
  }

  private get definition(): Definition {
    return this.collection.definition;
  }

  /** Sends a create once, and takes the record that it is answered with. */
  private async post(
    values: Values,
    resource: string | undefined,
    baseline: Baseline,
    operation: Operation,
  ): Promise<CreatedRecord | LostAnswerError> {
    let written;
    try {
      written = await this.writer.create(values, operation);
    } catch (error) {
      if (error instanceof LostAnswerError) return error;
      throw error;
    }
    const { id, record, status, request } = written;
    if (id === undefined)
      return new LostAnswerError(
        `${request} was answered with status ${status} and without an id, so the new ${this.definition.singular} was ` +
          "looked for, and was not found.",
        "keep looking",
      );
    if (this.records.isTaken(id) || (baseline.has(id) && !this.records.isEnded(id)))
      throw new UptimeError(
        `${request} was answered with ${this.definition.singular} ${id}, which was there before: the API seems to return ` +
          "an existing record instead of creating one. To manage that record, use the option import with its id, or set " +
          "uptime:adoptExisting; otherwise change what tells the two apart.",
      );
    this.records.take(id, resource);
    if (record && isRecordOf(this.definition, record)) return { id, record, status };
    return this.confirmed(id, status, request, operation);
  }

  /** The record with an id of which nothing else is shown; the id may be that of something else, such as a job. */
  private async confirmed(
    id: string,
    status: number,
    request: string,
    operation: Operation,
  ): Promise<CreatedRecord | LostAnswerError> {
    try {
      return { id, record: await this.reader.show(id, operation), status };
    } catch (error) {
      // Whatever else is wrong, the id is known and must be kept.
      if (!(error instanceof GoneError || error instanceof AnotherRecordError))
        return { id, record: undefined, status };
      this.records.giveBack(id);
      const isThere = error instanceof AnotherRecordError;
      const problem = isThere ? "another record is there" : `there is no such ${this.definition.singular}`;
      return new LostAnswerError(
        `${request} was answered with the id ${id}, but ${problem}, so the new one was looked for, and was not found.`,
        isThere ? "give up" : "keep looking",
        { cause: error },
      );
    }
  }

  /**
   * Looks for what a create may have made: as long as there is time if the server may still be at work, else until two
   * looks have found nothing.
   */
  private async lookFor(
    values: Values,
    resource: string | undefined,
    baseline: Baseline,
    operation: Operation,
    lost: LostAnswerError,
  ): Promise<string | undefined> {
    const { log } = this.collection.client;
    this.searches.add(values);
    let failure: unknown;
    try {
      const until = this.clock.now() + lookTime;
      for (let looked = 0; ;) {
        try {
          const id = await this.find(values, resource, baseline, operation);
          looked++;
          failure = undefined;
          if (id !== undefined) {
            log.lookedUp(id);
            return id;
          }
        } catch (error) {
          // A look that fails shows nothing.
          failure = error;
        }
        if (lost.next !== "keep looking" && looked >= enoughLooks) break;
        if (this.clock.now() > until || lookPause > operation.timeLeft || operation.isInterrupted) {
          if (failure === undefined && lost.next === "keep looking") break;
          const reason =
            failure === undefined ? "" : message` Then looking for it failed: ${toError(failure)}`;
          throw new UptimeError(message`${lost}${reason} ${this.unknownEffect()}`, { cause: lost });
        }
        await operation.sleep(lookPause).catch(() => undefined);
      }
      log.lookedUp(undefined);
      return undefined;
    } finally {
      this.searches.delete(values);
    }
  }

  /**
   * The record that a create of this process has made: newer than its first create, nobody else's, and equal; of several
   * the one with the fewest fields beside that, because a create that declares more may have made the others. If none is
   * equal, the only new one with the same required properties is it: then the API did not store the rest.
   */
  private async find(
    values: Values,
    resource: string | undefined,
    baseline: Baseline,
    operation: Operation,
  ): Promise<string | undefined> {
    // Taken at once, so that no other search finds it too.
    const take = ({ id }: ApiRecord): string => {
      this.records.take(id, resource);
      return id;
    };
    // An option `import` that names the id of a record that was not there yet has no claim to it.
    const isNew = ({ id }: ApiRecord): boolean => !baseline.has(id) && !this.records.isHeld(id);
    const equal: ApiRecord[] = [];
    const alike: ApiRecord[] = [];
    for await (const page of this.collection.list(operation)) {
      for (const brief of page.filter(isNew)) {
        if (!this.agrees(brief, values, (field) => field.required === true)) continue;
        const whole = this.isWhole(brief) ? brief : await this.reader.show(brief.id, operation);
        // A create that is still in flight may have made it, and is about to say so.
        await inTime(Promise.allSettled(this.posts), operation, this.clock);
        if (!isNew(whole) || !isRecordOf(this.definition, whole)) continue;
        if (this.agrees(whole, values)) {
          if (this.surplus(whole, values) === 0) return take(whole);
          equal.push(whole);
        } else if (this.agrees(whole, values, (field) => field.required === true)) alike.push(whole);
      }
      if (baseline.isSorted && page.some(({ id }) => baseline.has(id))) break;
    }
    const [best] = equal.filter(isNew).sort((a, b) => this.surplus(a, values) - this.surplus(b, values));
    if (best) return take(best);
    const isOthers = (record: ApiRecord): boolean =>
      [...this.searches].some((others) => others !== values && this.agrees(record, others));
    const [only, ...more] = alike.filter((record) => isNew(record) && !isOthers(record));
    return only && more.length === 0 ? take(only) : undefined;
  }

  /** How many fields of a record have a value that a create does not declare. */
  private surplus(record: ApiRecord, values: Values): number {
    const fields = Object.entries(this.definition.fields);
    return fields.filter(([key, field]) => !values.has(key) && differs(field, null, record)).length;
  }

  /** Whether a record shows nothing that differs from some values, or from those of some fields. */
  private agrees(record: ApiRecord, values: Values, only: (field: Field) => boolean = () => true): boolean {
    return [...values].every(([key, value]) => {
      const field = this.definition.fields[key];
      return !field || !only(field) || !differs(field, value, record);
    });
  }

  /** Whether a listed record shows every field that can be seen at all: a brief one may have more than it shows. */
  private isWhole(record: ApiRecord): boolean {
    return Object.entries(this.definition.fields).every(
      ([key, field]) => field.writeOnly === true || this.traits.isHidden(key) || shows(field, record),
    );
  }

  private baseline(operation: Operation): Promise<Baseline> {
    this.before ??= this.readBaseline(operation).catch((error: unknown) => {
      this.before = undefined;
      throw error;
    });
    return inTime(this.before, operation, this.clock);
  }

  /** Reads as much of the list as it takes to tell records that were there from newer ones: ids of numbers only rise. */
  private async readBaseline(operation: Operation): Promise<Baseline> {
    const ids = new Set<string>();
    let previous: bigint | undefined;
    let isFalling = true;
    for await (const page of this.collection.list(operation)) {
      for (const { id } of page) {
        const number = numberOf(id);
        ids.add(String(number ?? id));
        isFalling &&= number !== undefined && (previous === undefined || number < previous);
        previous = number;
      }
      // On a list that is sorted as asked for, everything on the further pages is older.
      if (isFalling) break;
    }
    const lowest = isFalling ? previous : undefined;
    return {
      isSorted: isFalling,
      has: (id) => {
        const number = numberOf(id);
        return (
          ids.has(String(number ?? id)) || (number !== undefined && lowest !== undefined && number < lowest)
        );
      },
    };
  }

  private async readAll(operation: Operation): Promise<readonly ApiRecord[]> {
    const records: ApiRecord[] = [];
    for await (const page of this.collection.list(operation)) records.push(...page);
    return records;
  }

  private unknownEffect(): string {
    const { singular } = this.definition;
    return (
      `Whether the ${singular} was created is not known: look for it in the web UI before you run \`pulumi up\` again, which ` +
      "creates it again. If it is there, delete it first, or give its id to the option import."
    );
  }
}

/** An id that is a number; a server may find the record 1 under 01 too. */
function numberOf(id: string): bigint | undefined {
  return /^\d+$/.test(id) ? BigInt(id) : undefined;
}

/** The result of what another operation does too, unless this one's time is over before. */
async function inTime<T>(work: Promise<T>, { waitSignal }: Operation, clock: Clock): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        const end = (): void => {
          // If the work is this operation's own, it ends too, and its error says more.
          void clock.sleep(grace).then(() => {
            reject(
              new UptimeError(
                "The operation has used its time (see the option customTimeouts) while it waited for another.",
              ),
            );
          });
        };
        if (waitSignal?.aborted) end();
        waitSignal?.addEventListener("abort", end, { signal: over.signal });
      }),
    ]);
  } finally {
    over.abort();
  }
}
