import type { Definition } from "../definitions/field";
import { parseUrl } from "../common/url";
import { isObject } from "../common/values";
import { isTrue, parseRecords, isBlank, type ApiRecord } from "./answer";

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
export function parsePage(body: unknown, definition: Definition): Page | undefined {
  const records = parseRecords(body, definition);
  if (!records) return undefined;
  if (!isObject(body)) return { records, next: "unknown", last: NaN, total: NaN };
  const { total } = metaOf(body);
  return { records, next: nextPage(body), last: lastPage(body), total: parseNumber(total) };
}

function nextPage(body: Record<string, unknown>): Page["next"] {
  const links = linksOf(body);
  const meta = metaOf(body);
  const address = links.next ?? body.next_page_url ?? meta.next_page_url;
  if (!isBlank(address)) return parseQuery(address) ?? "more";
  const cursor = [meta.next_cursor, body.next_cursor, nextOf(meta.cursor), nextOf(body.cursor)].find(
    (value) => !isBlank(value),
  );
  if (cursor !== undefined)
    return typeof cursor === "string" || typeof cursor === "number"
      ? new URLSearchParams({ cursor: String(cursor) })
      : "more";
  const current = parseNumber(meta.current_page);
  const last = parseNumber(meta.last_page);
  if (current >= 1 && last >= 1)
    return current < last ? new URLSearchParams({ page: String(current + 1) }) : undefined;
  const hasMore = body.has_more ?? meta.has_more;
  if (hasMore !== undefined) return isTrue(hasMore) ? "more" : undefined;
  const isLast = ["next", "next_page_url", "next_cursor"].some(
    (key) => key in links || key in body || key in meta,
  );
  return isLast ? undefined : "unknown";
}

function nextOf(cursor: unknown): unknown {
  return isObject(cursor) ? cursor.next : undefined;
}

function lastPage(body: Record<string, unknown>): number {
  return parseNumber(metaOf(body).last_page ?? parseQuery(linksOf(body).last)?.get("page"));
}

/** The query of an address. The rest is not used: behind a proxy it is often another host's, which must not get the key. */
function parseQuery(address: unknown): URLSearchParams | undefined {
  if (typeof address !== "string") return undefined;
  return parseUrl(address, "http://list.invalid")?.searchParams;
}

function linksOf(body: Record<string, unknown>): Record<string, unknown> {
  return isObject(body.links) ? body.links : {};
}

function metaOf(body: Record<string, unknown>): Record<string, unknown> {
  return isObject(body.meta) ? body.meta : body;
}

function parseNumber(value: unknown): number {
  return typeof value === "number" || typeof value === "string" ? Number(value) : NaN;
}
