import type { Definition } from "../definitions/field";
import type { ApiRecord } from "./record";
import type { Answer } from "./client";
import { quoteBody } from "./error-body";
import { ApiError, message, UptimeError, type Message } from "./errors";
import { parsePage, type Page } from "./page";
import type { Address } from "./settings";

/** Records per page: the most that the API allows. */
export const pageSize = 100;

/** The sizes of a page that the API has, so one of another size is the last. (docs/api.md) */
const fullSizes: readonly number[] = [10, 25, 50, pageSize];

/** A list with more pages than this has no end: no account has a tenth of that, even at ten records a page. */
const maxPages = 10_000;

/**
 * More pages in a row without a new record have no end. A few may be empty because of a filter that the server applies after paging, or
 * hold what was on pages before, because others have created records meanwhile.
 */
const maxStalePages = 20;

/** The pages of a list in their order. */
export function readPages(
  definition: Definition,
  address: Address,
  parameters: Readonly<Record<string, string>>,
  send: (query: URLSearchParams) => Promise<Answer>,
): AsyncGenerator<Page, void> {
  const query = { sort_by: "id", sort: "desc", per_page: String(pageSize), ...parameters };
  return new PageWalk(definition, address, send, new URLSearchParams(query)).run();
}

/** The way from a list's first page to its last one. */
class PageWalk {
  private number = 1;
  private readonly firstQuery: URLSearchParams;
  private firstRecords: readonly ApiRecord[] = [];
  private previousSize = 0;
  /** The server has not said that there is this page. */
  private isGuess = false;
  /** Pages in a row without a new record. */
  private stalePages = 0;
  /** 0 as long as the server may count its pages from 0. */
  private firstNumber = 1;
  private readonly seenIds = new Set<string>();
  private readonly sentQueries = new Set<string>();

  /** @param query of the present page */
  constructor(
    private readonly definition: Definition,
    private readonly address: Address,
    private readonly send: (query: URLSearchParams) => Promise<Answer>,
    private query: URLSearchParams,
  ) {
    this.firstQuery = query;
  }

  async *run(): AsyncGenerator<Page, void> {
    for (; ; this.number++) {
      const answer = await this.read();
      if (!answer) return;
      const page = pageIn(answer, this.definition, this.address);
      yield page;
      const next = await this.queryAfter(page, answer.requestText);
      if (!next) return;
      if (this.number === 1) this.firstRecords = page.records;
      this.previousSize = page.records.length;
      this.query = next;
    }
  }

  /** The answer with the present page; undefined if the page before was the last one. */
  private async read(): Promise<Answer | undefined> {
    const { number, query } = this;
    try {
      const answer = await this.send(query);
      this.sentQueries.add(String(query));
      return answer;
    } catch (error) {
      if (number === 1 || !saysNoSuchPage(error)) throw error;
      const { requestText, status } = error.answer;
      // There may be no page after the last one, which many servers answer with 404, or no parameter of this name.
      const opposite = this.isGuess ? await this.readOpposite() : "cut";
      if (opposite === "whole" || (opposite === "order ignored" && status === 404)) return undefined;
      throw incompleteListError(requestText, `the request for page ${number} returned status ${status}`);
    }
  }

  /** Where the page after this one is; undefined if this is the last one. Throws if the list cannot be followed to its end. */
  private async queryAfter(page: Page, requestText: Message): Promise<URLSearchParams | undefined> {
    const { number, previousSize } = this;
    const { length: size } = page.records;
    const isRepeat = size > 0 && !page.records.some(this.isUnseen);
    for (const { id } of page.records) this.seenIds.add(id);
    const wasAnnounced = !this.isGuess;
    this.isGuess = page.next === "unknown";
    if (page.next === undefined) {
      if (isRepeat && (this.stalePages > 0 || size === previousSize))
        throw incompleteListError(requestText, "its last page holds the records of an earlier one");
      return undefined;
    }
    const isUnnamed = page.next === "more" || page.next === "unknown";
    if (isUnnamed && isRepeat && number === 2 && this.firstNumber === 0) {
      // Page 1 is the first page.
      this.firstNumber = 1;
      this.number = 1;
      return this.queryOf(2);
    }
    if (this.isGuess && isRepeat) {
      // A server of another version, behind a load balancer, has answered with the first page: it does not know this cursor.
      if (wasAnnounced)
        throw incompleteListError(
          requestText,
          `page ${number - 1} announces more, but leads back to an earlier page`,
        );
      const opposite = await this.readOpposite();
      if (opposite === "cut")
        throw incompleteListError(requestText, "it is cut, and the parameter page changes nothing");
      if (opposite === "refused")
        throw incompleteListError(
          requestText,
          "the parameter page changes nothing, and it cannot be read in the opposite order",
        );
      return undefined;
    }
    // A page of one of the usual sizes may be full, so the next one is tried; any other page is the last.
    if (this.isGuess && !fullSizes.includes(size)) return undefined;
    // Page 1 is the second page, or shows that the server counts from 1.
    if (number === 1 && isUnnamed) this.firstNumber = 0;
    const next = isUnnamed ? this.queryOf(number + 1) : mergeQuery(this.query, page.next);
    this.stalePages = size === 0 || isRepeat ? this.stalePages + 1 : 0;
    // A page whose number the server has not named may be the same page again.
    const isEarlier = this.sentQueries.has(String(next)) || (isRepeat && page.next === "more");
    const problem = problemOfNext(page, number, isEarlier, this.stalePages);
    if (problem !== undefined) throw incompleteListError(requestText, problem);
    return next;
  }

  /**
   * Reads the first page in the opposite order, which begins with the last records. If it shows as many records, and others among them,
   * the list is cut: it has shown 10, 9, 8, 7, 6, and then shows 1, 2, 3, 4, 5. A whole list to which a record was added meanwhile is
   * longer.
   */
  private async readOpposite(): Promise<"cut" | "whole" | "refused" | "order ignored"> {
    const { firstQuery: query, firstRecords: records } = this;
    const sort = query.get("sort") === "asc" ? "desc" : "asc";
    const opposite = await this.recordsOf(mergeQuery(query, new URLSearchParams({ sort })));
    if (opposite.length === records.length && opposite.some(this.isUnseen)) return "cut";
    if (opposite[0] === undefined) return "refused";
    return opposite[0].id === records[0]?.id ? "order ignored" : "whole";
  }

  /** The query of a page by its number, from 1 on. */
  private queryOf(number: number): URLSearchParams {
    return mergeQuery(this.query, new URLSearchParams({ page: String(number - 1 + this.firstNumber) }));
  }

  /** The records of a page; none if the server refuses to show it. */
  private async recordsOf(query: URLSearchParams): Promise<readonly ApiRecord[]> {
    const answer = await this.send(query).catch((error: unknown) => {
      if (!saysNoSuchPage(error)) throw error;
    });
    return (answer && parsePage(answer, this.definition)?.records) ?? [];
  }

  private readonly isUnseen = ({ id }: ApiRecord): boolean => !this.seenIds.has(id);
}

/** The page in an answer. Throws if that is not a list of records. */
function pageIn(answer: Answer, definition: Definition, { source }: Address): Page {
  const page = parsePage(answer, definition);
  // A redirect that ends at no records may lead to a maintenance page.
  if (page && !(answer.isRedirectedElsewhere && page.records.length === 0)) return page;
  throw new UptimeError(
    message`${answer.requestText} did not return a list of ${definition.plural}: ${quoteBody(answer.body)}. Check
      ${source}.`,
  );
}

/** Why the page after this one cannot be read, as a clause; undefined if it can. */
function problemOfNext(
  page: Page,
  number: number,
  isEarlier: boolean,
  stalePages: number,
): string | undefined {
  if (isEarlier) return `page ${number} announces more, but leads back to an earlier page`;
  if (page.records.length === 0 && page.next === "more")
    return `page ${number} announces more, but has neither records nor a link to the next page`;
  if (stalePages > maxStalePages)
    return `page ${number} is one of many that announce more, but have no new record`;
  return number === maxPages ? `it has no end after ${maxPages} pages` : undefined;
}

/** Whether a server says that it has no page of this number. */
function saysNoSuchPage(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 404 || error.isRefusal);
}

/** The error of a list that cannot be followed to its end; its reason is a clause. */
export function incompleteListError(list: string | Message, reason: string): UptimeError {
  return new UptimeError(
    message`${list} cannot be read completely: ${reason}. Ask the server's operators how to request the next page of this
      list. The provider follows links.next, next_page_url, next_cursor, current_page with last_page, and the headers Link, X-Next-Page and
      X-Pagination.`,
  );
}

function mergeQuery(query: URLSearchParams, changes: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(query);
  for (const [key, value] of changes) result.set(key, value);
  return result;
}
