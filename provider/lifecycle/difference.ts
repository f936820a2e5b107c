import type { ApiRecord } from "../api/record";
import { isEmptyOrFalse, mayBeUnloaded } from "../api/server-spelling";
import { message, quoteId, quoteValue, UptimeError, type Message } from "../api/errors";
import { shownNames, type Definition, type Field } from "../definitions/field";
import {
  equalValues,
  headerIn,
  isList,
  parseValue,
  parseJsonList,
  UnexpectedValueError,
} from "../definitions/codecs";
import { comparableIdentity, fieldOf, isConfidential, managedKeys, nameKeyOf } from "../definitions/keys";
import { hasPassword } from "../common/url";
import { decodeEntities, isEmpty, isObject, hasUnknown, type Value } from "../common/values";

/** The values that a record must have, by property; null is "managed as empty". */
export type WantedValues = ReadonlyMap<string, Value>;

/** The result of comparing a field of a record with the wanted value. */
type Comparison =
  /** Equal to a person; `value` is the wanted one. */
  | { readonly outcome: "same"; readonly value: Value }
  /** If a field of this type cannot have what the record shows, `value` is undefined and `problem` describes it. */
  | { readonly outcome: "differs"; readonly value: Value | undefined; readonly problem?: Message }
  /** The record does not show the field, or the field can never be compared. */
  | { readonly outcome: "notShown" };

/** A field that a record shows with another value than the wanted one. */
export interface Difference {
  readonly key: string;
  readonly field: Field;
  readonly wanted: Value;
  /** Undefined if a field of this type cannot have what the record shows; then `problem` describes it. */
  readonly actual: Value | undefined;
  readonly problem?: Message | undefined;
}

/** Compares a record's field with the wanted value, as it is and with one level of HTML entities decoded. */
export function compare(field: Field, wanted: Value, record: ApiRecord): Comparison {
  const found = field.writeOnly ? undefined : findShown(field, record);
  if (!found) return { outcome: "notShown" };
  const plain = tryParse(field, found.value);
  // What cannot be parsed may be equal once it is decoded.
  if (!(plain instanceof UnexpectedValueError) && equalValues(field, wanted, plain))
    return { outcome: "same", value: wanted };
  const value = tryParse(field, decodeEntities(found.value));
  if (value instanceof UnexpectedValueError)
    return { outcome: "differs", value: undefined, problem: describeUnexpected(field, found.value, value) };
  return equalValues(field, wanted, value)
    ? { outcome: "same", value: wanted }
    : { outcome: "differs", value };
}

function tryParse(field: Field, raw: unknown): Value | UnexpectedValueError {
  try {
    return parseValue(field, raw);
  } catch (error) {
    if (!(error instanceof UnexpectedValueError)) throw error;
    return error;
  }
}

/** The value that a record shows for a field; undefined if it shows none, an empty one, or one that cannot be read. */
export function readableValue(field: Field, record: ApiRecord): Value | undefined {
  const comparison = compare(field, null, record);
  return comparison.outcome === "differs" ? comparison.value : undefined;
}

export function nameIn(definition: Definition, record: ApiRecord): string | undefined {
  const name = readableValue(fieldOf(definition, nameKeyOf(definition)), record);
  return typeof name === "string" ? name : undefined;
}

/** What a person recognizes a record by: see {@link comparableIdentity}. */
export function identityIn(definition: Definition, record: ApiRecord): string | undefined {
  return comparableIdentity(definition, (key) => readableValue(fieldOf(definition, key), record));
}

/** The fields that a record shows with another value. A field that it does not show is no difference. */
export function differences(definition: Definition, wanted: WantedValues, record: ApiRecord): Difference[] {
  return [...wanted].flatMap(([key, value]) => {
    const field = fieldOf(definition, key);
    const comparison = compare(field, value, record);
    if (comparison.outcome !== "differs") return [];
    return [{ key, field, wanted: value, actual: comparison.value, problem: comparison.problem }];
  });
}

/** Whether the values of a difference must not be shown: they are secret, or a URL has a password. */
export const isSecretDifference = ({ field, wanted, actual }: Difference): boolean =>
  isConfidential(field) || [wanted, actual].some(hasPassword);

/**
 * Whether a record shows all values, except those that no record shows.
 *
 * @param options.mayHideEmpty whether it need not show a field that is empty
 */
export function showsAll(
  definition: Definition,
  wanted: WantedValues,
  record: ApiRecord,
  { mayHideEmpty = false } = {},
): boolean {
  return [...wanted].every(([key, value]) => {
    const field = fieldOf(definition, key);
    const { outcome } = compare(field, value, record);
    // Frameworks leave out a list that they have not loaded, whatever is in it.
    const mayHide = field.writeOnly === true || (mayHideEmpty && isEmpty(value) && !isList(field));
    return outcome === "same" || (outcome === "notShown" && mayHide);
  });
}

/**
 * The value that a record shows for a field; undefined if it does not show the field.
 *
 * @param unescape whether to decode HTML entities in strings
 * @throws UptimeError if a field of this type cannot have the value
 */
export function shownValue(field: Field, record: ApiRecord, unescape = true): Value | undefined {
  const found = findShown(field, record);
  if (!found) return undefined;
  const value = tryParse(field, unescape ? decodeEntities(found.value) : found.value);
  if (!(value instanceof UnexpectedValueError)) return value;
  throw new UptimeError(message`${describeUnexpected(field, found.value, value)}.`, { cause: value });
}

/**
 * The fields that a record shows, by property; null if it shows an empty one.
 *
 * @param options.unescape whether to decode HTML entities in strings
 * @param options.refuse is called for a field that shows a value it cannot have; without it, such a value is an error
 */
export function shownValues(
  definition: Definition,
  record: ApiRecord,
  { unescape, refuse }: { unescape: boolean; refuse?: (property: string, reason: Message) => void },
): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const [key, field] of Object.entries(definition.fields)) {
    try {
      const value = shownValue(field, record, unescape);
      if (value !== undefined) values.set(key, value);
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      if (!refuse)
        throw new UptimeError(message`${definition.label} ${quoteId(record.id)} cannot be read. ${error}`, {
          cause: error,
        });
      refuse(key, message`cannot be read. ${error}`);
    }
  }
  return values;
}

/**
 * Whether the server may show strings HTML-escaped. It does not if any string has an unescaped `<`, `>`, `"` or `&`. Then the record
 * really has `&nbsp;`, for example as the text that a monitor looks for, and an update must not send a space in its place.
 */
export function mayBeEscaped(records: readonly ApiRecord[]): boolean {
  return !records.some(({ raw }) =>
    Object.values(raw)
      // JSON text has quotes on a server that escapes what is in it too.
      .map(parseJsonList)
      .some((value) => typeof value === "string" && /[<>"]|&(?!#?\w+;)/.test(value)),
  );
}

/** Whether a record shows a field, under any of its names. */
export function shows(field: Field, record: ApiRecord): boolean {
  return findShown(field, record) !== undefined;
}

/**
 * The names that a record shows at its own address and not in the list, with the fields that only look empty in the list:
 * `alert_channel_ids` that are `[]` in the list and `[1]` at its own address, for example.
 */
export function missingInList({ fields }: Definition, listed: ApiRecord, record: ApiRecord): string[] {
  const ofFields = new Set(Object.values(fields).flatMap(shownNames));
  return Object.entries(record.raw).flatMap(([name, value]) => {
    const isBlanked = ofFields.has(name) && !mayBeUnloaded(value) && mayBeUnloaded(listed.raw[name]);
    return name in listed.raw && !isBlanked ? [] : [name];
  });
}

/** Whether a record shows nothing for a field, or a value such as null, 0 or an empty list, as lists show fields that they have not loaded. */
export function mayBeUnloadedIn(field: Field, { raw }: ApiRecord): boolean {
  return shownNames(field).every((name) => mayBeUnloaded(raw[name]));
}

/** The values of managed properties, without those that are not known yet. */
export function wantedValues(
  definition: Definition,
  values: Readonly<Record<string, unknown>>,
  only: (key: string, field: Field) => boolean = () => true,
): Map<string, Value> {
  const keys = managedKeys(definition, values).filter(
    (key) => !hasUnknown(values[key]) && only(key, fieldOf(definition, key)),
  );
  return new Map(keys.map((key) => [key, managedValue(values, key)]));
}

/** The values that a create sends. `pause` and other update-only fields are set by an update that follows. */
export function wantedValuesOnCreate(
  definition: Definition,
  values: Readonly<Record<string, unknown>>,
): Map<string, Value> {
  return wantedValues(definition, values, (_, field) => !field.updateOnly);
}

export function managedValue(values: Readonly<Record<string, unknown>>, key: string): Value {
  return (values[key] ?? null) as Value;
}

function findShown(field: Field, { raw }: ApiRecord): { readonly value: unknown } | undefined {
  const names = shownNames(field).filter((one) => Object.hasOwn(raw, one));
  // `pause: null`, or `false`, beside a date in `paused_at`, for example.
  const name = names.find((one) => !isEmptyOrFalse(raw[one])) ?? names[0];
  if (name === undefined) return undefined;
  // A list may be shown as JSON text. It is parsed before entities are decoded, because a decoded quote would end a string in it.
  const value = isList(field) ? parseJsonList(raw[name]) : raw[name];
  return field.secret && isMasked(value) ? undefined : { value };
}

/** What servers show in the place of a secret, or of a part of it: asterisks, or a word such as `[FILTERED]`. */
const mask = /[*•●]{3,}|"(?:[*•●]{2}|[[(<](?:filtered|hidden|masked|redacted|secret)[\])>])"/i;

/** Whether a server hides a secret, in a list also one of several. A header may have a name and no value. */
function isMasked(value: unknown): boolean {
  // The characters of a string are no entries.
  const parts: [string, unknown][] = typeof value === "string" ? [] : Object.entries(value ?? {});
  const entries = parts.map(([name, part]): [name: unknown, value: unknown] => {
    const header = headerIn(part);
    if (header) return [header.key, header.value];
    if (isObject(value)) return [name, Array.isArray(part) ? part.at(-1) : part];
    return Array.isArray(part) ? [part[0], part[1]] : ["", part];
  });
  return (
    mask.test(JSON.stringify(value)) ||
    entries.some(([name, part]) => !isEmpty(name) && (part ?? null) === null)
  );
}

function describeUnexpected(
  field: Field,
  value: unknown,
  { message: expected }: UnexpectedValueError,
): Message {
  const found = isConfidential(field) ? "something else" : quoteValue(value);
  return message`The API shows ${field.wire} as ${found}, but ${expected} was expected`;
}
