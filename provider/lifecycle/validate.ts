import { distance } from "fastest-levenshtein";
import { z } from "zod";

import type { Definition, Field, Kind, Problem } from "../definitions/field";
import { isUnknown, unknownValue } from "../engine/marks";
import { parseUrl } from "../definitions/url";

/** Everything that is wrong with the inputs of one resource, each with its property's path and what is allowed. */
export function problemsOf(definition: Definition, inputs: Readonly<Record<string, unknown>>): Problem[] {
  const problems: Problem[] = [];
  for (const [key, field] of Object.entries(definition.fields)) {
    const value = inputs[key];
    if (value === undefined || value === null) {
      if (field.required) problems.push({ property: key, reason: "is required" });
      continue;
    }
    const result = schemaOf(field).safeParse(value);
    for (const { path, message } of result.error?.issues ?? [])
      problems.push({ property: pathOf(key, path), reason: message });
  }
  for (const key of Object.keys(inputs))
    if (!(key in definition.fields) && !key.startsWith("__"))
      problems.push({ property: key, reason: unknownProperty(definition, key) });
  const malformed = new Set(problems.map(({ property }) => property.replace(/[.[].*$/, "")));
  for (const rule of definition.rules) {
    if (rule.of.some((key) => malformed.has(key) || isUnknown(inputs[key]))) continue;
    const problem = rule.check(inputs);
    if (problem) problems.push(problem);
  }
  return problems;
}

function unknownProperty(definition: Definition, key: string): string {
  const known = Object.keys(definition.fields);
  const byWire = known.find((name) => definition.fields[name]?.wire === key);
  const near = byWire ?? nearest(key, known);
  return `is not a property of ${definition.label}${near ? `; did you mean ${near}?` : `, which has ${known.join(", ")}`}`;
}

/** The most similar text, if one is similar at all. */
function nearest(given: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, far: distance(given.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(2, best.candidate.length / 3) ? best.candidate : undefined;
}

function pathOf(key: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (whole, part) => (typeof part === "number" ? `${whole}[${part}]` : `${whole}.${String(part)}`),
    key,
  );
}

/** Skips what is not known yet, at any depth. */
const known = (schema: z.ZodType): z.ZodType =>
  z.unknown().superRefine((value, context) => {
    if (value === unknownValue) return;
    for (const issue of schema.safeParse(value).error?.issues ?? [])
      context.addIssue({ code: "custom", message: issue.message, path: issue.path });
  });

const plainText = z
  .string({ error: "must be a text" })
  .refine((value) => value === value.trim(), "must not begin or end with blanks");

const httpUrl = plainText.refine(
  (value) =>
    value === "" ||
    (/^https?:\/\/[^/?#\s]/i.test(value) && !/\s/.test(value) && parseUrl(value) !== undefined),
  "must be an absolute URL that begins with http:// or https://",
);

const moment = plainText.refine(
  (value) => value === "" || isMoment(value),
  "must be a date that exists, in the form YYYY-MM-DDTHH:MM:SS such as 2030-01-31T22:00:00; a time zone is not supported",
);

function isMoment(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(value)) return false;
  const time = new Date(`${value}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
}

const channelId = z
  .unknown()
  .refine(
    (value) =>
      (Number.isSafeInteger(value) && Number(value) >= 0) ||
      (typeof value === "string" && /^\d+$/.test(value)),
    "must be the id of an alert channel: a whole number, or a text of digits",
  );

const header = z.strictObject(
  {
    key: known(
      plainText.regex(
        /^[!#$%&'*+.^_`|~\w-]+$/,
        "must be the name of a header: letters, digits and -, without blanks",
      ),
    ),
    value: known(plainText.regex(/^[^\0\r\n]*$/, "must be one line")),
  },
  { error: "must be { key, value }, both texts" },
);

const schemas: Record<Exclude<Kind, "choice" | "integer">, z.ZodType> = {
  text: plainText,
  hostname: plainText.refine((value) => value !== "" && !/[\s/:?#@]/.test(value), {
    error: "must be a name such as example.com, without a scheme, a port or a path",
  }),
  url: httpUrl,
  boolean: z.boolean({ error: "must be true or false" }),
  dateTime: moment,
  idList: z.array(known(channelId), { error: "must be a list of ids of alert channels" }),
  headerList: z.array(known(header), { error: "must be a list of { key, value }" }),
};

const built = new WeakMap<Field, z.ZodType>();

function schemaOf(field: Field): z.ZodType {
  let schema = built.get(field);
  if (!schema) built.set(field, (schema = known(required(field, build(field)))));
  return schema;
}

function required(field: Field, schema: z.ZodType): z.ZodType {
  return field.required ? schema.refine((value) => value !== "", "must not be empty") : schema;
}

function build(field: Field): z.ZodType {
  if (field.kind !== "choice" && field.kind !== "integer") return schemas[field.kind];
  const allowed = field.allowed ?? [];
  return z.unknown().superRefine((value, context) => {
    if (allowed.some((one) => one === value)) return;
    const given = typeof value === "object" ? "that" : JSON.stringify(value);
    const list = allowed.map((one) => JSON.stringify(one)).join(", ");
    context.addIssue({
      code: "custom",
      message: `must be one of ${list}, not ${given}${suggestion(value, allowed)}`,
    });
  });
}

function suggestion(value: unknown, allowed: readonly (string | number)[]): string {
  const numbers = allowed.filter((one) => typeof one === "number");
  const near =
    typeof value === "number"
      ? numbers.sort((a, b) => Math.abs(a - value) - Math.abs(b - value))[0]
      : typeof value === "string"
        ? (nearest(value, allowed.map(String)) ?? undefined)
        : undefined;
  if (near === undefined) return "";
  return `; the nearest is ${JSON.stringify(allowed.find((one) => String(one) === String(near)))}`;
}
