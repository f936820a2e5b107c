import type { Definition } from "../definitions/field";
import { parseUrl } from "../common/url";
import { isObject } from "../common/values";
import { isBlank, isFalse, parseRecords, unwrapList, type ApiRecord } from "./answer";
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
  const { envelopes } = unwrapList(body, definition);
  const parts = envelopes
    .flatMap((one) => [one, one.pagination, one.paging, one.meta, isObject(one.meta) && one.meta.pagination])
    .filter(isObject);
  const info = merge(parts);
  const header = linksIn(headerOf(headers, "link"));
  const links = merge([header, ...parts.flatMap((part) => [part.links, part._links]).filter(isObject)]);
  const last = info.lastpage ?? info.totalpages ?? info.pages;
  return {
    records,
    next: nextPage(info, links, parseNumber(last)),
    last: parseNumber(last ?? parseQuery(links.last)?.get("page")),
    total: parseNumber(info.total ?? info.totalcount ?? headers["x-total-count"]),
  };
}

/**
 * What is known of the pages, by names such as `nextpageurl` for `next_page_url` and `nextPageUrl`. Servers have it beside the
 * records, in an object, or in several: what one of them does not say, another may.
 */
function merge(parts: readonly Record<string, unknown>[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of parts.flatMap((part) => Object.entries(part))) {
    const name = key.replaceAll("_", "").toLowerCase();
    if (isBlank(merged[name])) merged[name] = value;
  }
  return merged;
}

/** @param last the number of the last page, or NaN */
function nextPage(info: Record<string, unknown>, links: Record<string, unknown>, last: number): Page["next"] {
  const next = [links.next, info.nextpageurl, info.next].find((value) => !isBlank(value));
  if (next !== undefined) return parseQuery(isObject(next) ? next.href : next) ?? "more";
  const cursor = info.nextcursor ?? (isObject(info.cursor) ? info.cursor.next : undefined);
  if (typeof cursor === "number" || (typeof cursor === "string" && cursor))
    return new URLSearchParams({ cursor: String(cursor) });
  const current = parseNumber(info.currentpage ?? info.page);
  if (current >= 1 && last >= 1)
    return current < last ? new URLSearchParams({ page: String(current + 1) }) : undefined;
  const names = Object.keys(info).filter((name) => namesOfMore.test(name));
  if (names.some((name) => !isBlank(info[name]) && !isFalse(info[name]))) return "more";
  return names.length > 0 || "next" in links ? undefined : "unknown";
}

/** What says whether there is a next page, under names whose meaning is not known: a token or a number, for example. */
const namesOfMore = /^(?:next(?:page|num)?(?:url|link|cursor|token|offset)?|has(?:more|next)(?:pages?)?)$/;

/** The query of an address; undefined if it has none. The rest is not used: behind a proxy it is often another host's, which must not get the key. */
function parseQuery(address: unknown): URLSearchParams | undefined {
  if (typeof address !== "string") return undefined;
  const query = parseUrl(address, "http://list.invalid")?.searchParams;
  return query?.size ? query : undefined;
}

/**
 * The addresses in a header such as `<https://uptime.example.com/api/v1/monitors?page=2>; rel="next"`. The last page has links to
 * others, and none to a next one.
 */
function linksIn(header: string): Record<string, unknown> {
  const links = [...header.matchAll(/<([^>]*)>[^<]*?;\s*rel="?([a-z ]+)/gi)].flatMap(
    ([, address, relations = ""]) =>
      relations
        .toLowerCase()
        .split(" ")
        .map((relation) => [relation, address] as const),
  );
  const named = Object.fromEntries(links);
  const isPaged = ["first", "prev", "last"].some((relation) => relation in named);
  return isPaged ? { next: undefined, ...named } : named;
}

function parseNumber(value: unknown): number {
  return typeof value === "number" || typeof value === "string" ? Number(value) : NaN;
}
