// How servers write values and names.
import { isEmpty, isObject } from "../common/values";

/** The time 0, also as a server in the west writes it. */
const beginningOfUnixTime = /^(?:1970-01-01|1969-12-31)|\b(?:0?1 Jan 1970|31 Dec 1969)\b/;

/** Whether a value is a date from 1900 to 2099: a string, a Unix time, or an object with one. The time 0 means that there is no date. */
export function isRealDate(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).some(isRealDate);
  const text = textOf(value);
  return /(?:^|\D)(?:19|20)\d\d|^[1-9]\d{8,}/.test(text) && !beginningOfUnixTime.test(text);
}

/** A value as text; empty if it is an object. `String` would throw on one whose `toString` is not a function. */
export const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";

/** A name in lower case and without `_` and `-`: `nextpageurl` of `next_page_url`, `nextPageUrl` and `next-page-url`. */
export const plainName = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

/** The {@link plainName} of a field. Some servers repeat a form, in which a name is `request_headers[0][value]`. */
export const plainFieldName = (name: string): string => plainName(name.replace(/\[.*/s, ""));

/** Names by their {@link plainName}. */
export const byPlainName = (names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(names.map((name) => [plainName(name), name]));

/** Whether a server shows this for nothing: an empty value, false, or an empty object, which PHP writes as a list. */
export const isEmptyOrFalse = (value: unknown): boolean =>
  value === false || isEmpty(value) || (isObject(value) && Object.keys(value).length === 0);

/** What a list may show for a field that it has not loaded. */
export const mayBeUnloaded = (value: unknown): boolean => isEmptyOrFalse(value) || value === 0;

const falseValues: readonly unknown[] = [false, 0, "0", "false"];
export const isFalse = (value: unknown): boolean => falseValues.includes(value);
