import { decodeHTMLStrict } from "entities";

import type { RequestHeader } from "./field";

/** A field's value as the provider holds it: parsed, in one form however the server shows it. */
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

/** A value in which whatever is no list and no object is changed, at any depth, and so are names. */
export function changedDeep(
  value: Readonly<Record<string, unknown>>,
  change: (leaf: unknown) => unknown,
  rename?: (name: string) => string,
): Record<string, unknown>;
export function changedDeep(
  value: unknown,
  change: (leaf: unknown) => unknown,
  rename?: (name: string) => string,
): unknown;
export function changedDeep(
  value: unknown,
  change: (leaf: unknown) => unknown,
  rename: (name: string) => string = (name) => name,
): unknown {
  if (Array.isArray(value)) return value.map((entry) => changedDeep(entry, change, rename));
  if (!isObject(value)) return change(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [rename(name), changedDeep(entry, change, rename)]),
  );
}

/** A value with one level of HTML entities decoded, at any depth: some servers escape what they show. */
export function decodeEntities(raw: unknown): unknown {
  const decode = (text: string): string => (text.includes("&") ? decodeHTMLStrict(text) : text);
  return changedDeep(raw, (leaf) => (typeof leaf === "string" ? decode(leaf) : leaf), decode);
}
