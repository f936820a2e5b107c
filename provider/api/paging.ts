import type { Definition } from "../definitions/field";
import type { Answer, Client } from "./client";
import { ApiError, message, quote, UptimeError, type Message } from "./errors";
import { parsePage, type Page } from "./page";

/** Records per page: the most that the API allows. */
export const pageSize = 100;

/** The pages of a list in their order. As many as are wanted are asked for at once, if the server numbers them. */
export async function* readPages(
  definition: Definition,
  { address, maxConcurrency }: Pick<Client, "address" | "maxConcurrency">,
  filter: Readonly<Record<string, string>>,
  send: (query: URLSearchParams) => Promise<Answer>,
): AsyncGenerator<Page, void, number | undefined> {
  let query = new URLSearchParams({
    sort_by: "id",
    sort: "desc",
    per_page: String(pageSize),
    ...filter,
  });
  const seen = new Set<string>();
  /** Requests on their way, by their queries. */
  const sent = new Map<string, Promise<Answer>>();
  const ask = (of: URLSearchParams): Promise<Answer> => {
    const answer = sent.get(String(of)) ?? send(of);
    sent.set(String(of), answer);
    return answer;
  };
  /** Whether the next page is a guess: the server has not said that there is one. */
  let isGuess = false;
  for (let number = 1; ; number++) {
    const answer = await ask(query).catch((error: unknown) => {
      // Some servers answer 404 after the last page.
      if (isGuess && error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    });
    if (!answer) return;
    sent.delete(String(query));
    const page = parsePage(answer.body, definition);
    if (!page)
      throw new UptimeError(
        message`${answer.request} was not answered with a list of ${definition.plural}: ${quoteBody(answer.body)}. Check
          ${address.source}.`,
      );
    const pagesWanted = (yield page) ?? Infinity;
    if (page.next === undefined || (page.records.length === 0 && page.next !== "more")) return;
    const isRepeat = page.records.every((record) => seen.has(record.id));
    // A server without paging returns the same list for every page.
    if (isRepeat && page.next === "unknown") return;
    const pageQuery = (next: number): URLSearchParams =>
      mergeQuery(query, new URLSearchParams({ page: String(next) }));
    // The server does not say whether there is more. A page of one of the usual sizes may be full, so the next one is tried;
    // any other page is the last.
    if (page.next === "unknown" && ![10, 25, 50, pageSize].includes(page.records.length)) return;
    isGuess = page.next === "unknown";
    const isNumbered = page.next === "unknown" || page.next === "more";
    const next = isNumbered ? pageQuery(number + 1) : mergeQuery(query, page.next);
    // If pages are numbered and the last number is known, the next ones are asked for now.
    if (String(next) === String(pageQuery(number + 1)))
      for (let ahead = 1; ahead <= Math.min(pagesWanted, maxConcurrency, page.last - number); ahead++)
        ask(pageQuery(number + ahead)).catch(() => undefined);
    query = next;
    if (isRepeat)
      throw new UptimeError(
        page.records.length === 0
          ? message`${answer.request} cannot be read completely: page ${number} is empty, and it says that there is more.`
          : message`${answer.request} cannot be read completely: page ${number} repeats what an earlier page held.`,
      );
    for (const { id } of page.records) seen.add(id);
  }
}

export function quoteBody(body: unknown): Message {
  return body === undefined ? ["an empty answer"] : message`"${quote(JSON.stringify(body))}"`;
}

function mergeQuery(query: URLSearchParams, changes: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(query);
  for (const [key, value] of changes) result.set(key, value);
  return result;
}
