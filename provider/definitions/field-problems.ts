import type { Definition, Field, FieldType, Problem } from "./field";
import { fieldOf, isConfidential } from "./keys";
import { nearest, shorten } from "../common/text";
import { hasPassword, parseUrl } from "../common/url";
import { isObject, hasUnknown, notYetKnown } from "../common/values";

/** Something wrong with a declared value: its path below the property, and what is allowed. */
interface ValueProblem {
  /** Such as `[0].key`; empty for the value as a whole. */
  readonly path: string;
  readonly reason: string;
}

/**
 * Everything that is wrong with the declared fields of one resource, each with its property's path and what is allowed.
 *
 * @param isUnchangedInState whether state has a field's value already; then the value is not checked again
 */
export function problemsOf(
  definition: Definition,
  values: Readonly<Record<string, unknown>>,
  isUnchangedInState: (key: string) => boolean = () => false,
): Problem[] {
  const problems: Problem[] = [];
  const malformed = new Set<string>();
  for (const [key, field] of Object.entries(definition.fields)) {
    const value = values[key];
    if (value === undefined || value === null) {
      if (field.required) problems.push({ property: key, reason: "is required" });
      continue;
    }
    if (isUnchangedInState(key)) continue;
    for (const { path, reason } of problemsOfValue(field, value)) {
      problems.push({ property: `${key}${path}`, reason });
      malformed.add(key);
    }
  }
  for (const key of Object.keys(values))
    if (!Object.hasOwn(definition.fields, key))
      problems.push({ property: key, reason: unknownProperty(definition, key) });
  for (const rule of definition.rules) {
    if (rule.properties.every(isUnchangedInState)) continue;
    if (rule.properties.some((key) => malformed.has(key) || hasUnknown(values[key]))) continue;
    const problem = rule.check(values);
    if (!problem) continue;
    const isShown = !rule.properties.some((key) => isConfidential(fieldOf(definition, key)));
    const others = rule.properties.filter((key) => key !== problem.property).join(" and ");
    const reason = `does not fit ${others} (their values are secret, so they are not shown)`;
    problems.push(isShown ? problem : { ...problem, reason });
  }
  return problems;
}

function unknownProperty(definition: Definition, key: string): string {
  const known = [...Object.keys(definition.fields), "account"];
  const near = nearest(key, known);
  return `is not a property of ${definition.label}${near ? `; did you mean ${near}?` : `, which has ${known.join(", ")}`}`;
}

/** All problems of a declared value; none if it is not known yet. */
function problemsOfValue(field: Field, value: unknown): ValueProblem[] {
  if (value === notYetKnown) return [];
  if (field.required && value === "" && !field.allowed) return [problem("must not be empty")];
  return problemsByType[field.type](value, field);
}

/** Finds the problems of a value that is known. Its parts may be unknown. */
type FindProblems = (value: unknown, field: Field) => ValueProblem[];

const problem = (reason: string, path = ""): ValueProblem => ({ path, reason });
const problemsUnless = (isRight: boolean, reason: string, path = ""): ValueProblem[] =>
  isRight ? [] : [problem(reason, path)];

/** A declared value for a message, cut; nothing for a secret. */
function quoteDeclared(value: unknown, field: Field): string {
  if (isConfidential(field) || hasPassword(value) || hasUnknown(value)) return "";
  // JSON has no NaN.
  const json = typeof value === "number" ? undefined : (JSON.stringify(value) as string | undefined);
  const text = json ?? String(value);
  return `, not ${shorten(text, 100)}`;
}

function textProblems(value: unknown, field: Field, path = ""): ValueProblem[] {
  const shown = quoteDeclared(value, field);
  if (typeof value !== "string") return [problem(`must be a string${shown}`, path)];
  return problemsUnless(value === value.trim(), `must not begin or end with spaces${shown}`, path);
}

/** Finds the problems of strings that must have a certain form. */
function stringThat(isRight: (value: string) => boolean, reason: string, path = ""): FindProblems {
  return (value, field) => {
    if (value === notYetKnown) return [];
    const problems = textProblems(value, field, path);
    if (problems.length > 0 || isRight(String(value))) return problems;
    return [problem(`must be ${reason}${quoteDeclared(value, field)}`, path)];
  };
}

/** Finds the problems of strings that must have a certain form, or be empty. */
const stringOrEmptyThat = (isRight: (value: string) => boolean, reason: string): FindProblems =>
  stringThat((value) => value === "" || isRight(value), reason);

const dateForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

function dateProblems(value: unknown, field: Field): ValueProblem[] {
  const inForm = stringOrEmptyThat(
    (text) => dateForm.test(text),
    "in the form YYYY-MM-DDTHH:MM:SS, without a time zone, such as 2030-01-31T22:00:00",
  );
  const problems = inForm(value, field);
  return problems.length > 0 ? problems : stringOrEmptyThat(dateExists, "a valid date")(value, field);
}

function dateExists(value: string): boolean {
  const time = new Date(`${value}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
}

function oneOfAllowed(value: unknown, field: Field): ValueProblem[] {
  const allowed = field.allowed ?? [];
  if (allowed.some((one) => one === value)) return [];
  const near = isConfidential(field) ? undefined : nearestAllowed(value, allowed);
  const hint = near === undefined ? "" : `; the nearest is ${JSON.stringify(near)}`;
  const all = allowed.map((one) => JSON.stringify(one)).join(", ");
  return [problem(`must be one of ${all}${quoteDeclared(value, field)}${hint}`)];
}

function nearestAllowed(value: unknown, allowed: readonly (string | number)[]): string | number | undefined {
  if (value === "" || (typeof value !== "string" && typeof value !== "number")) return undefined;
  const strings = allowed.filter((one) => typeof one === "string");
  // The most similar value may be the opposite of what was meant: `url_no_text` for `url_has_text`.
  if (strings.length > 0) return nearest(String(value), strings, 1 / 4);
  const numbers = allowed.filter((one) => typeof one === "number");
  // From a very large number, all would be equally far.
  const given = Math.max(Math.min(Number(value), Math.max(...numbers)), Math.min(...numbers));
  if (Number.isNaN(given)) return undefined;
  return numbers.sort((a, b) => Math.abs(a - given) - Math.abs(b - given))[0];
}

function idListProblems(value: unknown, field: Field): ValueProblem[] {
  if (!Array.isArray(value)) return [problem(`must be a list of ids${quoteDeclared(value, field)}`)];
  return value.flatMap((entry: unknown, index) =>
    problemsUnless(
      entry === notYetKnown || isId(entry),
      `must be an id: a whole number above 0, or its digits as a string${quoteDeclared(entry, field)}`,
      `[${index}]`,
    ),
  );
}

/** 0 is no id: servers show it for the empty entry of an empty list. */
function isId(value: unknown): boolean {
  return typeof value === "number"
    ? Number.isSafeInteger(value) && value > 0
    : typeof value === "string" && /^\d+$/.test(value) && Number(value) > 0;
}

function headerListProblems(value: unknown, field: Field): ValueProblem[] {
  if (!Array.isArray(value)) return [problem("must be a list of { key, value }")];
  return value.flatMap((entry: unknown, index) => {
    const at = `[${index}]`;
    if (entry === notYetKnown) return [];
    if (!isObject(entry)) return [problem("must be { key, value }, both strings", at)];
    const strange = Object.keys(entry).filter((name) => name !== "key" && name !== "value");
    return [
      ...strange.map((name) =>
        problem("is not allowed here; a header has only key and value", `${at}.${name}`),
      ),
      ...stringThat(
        (name) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name),
        "the name of a header: letters, digits and !#$%&'*+-.^_`|~",
        `${at}.key`,
      )(entry.key, field),
      ...stringThat((text) => /^[^\0\r\n]*$/.test(text), "one line", `${at}.value`)(entry.value, field),
    ];
  });
}

const problemsByType: Record<FieldType, FindProblems> = {
  text: textProblems,
  hostname: stringOrEmptyThat(
    (value) => !/[\s/:?#@]/.test(value),
    "a name such as example.com, without a scheme, a port or a path",
  ),
  url: stringOrEmptyThat(
    (value) => /^https?:\/\/[^/?#\s]/i.test(value) && !/\s/.test(value) && parseUrl(value) !== undefined,
    "an absolute URL that begins with http:// or https://, without spaces",
  ),
  integer: oneOfAllowed,
  choice: oneOfAllowed,
  boolean: (value, field) =>
    problemsUnless(typeof value === "boolean", `must be true or false${quoteDeclared(value, field)}`),
  dateTime: dateProblems,
  idList: idListProblems,
  headerList: headerListProblems,
};
