import type { Definition, Field } from "../definitions/field";
import type { Properties } from "../common/marks";
import { isObject, mapLeaves } from "../common/values";

// Which strings are secret.

/** A part of a longer secret counts as one if it has so many characters; shorter ones are ordinary words. */
const leastPart = 8;

/** The secret strings in a resource's properties: in passwords, and in the values of headers, not their names. */
export function secretsIn({ fields }: Definition, ...properties: readonly Properties[]): string[] {
  return properties.flatMap((source) =>
    Object.entries(fields).flatMap(([key, field]) => (field.secret ? secretsOf(field, source[key]) : [])),
  );
}

/** The secret strings in the value of a field. */
export function secretsOf({ type }: Field, value: unknown): string[] {
  if (type !== "headerList") return stringsIn(value);
  if (!Array.isArray(value)) return [];
  return value.flatMap((header) =>
    isObject(header) && typeof header.value === "string" ? secretsInHeader(header.value) : [],
  );
}

/**
 * The secrets in a header's value: itself, without its scheme, its longer parts such as a cookie's value, and both halves of a
 * pair for Basic authentication.
 */
export function secretsInHeader(text: string): string[] {
  const [, scheme = "", credentials = text] = /^(Basic|Bearer) +(.*)$/is.exec(text) ?? [];
  const parts = text.split(/[\s;,="']+/).filter((part) => part.length >= leastPart);
  return [text, credentials, ...parts, ...(/^basic$/i.test(scheme) ? halvesOf(credentials) : [])];
}

function halvesOf(credentials: string): string[] {
  const pair = Buffer.from(credentials, "base64").toString();
  const colon = pair.indexOf(":");
  return colon < 0 ? [] : [pair.slice(0, colon), pair.slice(colon + 1)];
}

/** All strings in a value, and its numbers as strings. */
export function stringsIn(value: unknown): string[] {
  const strings: string[] = [];
  mapLeaves(value, (leaf) => ["string", "number"].includes(typeof leaf) && strings.push(String(leaf)));
  return strings;
}
