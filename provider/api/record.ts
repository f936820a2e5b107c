import { idNameIn, isTrue, unwrapNullable } from "../definitions/codecs";
import { shownNames, type Definition } from "../definitions/field";
import { getOrMake, isObject, maxDepth } from "../common/values";
import { byPlainName, isRealDate, plainName, textOf } from "./server-spelling";

/** A record as the API shows it: its id, its fields under the API's names, and everything else under the server's. */
export interface ApiRecord {
  readonly id: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

/**
 * The record in an answer: bare, under `data` or `result`, or under its resource's name. The envelope and objects inside the record may
 * have ids too: of several candidates, the one with the most required fields is the record, and among equals the outermost. The id of an
 * envelope whose object has no id is not the record's. Undefined if there is no record.
 */
export function parseRecord(answer: unknown, definition: Definition, depth = 3): ApiRecord | undefined {
  const body = unwrapSingle(answer);
  if (!isObject(body) || depth === 0) return undefined;
  const wrapped = [body[definition.singular], body.data].map(unwrapSingle).filter(isObject);
  const inner = wrapped.flatMap((one) => parseRecord(one, definition, depth - 1) ?? []);
  // It may also say what was done, such as `{"status": "created"}` beside the id.
  const result = parseRecord(body.result, definition, depth - 1);
  if (result && isRecordOf(definition, result)) inner.push(result);
  const id = parseId(body);
  const own = id === undefined ? [] : [{ id, raw: rawOf(withoutId(body), definition) }];
  const requiredCount = ({ raw }: ApiRecord): number => countRequired(definition, raw);
  const [best] = [...own, ...inner].sort((a, b) => requiredCount(b) - requiredCount(a));
  if (best && requiredCount(best) > 0) return best;
  return inner[0] ?? (wrapped.length === 0 ? best : undefined);
}

/** The API's names of fields, by {@link plainName}. */
const wireNamesOf = new WeakMap<Definition, ReadonlyMap<string, string>>();

/**
 * What a record shows, with the API's names of fields, where a server writes `sslAlertDays` for `ssl_alert_days`, and with those that
 * JSON:API puts into `attributes`, unless the `type` beside it names another kind, such as `jobs`.
 */
function rawOf(shown: Record<string, unknown>, definition: Definition): Record<string, unknown> {
  const wireNames = getOrMake(wireNamesOf, definition, () =>
    byPlainName(Object.values(definition.fields).flatMap(shownNames)),
  );
  const wireName = (name: string): string => {
    const wire = wireNames.get(plainName(name));
    return wire === undefined || Object.hasOwn(shown, wire) ? name : wire;
  };
  const raw = Object.fromEntries(Object.entries(shown).map(([name, value]) => [wireName(name), value]));
  if (!isObject(raw.attributes) || countRequired(definition, raw) > 0) return raw;
  const isOfKind = raw.type === undefined || textOf(raw.type).toLowerCase().includes(definition.singular);
  if (!isOfKind) return raw;
  const { attributes: _, ...others } = raw;
  return { ...others, ...rawOf(withoutId(raw.attributes), definition) };
}

/** Some servers answer with a list of one. */
export const unwrapSingle = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;

/** Where servers have the list of an answer, beside the records' own name. */
const listNames = [
  "data",
  "items",
  "results",
  "result",
  "content",
  "_embedded",
  "records",
  "rows",
  "docs",
  "value",
];

/**
 * What is in the place of the list in an answer: bare, or under `data`, `monitors` and similar names, also one inside the other. With the
 * objects around it, from the outside in.
 */
export function unwrapList(
  body: unknown,
  { plural }: Definition,
): { envelopes: readonly Record<string, unknown>[]; list: unknown } {
  const envelopes: Record<string, unknown>[] = [];
  let list = body;
  while (isObject(list) && envelopes.length < maxDepth) {
    const envelope = list;
    // PHP shows a list with gaps as a map.
    const numbers = Object.keys(envelope);
    if (numbers.length > 0 && numbers.every((key) => /^\d+$/.test(key)))
      return { envelopes, list: Object.values(envelope) };
    envelopes.push(envelope);
    const names = [plural, ...listNames].filter((one) => one in envelope);
    const name =
      names.find((one) => typeof envelope[one] === "object" && envelope[one] !== null) ??
      names.find((one) => envelope[one] !== null) ??
      names[0];
    list = name === undefined ? undefined : envelope[name];
  }
  return { envelopes, list };
}

/** The records of a list; null is an empty one, as servers in Go write it. Undefined if it is not a list of records. */
export function parseRecords(list: unknown, definition: Definition): ApiRecord[] | undefined {
  if (list === null) return [];
  if (!Array.isArray(list)) return undefined;
  const records = list.map((entry) => parseRecord(entry, definition));
  return records.every((record) => record !== undefined) ? records : undefined;
}

/** Whether there is a record, and one of this kind: one that shows no required field is not. */
export function isRecordOf(definition: Definition, record: ApiRecord | undefined): boolean {
  return record !== undefined && countRequired(definition, record.raw) > 0;
}

function countRequired({ fields }: Definition, raw: ApiRecord["raw"]): number {
  return Object.values(fields).filter(
    (field) => field.required && shownNames(field).some((name) => Object.hasOwn(raw, name)),
  ).length;
}

/** The names under which servers mark a deleted record, as {@link plainName}s: `deletedat` of `deleted_at`, for example. */
const deletionMarks = /^(?:(?:is)?deleted|trashed|(?:deleted|trashed)at)$/;

/** Some servers keep deleted records, and mark them. */
export function isMarkedDeleted({ raw }: ApiRecord): boolean {
  const marks = Object.keys(raw).filter((name) => deletionMarks.test(plainName(name)));
  return marks.map((name) => unwrapNullable(raw[name])).some((mark) => isTrue(mark) || isRealDate(mark));
}

/** Whether a string can be an id. An id becomes a part of a path, in which `.` and `..` would mean another path. */
export function isRecordId(text: string): boolean {
  return /^(?!\.{1,2}$)\S+$/.test(text);
}

export function idNumber(id: string): bigint | undefined {
  return /^\d+$/.test(id) ? BigInt(id) : undefined;
}

/** Orders ids as numbers of any size, of which the longer one is larger. The order of other ids means nothing, but stays the same. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a === b ? 0 : a < b ? -1 : 1);
}

function withoutId(body: Record<string, unknown>): Record<string, unknown> {
  const { [idNameIn(body)]: _, ...shown } = body;
  return shown;
}

export function parseId(body: Record<string, unknown>): string | undefined {
  const id = body[idNameIn(body)];
  // A server may answer before its database has given the record an id.
  if (typeof id === "number") return Number.isSafeInteger(id) && id > 0 ? String(id) : undefined;
  return typeof id === "string" && !/^(?:|-\d+|0+|null|undefined)$/.test(id) ? id : undefined;
}
