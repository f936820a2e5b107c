import { domainToASCII } from "node:url";
import { isDeepStrictEqual } from "node:util";

import type { Field, FieldType } from "./field";
import { isEmpty, isObject, parseJson } from "../common/values";
import type { RequestHeader, Value } from "../common/values";

export type FormPair = [name: string, value: string];

/** The API's names of the fields that are sent in their fallback form: see {@link hasFallbackForm}. */
export type FallbackForms = ReadonlySet<string>;

/** A record shows a value that a field of this type cannot have. */
export class UnexpectedValueError extends Error {}

/** How the values of a type are read from records, sent in forms and compared. */
interface Codec<T extends Value> {
  parse(raw: unknown): T | null;
  comparable(value: T): string | number | boolean;
  encode(wire: string, value: T): FormPair[];
  empty(wire: string): FormPair[];
}

/** Parses the value of a field in a record. Throws {@link UnexpectedValueError}. */
export function parseValue(field: Field, raw: unknown): Value {
  const shown = unwrapNullable(raw);
  // Some servers show alert days that are off as false.
  return codecOf[field.type].parse(field.zeroIsEmpty && shown === false ? 0 : shown) ?? null;
}

/** The value in an object such as `{"String": "x", "Valid": true}`, as servers in Go show a nullable database column. */
export function unwrapNullable(raw: unknown): unknown {
  if (!isObject(raw) || typeof raw.Valid !== "boolean" || Object.keys(raw).length !== 2) return raw;
  const [value] = Object.entries(raw).flatMap(([name, part]) => (name === "Valid" ? [] : [part]));
  return raw.Valid ? value : null;
}

/** Whether a declared value (null: managed as empty) and another one mean the same to a person. */
export function equalValues(field: Field, declared: Value, other: Value): boolean {
  // This is faster, and most values have not changed.
  if (isDeepStrictEqual(declared, other)) return true;
  const orDefault = (value: Value): Value => (isEmpty(value) ? (field.default ?? null) : value);
  const [one, two] = [orDefault(declared), orDefault(other)];
  if (field.type === "boolean") return (one ?? false) === (two ?? false);
  const isNothing = (value: Value): boolean => isEmpty(value) || (field.zeroIsEmpty === true && value === 0);
  if (isNothing(one)) return isNothing(two);
  return !isEmpty(two) && comparableValue(field, one) === comparableValue(field, two);
}

/** The canonical form of a value that is not empty: values that mean the same have the same form. */
export function comparableValue(field: Field, value: Value): string | number | boolean {
  return codecOf[field.type].comparable(value);
}

/** Whether a program must declare a value so that it matches the record: it is neither empty nor the default. */
export function mustBeDeclared(field: Field, value: Value): boolean {
  return !isEmpty(value) && !equalValues(field, field.default ?? null, value);
}

/**
 * A shown list in the order of the declared one. The order in the API means nothing, but a path such as `requestHeaders[0].value` must mean
 * the same header as in the program. What is new takes the places of what is gone, and then follows.
 */
export function inDeclaredOrder(declared: Value, shown: Value): Value {
  if (!isEntries(declared) || !isEntries(shown)) return shown;
  const left: Entry[] = [...shown];
  const take = (nameOf: (entry: Entry) => string, entry: Entry): Entry | undefined => {
    const index = left.findIndex((one) => nameOf(one) === nameOf(entry));
    return index === -1 ? undefined : left.splice(index, 1)[0];
  };
  // Several headers may have one name, so the equal ones come first.
  const equal = [...declared].map((entry) => take(formOfEntry, entry));
  const known = [...declared].map((entry, place) => equal[place] ?? take(nameOfEntry, entry));
  const placed = known.map((entry) => entry ?? left.shift()).filter((entry) => entry !== undefined);
  return [...placed, ...left] as Value;
}

/**
 * The headers with the value that a header of another name had before. One that was only renamed is left out: then neither list has both
 * names.
 */
export function misplacedHeaders(
  before: Value,
  after: Value,
): { readonly place: number; readonly former: string; readonly present: string }[] {
  const [old = [], present = []] = [before, after].map(headersIn);
  const has = (list: RequestHeader[], header: RequestHeader, nameOf = nameOfEntry): boolean =>
    list.some((one) => nameOf(one) === nameOf(header));
  return present.slice(0, old.length).flatMap((header, place) => {
    const former = [old[place], ...old].find((one) => one?.value === header.value);
    if (former === undefined || has(old, header, formOfEntry)) return [];
    const isRenamed = !has(old, header) && !has(present, former);
    return isRenamed ? [] : [{ place, former: former.key, present: header.key }];
  });
}

type Entry = string | number | RequestHeader;

const isEntries = (value: Value): value is Extract<Value, object> =>
  typeof value === "object" && value !== null;

const headersIn = (value: Value): RequestHeader[] =>
  isEntries(value) ? value.filter((entry) => typeof entry === "object") : [];

const nameOfEntry = (entry: Entry): string =>
  typeof entry === "object" ? entry.key.toLowerCase() : comparableId(entry);

const formOfEntry = (entry: Entry): string =>
  typeof entry === "object" ? JSON.stringify([nameOfEntry(entry), entry.value]) : comparableId(entry);

export function isList({ type }: Field): boolean {
  return type === "idList" || type === "headerList";
}

/**
 * Whether a server that refuses a value may take another form of it: `field=` for `field[]=`, `field=0` for `field=`, or `field=true`
 * for `field=1`.
 */
export function hasFallbackForm(field: Field, value: Value): boolean {
  return field.takesTrueFalse === true || (isEmpty(value) && (isList(field) || field.zeroIsEmpty === true));
}

export function encodeValue(field: Field, value: Value, fallbackForms: FallbackForms): FormPair[] {
  const codec = codecOf[field.type];
  const isFallback = fallbackForms.has(field.wire);
  if (isFallback && field.takesTrueFalse) return [[field.wire, String(value === true)]];
  if (!isEmpty(value)) return codec.encode(field.wire, value);
  if (!isFallback) return codec.empty(field.wire);
  return field.zeroIsEmpty ? codec.encode(field.wire, 0) : emptyString(field.wire);
}

const emptyString = (wire: string): FormPair[] => [[wire, ""]];

/** How values that are sent as they are, under the field's name, are encoded and compared. */
const plain = {
  comparable: <T>(value: T) => value,
  encode: (wire: string, value: string | number): FormPair[] => [[wire, String(value)]],
  empty: emptyString,
};

const stringCodec: Codec<string> = {
  ...plain,
  parse(raw) {
    if (typeof raw === "string") return raw === "" ? null : raw;
    if (typeof raw === "number") return String(raw);
    if (raw === null || raw === undefined) return null;
    throw new UnexpectedValueError("a string");
  },
};

/** No host name is longer, and the time for punycode grows with the square of the length. */
const maxHostLength = 255;

/** A host's name in one spelling: in lower case, and an internationalized one as punycode. */
export function comparableHost(name: string): string {
  return (name.length <= maxHostLength && domainToASCII(name)) || name.toLowerCase();
}

/** A URL in one spelling: of its scheme, its host, and the slash of an empty path. Everything else is kept. */
function comparableUrl(value: string): string {
  const [, scheme, user = "", host, port = "", rest] =
    /^([^:/?#]+:\/\/)([^/?#]*@)?([^/?#]*?)(:\d*)?((?:[/?#].*)?)$/s.exec(value) ?? [];
  if (scheme === undefined || host === undefined || rest === undefined) return value;
  return (
    scheme.toLowerCase() + user + comparableHost(host) + port + (rest.startsWith("/") ? rest : `/${rest}`)
  );
}

const integerCodec: Codec<number> = {
  ...plain,
  parse(raw) {
    if (raw === null || raw === undefined || raw === "") return null;
    const value = typeof raw === "string" && /^-?\d+(\.0+)?$/.test(raw) ? Number(raw) : raw;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw new UnexpectedValueError("a whole number");
  },
};

const falseForms: readonly unknown[] = [false, "false", 0, "0", "", null, undefined, "f", "n", "no", "off"];
const trueForms: readonly unknown[] = [true, "true", 1, "1", "t", "y", "yes", "on"];

/** The form of a boolean in a record. A database may show one as a decimal, such as 1.0. */
const booleanForm = (raw: unknown): unknown =>
  typeof raw === "string" ? raw.toLowerCase().replace(/\.0+$/, "") : raw;

export const isTrue = (raw: unknown): boolean => trueForms.includes(booleanForm(raw));

const booleanCodec: Codec<boolean> = {
  parse(raw) {
    if (falseForms.includes(booleanForm(raw)) || isZeroDate(raw)) return false;
    if (isTrue(raw)) return true;
    // A time under a name such as `paused_at` means true.
    const date = isObject(raw) ? raw.date : raw;
    if (typeof date === "string" && /^\d{4}-\d\d-\d\d/.test(asIsoDate(date) ?? "")) return true;
    if ((typeof raw === "number" || typeof raw === "string") && /^\d{9,13}$/.test(String(raw))) return true;
    throw new UnexpectedValueError("true, false, 1, 0 or a date");
  },
  comparable: (value) => value,
  encode: (wire, value) => [[wire, value ? "1" : "0"]],
  empty: (wire) => [[wire, "0"]],
};

const dateTimeCodec: Codec<string> = {
  ...stringCodec,
  parse(raw) {
    // PHP shows its own dates as `{"date": "2030-01-31 22:00:00.000000", "timezone": "UTC"}`.
    const shown = isObject(raw) && raw.timezone === "UTC" ? raw.date : raw;
    const value = isZeroDate(shown) ? null : asIsoDate(stringCodec.parse(shown));
    const [, date, time, seconds = ":00"] =
      /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.\d+)?(?:Z(?:\[UTC\])?| ?[+-]00(?::?00){0,2}| UTC)?$/.exec(
        value ?? "",
      ) ?? [];
    // A value with another offset, or in another form, is kept, so that it shows as a difference.
    return date !== undefined && time !== undefined ? `${date}T${time}${seconds}` : value;
  },
};

/**
 * Whether a date means that none is set: all zeros in MySQL, which PHP shows as the last day of November before the year 0, and
 * the first day of year 1 in Go and .NET.
 */
function isZeroDate(date: unknown): boolean {
  if (typeof date !== "string" && typeof date !== "number") return false;
  return /^(?:-0+1-11-30|0001-01-01|[0\s:T.Z+-]+$)[\s:T0.]*(?:Z|\+00:?00)?$/.test(String(date));
}

/** Flask shows dates as HTTP does: `Thu, 31 Jan 2030 22:00:00 GMT`. */
function asIsoDate(text: string | null): string | null {
  const time = text?.endsWith(" GMT") ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}

const idListCodec: Codec<readonly (string | number)[]> = {
  // The empty entry of an empty list may be stored as null, or as 0, which is no id, by Gin and Echo.
  parse: (raw) =>
    entriesOf(isDigitList(raw) ? raw.match(/\d+/g) : raw)
      .filter((entry) => !isEmpty(entry) && (typeof entry === "object" || Number(entry) !== 0))
      .map((entry) => id(isObject(entry) ? entry[idNameIn(entry)] : entry)),
  comparable: (ids) => [...new Set(ids.map(comparableId))].sort().join(),
  encode: (wire, value) => value.map((entry) => [`${wire}[]`, String(entry)]),
  empty: (wire) => [[`${wire}[]`, ""]],
};

const comparableId = (entry: string | number): string => String(entry).replace(/^0+(?=\d)/, "");

/** The name of the id in an object: `ID` of GORM's models in Go, for example. */
export const idNameIn = (object: Record<string, unknown>): string =>
  ["id", "ID", "Id"].find((name) => (object[name] ?? null) !== null) ?? "id";

/** Some servers show ids as their database stores them: `1,2`, or `{1,2}` as PostgreSQL writes an array. */
const isDigitList = (raw: unknown): raw is string =>
  typeof raw === "string" && /^(?:\d+(?:\s*,\s*\d+)*|\{\d+(?:,\d+)*\})$/.test(raw);

function id(raw: unknown): string | number {
  if (typeof raw === "number" && Number.isSafeInteger(raw)) return raw;
  if (typeof raw === "string" && /^\d+$/.test(raw)) {
    const value = Number(raw);
    return Number.isSafeInteger(value) ? value : raw;
  }
  throw new UnexpectedValueError("a list of ids");
}

const headerListCodec: Codec<readonly RequestHeader[]> = {
  parse: (raw) => parseHeaders(raw).filter(({ key, value }) => key !== "" || value !== ""),
  comparable: (headers) => JSON.stringify(headers.map(formOfEntry).sort()),
  encode: (wire, headers) =>
    headers.flatMap(({ key, value }, index): FormPair[] => [
      [`${wire}[${index}][key]`, key],
      [`${wire}[${index}][value]`, value],
    ]),
  empty: (wire) => [
    [`${wire}[0][key]`, ""],
    [`${wire}[0][value]`, ""],
  ],
};

/** Headers are shown as a list of objects or pairs, or as a map from a name to its value, in Go to a list of values. */
function parseHeaders(raw: unknown): RequestHeader[] {
  const shown = parseJsonList(raw);
  const text = (part: unknown): string => stringCodec.parse(part) ?? "";
  if (isObject(shown) && !Object.values(shown).every(headerIn))
    return Object.entries(shown).flatMap(([key, values]) =>
      (Array.isArray(values) ? values : [values]).map((value) => ({ key, value: text(value) })),
    );
  return entriesOf(shown).map((entry) => {
    const header = headerIn(entry);
    if (header) return { key: text(header.key), value: text(header.value) };
    if (Array.isArray(entry) && entry.length === 2) return { key: text(entry[0]), value: text(entry[1]) };
    throw new UnexpectedValueError("a list of headers or a map of them");
  });
}

/** A header that is shown as an object; undefined if it is none. Some servers write `Key` and `Value`, as they do for fields. */
export function headerIn(entry: unknown): { readonly key: unknown; readonly value: unknown } | undefined {
  if (!isObject(entry)) return undefined;
  const parts = Object.fromEntries(
    Object.entries(entry).map(([name, part]) => [name.toLowerCase(), part] as const),
  );
  return "key" in parts || "name" in parts ? { key: parts.key ?? parts.name, value: parts.value } : undefined;
}

/** The entries of a list. PHP shows a list with gaps as a map, and some servers show an empty one as null or "". */
function entriesOf(raw: unknown): unknown[] {
  const shown = parseJsonList(raw);
  if (Array.isArray(shown)) return shown;
  if (isObject(shown)) return Object.values(shown);
  if (isEmpty(shown)) return [];
  throw new UnexpectedValueError("a list");
}

/** Some servers show a list as JSON text, as their database stores it. */
export function parseJsonList(raw: unknown): unknown {
  const list = typeof raw === "string" && /^\s*(?:[[{]|null\s*$)/.test(raw) ? parseJson(raw) : undefined;
  return list === undefined ? raw : list;
}

const codecOf = {
  text: stringCodec,
  hostname: { ...stringCodec, comparable: comparableHost },
  url: { ...stringCodec, comparable: comparableUrl },
  integer: integerCodec,
  choice: stringCodec,
  boolean: booleanCodec,
  dateTime: dateTimeCodec,
  idList: idListCodec,
  headerList: headerListCodec,
} as Record<FieldType, Codec<Value>>;
