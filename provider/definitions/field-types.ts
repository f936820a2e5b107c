import { domainToASCII } from "node:url";
import { isDeepStrictEqual } from "node:util";

import type { Field, FieldType, RequestHeader } from "./field";
import { nearest } from "./nearest";
import { isUnknown, unknown } from "./unknown";
import { parseUrl } from "./url";
import { isEmpty, isObject } from "./values";
import type { Value } from "./values";

/** One pair of a form body. */
export type Pair = readonly [name: string, value: string];

/** How a form says that a list is empty: by one empty entry, or by an empty text in place of the list. */
export type EmptyListForm = "entry" | "text";

/** What is wrong with a declared value: where below its property, and what is allowed. */
export interface Fault {
  /** Such as `[0].key`; empty for the value as a whole. */
  readonly path: string;
  readonly reason: string;
}

/** A record shows something under a field's name that cannot be such a field. */
export class Unreadable extends Error {}

/** How the values of one type are declared, compared, sent and read. */
interface TypeRules<T extends Value> {
  /** The types of the value in Pulumi's package schema. */
  readonly schema: object;
  /** Everything that is wrong with a declared value that is known; its parts may be unknown. */
  faults(value: unknown, field: Field): Fault[];
  /** The value that a record shows. Throws {@link Unreadable}. */
  parse(raw: unknown): T | null;
  /** Whether two values that are not empty mean the same to a person. */
  equal(a: T, b: T): boolean;
  encode(wire: string, value: T): Pair[];
  /** The pairs that say "empty". */
  empty(wire: string): Pair[];
}

/** What is wrong with a declared value; nothing if it is not known yet. */
export function findFaults(field: Field, value: unknown): Fault[] {
  if (value === unknown) return [];
  if (field.required && value === "") return [{ path: "", reason: "must not be empty" }];
  return rulesOf[field.type].faults(value, field);
}

/** The value that a record shows under a field's name, as it stands. Throws {@link Unreadable}. */
export function parse(field: Field, raw: unknown): Value {
  return rulesOf[field.type].parse(raw) ?? null;
}

/** Whether a declared value (null: managed as empty) and another one mean the same to a person. */
export function equal(field: Field, declared: Value, other: Value): boolean {
  // Most values have not changed, and finding out what they mean takes longer.
  if (isDeepStrictEqual(declared, other)) return true;
  if (field.type === "boolean") return (declared ?? false) === (other ?? false);
  const isNothing = (value: Value): boolean => isEmpty(value) || (field.zeroIsEmpty === true && value === 0);
  if (isNothing(declared)) return isNothing(other);
  return !isEmpty(other) && rulesOf[field.type].equal(declared, other);
}

/** Whether a field's values are lists. */
export function isList({ type }: Field): boolean {
  return type === "idList" || type === "headerList";
}

/** The form's pairs of a value. */
export function encode(field: Field, value: Value, emptyLists: EmptyListForm): Pair[] {
  const { encode, empty } = rulesOf[field.type];
  if (!isEmpty(value)) return encode(field.wire, value);
  return isList(field) && emptyLists === "text" ? emptyString(field.wire) : empty(field.wire);
}

/** The types of a field's value in Pulumi's package schema. */
export function schemaOf(field: Field): object {
  return rulesOf[field.type].schema;
}

const fault = (reason: string, path = ""): Fault => ({ path, reason });

/** A declared value in a message; not of a secret, and not at any length. */
function quoted(value: unknown, field: Field): string {
  if (field.secret || isUnknown(value)) return "";
  const text = (JSON.stringify(value) as string | undefined) ?? String(value);
  const characters = Array.from(text);
  return `, not ${characters.length > 100 ? `${characters.slice(0, 100).join("")}…` : text}`.toWellFormed();
}

const emptyString = (wire: string): Pair[] => [[wire, ""]];

const string: TypeRules<string> = {
  schema: { type: "string" },
  faults(value, field) {
    if (typeof value !== "string") return [fault(`must be a string${quoted(value, field)}`)];
    return value === value.trim() ? [] : [fault(`must not begin or end with spaces${quoted(value, field)}`)];
  },
  parse(raw) {
    if (typeof raw === "string") return raw === "" ? null : raw;
    if (typeof raw === "number") return String(raw);
    if (raw === null || raw === undefined) return null;
    throw new Unreadable("a string");
  },
  equal: (a, b) => a === b,
  encode: (wire, value) => [[wire, value]],
  empty: emptyString,
};

/** A string of a certain form; the empty one means that there is none. */
function formOf(isRight: (value: string) => boolean, reason: string): TypeRules<string>["faults"] {
  return (value, field) => {
    const faults = string.faults(value, field);
    if (faults.length > 0 || value === "" || isRight(String(value))) return faults;
    return [fault(`must be ${reason}${quoted(value, field)}`)];
  };
}

/** A host's name in one spelling: in lower case, and an internationalised one as punycode. */
function comparableHost(name: string): string {
  return domainToASCII(name) || name.toLowerCase();
}

const hostname: TypeRules<string> = {
  ...string,
  faults: formOf(
    (value) => !/[\s/:?#@]/.test(value),
    "a name such as example.com, without a scheme, a port or a path",
  ),
  equal: (a, b) => comparableHost(a) === comparableHost(b),
};

const url: TypeRules<string> = {
  ...string,
  faults: formOf(
    (value) => /^https?:\/\/[^/?#\s]/i.test(value) && !/\s/.test(value) && parseUrl(value) !== undefined,
    "an absolute URL that begins with http:// or https://",
  ),
  equal: (a, b) => comparableUrl(a) === comparableUrl(b),
};

/** Spelling of the host and letter case of the scheme mean nothing, nor does the slash of an empty path; all else does. */
function comparableUrl(value: string): string {
  const [, scheme, user = "", host, port = "", rest] =
    /^([^:/?#]+:\/\/)([^/?#]*@)?([^/?#]*?)(:\d*)?((?:[/?#].*)?)$/s.exec(value) ?? [];
  if (scheme === undefined || host === undefined || rest === undefined) return value;
  return (
    scheme.toLowerCase() + user + comparableHost(host) + port + (rest.startsWith("/") ? rest : `/${rest}`)
  );
}

const integer: TypeRules<number> = {
  schema: { type: "integer" },
  faults: oneOfAllowed,
  parse(raw) {
    if (raw === null || raw === undefined || raw === "") return null;
    const value = typeof raw === "string" && /^-?\d+(\.0+)?$/.test(raw) ? Number(raw) : raw;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw new Unreadable("a whole number");
  },
  equal: (a, b) => a === b,
  encode: (wire, value) => [[wire, String(value)]],
  empty: emptyString,
};

/** One of the values that the API takes. */
function oneOfAllowed(value: unknown, field: Field): Fault[] {
  const allowed = field.allowed ?? [];
  if (allowed.some((one) => one === value)) return [];
  const near = nearestAllowed(value, allowed);
  return [
    fault(
      `must be one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}${quoted(value, field)}` +
        (near === undefined ? "" : `; the nearest is ${JSON.stringify(near)}`),
    ),
  ];
}

function nearestAllowed(value: unknown, allowed: readonly (string | number)[]): string | number | undefined {
  if (typeof value === "string") {
    const near = nearest(value, allowed.map(String));
    return allowed.find((one) => String(one) === near);
  }
  if (typeof value !== "number") return undefined;
  const distance = (one: number): number => Math.abs(one - value);
  return allowed.filter((one) => typeof one === "number").sort((a, b) => distance(a) - distance(b))[0];
}

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

const boolean: TypeRules<boolean> = {
  schema: { type: "boolean" },
  faults: (value, field) =>
    typeof value === "boolean" ? [] : [fault(`must be true or false${quoted(value, field)}`)],
  parse(raw) {
    const value = booleans.get(raw);
    if (value !== undefined) return value;
    // A time under a name such as `paused_at` means that it happened. Some databases write no date as zeros.
    if (typeof raw === "string" && /^\d{4}-\d\d-\d\d/.test(raw)) return !raw.startsWith("0000");
    if ((typeof raw === "number" || typeof raw === "string") && /^\d{9,13}$/.test(String(raw))) return true;
    throw new Unreadable("true, false, 1, 0 or a date");
  },
  equal: (a, b) => a === b,
  encode: (wire, value) => [[wire, value ? "1" : "0"]],
  empty: (wire) => [[wire, "0"]],
};

const dateTime: TypeRules<string> = {
  ...string,
  faults: formOf(
    isMoment,
    "a date that exists, in the form YYYY-MM-DDTHH:MM:SS such as 2030-01-31T22:00:00, without a time zone",
  ),
  parse(raw) {
    const value = string.parse(raw);
    const [, date, time] =
      /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:?00)?$/.exec(value ?? "") ?? [];
    // Another offset, or another form, is kept: it is then a difference that everybody sees.
    return date !== undefined && time !== undefined ? `${date}T${time}` : value;
  },
};

function isMoment(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(value)) return false;
  const time = new Date(`${value}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
}

const idList: TypeRules<readonly (string | number)[]> = {
  schema: { type: "array", items: { type: "integer" } },
  faults(value, field) {
    if (!Array.isArray(value)) return [fault(`must be a list of ids${quoted(value, field)}`)];
    return value.flatMap((entry: unknown, index) =>
      entry === unknown || isId(entry)
        ? []
        : [fault(`must be an id, a whole number or a string of digits${quoted(entry, field)}`, `[${index}]`)],
    );
  },
  parse: (raw) => entriesOf(raw).map((entry) => id(isObject(entry) ? entry.id : entry)),
  equal: (a, b) => comparableIds(a) === comparableIds(b),
  encode: (wire, value) => value.map((entry) => [`${wire}[]`, String(entry)]),
  empty: (wire) => [[`${wire}[]`, ""]],
};

function isId(value: unknown): boolean {
  return typeof value === "number"
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === "string" && /^\d+$/.test(value);
}

function id(raw: unknown): string | number {
  if (typeof raw === "number" && Number.isSafeInteger(raw)) return raw;
  if (typeof raw === "string" && /^\d+$/.test(raw)) {
    const value = Number(raw);
    return Number.isSafeInteger(value) ? value : raw;
  }
  throw new Unreadable("a list of ids");
}

const comparableIds = (ids: readonly (string | number)[]): string =>
  [...new Set(ids.map((entry) => String(entry).replace(/^0+(?=\d)/, "")))].sort().join();

const headerList: TypeRules<readonly RequestHeader[]> = {
  schema: { type: "array", items: { $ref: "#/types/uptime:index:RequestHeader" } },
  faults(value) {
    if (!Array.isArray(value)) return [fault("must be a list of { key, value }")];
    return value.flatMap((entry: unknown, index) => {
      const at = `[${index}]`;
      if (entry === unknown) return [];
      if (!isObject(entry)) return [fault("must be { key, value }, both strings", at)];
      const strange = Object.keys(entry).filter((name) => name !== "key" && name !== "value");
      return [
        ...strange.map((name) =>
          fault("is not a part of a header, which has key and value", `${at}.${name}`),
        ),
        ...headerFaults(
          entry.key,
          /^[!#$%&'*+.^_`|~\w-]+$/,
          `${at}.key`,
          "the name of a header: letters, digits and -",
        ),
        ...headerFaults(entry.value, /^[^\0\r\n]*$/, `${at}.value`, "one line"),
      ];
    });
  },
  parse: (raw) => headersOf(raw).filter(({ key, value }) => key !== "" || value !== ""),
  equal: (a, b) => comparableHeaders(a) === comparableHeaders(b),
  encode: (wire, headers) =>
    headers.flatMap(({ key, value }, index): Pair[] => [
      [`${wire}[${index}][key]`, key],
      [`${wire}[${index}][value]`, value],
    ]),
  empty: (wire) => [
    [`${wire}[0][key]`, ""],
    [`${wire}[0][value]`, ""],
  ],
};

function headerFaults(value: unknown, form: RegExp, path: string, what: string): Fault[] {
  if (value === unknown) return [];
  if (typeof value !== "string") return [fault("must be a string", path)];
  if (value !== value.trim()) return [fault("must not begin or end with spaces", path)];
  return form.test(value) ? [] : [fault(`must be ${what}`, path)];
}

/** Headers are shown as a list of pairs, or as a map from name to value. */
function headersOf(raw: unknown): RequestHeader[] {
  const shown = unwrapped(raw);
  const isPair = (entry: unknown): entry is Record<string, unknown> => isObject(entry) && "key" in entry;
  if (isObject(shown) && !Object.values(shown).every(isPair))
    return Object.entries(shown).map(([key, value]) => ({ key, value: string.parse(value) ?? "" }));
  return entriesOf(shown).map((entry) => {
    if (!isPair(entry)) throw new Unreadable("a list of headers or a map of them");
    return { key: string.parse(entry.key) ?? "", value: string.parse(entry.value) ?? "" };
  });
}

const comparableHeaders = (headers: readonly RequestHeader[]): string =>
  JSON.stringify(headers.map(({ key, value }) => JSON.stringify([key.toLowerCase(), value])).sort());

/** The entries of a list; a list with gaps is shown as a map, an empty one as null or "". */
function entriesOf(raw: unknown): unknown[] {
  const shown = unwrapped(raw);
  if (Array.isArray(shown)) return shown;
  if (isObject(shown)) return Object.values(shown);
  if (isEmpty(shown)) return [];
  throw new Unreadable("a list");
}

/** A list may be shown as JSON text: a database column that nobody decodes. */
function unwrapped(raw: unknown): unknown {
  if (typeof raw !== "string" || !/^\s*(?:[[{]|null\s*$)/.test(raw)) return raw;
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}

const rulesOf = {
  text: string,
  hostname,
  url,
  integer,
  choice: { ...string, faults: oneOfAllowed },
  boolean,
  dateTime,
  idList,
  headerList,
} as Record<FieldType, TypeRules<Value>>;
