import type { Kind } from "./calls";
import type { Inputs } from "./model";

// What the API must hold, told from its reference alone: nothing here uses the provider's code.

/** What the API must hold for a declared value, by the API's reference; written without the provider's code. */
const stored: Record<string, (value: unknown) => unknown> = {
  alertChannelIds: (value) => (value as (string | number)[]).map(Number).sort(),
  requestHeaders: (value) =>
    (value as { key: string; value: string }[])
      .map((header) => `${header.key.toLowerCase()}=${header.value}`)
      .sort(),
  cacheBuster: (value) => (value ? 1 : 0),
};
const empty: Record<string, unknown> = { alertChannelIds: [], requestHeaders: [], pause: false };
const defaults: Inputs = { alertCondition: "url_unavailable", requestMethod: "GET", cacheBuster: 0 };
const alertDays = ["sslAlertDays", "domainAlertDays"];
export const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** A stored value with everything taken out that means nothing to a person. */
export const canonical = (kind: Kind, key: string, value: unknown): unknown => {
  if (value === "") return null;
  if (Array.isArray(value)) return stored[key]?.(value);
  if (typeof value === "string" && (key === "url" || key.endsWith("Url"))) return canonicalUrl(value);
  return key === "name" && kind === "domain" && typeof value === "string" ? value.toLowerCase() : value;
};

function canonicalUrl(value: string): string {
  const [, scheme = "", user = "", host = "", rest = ""] =
    /^(\w+:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/.exec(value) ?? [];
  return scheme.toLowerCase() + user + host.toLowerCase() + (rest.startsWith("/") ? rest : `/${rest}`);
}

/** What the API must hold once these were declared one after the other; fields that nobody declared are left out. */
export function expected(kind: Kind, ...history: Inputs[]): Record<string, unknown> {
  const last = history.at(-1) ?? {};
  const result: Record<string, unknown> = kind === "monitor" ? { ...defaults } : {};
  for (const key of new Set(history.flatMap((inputs) => Object.keys(inputs))))
    if (key in last)
      result[key] = (stored[key] ?? ((value: unknown) => canonical(kind, key, value)))(last[key]);
    else if (!(key in defaults)) result[key] = key in empty ? empty[key] : null;
  return result;
}

/** The part of a record that must be as expected. */
export function held(kind: Kind, record: Readonly<Inputs>, wanted: Inputs): Inputs {
  return Object.fromEntries(
    Object.keys(wanted).map((key) => {
      const value = canonical(kind, key, record[snake(key)]);
      // Where empty alert days cannot be sent, or are stored so, 0 stands for empty.
      return [key, alertDays.includes(key) && wanted[key] === null && value === 0 ? null : value];
    }),
  );
}

/** A declared value as the emulator's tables hold it. */
export function toRecord(key: string, value: unknown): unknown {
  if (key === "alertChannelIds" && value !== null) return (value as unknown[]).map(Number);
  if (key === "cacheBuster") return value ? 1 : 0;
  return value === "" ? null : value;
}

/** A stored value with everything taken out that means nothing to a person, one level of HTML entities included. */
export function comparable(kind: Kind, key: string, value: unknown): unknown {
  const one = canonical(kind, key, value);
  return typeof one === "string"
    ? decode(one)
    : Array.isArray(one)
      ? one.map((entry) => decode(String(entry)))
      : one;
}

function decode(value: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', copy: "©" };
  return value.replace(/&(amp|lt|gt|quot|copy);/g, (whole, name: string) => entities[name] ?? whole);
}
