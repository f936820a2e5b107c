import type { Definition } from "../definitions/field";
import { parseUrl } from "../common/url";
import { isObject, parseJson } from "../common/values";
import { parseRecords, unwrapList, type ApiRecord } from "./record";
import { isEmptyOrFalse, isFalse, plainName, textOf } from "./server-spelling";
import { mayMeanFailure } from "./answer-status";
import type { Answer } from "./client";
import { headerOf } from "./transport";

export interface Page {
  readonly records: readonly ApiRecord[];
  /**
   * The query of the next page; undefined after the last page. "more": there is a next page, but the answer does not say how
   * to ask for it. "unknown": the answer does not say whether there is one.
   */
  readonly next: URLSearchParams | "more" | "unknown" | undefined;
  /** The number of records on all pages; NaN if the answer does not say. */
  readonly total: number;
}

/** The page in an answer. Undefined if the answer is not a list of records. */
export function parsePage(
  { status, body, headers }: Pick<Answer, "status" | "body" | "headers">,
  definition: Definition,
): Page | undefined {
  const { envelopes, list } = unwrapList(body, definition);
  // `{"code": 10001, "msg": "token expired", "data": []}` is no empty list.
  if (isEmptyOrFalse(list) && mayMeanFailure(body, definition)) return undefined;
  // Twice, because `pagination` may be inside `meta`.
  const parts = withParts(withParts([...envelopes, ...partsOfHeaders(headers)]));
  const info = merge(parts);
  const headerLinks = linksIn(headerOf(headers, "link"));
  const linked = parts.flatMap((part) => [part.links, part._links]);
  const links = merge([headerLinks, ...linked.map(byRelation).filter(isObject)]);
  const [, ofAll] = /\/(\d+)$/.exec(headerOf(headers, "content-range")) ?? [];
  const totals = ["", "count", "items", "records", "results", "elements", "entries"].map(
    (of) => info[`total${of}`],
  );
  // DataTables: only `recordsFiltered` leaves out what the query does not ask for.
  const total = [...totals, info.recordsfiltered, info.recordstotal, ofAll]
    .map(parseNumber)
    .find((number) => !Number.isNaN(number));
  // Some servers leave the list out if it is empty.
  const isEmptyList = total === 0 || status === 204;
  const records = parseRecords(list, definition) ?? (isEmptyList ? [] : undefined);
  if (!records) return undefined;
  // It may be the number of records on this page.
  const count = parseNumber(info.count);
  const last = info.lastpage ?? info.totalpages ?? info.pages ?? info.pagecount;
  return {
    records,
    next: nextPage(info, links, parseNumber(last)),
    total: total ?? (count > records.length ? count : NaN),
  };
}

/** Where servers say something of the pages, by {@link plainName}: in `metadata` in Vapor, for example. */
const namesOfParts: readonly string[] = [
  ...["meta", "metadata", "responsemetadata", "resultinfo"],
  ...["pagination", "paging", "page", "pageinfo", "pager"],
];

/** Objects, and those in them in which servers say something of the pages. */
function withParts(objects: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return objects.flatMap((one) => {
    const names = Object.keys(one).filter((name) => namesOfParts.includes(plainName(name)));
    return [one, ...names.map((name) => one[name]).filter(isObject)];
  });
}

/** Some servers say it in headers: `X-Total-Count: 60`, `Current-Page: 1`, or `X-Pagination: {"TotalCount": 60, …}`. */
function partsOfHeaders(headers: Answer["headers"]): Record<string, unknown>[] {
  const named = Object.entries(headers).map(([name, value]) => [name.replace(/^x-|-/g, ""), value] as const);
  return [Object.fromEntries(named), parseJson(headerOf(headers, "x-pagination"))].filter(isObject);
}

/** What is known of the pages, by {@link plainName}. What one object does not say, another may. */
function merge(parts: readonly Record<string, unknown>[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of parts.flatMap((part) => Object.entries(part))) {
    const name = plainName(key);
    if (isEmptyOrFalse(merged[name])) merged[name] = value;
  }
  return merged;
}

/** Links are an object, or a list of objects such as `{"rel": "next", "href": "…"}`. */
function byRelation(links: unknown): unknown {
  if (!Array.isArray(links)) return links;
  return Object.fromEntries(links.filter(isObject).map((link) => [textOf(link.rel), link]));
}

/** @param last the number of the last page, or NaN */
function nextPage(info: Record<string, unknown>, links: Record<string, unknown>, last: number): Page["next"] {
  const names = Object.keys(info).filter((name) => namesOfMore.test(name));
  const nexts = [links.next, ...names.map((name) => info[name])].filter((value) => !saysNoNextPage(value));
  const addresses = nexts.map((value) => (isObject(value) ? (value.href ?? value.url) : value));
  const query = addresses.map(parseQuery).find((one) => one !== undefined);
  if (query) return query;
  const cursor = textOf(info.nextcursor ?? (isObject(info.cursor) ? info.cursor.next : undefined));
  if (!saysNoNextPage(cursor)) return new URLSearchParams({ cursor });
  const isLast = info.islastpage ?? info.last;
  if (isLast === true) return undefined;
  // Some servers count pages from 0. Spring calls the page `number`; others answer with an empty page after the last one.
  const oneBased = [info.currentpage, info.page].map(parseNumber).find((one) => one >= 0);
  const zeroBased = parseNumber(info.number);
  // Of `{"number": 20, "totalPages": 3}`, the number is that of the records, not of the page.
  const current = oneBased ?? (zeroBased >= last ? NaN : zeroBased);
  const lastNumber = oneBased === undefined ? last - 1 : last;
  // Spring can show a page's `number` from 0 and ask for it from 1, so that number does not say how to ask.
  const following = oneBased === undefined ? "more" : new URLSearchParams({ page: String(oneBased + 1) });
  if (current >= 0 && last >= 1) return current < lastNumber ? following : undefined;
  if (isLast === false) return following;
  if (nexts.length > 0) return following;
  return names.length > 0 || "next" in links ? undefined : "unknown";
}

/** What a server writes if there is no next page. */
const saysNoNextPage = (value: unknown): boolean =>
  isEmptyOrFalse(value) || isFalse(value) || formsOfNone.includes(value);

const formsOfNone: readonly unknown[] = [-1, "-1", "null"];

/** What says whether there is a next page: its address, or what only the server can read, such as a token or a number. */
const namesOfMore =
  /^(?:(?:@odata\.)?next(?:page|num)?(?:url|uri|href|link|cursor|token|offset)?|has(?:more|next)(?:pages?)?|more|(?:is)?truncated)$/;

/** The query of an address; undefined if it has none. The rest is not used: behind a proxy it is often another host's, which must not get the key. */
function parseQuery(address: unknown): URLSearchParams | undefined {
  const query = parseUrl(textOf(address), "http://list.invalid")?.searchParams;
  return query?.size ? query : undefined;
}

/**
 * The addresses in a header such as `<https://uptime.example.com/api/v1/monitors?page=2>; rel="next"`. The last page has links to
 * others, and none to a next one.
 */
function linksIn(header: string): Record<string, unknown> {
  const links = [...header.matchAll(/<([^>]*)>[^<]*?;\s*rel\s*=\s*["']?([a-z ]+)/gi)].flatMap(
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

const parseNumber = (value: unknown): number => Number(textOf(value).trim() || NaN);
