import { compareIds, type ApiRecord } from "../api/record";
import { message, quoteId, UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys, nameKeyOf } from "../definitions/keys";
import { lookupName } from "../common/pulumi";
import { completeRecords, findUnlessGone } from "./complete-records";
import { describeRecords } from "./describe";
import { compare, nameIn, shownValues, shows } from "./difference";
import { describeSelection, parametersOf, parseLookupQuery, selectorsOf, type Query } from "./lookup-query";
import { attributesOf } from "./outputs";
import { shouldUnescape } from "./read";
import { beginOperation, type Connect, type OperationScope } from "./record-scope";

export interface FoundRecord {
  readonly id: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** See {@link attributesOf}: with the record's secrets. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An error names up to this many matches, so that it stays readable. */
const maxMatchesShown = 5;

/**
 * The one record that the arguments select. Throws if there is none, or more than one.
 *
 * @param secretArgs the arguments whose values no message may show
 */
export async function lookUpOne(
  definition: Definition,
  connect: Connect,
  args: unknown,
  secretArgs: readonly string[],
): Promise<FoundRecord> {
  const { singular } = definition;
  const lookup = lookupName(definition, "one");
  const selectors = ["id", ...selectorsOf(definition)];
  const query = parseLookupQuery(definition, lookup, args, [...selectors, "account"]);
  const { account, ...selection } = query;
  const { id, ...others } = selection;
  if (id !== undefined && Object.keys(others).length > 0)
    throw new UptimeError(
      `${lookup} takes an id alone, because an id names one ${singular}; leave out ${Object.keys(others).join(", ")}.`,
    );
  if (Object.keys(selection).length === 0)
    throw new UptimeError(
      `${lookup} needs to know which ${singular}: pass one of ${selectors.filter((key) => key !== "searchBy").join(", ")}.`,
    );
  const scope = beginOperation(connect(account));
  const record = await (id === undefined ? findOnly(scope, others, secretArgs) : findUnlessGone(scope, id));
  if (!record)
    throw new UptimeError(
      message`${lookup} found no ${singular} with ${describeSelection(selection, secretArgs)} at ${scope.address.url}.`,
    );
  return foundRecord(definition, record, account, await shouldUnescape(scope, [record]));
}

/** The only record that the arguments select, whole; undefined if they select none. */
async function findOnly(
  scope: OperationScope,
  selection: Query,
  secretArgs: readonly string[],
): Promise<ApiRecord | undefined> {
  const { definition } = scope;
  const { label, plural } = definition;
  const [match, ...others] = await select(scope, selection);
  if (!match) return undefined;
  if (others.length > 0) {
    const shown = [match, ...others].slice(0, maxMatchesShown);
    const more = others.length + 1 - shown.length;
    throw new UptimeError(
      message`${lookupName(definition, "one")} found ${others.length + 1} ${plural} with ${describeSelection(selection, secretArgs)}:
        ${describeRecords(definition, shown, [nameKeyOf(definition)])}${more > 0 ? ` and ${more} more` : ""}. Pass the id of the one that you
        mean, or use ${lookupName(definition, "all")}.`,
    );
  }
  const whole = await findUnlessGone(scope, match.id);
  if (whole) return whole;
  throw new UptimeError(message`${label} ${quoteId(match.id)} was deleted while it was looked up.`);
}

export async function lookUpAll(
  definition: Definition,
  connect: Connect,
  args: unknown,
): Promise<FoundRecord[]> {
  const allowed = ["sortBy", "sort", ...selectorsOf(definition), "account"];
  const query = parseLookupQuery(definition, lookupName(definition, "all"), args, allowed);
  const { sortBy = "id", sort = "desc", account, ...selection } = query;
  const scope = beginOperation(connect(account));
  // Pages are always read in the order of ids: in another order, a record could move between pages and be missed.
  const listed = await select(scope, selection);
  const records = await completeRecords(scope, listed);
  const unescape = await shouldUnescape(scope, records);
  const results = records.map((record) => foundRecord(definition, record, account, unescape));
  const direction = sort === "desc" ? -1 : 1;
  return results.sort(
    (a, b) =>
      direction *
      ((sortBy === "id" ? 0 : compareTexts(a.values[sortBy], b.values[sortBy])) || compareIds(a.id, b.id)),
  );
}

/** What every list shows of a record. */
interface ListedRecord {
  readonly id: string;
  readonly account: string | undefined;
  /** Undefined if the list does not show it. */
  readonly name: string | undefined;
}

/**
 * The records that the arguments select, in the order of the API's list that begins with the oldest one.
 *
 * @param after the id of a record after which to begin
 */
export async function* listRecords(
  definition: Definition,
  connect: Connect,
  args: unknown,
  after: string | undefined,
): AsyncGenerator<ListedRecord, void> {
  const searches = ["search", "searchBy", ...Object.keys(definition.filters ?? {}), "account"];
  const caller = `A list of ${definition.plural}`;
  const { account, ...query } = parseLookupQuery(definition, caller, args, searches);
  const { address, collection, operation } = beginOperation(connect(account));
  const parameters = { sort: "asc", ...parametersOf(definition, query) };
  let isAfter = after === undefined;
  for await (const page of collection.list(operation, parameters))
    for (const record of page)
      if (isAfter) yield { id: record.id, account, name: nameIn(definition, record) };
      else isAfter = record.id === after;
  if (isAfter) return;
  const { label } = definition;
  throw new UptimeError(
    message`${label} ${quoteId(after ?? "")}, after which the list at ${address.url} goes on, is no
      longer in it. List from the beginning.`,
  );
}

/** Records as the list shows them, which may be only id, name and URL. */
async function select(
  { collection, definition, operation }: OperationScope,
  selection: Query,
): Promise<readonly ApiRecord[]> {
  const matches = (record: ApiRecord): boolean =>
    identityKeys(definition).every((key) => {
      const field = fieldOf(definition, key);
      const wanted = selection[key];
      if (wanted === undefined) return true;
      if (!shows(field, record))
        throw new UptimeError(
          message`The list of ${definition.plural} does not show the ${key} of ${quoteId(record.id)}, so it
            cannot be looked up by its ${key}. Look it up by its id.`,
        );
      return compare(field, wanted, record).outcome === "same";
    });
  const read = async (parameters: Readonly<Record<string, string>>): Promise<ApiRecord[]> => {
    const found: ApiRecord[] = [];
    for await (const page of collection.list(operation, parameters))
      for (const record of page) if (matches(record)) found.push(record);
    return found;
  };
  const parameters = parametersOf(definition, selection);
  // The API's search makes the list shorter, but may read the string in another way, so if it finds nothing the whole list is
  // read. It is not used for URLs and host names, which have several spellings: the search would miss some.
  const [narrowed] = identityKeys(definition).flatMap((key) => {
    const text = selection[key];
    const { type, wire } = fieldOf(definition, key);
    const isNarrow = type === "text" && selection.search === undefined;
    return text !== undefined && isNarrow ? [{ search: text, search_by: wire }] : [];
  });
  const found = narrowed ? await read({ ...parameters, ...narrowed }) : [];
  return found.length > 0 ? found : read(parameters);
}

function foundRecord(
  definition: Definition,
  record: ApiRecord,
  account: string | undefined,
  unescape: boolean,
): FoundRecord {
  const shown = shownValues(definition, record, { unescape });
  const values: Record<string, unknown> = { account };
  for (const [key, field] of Object.entries(definition.fields))
    if (!field.secret) values[key] = shown.get(key) ?? undefined;
  const attributes = attributesOf(definition, record, Object.keys(definition.fields));
  return { id: record.id, values, attributes };
}

function compareTexts(a: unknown, b: unknown): number {
  const lower = (value: unknown): string => (typeof value === "string" ? value.toLowerCase() : "");
  const [left, right] = [lower(a), lower(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}
