import type { FieldErrors } from "./answers";
import type { Dialect } from "./dialect";
import { readChannels, readHeaders } from "./form-lists";
import { isInteger, type Pairs, type Reading, refusedField } from "./reading";
import type { Field, Resource } from "./resources";

/** What a form asks for, and what is wrong with it. */
interface Form {
  readonly values: ReadonlyMap<string, unknown>;
  readonly errors: FieldErrors;
}

/** Whether the text is a date that exists, as `Y-m-dTH:i:s`. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text)) return false;
  const date = new Date(`${text}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function readEmpty(field: Field, dialect: Dialect): Reading {
  if (field.required) return refusedField(field.name, `The ${field.name} field is required.`);
  if (field.kind === "pause")
    return refusedField(field.name, `The ${field.name} field must be true or false.`);
  if (field.kind === "days" && dialect.emptyDays === "ignored") return undefined;
  if (field.kind === "days" && dialect.emptyDays === "refused")
    return refusedField(field.name, `The ${field.name} must be an integer.`);
  if (field.kind === "days" && dialect.zeroDaysForEmpty) return { value: 0 };
  return { value: field.default ?? null };
}

function readAllowed(field: Field, value: string | number): Reading {
  if (field.allowed?.includes(value)) return { value };
  const allowed = field.allowed?.join(", ") ?? "";
  return refusedField(field.name, `The selected ${field.name} is invalid: it must be one of ${allowed}.`);
}

function readText(field: Field, text: string): Reading {
  switch (field.kind) {
    case "text":
    case "url":
    case "password":
      return { value: text };
    case "choice":
      return readAllowed(field, text);
    case "interval":
    case "days":
    case "switch":
      if (!isInteger(text)) return refusedField(field.name, `The ${field.name} must be an integer.`);
      return readAllowed(field, Number(text));
    case "pause":
      if (!["1", "0", "true", "false"].includes(text))
        return refusedField(field.name, `The ${field.name} field must be true or false.`);
      return { value: text === "1" || text === "true" };
    case "date":
      if (!isDate(text))
        return refusedField(field.name, `The ${field.name} is not a date of the format Y-m-d\\TH:i:s.`);
      return { value: text };
    case "channels":
    case "headers":
      throw new Error(`${field.name} is a list.`);
  }
}

function readField(field: Field, pairs: Pairs, operation: "create" | "update", dialect: Dialect): Reading {
  if (field.fixed && operation === "update") return undefined;
  if (field.updateOnly && operation === "create")
    return refusedField(field.name, `The ${field.name} field is accepted on update only.`);
  if (field.kind === "channels") return readChannels(field, pairs, dialect);
  if (field.kind === "headers") return readHeaders(field, pairs, dialect);
  const [[name, text] = [field.name, ""], ...more] = pairs;
  if (more.length > 0) return refusedField(field.name, `The ${field.name} field is sent more than once.`);
  if (name !== field.name)
    return refusedField(name, `The ${name} field is unknown: ${field.name} is not a list.`);
  return text === "" ? readEmpty(field, dialect) : readText(field, text);
}

/** The pairs of each field, whether it is sent as `name`, `name[]` or `name[0][key]`. */
function byField(pairs: Pairs): ReadonlyMap<string, Pairs> {
  const fields = new Map<string, [string, string][]>();
  for (const [name, value] of pairs) {
    const base = name.replace(/\[.*$/s, "");
    fields.set(base, [...(fields.get(base) ?? []), [name, value]]);
  }
  return fields;
}

/** Reads the form of a create or an update (docs/api.md, "Forms"). */
export function readForm(
  resource: Resource,
  pairs: Pairs,
  operation: "create" | "update",
  dialect: Dialect,
): Form {
  const values = new Map<string, unknown>();
  const errors = new Map<string, readonly string[]>();
  for (const [base, sent] of byField(pairs)) {
    const field = resource.fields.find(({ name }) => name === base);
    const reading = field
      ? readField(field, sent, operation, dialect)
      : refusedField(base, `The ${base} field is unknown.`);
    if (reading === undefined) continue;
    if ("value" in reading) values.set(base, reading.value);
    else if (!dialect.ignoreInvalid)
      for (const [name, messages] of Object.entries(reading.errors)) errors.set(name, messages);
  }
  for (const { name, required } of resource.fields)
    if (operation === "create" && required && !values.has(name) && !errors.has(name))
      errors.set(name, [`The ${name} field is required.`]);
  return { values, errors: Object.fromEntries(errors) };
}
