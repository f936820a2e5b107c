import { withoutValidity } from "../definitions/codecs";
import { shownNames, type Definition } from "../definitions/field";
import { getOrMake, maxDepth, isObject } from "../common/values";
import type { Method } from "./transport";

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
  const body = onlyOneIn(answer);
  if (!isObject(body) || depth === 0) return undefined;
  const wrapped = [body[definition.singular], body.data].map(onlyOneIn).filter(isObject);
  const inner = wrapped.flatMap((one) => parseRecord(one, definition, depth - 1) ?? []);
  // It may also say what was done, such as `{"status": "created"}` beside the id.
  const result = parseRecord(body.result, definition, depth - 1);
  if (result && isRecordOf(definition, result)) inner.push(result);
  const id = parseId(body);
  const { id: _, ...shown } = body;
  const own = id === undefined ? [] : [{ id, raw: rawOf(shown, definition) }];
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
  const { id: _, ...fields } = raw.attributes;
  const { attributes: __, ...others } = raw;
  return { ...others, ...rawOf(fields, definition) };
}

/** Some servers answer with a list of one. */
const onlyOneIn = (value: unknown): unknown =>
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

/** The objects around the list in an answer, from the outside in, and what is in the place of the list. */
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

/**
 * The records of a list: bare, or under `data`, `monitors` and similar names, also one inside the other; null is an empty one, as
 * servers in Go write it, but not beside an unclear code. Undefined if the answer is not a list of records.
 */
export function parseRecords(body: unknown, definition: Definition): ApiRecord[] | undefined {
  const { list } = unwrapList(body, definition);
  if (list === null && !hasUnclearCode(body)) return [];
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

/** Some servers keep deleted records, and mark them. */
export function isMarkedDeleted({ raw }: ApiRecord): boolean {
  const names = ["deleted_at", "trashed_at", "deletedAt", "trashedAt", "deleted-at", "trashed-at"];
  const flags = ["deleted", "is_deleted", "trashed", "isDeleted", "is-deleted"];
  return (
    names.some((name) => isSetDate(withoutValidity(raw[name]))) ||
    flags.map((name) => withoutValidity(raw[name])).some((flag) => isTrue(flag) || isSetDate(flag))
  );
}

/** Whether a value is a date from 1900 to 2099: a string, a Unix time, or an object with one; also `true`. 1970-01-01 means that there is no date. */
function isSetDate(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).some(isSetDate);
  const text = textOf(value);
  return (
    value === true || (/(?:^|\D)(?:19|20)\d\d|^[1-9]\d{8,}/.test(text) && !text.startsWith("1970-01-01"))
  );
}

/** Whether an answer holds nothing, or nothing where the record would be, and no unclear code beside that. */
export function isBlankAnswer(body: unknown, { singular }: Definition): boolean {
  if (isBlankOrFalse(body)) return true;
  return (
    isObject(body) &&
    parseId(body) === undefined &&
    !hasUnclearCode(body) &&
    [singular, "data"].some((key) => key in body && isBlankOrFalse(body[key]))
  );
}

/** Whether the answer to a DELETE says that it had its effect: by holding nothing, the record, or a word of success. */
export function saysDeleted(body: unknown, id: string, definition: Definition): boolean {
  if (isObject(body) && body.data === false) return false;
  if (isBlankAnswer(body, definition) || parseRecord(body, definition)?.id === id) return true;
  if (!isObject(body)) return saysDone(body);
  const isClear = !hasUnclearCode(body);
  return statusParts(body).some((part) =>
    Object.entries(part).some(([key, value]) => {
      const name = plainName(key);
      if (statusNames.test(name))
        return (isClear && isGoodStatus(value)) || (name === "result" && ["1", id].includes(textOf(value)));
      return (flagNames.test(name) || /^(?:is)?deleted$/.test(name)) && saysDone(value);
    }),
  );
}

/** The objects of an answer in which it may say whether the request has succeeded. The first one is the answer itself. */
function statusParts(body: unknown): Record<string, unknown>[] {
  const whole = onlyOneIn(body);
  return isObject(whole) ? [whole, whole.meta, whole.data].filter(isObject) : [];
}

/**
 * Whether an answer has a code or a status of which only the server knows whether it means a failure: 10001 of
 * `{"code": 10001, "data": null}`, for example. A flag of success beside it decides.
 */
function hasUnclearCode(body: unknown): boolean {
  const said = statusParts(body).flatMap((part) => Object.entries(part));
  const has = (names: RegExp, isMeant: (value: unknown) => boolean): boolean =>
    said.some(([name, value]) => names.test(plainName(name)) && isMeant(value));
  const isClear = (value: unknown): boolean => isGoodStatus(value) || nothing.test(textOf(value));
  const isSuccess = has(flagNames, (value) => isTrue(value) || isWordOfSuccess(value));
  return !isSuccess && has(statusNames, (value) => !isClear(value));
}

/** Whether an answer without a record says that the request failed, whatever its status. In a record, the same names are fields. */
export function isFailure(body: unknown, definition: Definition, method: Method): boolean {
  // A bare `false` or `0` says that nothing was done, or to how many records.
  if (method !== "GET" && isFalse(body)) return true;
  const parts = statusParts(body);
  const { error, errors, [definition.singular]: shown } = parts[0] ?? {};
  const isRefusal = (mayBeRecord: boolean): boolean =>
    parts.some((part) => saysFailed(part, method, mayBeRecord)) ||
    (method === "DELETE" && [...parts, shown].some((part) => isObject(part) && saysNo(part.deleted))) ||
    [error, errors].some((one) => !isBlankOrFalse(one) && !isFalse(one));
  // Nearly always, so that a list is not parsed twice.
  if (!isRefusal(false)) return false;
  const record = parseRecord(body, definition);
  const holdsRecords = method !== "DELETE" && (parseRecords(body, definition)?.length ?? 0) > 0;
  if (holdsRecords || isRecordOf(definition, record)) return false;
  // An object with an id may be a record that shows nothing else. After a delete it cannot be one, and after a create its own address
  // decides.
  return isRefusal(record !== undefined && method !== "DELETE" && method !== "POST");
}

/** Whether an object says that a request failed: by `ok: false`, `status: false` or `code: 403`, for example. */
function saysFailed(part: Record<string, unknown>, method: Method, mayBeRecord: boolean): boolean {
  return Object.entries(part).some(([key, value]) => {
    const name = plainName(key);
    if (flagNames.test(name)) return saysNo(value);
    if (mayBeRecord || !statusNames.test(name)) return false;
    const text = textOf(value);
    if (value === false || failures.test(text)) return true;
    // A number in `result` may be an id.
    return name !== "result" && isErrorCode(text, method);
  });
}

const flagNames = /^(?:is)?(?:success(?:ful)?|ok)$/;
const statusNames = /^(?:http)?(?:status(?:code)?|code|stat|result)$/;

const saysNo = (value: unknown): boolean => isFalse(value) || /^no?$/i.test(textOf(value));

/** A value as text; empty if it is an object. `String` would throw on one whose `toString` is not a function. */
const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";

const isWordOfSuccess = (value: unknown): boolean =>
  /^(?:true|yes|ok|done|success(?:ful)?|deleted)$/i.test(textOf(value));

/** Whether a value says that a delete is done: a word of success, the number of deleted records, a record's id, or a date. */
const saysDone = (value: unknown): boolean =>
  isWordOfSuccess(value) || /^\d+$/.test(textOf(value)) || isSetDate(value);

/** A code other than 0, 20000 and those of HTTP may mean anything: 10001, for example. */
const isGoodStatus = (value: unknown): boolean =>
  isWordOfSuccess(value) || /^(?:0+|2\d\d|20000)$/.test(textOf(value));

/** What servers write as a status if they have nothing to show. */
const nothing = /^(?:|not[ _-]?found|gone|no[ _-]?(?:content|data)|empty)$/i;

/** What servers write in the place of a status of failure. */
const failures = /^(?:error|fail|failed|failure|ko|unauthorized|unauthenticated|forbidden|denied)$/i;

/** Whether a code says that a request failed. A create that is answered with one such as 50001 may have been stored. */
const isErrorCode = (text: string, method: Method): boolean =>
  /^(?:4\d{2,}|5\d\d)$/.test(text) || (method !== "POST" && /^5\d{3,}$/.test(text));

/** A name in lower case and without `_` and `-`: `nextpageurl` of `next_page_url`, `nextPageUrl` and `next-page-url`. */
export const plainName = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

/** The {@link plainName} of a field. Some servers repeat a form, in which a name is `request_headers[0][value]`. */
export const plainFieldName = (name: string): string => plainName(name.replace(/\[.*/s, ""));

/** Names by their {@link plainName}. */
export const byPlainName = (names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(names.map((name) => [plainName(name), name]));

/** Unlike `isEmpty`, it counts false and an empty object too. PHP writes an empty object as a list. */
export const isBlankOrFalse = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

/** What a list may show for a field that it has not loaded. */
export const isUnset = (value: unknown): boolean => isBlankOrFalse(value) || value === 0;

/** Fewer forms than a boolean field may have: here, a wrong guess would turn an answer into a failure. */
const falseValues: readonly unknown[] = [false, 0, "0", "false"];
const trueValues: readonly unknown[] = [true, 1, "1", "true"];
export const isFalse = (value: unknown): boolean => falseValues.includes(value);
const isTrue = (value: unknown): boolean => trueValues.includes(value);

/** Whether a string can be an id. An id becomes a part of a path, in which `.` and `..` would mean another path. */
export function isRecordId(text: string): boolean {
  return /^(?!\.{1,2}$)\S+$/.test(text);
}

/** The id as a number; undefined if it is not one. */
export function idNumber(id: string): bigint | undefined {
  return /^\d+$/.test(id) ? BigInt(id) : undefined;
}

/** Compares ids as numbers of any size: the longer one is larger. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a === b ? 0 : a < b ? -1 : 1);
}

function parseId(body: Record<string, unknown>): string | undefined {
  const { id } = body;
  // A server may answer before its database has given the record an id.
  if (typeof id === "number") return Number.isSafeInteger(id) && id > 0 ? String(id) : undefined;
  return typeof id === "string" && !/^(?:|-\d+|0+|null|undefined)$/.test(id) ? id : undefined;
}
