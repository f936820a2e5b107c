import { setTimeout as sleep } from "node:timers/promises";

import type { ApiRecord } from "../api/answer";
import { shownOf } from "./attributes";
import { encodings, isEmpty, isShown, parse } from "../definitions/kinds";
import type { Pair, Value } from "../definitions/kinds";
import type { Collection } from "../api/collection";
import { ApiError, LostAnswer, UptimeError } from "../api/errors";
import type { Field } from "../definitions/field";
import type { Deadline } from "../api/limiter";

/** How often a create is sent at the most, each time after a look that shows that the last one had no effect. */
const maxSends = 5;

/** Declared values by property; null is "managed as empty". */
export type Values = ReadonlyMap<string, Value>;

/** The API took a value and did not store it. */
export class NotStored extends UptimeError {
  constructor(
    message: string,
    readonly record: ApiRecord,
  ) {
    super(message);
  }
}

/** Which of the ways to say "empty" is used, for lists and for everything else. */
interface Forms {
  readonly list: number;
  readonly other: number;
}

/** Writes values, and makes sure that they are there afterwards. Remembers what it learns about the install. */
export class Writer {
  /** The forms of "empty" that worked. */
  private forms: Forms = { list: 0, other: 0 };
  /** Properties that the API's records never show. */
  private readonly hidden = new Set<string>();
  /** Records that belong to a resource of this process already. */
  private readonly taken = new Set<string>();
  private before: Promise<(id: string) => boolean> | undefined;
  /** With adoption: what was there before the first create of this process. */
  private existing: Promise<readonly ApiRecord[]> | undefined;
  /** Creates that are not answered yet. */
  private readonly posts = new Set<Promise<unknown>>();

  constructor(
    private readonly collection: Collection,
    /** Milliseconds between two looks for a record whose create was not answered. */
    private readonly lookPause = 5000,
  ) {}

  /**
   * Creates a record; the answer may show it, or only its id, or nothing at all, or be lost. Never sends a create again
   * before it is known that the last one had no effect.
   */
  async create(values: Values, deadline: Deadline): Promise<{ id: string; record: ApiRecord | undefined }> {
    const isOlder = await this.baseline(deadline);
    for (let sent = 1; ; sent++) {
      // Whoever waits for it must see at once which record it has taken.
      const post = this.send(values, this.forms, async (form) => {
        const written = await this.collection.create(form, deadline);
        if (written.id !== undefined) this.taken.add(written.id);
        return written;
      });
      this.posts.add(post);
      try {
        const { result } = await post.finally(() => this.posts.delete(post));
        if (result.id !== undefined) return { id: result.id, record: result.record };
      } catch (error) {
        if (!(error instanceof LostAnswer)) throw error;
        const { log } = this.collection.client;
        const id = await this.lookFor(values, isOlder, deadline, error);
        log.lookedUp(id);
        if (id !== undefined) return { id, record: undefined };
        if (!error.repeatable || sent > maxSends)
          throw new UptimeError(`${error.message} ${this.unknownEffect()}`, { cause: error });
        continue;
      }
      const id = await this.find(values, isOlder, deadline, true);
      if (id !== undefined) return { id, record: undefined };
      throw new UptimeError(
        `The API accepted the new ${this.collection.definition.singular} without telling its id, and its list shows no new ` +
          `record with these values. ${this.unknownEffect()}`,
      );
    }
  }

  /**
   * The one record that was there before and is equal in everything that is sent and shown: it becomes the resource's.
   * Throws when there are several, for then it is not known which.
   */
  async adopt(
    values: Values,
    isOthers: (id: string) => boolean,
    deadline: Deadline,
  ): Promise<{ id: string; record: ApiRecord } | undefined> {
    const reading = (this.existing ??= this.readAll(deadline).catch((error: unknown) => {
      this.existing = undefined;
      throw error;
    }));
    const existing = await inTime(reading, deadline);
    const equal: ApiRecord[] = [];
    for (const brief of existing) {
      const isFree = (): boolean =>
        !this.taken.has(brief.id) && !this.collection.isKnown(brief.id) && !isOthers(brief.id);
      if (!isFree() || !this.shows(brief, values)) continue;
      const whole = this.isWhole(values, brief) ? brief : await this.collection.show(brief.id, deadline);
      if (whole === brief ? isFree() : !isOthers(whole.id) && !this.taken.has(whole.id))
        if (this.shows(whole, values)) equal.push(whole);
    }
    const [record, ...others] = equal;
    if (!record) return undefined;
    if (others.length > 0)
      throw new UptimeError(
        `uptime:adoptExisting is set, and several ${this.collection.definition.plural} are equal to what is declared ` +
          `(${equal.map(({ id }) => id).join(", ")}), so it is not known which to adopt. Delete all but one, or change one.`,
      );
    this.taken.add(record.id);
    return { id: record.id, record };
  }

  private async readAll(deadline: Deadline): Promise<readonly ApiRecord[]> {
    const records: ApiRecord[] = [];
    for await (const page of this.collection.list(deadline)) records.push(...page);
    return records;
  }

  private unknownEffect(): string {
    const { singular } = this.collection.definition;
    return (
      `Whether the ${singular} was created is not known: look for it at the API before you run \`pulumi up\` again, which ` +
      "creates it again. If it is there, delete it first."
    );
  }

  /** Looks for what a create may have made: until it is sure that it had no effect, or as long as there is time. */
  private async lookFor(
    values: Values,
    isOlder: (id: string) => boolean,
    deadline: Deadline,
    lost: LostAnswer,
  ): Promise<string | undefined> {
    for (let look = 1; ; look++) {
      const id = await this.find(values, isOlder, deadline, false).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new UptimeError(
          `${lost.message} Then looking for it failed: ${reason} ${this.unknownEffect()}`,
          {
            cause: error,
          },
        );
      });
      if (id !== undefined) return id;
      if ((lost.repeatable && look >= 2) || Date.now() + this.lookPause > deadline.at) return undefined;
      await sleep(this.lookPause);
    }
  }

  private baseline(deadline: Deadline): Promise<(id: string) => boolean> {
    this.before ??= this.newest(deadline).catch((error: unknown) => {
      this.before = undefined;
      throw error;
    });
    return inTime(this.before, deadline);
  }

  /** Updates a record and returns it as it is then. Throws {@link NotStored}. */
  async update(id: string, values: Values, deadline: Deadline, forms = this.forms): Promise<ApiRecord> {
    const sent = await this.send(values, forms, (form) => this.collection.update(id, form, deadline));
    return this.settle(id, values, sent.result, deadline, sent.forms);
  }

  /** Compares the record with what was sent; says "empty" in another way where the first was ignored. */
  async settle(
    id: string,
    values: Values,
    answered: ApiRecord | undefined,
    deadline: Deadline,
    forms = this.forms,
  ): Promise<ApiRecord> {
    const record =
      answered && this.isWhole(values, answered) ? answered : await this.collection.show(id, deadline);
    for (const [key, value] of values)
      if (!isEmpty(value) && !shownOf(this.field(key), record)) this.hidden.add(key);
    const lost = [...values].filter(([key, value]) => isLost(this.field(key), value, record));
    if (lost.length === 0) {
      this.forms = forms;
      return record;
    }
    const next = advance(
      forms,
      lost.filter(([, value]) => isEmpty(value)).map(([key]) => this.field(key)),
    );
    if (next && lost.every(([, value]) => isEmpty(value))) return this.update(id, values, deadline, next);
    throw new NotStored(
      `the API took these properties and did not store them: ${lost.map(([key, value]) => this.difference(key, value, record)).join("; ")}.`,
      record,
    );
  }

  private async send<T>(
    values: Values,
    forms: Forms,
    transmit: (form: readonly Pair[]) => Promise<T>,
  ): Promise<{ result: T; forms: Forms }> {
    let refusal: ApiError | undefined;
    for (let tried: Forms | undefined = forms; tried;) {
      try {
        return { result: await transmit(this.encode(values, tried)), forms: tried };
      } catch (error) {
        if (!(error instanceof ApiError && error.isRefusal)) throw refusal ? this.explained(refusal) : error;
        refusal ??= error;
        tried = advance(tried, this.emptyOnes(values, error));
      }
    }
    throw this.explained(refusal);
  }

  /** The fields sent as empty that a refusal may be about. */
  private emptyOnes(values: Values, refusal: ApiError): Field[] {
    const named = [...refusal.fields.keys()];
    return [...values]
      .filter(([, value]) => isEmpty(value))
      .map(([key]) => this.field(key))
      .filter(({ wire }) => named.length === 0 || named.some((name) => name.replace(/[.[].*$/, "") === wire));
  }

  private encode(values: Values, forms: Forms): Pair[] {
    return [...values].flatMap(([key, value]) => {
      const field = this.field(key);
      const ways = encodings(field, value);
      return ways[Math.min(forms[groupOf(field)], ways.length - 1)] ?? [];
    });
  }

  /**
   * The record that a create of this process has made: newer than its first create, nobody else's, and equal; of several
   * the one with the least beside that, since a create that declares more may have made the others. Where a create surely
   * succeeded, the only new record with the same required properties is it, whatever became of the others.
   */
  private async find(
    values: Values,
    isOlder: (id: string) => boolean,
    deadline: Deadline,
    succeeded: boolean,
  ): Promise<string | undefined> {
    const isNew = ({ id }: ApiRecord): boolean => !isOlder(id) && !this.taken.has(id);
    const equal: ApiRecord[] = [];
    const alike: ApiRecord[] = [];
    const take = (record: ApiRecord): string => {
      this.taken.add(record.id);
      return record.id;
    };
    for await (const page of this.collection.list(deadline)) {
      for (const brief of page.filter(isNew)) {
        if (!this.shows(brief, values, (field) => field.required === true)) continue;
        const whole = this.isWhole(values, brief) ? brief : await this.collection.show(brief.id, deadline);
        // An equal create that is still in flight may have made it, and is about to say so.
        await inTime(Promise.allSettled(this.posts), deadline);
        if (!isNew(whole)) continue;
        if (!this.shows(whole, values)) alike.push(whole);
        else if (this.surplus(whole, values) === 0) return take(whole);
        else equal.push(whole);
      }
      if (page.some(({ id }) => isOlder(id))) break;
    }
    const [best] = equal.filter(isNew).sort((a, b) => this.surplus(a, values) - this.surplus(b, values));
    if (best) return take(best);
    const [only, ...others] = alike.filter(isNew);
    return succeeded && only && others.length === 0 ? take(only) : undefined;
  }

  /** How many fields a record has that some values say nothing of. */
  private surplus(record: ApiRecord, values: Values): number {
    const fields = Object.entries(this.collection.definition.fields);
    return fields.filter(([key, field]) => !values.has(key) && isLost(field, null, record)).length;
  }

  /** Tells records that were there before the first create of this process from newer ones. */
  private async newest(deadline: Deadline): Promise<(id: string) => boolean> {
    const { value: page = [] } = (await this.collection.list(deadline).next()) as {
      value?: readonly ApiRecord[];
    };
    const ids = new Set(page.map(({ id }) => id));
    const highest = [...ids]
      .filter(isNumeric)
      .reduce((most, id) => (BigInt(id) > most ? BigInt(id) : most), 0n);
    return (id) => ids.has(id) || (isNumeric(id) && BigInt(id) <= highest);
  }

  /** Whether a record shows nothing that differs from some values, or from those of some fields. */
  private shows(record: ApiRecord, values: Values, only: (field: Field) => boolean = () => true): boolean {
    return [...values].every(([key, value]) => {
      const field = this.field(key);
      return !only(field) || !isLost(field, value, record);
    });
  }

  /** Whether an answer shows everything that was sent and can be seen at all. */
  private isWhole(values: Values, record: ApiRecord): boolean {
    return [...values].every(
      ([key, value]) =>
        isEmpty(value) ||
        this.hidden.has(key) ||
        this.field(key).writeOnly === true ||
        shownOf(this.field(key), record) !== undefined,
    );
  }

  private difference(key: string, value: Value, record: ApiRecord): string {
    const field = this.field(key);
    if (field.secret) return `${key} (what is there differs from what was sent)`;
    const shown = parse(field, shownOf(field, record)?.value);
    const offset = field.kind === "dateTime" && typeof shown === "string" && /[+-]\d\d:?\d\d$/.test(shown);
    return (
      `${key} was sent as ${JSON.stringify(value)} and is ${JSON.stringify(shown)}` +
      (offset ? " (an offset other than +00:00 is not supported)" : "")
    );
  }

  /** A refusal with the properties' own names in place of the API's. */
  private explained(error: ApiError | undefined): UptimeError {
    if (!error) return new UptimeError("Nothing was sent.");
    const { fields } = this.collection.definition;
    const reasons = [...error.fields].map(([name, texts]) => {
      const key = Object.keys(fields).find((one) => fields[one]?.wire === name.replace(/[.[].*$/, ""));
      const path = name.replace(/^[^.[]+/, key ?? "$&").replace(/\.(\d+)/g, "[$1]");
      return `${path}: ${texts.join(" ")}`;
    });
    if (reasons.length === 0) return error;
    return new UptimeError(
      `${error.request} was refused with status ${error.status}${error.said ? ` (${error.said})` : ""}: ${reasons.join("; ")}`,
      { cause: error },
    );
  }

  private field(key: string): Field {
    const field = this.collection.definition.fields[key];
    if (!field) throw new UptimeError(`${this.collection.definition.label} has no property ${key}.`);
    return field;
  }
}

/** The result of what another operation does too, unless this one's time is over before. */
async function inTime<T>(work: Promise<T>, { signal }: Deadline): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        const end = (): void => {
          reject(
            new UptimeError(
              "The operation has used its time (see the option customTimeouts) while it waited for another.",
            ),
          );
        };
        if (signal.aborted) end();
        signal.addEventListener("abort", end, { signal: over.signal });
      }),
    ]);
  } finally {
    over.abort();
  }
}

const isNumeric = (id: string): boolean => /^\d+$/.test(id);

/** Whether a record shows a field, and not with the value that was sent. */
export function isLost(field: Field, value: Value, record: ApiRecord): boolean {
  const shown = field.writeOnly ? undefined : shownOf(field, record);
  return shown !== undefined && !isShown(field, value, shown.value);
}

function groupOf(field: Field): keyof Forms {
  return field.kind === "idList" || field.kind === "headerList" ? "list" : "other";
}

/** The next way to say "empty" for some fields: each group's second form, one after the other, then both. */
function advance(forms: Forms, fields: readonly Field[]): Forms | undefined {
  const open = (group: keyof Forms): boolean =>
    fields.some((field) => groupOf(field) === group && encodings(field, null).length > forms[group] + 1);
  if (open("list")) return { ...forms, list: forms.list + 1 };
  if (open("other")) return { list: 0, other: forms.other + 1 };
  return undefined;
}
