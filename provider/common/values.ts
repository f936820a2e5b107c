import { decodeHTMLStrict } from "entities";

/** A header of the check request. */
export interface RequestHeader {
  /** Name of the header, of letters, digits and the signs that HTTP allows, for example `X-Token`. (docs/monitor.md) */
  key: string;
  /** Value of the header, on one line. Secret. (docs/monitor.md) */
  value: string;
}

/** A field's parsed value, in the same form for all servers. */
export type Value =
  string | number | boolean | null | readonly (string | number)[] | readonly RequestHeader[];

/** Null, absent, "" and the empty list mean the same in the API. */
export function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Stands for a value that is not known yet in a preview, at any depth. Each front translates the engine's form to this one. */
export const notYetKnown: unique symbol = Symbol("not yet known");

/** Whether a value, or a part of it, is not known yet. */
export function hasUnknown(value: unknown): boolean {
  if (value === notYetKnown) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnknown);
}

/** No record is nested deeper than this, and Pulumi could not store a deeper value. */
export const maxDepth = 50;

/** Parses a JSON text; undefined if it is not JSON, or nested too deeply to be walked through. */
export function tryParseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, maxDepth) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return left > 0 && Object.values(value).every((entry) => isShallow(entry, left - 1));
}

/**
 * The JSON that a server shows. Whole numbers that a double cannot hold stay text, `NaN` and `Infinity`, as Python writes them, are
 * null, and strings are well-formed. Undefined if it is not JSON, or nested too deeply.
 */
export function parseJson(source: string): unknown {
  const value = tryParseJson(/\d{16}|NaN|Infinity/.test(source) ? withJsonNumbers(source) : source);
  // Only a `\u` escape can be half of a surrogate pair, which neither state nor an error message may contain.
  return /\\u[dD][89a-fA-F]/.test(source) ? mendStrings(value) : value;
}

function mendStrings(value: unknown): unknown {
  const mend = (text: string): string => text.toWellFormed();
  return mapLeaves(value, (leaf) => (typeof leaf === "string" ? mend(leaf) : leaf), mend);
}

/** Outside of strings, puts quotes around whole numbers that are too large, and replaces what is not a number by null. */
function withJsonNumbers(source: string): string {
  let isText = false;
  return source.replace(/\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|-?\b(?:NaN|Infinity)\b/g, (token) => {
    if (token === '"') isText = !isText;
    if (!isText && /^-?[NI]/.test(token)) return "null";
    const isExact = isText || !/^-?\d{16,}$/.test(token) || Number.isSafeInteger(Number(token));
    return isExact ? token : `"${token}"`;
  });
}

/** The value of a key; if there is none, it is made and set. */
export function getOrMake<Key, T>(
  map: { get(key: Key): T | undefined; set(key: Key, value: T): unknown },
  key: Key,
  make: () => T,
): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Groups items by a key, in their order. Node.js 20 has no `Map.groupBy`. */
export function groupBy<T, Key>(items: readonly T[], keyOf: (item: T) => Key): Map<Key, [T, ...T[]]> {
  const groups = new Map<Key, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/**
 * Replaces every value that is neither a list nor an object, at any depth, and optionally renames properties. Unchanged parts are not
 * copied.
 */
export function mapLeaves<T>(
  value: T,
  change: (leaf: unknown) => unknown,
  rename: (name: string) => string = (name) => name,
): T {
  const map = (part: unknown): unknown => {
    if (Array.isArray(part)) {
      const entries = part.map(map);
      return entries.every((entry, index) => Object.is(entry, part[index])) ? part : entries;
    }
    if (!isObject(part)) return change(part);
    const entries = Object.entries(part).map(([name, entry]) => [rename(name), map(entry)] as const);
    const isSame = entries.every(
      ([name, entry]) => Object.hasOwn(part, name) && Object.is(entry, part[name]),
    );
    return isSame ? part : Object.fromEntries(entries);
  };
  return map(value) as T;
}

/** Decodes one level of HTML entities in all strings, because some servers escape what they show. */
export function decodeEntities(raw: unknown): unknown {
  const decode = (text: string): string => (text.includes("&") ? decodeHTMLStrict(text) : text);
  return mapLeaves(raw, (leaf) => (typeof leaf === "string" ? decode(leaf) : leaf), decode);
}
