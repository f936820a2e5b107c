import type { Definition } from "../definitions/field";
import { parsePage } from "./answer";
import type { Page } from "./answer";
import type { Answer, Client } from "./client";
import { ApiError, message, quote, UptimeError } from "./errors";
import type { Message } from "./errors";

/** The most that the API allows. */
export const pageSize = 100;

/** The pages of a list, one after the other, until one is the last. Those that are wanted are asked for at once. */
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
  /** Nothing has told that there is such a page. */
  let isGuess = false;
  for (let number = 1; ; number++) {
    const answer = await ask(query).catch((error: unknown) => {
      // Behind the last full page, some servers answer that there is none.
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
    const wanted = (yield page) ?? Infinity;
    if (page.next === undefined || (page.records.length === 0 && page.next !== "more")) return;
    const isRepeat = page.records.every((record) => seen.has(record.id));
    // A server that does not page shows the same list whatever the page.
    if (isRepeat && page.next === "unknown") return;
    const pageQuery = (next: number): URLSearchParams =>
      mergeQuery(query, new URLSearchParams({ page: String(next) }));
    // Nothing tells whether there is more. A page that is not full is the last one, and so is one that is fuller than
    // was asked for; behind a full one the next is tried.
    if (page.next === "unknown" && ![10, 25, 50, pageSize].includes(page.records.length)) return;
    isGuess = page.next === "unknown";
    const isNumbered = page.next === "unknown" || page.next === "more";
    const next = isNumbered ? pageQuery(number + 1) : mergeQuery(query, page.next);
    // Where pages are merely numbered, and it is known how many there are.
    if (String(next) === String(pageQuery(number + 1)))
      for (let ahead = 1; ahead <= Math.min(wanted, maxConcurrency, page.last - number); ahead++)
        ask(pageQuery(number + ahead)).catch(() => undefined);
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

/** A body in a message. */
export function quoteBody(body: unknown): Message {
  return body === undefined ? ["an empty answer"] : message`"${quote(JSON.stringify(body))}"`;
}

/** A query with some parameters set otherwise. */
function mergeQuery(query: URLSearchParams, changes: URLSearchParams): URLSearchParams {
  const result = new URLSearchParams(query);
  for (const [key, value] of changes) result.set(key, value);
  return result;
}
