import { setTimeout as sleep } from "node:timers/promises";

import { pageIn, recordIn } from "./answer";
import type { ApiRecord, Page } from "./answer";
import type { Answer, ApiRequest, Client } from "./client";
import type { Pair } from "../definitions/kinds";
import { ApiError, Gone, UptimeError } from "./errors";
import type { Definition } from "../definitions/field";
import type { Deadline } from "./limiter";
import { Listing } from "./listing";
import { shorten } from "./text";

/** What an answer to a write may hold. */
export interface Written {
  readonly id: string | undefined;
  readonly record: ApiRecord | undefined;
}

const pageSize = 100;
/** So many pages are asked for at once at most. */
const mostAhead = 8;
/** How often a list is read at most when records are deleted while it is read. */
const maxPasses = 5;
/** So many records may be gone without any other being found. */
const manyGone = 3;

/** Records page by page; `next` takes how many more pages are wanted, as far as it is known. */
export type RecordPages = AsyncGenerator<readonly ApiRecord[], void, number | undefined>;

/** The endpoints of one kind of record (API reference, section 4); knows how the install answers, not what it means. */
export class Collection {
  private readonly path: string;
  private updateMethod: "PATCH" | "PUT" = "PATCH";
  /** Ids that state knows, as far as this process has heard of them. */
  private readonly expected = new Set<string>();
  /** Ids that this process has changed, so that a list may be older than they are. */
  private readonly written = new Set<string>();
  private current: Listing | undefined;
  /** Some id that state knows is there: the address and the key belong to this stack. */
  private isOurs = false;

  constructor(
    readonly definition: Definition,
    readonly client: Client,
    private readonly goneStatuses: readonly number[],
  ) {
    this.path = `/api/v1/${definition.plural}`;
  }

  /** Says that state knows a record of this id, and will ask for it. */
  expect(id: string): void {
    this.expected.add(id);
  }

  /** Whether state knows a record of this id, as far as this process has heard. */
  isKnown(id: string): boolean {
    return this.expected.has(id);
  }

  /** Whether this process has changed the record, or tried to. */
  isWritten(id: string): boolean {
    return this.written.has(id);
  }

  /** The list, as far as it has been read in the last minute. */
  listing(deadline: Deadline): Listing {
    if (!this.current?.isFresh) this.current = new Listing(this.list(deadline));
    return this.current;
  }

  /** The record under an id. Throws {@link Gone} when it is proven that there is none. */
  async show(id: string, deadline: Deadline): Promise<ApiRecord> {
    const answer = await this.sendTo(id, { method: "GET", deadline });
    const record = recordIn(answer.body, this.definition);
    if (record?.id === id) return record;
    throw new UptimeError(
      record
        ? `${answer.request} was answered with the record ${record.id} instead.`
        : `${answer.request} was answered without a ${this.definition.singular}: ${this.quote(answer.body)}. ` +
            `Check ${this.client.address.source}.`,
    );
  }

  /** Stores a new record. (API reference, section 4: Store) */
  async create(form: readonly Pair[], deadline: Deadline): Promise<Written> {
    const answer = await this.client.send({ method: "POST", path: this.path, form, deadline });
    const record = recordIn(answer.body, this.definition);
    const located = /\/([^/?#]+)\/?(?:[?#].*)?$/.exec(answer.location ?? "")?.[1];
    const id = record?.id ?? (located && /^\d+$/.test(located) ? located : undefined);
    if (id !== undefined) this.written.add(id);
    return { id, record };
  }

  /** Changes a record by PATCH, or by PUT where the install does not know PATCH. Throws {@link Gone}. */
  async update(id: string, form: readonly Pair[], deadline: Deadline): Promise<ApiRecord | undefined> {
    // Other updates in flight may learn of PUT meanwhile.
    const method = this.updateMethod;
    let answer: Answer;
    try {
      answer = await this.sendTo(id, { method, form, deadline });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 405) || method === "PUT") throw error;
      this.updateMethod = "PUT";
      answer = await this.sendTo(id, { method: "PUT", form, deadline });
    }
    const record = recordIn(answer.body, this.definition);
    return record?.id === id ? record : undefined;
  }

  /** Deletes a record. Throws {@link Gone}. */
  async remove(id: string, deadline: Deadline): Promise<void> {
    await this.sendTo(id, { method: "DELETE", deadline });
  }

  /**
   * All records, or those that a filter of the API selects, newest first, page by page, in whatever way the install pages.
   * Whoever says how many more pages are wanted gets them sooner. (API reference, section 4: List)
   */
  async *list(deadline: Deadline, filter: Readonly<Record<string, string>> = {}): RecordPages {
    const seen = new Set<string>();
    for (let pass = 1; ; pass++) {
      const totals: number[] = [];
      const pages = this.pages(deadline, filter);
      let wanted: number | undefined;
      for (let step = await pages.next(); !step.done; step = await pages.next(pass > 1 ? 1 : wanted)) {
        const { records, total } = step.value;
        totals.push(total);
        const fresh = records.filter(({ id }) => !seen.has(id));
        for (const { id } of fresh) seen.add(id);
        if (fresh.length > 0) wanted = yield fresh;
      }
      const hasShrunk = totals.some((total, index) => total < Number(totals[index - 1]));
      const isShort = seen.size < Number(totals[0]);
      if (!hasShrunk && !isShort) return;
      // Behind a record that was deleted meanwhile, another may have moved up to a page that had been read, and one that
      // was made keeps the total as it was. Pages that are asked for at once tell nothing of the order of their totals.
      if (pass === maxPasses)
        throw new UptimeError(
          `GET ${this.client.address.url}${this.path} cannot be read completely: ` +
            (hasShrunk
              ? `${this.definition.plural} are deleted while it is read. Try again.`
              : `its pages hold ${seen.size} ${this.definition.plural}, and it says that there are ${totals[0]}.`),
        );
    }
  }

  /** The pages of a list, one after the other, until one is the last. Those that are wanted are asked for at once. */
  private async *pages(
    deadline: Deadline,
    filter: Readonly<Record<string, string>>,
  ): AsyncGenerator<Page, void, number | undefined> {
    const list = { method: "GET", path: this.path, deadline } as const;
    let query = new URLSearchParams({
      ...filter,
      sort_by: "id",
      sort: "desc",
      per_page: String(pageSize),
    });
    const seen = new Set<string>();
    /** What was asked for already, by its query. */
    const sent = new Map<string, Promise<Answer>>();
    const ask = (of: URLSearchParams): Promise<Answer> => {
      const asked = sent.get(String(of)) ?? this.client.send({ ...list, query: of });
      sent.set(String(of), asked);
      return asked;
    };
    for (let number = 1; ; number++) {
      const answer = await ask(query);
      sent.delete(String(query));
      const page = pageIn(answer.body, this.definition);
      if (!page)
        throw new UptimeError(
          `${answer.request} was not answered with a list of ${this.definition.plural}: ${this.quote(answer.body)}. ` +
            `Check ${this.client.address.source}.`,
        );
      const wanted = (yield page) ?? 1;
      if (page.next === undefined || page.records.length === 0) return;
      const numbered = (next: number): URLSearchParams =>
        changed(query, new URLSearchParams({ page: String(next) }));
      // Nothing tells whether there is more. A page that is not full is the last one, and so is one that is fuller than
      // was asked for; behind a full one the next is tried.
      if (page.next === "unknown" && ![10, 25, 50, pageSize].includes(page.records.length)) return;
      const next = page.next === "unknown" ? numbered(number + 1) : changed(query, page.next);
      // Where pages are merely numbered, and it is known how many there are.
      if (String(next) === String(numbered(number + 1)))
        for (let ahead = 1; ahead <= Math.min(wanted, mostAhead, page.last - number); ahead++)
          ask(numbered(number + ahead)).catch(() => undefined);
      query = next;
      if (page.records.every(({ id }) => seen.has(id)))
        throw new UptimeError(
          `${answer.request} cannot be read completely: page ${number} repeats what an earlier page held.`,
        );
      for (const { id } of page.records) seen.add(id);
    }
  }

  /** Sends to one record; a status that may mean "gone" becomes {@link Gone} once that is proven. */
  private async sendTo(id: string, message: Omit<ApiRequest, "path">): Promise<Answer> {
    // In a path these mean something else, however they are written.
    if (/^\.{0,2}$/.test(id))
      throw new UptimeError(`"${id}" is not the id of a ${this.definition.singular}.`);
    this.expected.add(id);
    if (message.method !== "GET") this.written.add(id);
    try {
      const answer = await this.client.send({ ...message, path: `${this.path}/${encodeURIComponent(id)}` });
      this.isOurs = true;
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError) || ![404, 410, ...this.goneStatuses].includes(error.status))
        throw error;
      throw await this.proven(id, error, message.deadline);
    }
  }

  /** Whether a record is gone: a list of this API does not hold it, and the account is the one that state means. */
  private async proven(id: string, error: ApiError, deadline: Deadline): Promise<Gone | UptimeError> {
    const { plural, singular } = this.definition;
    const listing = this.isWritten(id) ? new Listing(this.list(deadline)) : this.listing(deadline);
    await listing.complete();
    if (listing.get(id))
      return new UptimeError(`${error.message}, yet the list of ${plural} holds ${id}.`, { cause: error });
    // What else state knows tells whose list this is; other reads of the same run may be about to ask for theirs.
    for (let waited = 0; !this.isOurs; waited += 50) {
      const ids = [...this.expected];
      this.isOurs = ids.some((known) => listing.get(known));
      if (!this.isOurs && ids.length > manyGone)
        return new UptimeError(
          `More than ${manyGone} ${plural} that state knows are not there, and none that it knows is found. That looks like ` +
            `another install or another account, so nothing is taken out of state: check ${this.client.address.source} ` +
            `(${this.client.address.url}) and the API key. If they were really all deleted, take them out of state with ` +
            "`pulumi state delete`, all but three.",
          { cause: error },
        );
      if (waited >= 1000) break;
      await sleep(50);
    }
    return new Gone(`The ${singular} ${id} does not exist (${error.message}).`, { cause: error });
  }

  private quote(body: unknown): string {
    return body === undefined
      ? "an empty answer"
      : `"${shorten(this.client.withoutKey(JSON.stringify(body)), 200)}"`;
  }
}

/** A query with some parameters set otherwise. */
function changed(query: URLSearchParams, changes: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(query);
  for (const [key, value] of changes) result.set(key, value);
  return result;
}
