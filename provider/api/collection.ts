import { parseError, holdsNothing, isDeleted, isFailure, isRecordOf, parsePage, parseRecord } from "./answer";
import type { ApiRecord, Page } from "./answer";
import type { Answer, ApiRequest, Client } from "./client";
import type { Definition } from "../definitions/field";
import type { Pair } from "../definitions/field-types";
import { parseUrl } from "../definitions/url";
import { AnotherRecordError, ApiError, message, MissingError, quote, UptimeError } from "./errors";
import type { Message } from "./errors";
import type { Operation } from "./operation";

/** What an answer to a write tells. */
export interface Written {
  readonly status: number;
  /** The id of the record, from the record itself or from `Location`. */
  readonly id: string | undefined;
  readonly record: ApiRecord | undefined;
  /** The request and its address, for messages. */
  readonly request: string;
}

/** The most that the API allows. */
const pageSize = 100;
/** How often a list is read at most when records are deleted while it is read; a list that never rests is an error. */
const maxPasses = 5;

/** Records page by page; pass the number of pages still needed to `next` to have them prefetched. */
export type RecordPages = AsyncGenerator<readonly ApiRecord[], void, number | undefined>;

/** The endpoints of one kind of record (API reference, section 4). */
export class Collection {
  private readonly path: string;

  constructor(
    readonly definition: Definition,
    readonly client: Client,
    private readonly goneStatuses: readonly number[],
  ) {
    this.path = `/api/v1/${definition.plural}`;
  }

  /** The record under an id. Throws {@link MissingError}. */
  async show(id: string, operation: Operation): Promise<ApiRecord> {
    const answer = await this.sendTo(id, { method: "GET", operation });
    const record = parseRecord(answer.body, this.definition);
    const { singular } = this.definition;
    if (record && record.id !== id)
      throw new AnotherRecordError(`${answer.request} was answered with the record ${record.id} instead.`);
    if (record && isDeleted(record))
      throw new MissingError(`${answer.request} was answered with a ${singular} that is marked as deleted.`);
    // A record that shows none of its required fields would be compared with nothing, and found equal.
    if (record && isRecordOf(this.definition, record)) return record;
    const problem = message`${answer.request} was answered without a ${singular}: ${quoted(answer.body)}.`;
    if (holdsNothing(answer.body, this.definition)) throw new MissingError(problem);
    throw new UptimeError(message`${problem} Check ${this.client.address.source}.`);
  }

  /** Stores a new record. (API reference, section 4: Store) */
  async store(form: readonly Pair[], operation: Operation): Promise<Written> {
    const answer = await this.send({ method: "POST", path: this.path, form, operation });
    const record = parseRecord(answer.body, this.definition);
    const { status, request } = answer;
    return { status, request, id: record?.id ?? this.idOf(answer.location), record };
  }

  /** Updates a record. Throws {@link MissingError}. (API reference, section 4: Update) */
  async update(
    id: string,
    form: readonly Pair[],
    operation: Operation,
    method: "PATCH" | "PUT",
  ): Promise<Written> {
    const answer = await this.sendTo(id, { method, form, operation });
    const record = parseRecord(answer.body, this.definition);
    const { status, request } = answer;
    return { status, request, id, record: record?.id === id ? record : undefined };
  }

  /** Deletes a record. Throws {@link MissingError}. (API reference, section 4: Delete) */
  async remove(id: string, operation: Operation): Promise<void> {
    await this.sendTo(id, { method: "DELETE", operation });
  }

  /**
   * All records, or those that a filter of the API selects, newest first, page by page, in whatever way the server pages.
   * (API reference, section 4: List)
   */
  async *list(operation: Operation, filter: Readonly<Record<string, string>> = {}): RecordPages {
    const seen = new Set<string>();
    for (let pass = 1; ; pass++) {
      const totals: number[] = [];
      const pages = this.pages(operation, filter);
      let wanted: number | undefined;
      for (let step = await pages.next(); !step.done; step = await pages.next(pass > 1 ? 1 : wanted)) {
        const { records, total } = step.value;
        totals.push(total);
        const fresh = records.filter(({ id }) => !seen.has(id));
        for (const { id } of fresh) seen.add(id);
        const present = fresh.filter((record) => !isDeleted(record));
        if (present.length > 0) wanted = yield present;
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
    operation: Operation,
    filter: Readonly<Record<string, string>>,
  ): AsyncGenerator<Page, void, number | undefined> {
    const list = { method: "GET", path: this.path, operation } as const;
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
      const asked = sent.get(String(of)) ?? this.send({ ...list, query: of });
      sent.set(String(of), asked);
      return asked;
    };
    /** Whether nothing has told that there is such a page. */
    let isGuess = false;
    for (let number = 1; ; number++) {
      const answer = await ask(query).catch((error: unknown) => {
        // Behind the last full page, some servers answer that there is none.
        if (isGuess && error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      });
      if (!answer) return;
      sent.delete(String(query));
      const page = parsePage(answer.body, this.definition);
      if (!page)
        throw new UptimeError(
          message`${answer.request} was not answered with a list of ${this.definition.plural}: ${quoted(answer.body)}. Check
            ${this.client.address.source}.`,
        );
      const wanted = (yield page) ?? 1;
      if (page.next === undefined || (page.records.length === 0 && page.next !== "more")) return;
      const isRepeat = page.records.every((record) => seen.has(record.id));
      // A server that does not page shows the same list whatever the page.
      if (isRepeat && page.next === "unknown") return;
      const numbered = (next: number): URLSearchParams =>
        changed(query, new URLSearchParams({ page: String(next) }));
      // Nothing tells whether there is more. A page that is not full is the last one, and so is one that is fuller than
      // was asked for; behind a full one the next is tried.
      if (page.next === "unknown" && ![10, 25, 50, pageSize].includes(page.records.length)) return;
      isGuess = page.next === "unknown";
      const isNumbered = page.next === "unknown" || page.next === "more";
      const next = isNumbered ? numbered(number + 1) : changed(query, page.next);
      // Where pages are merely numbered, and it is known how many there are.
      if (String(next) === String(numbered(number + 1)))
        for (
          let ahead = 1;
          ahead <= Math.min(wanted, this.client.maxConcurrency, page.last - number);
          ahead++
        )
          ask(numbered(number + ahead)).catch(() => undefined);
      query = next;
      if (isRepeat)
        throw new UptimeError(
          page.records.length === 0
            ? `${answer.request} cannot be read completely: page ${number} is empty, and it says that there is more.`
            : `${answer.request} cannot be read completely: page ${number} repeats what an earlier page held.`,
        );
      for (const { id } of page.records) seen.add(id);
    }
  }

  /** Throws {@link ApiError} also where an answer says that it is a refusal, and its status does not. */
  private async send(request: ApiRequest): Promise<Answer> {
    const answer = await this.client.send(request);
    if (!isFailure(answer.body, this.definition, request.method)) return answer;
    const { reason, fields } = parseError(answer.body, JSON.stringify(answer.body));
    throw new ApiError(answer.request, answer.status, reason, fields);
  }

  /** Sends to one record. */
  private async sendTo(id: string, request: Omit<ApiRequest, "path">): Promise<Answer> {
    // In a path these mean something else, however they are written.
    if (/^\.{0,2}$/.test(id))
      throw new UptimeError(`"${id}" is not the id of a ${this.definition.singular}.`);
    try {
      return await this.send({ ...request, path: `${this.path}/${encodeURIComponent(id)}` });
    } catch (error) {
      if (!(error instanceof ApiError) || ![404, 410, ...this.goneStatuses].includes(error.status))
        throw error;
      throw new MissingError(error.parts, { cause: error });
    }
  }

  /** The id in a `Location`, which counts only if it is the path of a record of this collection. */
  private idOf(location: string | undefined): string | undefined {
    const path = location === undefined ? undefined : parseUrl(location, this.client.address.url)?.pathname;
    const [, collection, id] = /^(.*)\/(\d+)\/?$/.exec(path ?? "") ?? [];
    return collection?.endsWith(this.path) ? id : undefined;
  }
}

function quoted(body: unknown): Message {
  return body === undefined ? ["an empty answer"] : message`"${quote(JSON.stringify(body))}"`;
}

/** A query with some parameters set otherwise. */
function changed(query: URLSearchParams, changes: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(query);
  for (const [key, value] of changes) result.set(key, value);
  return result;
}
