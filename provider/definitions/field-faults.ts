import type { Field, FieldType } from "./field";
import { nearest } from "./nearest";
import { shorten } from "./text";
import { isUnknown, unknown } from "./unknown";
import { parseUrl } from "./url";
import { isObject } from "./values";

/** Something wrong with a declared value: its path below the property, and what is allowed. */
export interface Fault {
  /** Such as `[0].key`; empty for the value as a whole. */
  readonly path: string;
  readonly reason: string;
}

/** All faults of a declared value; none if it is not known yet. */
export function findFaults(field: Field, value: unknown): Fault[] {
  if (value === unknown) return [];
  if (field.required && value === "") return [{ path: "", reason: "must not be empty" }];
  return faultsOf[field.type](value, field);
}

/** Finds the faults of a value that is known. Its parts may be unknown. */
type Faults = (value: unknown, field: Field) => Fault[];

const fault = (reason: string, path = ""): Fault => ({ path, reason });

/** A declared value for a message, cut; nothing for a secret. */
function quoteDeclared(value: unknown, field: Field): string {
  if (field.secret || isUnknown(value)) return "";
  const text = (JSON.stringify(value) as string | undefined) ?? String(value);
  return `, not ${shorten(text, 100)}`;
}

function textFaults(value: unknown, field: Field): Fault[] {
  if (typeof value !== "string") return [fault(`must be a string${quoteDeclared(value, field)}`)];
  return value === value.trim()
    ? []
    : [fault(`must not begin or end with spaces${quoteDeclared(value, field)}`)];
}

/** Finds the faults of strings that must have a certain form, or be empty. */
function formOf(isRight: (value: string) => boolean, reason: string): Faults {
  return (value, field) => {
    const faults = textFaults(value, field);
    if (faults.length > 0 || value === "" || isRight(String(value))) return faults;
    return [fault(`must be ${reason}${quoteDeclared(value, field)}`)];
  };
}

function isMoment(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(value)) return false;
  const time = new Date(`${value}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
}

function oneOfAllowed(value: unknown, field: Field): Fault[] {
  const allowed = field.allowed ?? [];
  if (allowed.some((one) => one === value)) return [];
  if (allowed.some((one) => typeof one === "number" && String(one) === value))
    return [fault(`is the string ${JSON.stringify(value)}; write ${String(value)} without quotes`)];
  const near = nearestAllowed(value, allowed);
  return [
    fault(
      `must be one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}${quoteDeclared(value, field)}` +
        (near === undefined ? "" : `; the nearest is ${JSON.stringify(near)}`),
    ),
  ];
}

function nearestAllowed(value: unknown, allowed: readonly (string | number)[]): string | number | undefined {
  if (typeof value === "string")
    return nearest(
      value,
      allowed.filter((one) => typeof one === "string"),
    );
  if (typeof value !== "number") return undefined;
  const distance = (one: number): number => Math.abs(one - value);
  return allowed.filter((one) => typeof one === "number").sort((a, b) => distance(a) - distance(b))[0];
}

function idListFaults(value: unknown, field: Field): Fault[] {
  if (!Array.isArray(value)) return [fault(`must be a list of ids${quoteDeclared(value, field)}`)];
  return value.flatMap((entry: unknown, index) =>
    entry === unknown || isId(entry)
      ? []
      : [
          fault(
            `must be an id, a whole number or a string of digits${quoteDeclared(entry, field)}`,
            `[${index}]`,
          ),
        ],
  );
}

function isId(value: unknown): boolean {
  return typeof value === "number"
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === "string" && /^\d+$/.test(value);
}

function headerListFaults(value: unknown): Fault[] {
  if (!Array.isArray(value)) return [fault("must be a list of { key, value }")];
  return value.flatMap((entry: unknown, index) => {
    const at = `[${index}]`;
    if (entry === unknown) return [];
    if (!isObject(entry)) return [fault("must be { key, value }, both strings", at)];
    const strange = Object.keys(entry).filter((name) => name !== "key" && name !== "value");
    return [
      ...strange.map((name) => fault("is not a part of a header, which has key and value", `${at}.${name}`)),
      ...headerFaults(
        entry.key,
        /^[!#$%&'*+.^_`|~\w-]+$/,
        `${at}.key`,
        "the name of a header: letters, digits and -",
      ),
      ...headerFaults(entry.value, /^[^\0\r\n]*$/, `${at}.value`, "one line"),
    ];
  });
}

function headerFaults(value: unknown, form: RegExp, path: string, what: string): Fault[] {
  if (value === unknown) return [];
  if (typeof value !== "string") return [fault("must be a string", path)];
  if (value !== value.trim()) return [fault("must not begin or end with spaces", path)];
  return form.test(value) ? [] : [fault(`must be ${what}`, path)];
}

const faultsOf: Record<FieldType, Faults> = {
  text: textFaults,
  hostname: formOf(
    (value) => !/[\s/:?#@]/.test(value),
    "a name such as example.com, without a scheme, a port or a path",
  ),
  url: formOf(
    (value) => /^https?:\/\/[^/?#\s]/i.test(value) && !/\s/.test(value) && parseUrl(value) !== undefined,
    "an absolute URL that begins with http:// or https://",
  ),
  integer: oneOfAllowed,
  choice: oneOfAllowed,
  boolean: (value, field) =>
    typeof value === "boolean" ? [] : [fault(`must be true or false${quoteDeclared(value, field)}`)],
  dateTime: formOf(
    isMoment,
    "a date that exists, in the form YYYY-MM-DDTHH:MM:SS such as 2030-01-31T22:00:00, without a time zone",
  ),
  idList: idListFaults,
  headerList: headerListFaults,
};
