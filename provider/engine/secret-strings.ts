import { isEngineUnknown, type Properties } from "../common/marks";
import { parseUrl } from "../common/url";
import { isObject } from "../common/values";
import { comparableHost } from "../definitions/codecs";
import type { Definition, Field } from "../definitions/field";
import { isConfidential } from "../definitions/keys";

/** The fewest characters of a part of a secret that counts as secret too; shorter parts are ordinary words. */
const minPartLength = 8;
/** The fewest characters between two slashes of a URL that count as secret: ordinary paths have shorter words. */
const minSegmentLength = 16;

export function secretsIn({ fields }: Definition, ...properties: readonly Properties[]): string[] {
  const secretFields = Object.entries(fields).filter(([, field]) => isConfidential(field));
  return properties.flatMap((source) =>
    secretFields.flatMap(([key, field]) => secretsOf(field, source[key])),
  );
}

/** The secret strings in the value of a property, which need not be a field. */
export function secretsOfProperty({ fields }: Definition, key: string, value: unknown): string[] {
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return field ? secretsOf(field, value) : stringsIn(value);
}

/** The secret strings in the value of a field. The names of headers are not secret, nor is a value from a field's fixed list. */
export function secretsOf({ type, allowed }: Field, value: unknown): string[] {
  if (allowed !== undefined || isEngineUnknown(value)) return [];
  if (type === "url" || type === "hostname") return stringsIn(value).flatMap(secretsInAddress);
  if (type !== "headerList") return stringsIn(value);
  if (!Array.isArray(value)) return [];
  return value.flatMap((header) =>
    isObject(header) && typeof header.value === "string" ? secretsInHeader(header.value) : [],
  );
}

/**
 * The secrets in a URL or a host's name: itself, also as a server may write it, or without user and fragment; its path with the
 * query; and longer values and steps of the path in it.
 */
function secretsInAddress(text: string): string[] {
  const url = parseUrl(text);
  if (!url) return [text, comparableHost(text)];
  const { href, origin, pathname, search, hash, username, password, searchParams } = url;
  const parts = [pathname + search + hash, username, password, ...searchParams.values()];
  const steps = [pathname, ...pathname.split("/")].filter((step) => step.length >= minSegmentLength);
  return [
    text,
    href,
    origin + pathname + search,
    ...parts.filter((part) => part.length >= minPartLength),
    ...steps,
  ];
}

/**
 * The secrets in a header's value: itself, without its scheme, its longer parts such as a cookie's value, and both halves of a
 * pair for Basic authentication.
 */
export function secretsInHeader(text: string): string[] {
  const [, scheme = "", credentials = text] = /^(Basic|Bearer) +(.*)$/is.exec(text) ?? [];
  const parts = text.split(/[\s;,:|="']+/).filter((part) => part.length >= minPartLength);
  const pairs = /^basic$/i.test(scheme) ? [decoded(credentials)] : parts.map(decoded).filter(isReadable);
  return [text, credentials, ...parts, ...pairs.flatMap(halvesOf)];
}

const decoded = (digits: string): string => Buffer.from(digits, "base64").toString();

/** Whether decoded Base64 is readable. What was not Base64 decodes to control or replacement characters. */
const isReadable = (text: string): boolean => !/[\p{Cc}\ufffd]/u.test(text);

function halvesOf(pair: string): string[] {
  const colon = pair.indexOf(":");
  return colon < 0 ? [] : [pair.slice(0, colon), pair.slice(colon + 1)];
}

/** All strings in a value, and its numbers as strings. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
