import { isRecordId } from "../api/record";
import { joinMessages, message, quoteId, quoteValue, UptimeError, type Message } from "../api/errors";
import { isObject } from "../common/values";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys } from "../definitions/keys";

/** The arguments of a lookup, checked. */
export type Query = Readonly<Partial<Record<string, string>>>;

/** The arguments that are set. Throws if one is unknown or has a value that is not allowed. */
export function parseLookupQuery(
  definition: Definition,
  caller: string,
  args: unknown,
  allowed: readonly string[],
): Query {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    throw new UptimeError(`${caller} needs its arguments as an object, not ${JSON.stringify(args)}.`);
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null);
  const problems = given.flatMap(([key, value]) => {
    if (!allowed.includes(key)) return [`it has no argument ${key}, only ${allowed.join(", ")}`];
    if (isObject(value) && "__pulumiOutput" in value) return [`${key} is an output; use ${caller}Output`];
    const problem = problemOfArgument(definition, key, value);
    return problem === undefined ? [] : [`${key} ${problem}`];
  });
  const keys = given.map(([key]) => key);
  if (keys.includes("searchBy") && !keys.includes("search")) problems.push("searchBy requires search");
  if (problems.length > 0)
    throw new UptimeError(`${caller} cannot take these arguments: ${problems.join("; ")}.`);
  return Object.fromEntries(given.map(([key, value]) => [key, String(value)]));
}

function problemOfArgument(definition: Definition, key: string, value: unknown): string | undefined {
  const columns = identityKeys(definition);
  const choices = new Map<string, readonly unknown[]>([
    ["searchBy", columns],
    ["sortBy", ["id", ...columns]],
    ["sort", ["desc", "asc"]],
  ]).get(key);
  if (choices)
    return choices.includes(value)
      ? undefined
      : `must be ${choices.map((one) => JSON.stringify(one)).join(" or ")}`;
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  if (key === "id")
    return isRecordId(text) ? undefined : `must be the id of a ${definition.singular}, a string or a number`;
  const filter = definition.filters?.[key];
  if (filter) return /^\d+$/.test(text) ? undefined : `must be the id of a ${filter.noun}, a whole number`;
  if (typeof value !== "string") return "must be a string";
  return value.trim() === "" ? "must not be empty" : undefined;
}

/** The arguments that select records, beside an id. */
export function selectorsOf(definition: Definition): string[] {
  return [...identityKeys(definition), "search", "searchBy", ...Object.keys(definition.filters ?? {})];
}

/** The parameters of the API's list for a search and filters. */
export function parametersOf(
  definition: Definition,
  { search, searchBy, ...query }: Query,
): Record<string, string> {
  const filters = Object.entries(definition.filters ?? {}).map(([key, { wire }]) => [wire, query[key]]);
  const column = searchBy === undefined ? undefined : fieldOf(definition, searchBy).wire;
  return Object.fromEntries(
    [["search", search], ["search_by", column], ...filters].filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
}

export function describeSelection(selection: Query, secretArgs: readonly string[]): Message {
  const shown = Object.entries(selection).map(([key, value = ""]) => {
    const text = key === "id" ? quoteId(value) : quoteValue(value);
    return message`${key} ${secretArgs.includes(key) ? "[secret]" : text}`;
  });
  return joinMessages(shown, " and ");
}
