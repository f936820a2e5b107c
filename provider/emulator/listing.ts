import { type Answer, json, Refusal } from "./answers";
import type { Dialect } from "./dialect";
import { isInteger, type Pairs } from "./reading";
import type { Resource } from "./resources";
import type { StoredRecord, Table } from "./table";

/** The values that a query parameter of a list may have: any text, a whole number, or one of these. */
type Allowed = "text" | "integer" | readonly string[];

function parametersOf(resource: Resource, { paging }: Dialect): ReadonlyMap<string, Allowed> {
  return new Map<string, Allowed>([
    ["search", "text"],
    ["search_by", resource.searchBy],
    ["sort_by", resource.sortBy],
    ["sort", ["desc", "asc"]],
    ["per_page", ["10", "25", "50", "100"]],
    paging === "cursor" ? ["cursor", "text"] : ["page", "integer"],
    ...resource.filters.map((name) => [name, "integer"] as const),
  ]);
}

function problemOfParameter(name: string, value: string, allowed: Allowed | undefined): string | undefined {
  if (allowed === undefined) return `The ${name} parameter is unknown.`;
  if (allowed === "text") return undefined;
  if (allowed === "integer")
    return isInteger(value) && value !== "0" ? undefined : `The ${name} must be a positive integer.`;
  if (allowed.includes(value)) return undefined;
  return `The selected ${name} is invalid: it must be one of ${allowed.join(", ")}.`;
}

function readQuery(resource: Resource, pairs: Pairs, dialect: Dialect): ReadonlyMap<string, string> {
  const parameters = parametersOf(resource, dialect);
  const query = new Map<string, string>();
  const errors = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const twice = query.has(name) ? `The ${name} parameter is sent more than once.` : undefined;
    const problem = twice ?? problemOfParameter(name, value, parameters.get(name));
    if (problem === undefined) query.set(name, value);
    else if (!dialect.ignoreInvalid) errors.set(name, [problem]);
  }
  if (errors.size > 0) throw Refusal.ofFields(Object.fromEntries(errors), dialect);
  return query;
}

function textOf(record: StoredRecord, field: string): string {
  const value = record[field];
  return typeof value === "string" ? value.toLowerCase() : "";
}

function compare(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function select(
  resource: Resource,
  table: Table,
  query: ReadonlyMap<string, string>,
  order: Dialect["order"],
): StoredRecord[] {
  const search = (query.get("search") ?? "").toLowerCase();
  const searchBy = query.get("search_by") ?? "name";
  const filters = resource.filters.filter((name) => query.has(name));
  const records = table
    .all()
    .filter((record) => filters.every((name) => String(record[name]) === query.get(name)))
    .filter((record) => search === "" || textOf(record, searchBy).includes(search));
  const sortBy = query.get("sort_by") ?? "id";
  records.sort((a, b) => a.id - b.id);
  if (order === "byId") return records;
  // The order is the same for each request, because otherwise a record could be on two pages.
  if (order === "none") return records.sort((a, b) => shuffleKey(a.id) - shuffleKey(b.id));
  if (sortBy !== "id") records.sort((a, b) => compare(textOf(a, sortBy), textOf(b, sortBy)));
  return query.get("sort") === "asc" ? records : records.reverse();
}

function shuffleKey(id: number): number {
  return Math.imul(id, 0x9e3779b1) >>> 0;
}

/**
 * Answers a list (docs/api.md, "Requests").
 * @param address the list's own URL without a query, for links to other pages.
 * @param show how a record is shown in it.
 */
export function answerList(
  resource: Resource,
  table: Table,
  pairs: Pairs,
  address: string,
  dialect: Dialect,
  show: (record: StoredRecord) => unknown,
): Answer {
  const query = readQuery(resource, pairs, dialect);
  const records = select(resource, table, query, dialect.order);
  const plain = (shown: unknown[], headers = {}) =>
    json(200, dialect.list === "data" ? { data: shown } : shown, headers);
  if (dialect.paging === "none") return plain(records.map(show));

  const per_page = Number(query.get("per_page") ?? 10);
  if (dialect.paging === "cursor") {
    const before = query.get("cursor");
    const start = before === undefined ? 0 : records.findIndex(({ id }) => String(id) === before) + 1;
    const page = records.slice(start, start + per_page);
    const next_cursor = start + per_page < records.length ? String(page.at(-1)?.id) : null;
    return json(200, { data: page.map(show), meta: { next_cursor, per_page } });
  }
  const current_page = Number(query.get("page") ?? 1);
  const total = records.length;
  const last_page = Math.max(1, Math.ceil(total / per_page));
  if (current_page > last_page && dialect.behindLastPage === 404) throw new Refusal(404, "Invalid page.");
  const data = records.slice((current_page - 1) * per_page, current_page * per_page).map(show);
  const linkTo = (page: number) => {
    if (page < 1 || page > last_page) return null;
    return `${address}?${new URLSearchParams([...new Map(query).set("page", String(page))]).toString()}`;
  };
  switch (dialect.paging) {
    case "links": {
      const links = {
        first: linkTo(1),
        last: linkTo(last_page),
        prev: linkTo(current_page - 1),
        next: linkTo(current_page + 1),
      };
      return json(200, { data, links });
    }
    case "nextPageUrl":
      return json(200, {
        current_page,
        data,
        last_page,
        next_page_url: linkTo(current_page + 1),
        per_page,
        total,
      });
    case "meta":
      return json(200, { data, meta: { current_page, last_page, per_page, total } });
    case "linkHeader": {
      const relations = Object.entries({ next: current_page + 1, last: last_page });
      const links = relations.flatMap(([relation, page]) => {
        const link = linkTo(page);
        return link === null ? [] : [`<${link}>; rel="${relation}"`];
      });
      return plain(data, { link: links.join(", ") });
    }
    case "bare":
      return plain(data);
  }
}
