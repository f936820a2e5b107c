import { message, quote, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { ApiRecord } from "../api/answer";
import { namesOf } from "../definitions/field";
import type { Field } from "../definitions/field";
import { decodeEntities, equal, parse, Unreadable } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";

/** What a record shows of a field, held against what is wanted. */
export type Comparison =
  /** The same to a person; `value` is as it was wanted. */
  | { readonly outcome: "same"; readonly value: Value }
  /** Something else; `value` is undefined if it cannot be the value of such a field, and `problem` says why. */
  | { readonly outcome: "differs"; readonly value: Value | undefined; readonly problem?: Message }
  /** The record does not show the field, or the field can never be compared. */
  | { readonly outcome: "hidden" };

/** Compares what a record shows of a field with what is wanted, as it stands and with one level of HTML entities decoded. */
export function compare(field: Field, wanted: Value, record: ApiRecord): Comparison {
  const shown = field.writeOnly ? undefined : shownOf(field, record);
  if (!shown) return { outcome: "hidden" };
  try {
    if (equal(field, wanted, parse(field, shown.value))) return { outcome: "same", value: wanted };
    const value = parse(field, decodeEntities(shown.value));
    return equal(field, wanted, value) ? { outcome: "same", value: wanted } : { outcome: "differs", value };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { outcome: "differs", value: undefined, problem: unreadable(field, shown.value, error) };
  }
}

/**
 * The value that a record shows of a field of which nothing is wanted; undefined if it shows nothing of it.
 *
 * @param escaped whether strings may be HTML-escaped
 * @throws UptimeError if it cannot be the value of such a field
 */
export function valueIn(field: Field, record: ApiRecord, escaped = true): Value | undefined {
  const shown = shownOf(field, record);
  if (!shown) return undefined;
  try {
    return parse(field, escaped ? decodeEntities(shown.value) : shown.value);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new UptimeError(unreadable(field, shown.value, error), { cause: error });
  }
}

/** Whether a record shows a field, under any of its names. */
export function shows(field: Field, record: ApiRecord): boolean {
  return shownOf(field, record) !== undefined;
}

/** Whether a record shows the field with another value than the wanted one. */
export function differs(field: Field, wanted: Value, record: ApiRecord): boolean {
  return compare(field, wanted, record).outcome === "differs";
}

function shownOf(field: Field, record: ApiRecord): { readonly value: unknown } | undefined {
  const name = namesOf(field).find((one) => Object.hasOwn(record.shown, one));
  return name === undefined ? undefined : { value: record.shown[name] };
}

function unreadable(field: Field, raw: unknown, { message: expected }: Unreadable): Message {
  const text = field.secret ? "something else" : quote(JSON.stringify(raw));
  return message`The API shows ${field.wire} as ${text}, but ${expected} was expected.`;
}
