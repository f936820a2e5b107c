import { z } from "zod";

import type { ApiRecord } from "../api/answer";
import { attributesOf, outputCleaner } from "./attributes";
import { compare, shows, valueIn } from "./compare";
import type { Collection } from "../api/collection";
import type { Connect } from "./connection";
import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { deadlineAfter } from "../api/deadline";
import type { Deadline } from "../api/deadline";
import { complete, valuesIn } from "./records";

/** What a lookup tells of a record. */
interface Result extends Record<string, unknown> {
  readonly id: string;
}

/** The arguments of a lookup, checked. */
type Query = z.infer<ReturnType<typeof queryOf>>;

/** An error names so many matches. */
const shownMatches = 5;

/** The only record that the arguments select. Throws when there is none, or more than one. */
export async function lookUpOne(definition: Definition, connect: Connect, args: object): Promise<Result> {
  const { singular, plural, label } = definition;
  const query = checked(definition, `get${label}`, args, "id");
  const { id, account, ...filter } = query;
  const { collection } = connect(account);
  const deadline = deadlineAfter();
  if (id !== undefined) {
    if (Object.keys(filter).length > 0)
      throw new UptimeError(
        `get${label} takes an id alone, since it names one ${singular}; leave out ${Object.keys(filter).join(", ")}.`,
      );
    return resultOf(definition, await collection.show(id, deadline), account);
  }
  if (Object.keys(filter).length === 0)
    throw new UptimeError(
      `get${label} needs to know which ${singular}: give one of ${["id", ...filtersOf(definition)].join(", ")}.`,
    );
  const [match, ...others] = await select(collection, deadline, filter);
  if (!match)
    throw new UptimeError(
      `get${label} found no ${singular} with ${described(filter)} at ${collection.client.address.url}.`,
    );
  if (others.length > 0) {
    const named = [match, ...others].slice(0, shownMatches).map((record) => nameOf(definition, record));
    const more = others.length + 1 - named.length;
    throw new UptimeError(
      `get${label} found ${others.length + 1} ${plural} with ${described(filter)}: ${named.join(", ")}` +
        `${more > 0 ? ` and ${more} more` : ""}. Say which one by its id, or use get${label}s.`,
    );
  }
  const [whole] = await complete(collection, deadline, [match]);
  if (!whole) throw new UptimeError(`The ${singular} ${match.id} was deleted while it was looked up.`);
  return resultOf(definition, whole, account);
}

/** All records that the arguments select. */
export async function lookUpAll(definition: Definition, connect: Connect, args: object): Promise<Result[]> {
  const query = checked(definition, `get${definition.label}s`, args, "sortBy", "sort");
  const { sortBy = "id", sort = "desc", account, ...filter } = query;
  const { collection } = connect(account);
  const deadline = deadlineAfter();
  // Paging is by id, whatever the order of the result: with another order, equal names could fall between two pages.
  const records = await complete(collection, deadline, await select(collection, deadline, filter));
  const results = records.map((record) => resultOf(definition, record, account));
  const direction = sort === "desc" ? -1 : 1;
  return results.sort(
    (a, b) =>
      direction * ((sortBy === "id" ? 0 : compareTexts(a[sortBy], b[sortBy])) || compareIds(a.id, b.id)),
  );
}

/** Records as the list shows them, which may be no more than id, name and URL. */
async function select(
  collection: Collection,
  deadline: Deadline,
  filter: Query,
): Promise<readonly ApiRecord[]> {
  const { definition } = collection;
  const matches = (record: ApiRecord): boolean =>
    (["name", "url"] as const).every((key) => {
      const field = definition.fields[key];
      const wanted = filter[key];
      if (!field || wanted === undefined) return true;
      if (!shows(field, record))
        throw new UptimeError(
          `The list of ${definition.plural} does not show the ${key} of ${record.id}, so it cannot be looked up by its ${key}. ` +
            "Look it up by its id.",
        );
      return compare(field, wanted, record).outcome === "same";
    });
  const read = async (parameters: Readonly<Record<string, string>>): Promise<ApiRecord[]> => {
    const found: ApiRecord[] = [];
    for await (const page of collection.list(deadline, parameters)) found.push(...page.filter(matches));
    return found;
  };
  const parameters = parametersOf(filter);
  // The API's search makes the list short. Where it finds nothing, it may just read the text in another way.
  const narrowed = filter.search === undefined && narrowing(filter);
  const found = narrowed ? await read({ ...parameters, ...narrowed }) : [];
  return found.length > 0 ? found : read(parameters);
}

function narrowing(filter: Query): Record<string, string> | undefined {
  if (filter.name !== undefined) return { search: filter.name, search_by: "name" };
  if (filter.url !== undefined) return { search: filter.url, search_by: "url" };
  return undefined;
}

function parametersOf({ search, searchBy, statusPageId }: Query): Record<string, string> {
  return {
    ...(search !== undefined && { search }),
    ...(searchBy !== undefined && { search_by: searchBy }),
    ...(statusPageId !== undefined && { status_page_id: statusPageId }),
  };
}

function resultOf(definition: Definition, record: ApiRecord, account: string | undefined): Result {
  const values = valuesIn(definition, record);
  const result: Record<string, unknown> & { id: string } = { id: record.id, account };
  const secrets: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(definition.fields)) {
    if (!field.secret) result[key] = values.get(key) ?? undefined;
    else secrets[key] = valueIn(field, record) ?? null;
  }
  const clean = outputCleaner(definition, secrets, Object.fromEntries(values));
  result.attributes = attributesOf(definition, record, Object.keys(definition.fields), clean);
  return result;
}

function compareIds(a: string, b: string): number {
  // Numbers of any size: the longer is the larger.
  return a.length === b.length ? compareTexts(a, b) : a.length - b.length;
}

function compareTexts(a: unknown, b: unknown): number {
  const [left, right] = [a, b].map((value) => (typeof value === "string" ? value.toLowerCase() : ""));
  return left === right ? 0 : String(left) < String(right) ? -1 : 1;
}

function nameOf(definition: Definition, record: ApiRecord): string {
  const field = definition.fields.name;
  const name = field && valueIn(field, record);
  return typeof name === "string" ? `${record.id} (${JSON.stringify(name)})` : record.id;
}

function described(filter: Query): string {
  return Object.entries(filter)
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .join(" and ");
}

const words = z
  .string({ error: "must be a text" })
  .refine((value) => value.trim() !== "", "must not be empty");

/** The API's list is searched and sorted by these; domains have no more than a name. (API reference, section 4) */
function columnsOf(definition: Definition): readonly ("name" | "url")[] {
  return "url" in definition.fields ? ["name", "url"] : ["name"];
}

function oneOf<T extends string>(values: readonly T[]) {
  return z.enum(values, { error: `must be ${values.map((value) => JSON.stringify(value)).join(" or ")}` });
}

/** What selects records, beside an id. */
function filtersOf(definition: Definition): string[] {
  const columns = columnsOf(definition);
  return [...columns, "search", "searchBy", ...(columns.includes("url") ? ["statusPageId"] : [])];
}

function queryOf(definition: Definition) {
  return z
    .object({
      id: z
        .union([z.string(), z.number()], { error: `must be the id of a ${definition.singular}` })
        .transform(String),
      account: words,
      name: words,
      url: words,
      search: words,
      searchBy: oneOf(columnsOf(definition)),
      statusPageId: z
        .union([z.string(), z.number()])
        .transform(String)
        .refine((value) => /^\d+$/.test(value), "must be the id of a status page, a whole number"),
      sortBy: oneOf(["id", ...columnsOf(definition)]),
      sort: oneOf(["desc", "asc"]),
    })
    .partial();
}

/** The arguments without those that are undefined. Throws when one is not known, or has no such value. */
function checked(
  definition: Definition,
  lookup: string,
  args: object,
  ...more: readonly (keyof Query)[]
): Query {
  const given = Object.fromEntries(
    Object.entries(args).filter(([, value]) => value !== undefined && value !== null),
  );
  const allowed = [...more, ...filtersOf(definition), "account"];
  const problems = Object.keys(given)
    .filter((key) => !allowed.includes(key))
    .map((key) => `it has no argument ${key}, only ${allowed.join(", ")}`);
  const parsed = queryOf(definition).safeParse(given);
  for (const { path, message } of parsed.error?.issues ?? []) problems.push(`${path.join(".")} ${message}`);
  if ("searchBy" in given && !("search" in given)) problems.push("searchBy needs a search");
  if (problems.length > 0 || !parsed.data)
    throw new UptimeError(`${lookup} cannot be asked like this: ${problems.join("; ")}.`);
  return parsed.data;
}
