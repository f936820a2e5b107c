import type { Definition } from "../definitions/field";
import type { ApiRecord } from "./answer";
import type { Answer, Client } from "./client";
import { quoteBody } from "./error-body";
import { ApiError, message, UptimeError, type Message } from "./errors";
import { parsePage, type Page } from "./page";
import type { Address } from "./settings";
import { getOrMake } from "../common/values";

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

/** The pages of a list in their order. As many as are wanted are asked for at once, if the server numbers them. */
export async function* readPages(
  definition: Definition,
  { address, maxConcurrency }: Pick<Client, "address" | "maxConcurrency">,
  parameters: Readonly<Record<string, string>>,
  send: (query: URLSearchParams) => Promise<Answer>,
): AsyncGenerator<Page, void, number | undefined> {
  let query = new URLSearchParams({
    sort_by: "id",
    sort: "desc",
    per_page: String(pageSize),
    ...parameters,
  });
  const requests = new PageRequests(definition, send);
  const seen = new Set<string>();
  const asked = new Set<string>();
  const isUnseen = ({ id }: ApiRecord): boolean => !seen.has(id);
  let stalePages = 0;
  /** The page before and its query. */
  let before: readonly ApiRecord[] = [];
  let queryBefore = query;
  /**
   * Reads the page before in the opposite order. If that shows as many records, and others among them, the server has cut the list; a
   * whole list to which a record was added meanwhile is longer.
   */
  const readOpposite = async (): Promise<"cut" | "whole" | "refused" | "order ignored"> => {
    const sort = query.get("sort") === "asc" ? "desc" : "asc";
    const opposite = await requests.recordsOf(mergeQuery(queryBefore, new URLSearchParams({ sort })));
    if (opposite.length === before.length && opposite.some(isUnseen)) return "cut";
    if (opposite[0] === undefined) return "refused";
    return opposite[0].id === before[0]?.id ? "order ignored" : "whole";
  };
  /** 0 if the server counts its pages from 0. */
  let firstNumber = 1;
  /** Whether the next page is a guess: the server has not said that there is one. */
  let isGuess = false;
  for (let number = 1; ; number++) {
    const answer = await requests.ask(query).catch(async (error: unknown) => {
      if (number === 1 || !saysNoSuchPage(error)) throw error;
      const { requestText, status } = error.answer;
      // There may be no page after the last one, which many servers answer with 404, or no parameter of this name.
      const shown = isGuess ? await readOpposite() : "cut";
      if (shown === "whole" || (shown === "order ignored" && status === 404)) return undefined;
      throw incompleteListError(requestText, `the request for page ${number} returned status ${status}`);
    });
    if (!answer) return;
    requests.forget(query);
    asked.add(String(query));
    const page = pageIn(answer, definition, address);
    const pagesWanted = (yield page) ?? Infinity;
    const size = page.records.length;
    const isRepeat = size > 0 && !page.records.some(isUnseen);
    for (const { id } of page.records) seen.add(id);
    const wasAnnounced = number > 1 && !isGuess;
    isGuess = page.next === "unknown";
    if (page.next === undefined) {
      if (isRepeat && (stalePages > 0 || size === before.length))
        throw incompleteListError(answer.requestText, "its last page holds the records of an earlier one");
      return;
    }
    if (isGuess && isRepeat) {
      // A server of another version, behind a load balancer, has answered with the first page: it does not know this cursor.
      if (wasAnnounced)
        throw incompleteListError(
          answer.requestText,
          `page ${number - 1} says that there is more, and it leads back to an earlier one`,
        );
      if ((await readOpposite()) === "cut")
        throw incompleteListError(answer.requestText, "it is cut, and the parameter page changes nothing");
      return;
    }
    // The server does not say whether there is more. A page of one of the usual sizes may be full, so the next one is tried; any
    // other page is the last.
    if (isGuess && !fullSizes.includes(size)) return;
    const pageQuery = (next: number): URLSearchParams =>
      mergeQuery(query, new URLSearchParams({ page: String(next - 1 + firstNumber) }));
    const isUnnamed = page.next === "more" || page.next === "unknown";
    // If no page says its number, the one with the number 1 shows where the server begins to count.
    if (number === 1 && isUnnamed) {
      if ((await requests.recordsOf(pageQuery(1))).some(isUnseen)) firstNumber = 0;
      else requests.forget(pageQuery(1));
    }
    const next = isUnnamed ? pageQuery(number + 1) : mergeQuery(query, page.next);
    before = page.records;
    stalePages = size === 0 || isRepeat ? stalePages + 1 : 0;
    // A page whose number the server has not named may be the same page again.
    const isEarlier = asked.has(String(next)) || (isRepeat && page.next === "more");
    const problem = problemOfNext(page, number, isEarlier, stalePages);
    if (problem !== undefined) throw incompleteListError(answer.requestText, problem);
    // If pages are numbered and the last number is known, the next ones are asked for now.
    if (String(next) === String(pageQuery(number + 1)))
      for (let ahead = 1; ahead <= Math.min(pagesWanted, maxConcurrency, page.last - number); ahead++)
        requests.ask(pageQuery(number + ahead)).catch(() => undefined);
    queryBefore = query;
    query = next;
  }
}

/** Requests for pages. One that is on its way, or that was sent ahead of its turn, is not sent again. */
class PageRequests {
  private readonly sent = new Map<string, Promise<Answer>>();

  constructor(
    private readonly definition: Definition,
    private readonly send: (query: URLSearchParams) => Promise<Answer>,
  ) {}

  ask(query: URLSearchParams): Promise<Answer> {
    return getOrMake(this.sent, String(query), () => this.send(query));
  }

  /** The page was used: if it is asked for again, it may have changed. */
  forget(query: URLSearchParams): void {
    this.sent.delete(String(query));
  }

  /** The records of a page; none if the server refuses to show it. */
  async recordsOf(query: URLSearchParams): Promise<readonly ApiRecord[]> {
    const answer = await this.ask(query).catch((error: unknown) => {
      if (!saysNoSuchPage(error)) throw error;
    });
    return (answer && parsePage(answer, this.definition)?.records) ?? [];
  }
}

/** The page in an answer. Throws if that is not a list of records. */
function pageIn(answer: Answer, definition: Definition, { source }: Address): Page {
  const page = parsePage(answer, definition);
  // A redirect may lead to a page that says that the server is being maintained.
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
  if (isEarlier) return `page ${number} says that there is more, and leads back to an earlier one`;
  if (page.records.length === 0 && page.next === "more")
    return `page ${number} says that there is more, and neither holds a record nor says where`;
  if (stalePages > maxStalePages)
    return `page ${number} is one of many without new records that say there is more`;
  return number === maxPages ? `it has no end after ${maxPages} pages` : undefined;
}

/** Whether a server says that it has no page of this number. */
function saysNoSuchPage(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 404 || error.isRefusal);
}

/** The error of a list that cannot be followed to its end; its reason is a clause. */
export function incompleteListError(list: string | Message, reason: string): UptimeError {
  return new UptimeError(
    message`${list} cannot be read completely: ${reason}. Ask the people who run the server how the next page of this list is
      asked for. The provider follows links.next, next_page_url, next_cursor, current_page with last_page, and the headers Link, X-Next-Page and
      X-Pagination.`,
  );
}

function mergeQuery(query: URLSearchParams, changes: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(query);
  for (const [key, value] of changes) result.set(key, value);
  return result;
}
