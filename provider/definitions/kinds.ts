import { decodeHTMLStrict } from "entities";

import { UptimeError } from "../api/errors";
import type { Field, Kind, RequestHeader } from "./field";

/** A field's value as the provider holds it: parsed, in one form whatever the install's dialect. */
export type Value =
  string | number | boolean | null | readonly (string | number)[] | readonly RequestHeader[];

/** One pair of a form body. */
export type Pair = readonly [name: string, value: string];

/** A record shows something under a field's name that cannot be such a field. */
class UnreadableValue extends Error {}

interface Codec<T extends Value> {
  /** The value of a record's field. Throws {@link UnreadableValue}. */
  parse(raw: unknown): T | null;
  /** Whether two values that are not empty mean the same to a person. */
  equal(a: T, b: T): boolean;
  encode(wire: string, value: T): Pair[];
  /** The forms that say "empty", the first one tried first. */
  empty(wire: string): Pair[][];
}

/** Whether nothing is there: null, absent, "" and the empty list are the same. */
export function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

/** The value under a field's name in a record, in the provider's form; what the API shows may be HTML-escaped. */
export function parse(field: Field, raw: unknown): Value {
  try {
    return codecs[field.kind].parse(raw) ?? null;
  } catch (error) {
    if (!(error instanceof UnreadableValue)) throw error;
    const shown = field.secret ? "something else" : JSON.stringify(raw).slice(0, 100);
    throw new UptimeError(`The API shows ${field.wire} as ${shown}, where ${error.message} was expected.`);
  }
}

/** Whether a declared value (null: managed as empty) and another one mean the same to a person. */
export function equal(field: Field, declared: Value, other: Value): boolean {
  if (field.kind === "boolean") return (declared ?? false) === (other ?? false);
  if (isEmpty(declared)) return isEmpty(other) || (field.zeroIsEmpty === true && other === 0);
  return !isEmpty(other) && codecs[field.kind].equal(declared, other);
}

/** Whether what a record shows is what was declared, as it stands or with one level of HTML entities decoded. */
export function isShown(field: Field, declared: Value, raw: unknown): boolean {
  return (
    equal(field, declared, parse(field, raw)) || equal(field, declared, parse(field, decodeEntities(raw)))
  );
}

/** The declared value where the record shows the same, and otherwise what the record shows. */
export function reconcile(field: Field, declared: Value | undefined, raw: unknown): Value {
  return declared !== undefined && isShown(field, declared, raw)
    ? declared
    : parse(field, decodeEntities(raw));
}

/** The form's pairs of a value, in as many ways as there are to say it; only an empty one has more than one. */
export function encodings(field: Field, value: Value): Pair[][] {
  const codec = codecs[field.kind];
  if (!isEmpty(value)) return [codec.encode(field.wire, value)];
  const forms = codec.empty(field.wire);
  return field.zeroIsEmpty ? [...forms, [[field.wire, "0"]]] : forms;
}

function decodeEntities(raw: unknown): unknown {
  if (typeof raw === "string") return raw.includes("&") ? decodeHTMLStrict(raw) : raw;
  if (Array.isArray(raw)) return raw.map(decodeEntities);
  if (isObject(raw))
    return Object.fromEntries(
      Object.entries(raw).map(([key, value]) => [decodeEntities(key), decodeEntities(value)]),
    );
  return raw;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const emptyText = (wire: string): Pair[][] => [[[wire, ""]]];

const text: Codec<string> = {
  parse(raw) {
    if (typeof raw === "string") return raw === "" ? null : raw;
    if (typeof raw === "number") return String(raw);
    if (raw === null || raw === undefined) return null;
    throw new UnreadableValue("a text");
  },
  equal: (a, b) => a === b,
  encode: (wire, value) => [[wire, value]],
  empty: emptyText,
};

const hostname: Codec<string> = { ...text, equal: (a, b) => a.toLowerCase() === b.toLowerCase() };

const url: Codec<string> = { ...text, equal: (a, b) => comparableUrl(a) === comparableUrl(b) };

/** Letter case of scheme and host means nothing, nor does the slash of an empty path; all else does. */
function comparableUrl(value: string): string {
  const [, scheme, user = "", host, rest] = /^([^:/?#]+:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s.exec(value) ?? [];
  if (scheme === undefined || host === undefined || rest === undefined) return value;
  return scheme.toLowerCase() + user + host.toLowerCase() + (rest.startsWith("/") ? rest : `/${rest}`);
}

const integer: Codec<number> = {
  parse(raw) {
    if (raw === null || raw === undefined || raw === "") return null;
    const value = typeof raw === "string" && /^-?\d+$/.test(raw) ? Number(raw) : raw;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw new UnreadableValue("a whole number");
  },
  equal: (a, b) => a === b,
  encode: (wire, value) => [[wire, String(value)]],
  empty: emptyText,
};

const booleans = new Map<unknown, boolean>([
  [null, false],
  [undefined, false],
  ["", false],
  [0, false],
  ["0", false],
  ["false", false],
  [false, false],
  [1, true],
  ["1", true],
  ["true", true],
  [true, true],
]);

const boolean: Codec<boolean> = {
  parse(raw) {
    const value = booleans.get(raw);
    if (value !== undefined) return value;
    // A date under a name such as `paused_at`: it happened then. Some databases write no date as zeros.
    if (typeof raw === "string" && /^\d{4}-\d\d-\d\d/.test(raw)) return !raw.startsWith("0000");
    throw new UnreadableValue("true, false, 1, 0 or a date");
  },
  equal: (a, b) => a === b,
  encode: (wire, value) => [[wire, value ? "1" : "0"]],
  empty: (wire) => [[[wire, "0"]]],
};

const dateTime: Codec<string> = {
  ...text,
  parse(raw) {
    const value = text.parse(raw);
    const [, date, time] =
      /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:?00)?$/.exec(value ?? "") ?? [];
    // Another offset, or another form, is kept as it is: it is then a difference that everybody sees.
    return date !== undefined && time !== undefined ? `${date}T${time}` : value;
  },
};

const idList: Codec<readonly (string | number)[]> = {
  parse: (raw) => entriesOf(raw).map((entry) => id(isObject(entry) ? entry.id : entry)),
  equal: (a, b) => comparableIds(a) === comparableIds(b),
  encode: (wire, value) => value.map((entry) => [`${wire}[]`, String(entry)]),
  empty: (wire) => [[[`${wire}[]`, ""]], [[wire, ""]]],
};

function id(raw: unknown): string | number {
  if (typeof raw === "number" && Number.isSafeInteger(raw)) return raw;
  if (typeof raw === "string" && /^\d+$/.test(raw)) {
    const value = Number(raw);
    return Number.isSafeInteger(value) ? value : raw;
  }
  throw new UnreadableValue("a list of ids");
}

const comparableIds = (ids: readonly (string | number)[]): string =>
  [...new Set(ids.map((entry) => String(entry).replace(/^0+(?=\d)/, "")))].sort().join();

const headerList: Codec<readonly RequestHeader[]> = {
  parse: (raw) => headersOf(raw).filter(({ key, value }) => key !== "" || value !== ""),
  equal: (a, b) => comparableHeaders(a) === comparableHeaders(b),
  encode: (wire, headers) =>
    headers.flatMap(({ key, value }, index): Pair[] => [
      [`${wire}[${index}][key]`, key],
      [`${wire}[${index}][value]`, value],
    ]),
  empty: (wire) => [
    [
      [`${wire}[0][key]`, ""],
      [`${wire}[0][value]`, ""],
    ],
    [[wire, ""]],
  ],
};

/** Headers are shown as a list of pairs, or as a map from name to value. */
function headersOf(raw: unknown): RequestHeader[] {
  const isPair = (entry: unknown): entry is Record<string, unknown> => isObject(entry) && "key" in entry;
  if (isObject(raw) && !Object.values(raw).every(isPair))
    return Object.entries(raw).map(([key, value]) => ({ key, value: text.parse(value) ?? "" }));
  return entriesOf(raw).map((entry) => {
    if (!isPair(entry)) throw new UnreadableValue("a list of headers or a map of them");
    return { key: text.parse(entry.key) ?? "", value: text.parse(entry.value) ?? "" };
  });
}

const comparableHeaders = (headers: readonly RequestHeader[]): string =>
  JSON.stringify(headers.map(({ key, value }) => JSON.stringify([key.toLowerCase(), value])).sort());

/** The entries of a list; a list with gaps comes as a map, an empty one as null or "". */
function entriesOf(raw: unknown): unknown[] {
  if (Array.isArray(raw)) return raw;
  if (isObject(raw)) return Object.values(raw);
  if (isEmpty(raw)) return [];
  throw new UnreadableValue("a list");
}

const codecs = {
  text,
  hostname,
  url,
  integer,
  choice: text,
  boolean,
  dateTime,
  idList,
  headerList,
} as Record<Kind, Codec<Value>>;
