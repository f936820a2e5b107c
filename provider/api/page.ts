import type { Definition } from "../definitions/field";
import { parseUrl } from "../common/url";
import { isObject } from "../common/values";
import { isTrue, parseRecords, isBlank, type ApiRecord } from "./answer";
import type { Answer } from "./client";
import { headerOf } from "./transport";

/** One page of a list. */
export interface Page {
  readonly records: readonly ApiRecord[];
  /**
   * The query of the next page; undefined after the last page. "more": there is a next page, but the answer does not say how
   * to ask for it. "unknown": the answer does not say whether there is one.
   */
  readonly next: URLSearchParams | "more" | "unknown" | undefined;
  /** The number of the last page, and the number of records on all pages; NaN if the answer does not say. */
  readonly last: number;
  readonly total: number;
}

/** The page in an answer. Undefined if the answer is not a list of records. */
export function parsePage(
  { body, headers }: Pick<Answer, "body" | "headers">,
  definition: Definition,
): Page | undefined {
  const records = parseRecords(body, definition);
  if (!records) return undefined;
  const shown = isObject(body) ? body : {};
  // Servers have their paging in one of several objects, or beside these.
  const { meta: own, pagination, paging } = shown;
  const parts = [shown, pagination, paging, own, isObject(own) && own.pagination].filter(isObject);
  const meta: Record<string, unknown> = Object.assign({}, ...parts) as Record<string, unknown>;
  const linked = parts.flatMap(({ links, _links }) => [links, _links]).filter(isObject);
  const links = Object.assign(linksIn(headerOf(headers, "link")), ...linked) as Record<string, unknown>;
  return {
    records,
    next: nextPage(shown, links, meta),
    last: parseNumber(lastPageIn(meta) ?? parseQuery(links.last)?.get("page")),
    total: parseNumber(meta.total ?? headers["x-total-count"]),
  };
}

function nextPage(
  body: Record<string, unknown>,
  links: Record<string, unknown>,
  meta: Record<string, unknown>,
): Page["next"] {
  const next = links.next ?? body.next_page_url ?? meta.next_page_url;
  const address = isObject(next) && next.href !== undefined ? next.href : next;
  if (!isBlank(address)) return parseQuery(address) ?? "more";
  const cursors = [meta, body].flatMap((one) => [one.next_cursor, one.nextCursor, nextOf(one.cursor)]);
  const cursor = cursors.find((value) => !isBlank(value));
  if (cursor !== undefined)
    return typeof cursor === "string" || typeof cursor === "number"
      ? new URLSearchParams({ cursor: String(cursor) })
      : "more";
  const current = parseNumber(meta.current_page);
  const last = parseNumber(lastPageIn(meta));
  if (current >= 1 && last >= 1)
    return current < last ? new URLSearchParams({ page: String(current + 1) }) : undefined;
  const hasMore = body.has_more ?? meta.has_more ?? meta.hasMore;
  if (hasMore !== undefined) return isTrue(hasMore) ? "more" : undefined;
  const isLast = ["next", "next_page_url", "next_cursor", "nextCursor"].some(
    (key) => key in links || key in body || key in meta,
  );
  return isLast ? undefined : "unknown";
}

const lastPageIn = (meta: Record<string, unknown>): unknown => meta.last_page ?? meta.total_pages;

function nextOf(cursor: unknown): unknown {
  return isObject(cursor) ? cursor.next : undefined;
}

/** The query of an address. The rest is not used: behind a proxy it is often another host's, which must not get the key. */
function parseQuery(address: unknown): URLSearchParams | undefined {
  if (typeof address !== "string") return undefined;
  return parseUrl(address, "http://list.invalid")?.searchParams;
}

/**
 * The addresses in a header such as `<https://uptime.example.com/api/v1/monitors?page=2>; rel="next"`. The last page has links to
 * others, and none to a next one.
 */
function linksIn(header: string): Record<string, string | undefined> {
  const links = [...header.matchAll(/<([^>]*)>[^<]*?;\s*rel="?([a-z ]+)/gi)].flatMap(
    ([, address, relations = ""]) =>
      relations
        .toLowerCase()
        .split(" ")
        .map((relation) => [relation, address] as const),
  );
  const named: Record<string, string | undefined> = Object.fromEntries(links);
  const isPaged = ["first", "prev", "last"].some((relation) => relation in named);
  return isPaged ? { next: undefined, ...named } : named;
}

function parseNumber(value: unknown): number {
  return typeof value === "number" || typeof value === "string" ? Number(value) : NaN;
}
