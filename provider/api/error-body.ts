import { excerpt } from "../common/text";
import { getOrMake, isObject, mapLeaves } from "../common/values";
import { definitions } from "../definitions";
import { parseJsonList } from "../definitions/codecs";
import { secretFieldsByName } from "../definitions/keys";
import { byPlainName, isEmptyOrFalse, plainFieldName, plainName } from "./server-spelling";
import { joinMessages, message, Quote, quote, type Message } from "./errors";

/** The names of secret fields, by {@link plainName}. */
const secretFieldNames = new Set(definitions.flatMap(secretFieldsByName).map(([name]) => plainName(name)));

/** A body as JSON, without secret fields, also those in JSON text, such as a Lambda's `{"statusCode": 200, "body": "{…}"}`. */
function jsonWithoutSecrets(body: unknown): string {
  return JSON.stringify(body, (name, value: unknown) => {
    if (secretFieldNames.has(plainFieldName(name))) return undefined;
    const parsed = parseJsonList(value);
    // Any other text stays as it is written, so that a secret in it is found.
    return parsed === value || jsonWithoutSecrets(parsed) === JSON.stringify(parsed) ? value : parsed;
  });
}

/** A text that is not JSON, in a message. */
export const quoteText = (text: string): Quote => new Quote(text, "page");

/**
 * A body in a message. It may hold records of others, whose secrets nobody else knows, so of what is nested in it only the names are
 * shown.
 */
export function quoteBody(body: unknown): Message {
  if (body === undefined) return ["an empty response"];
  const outline = isObject(body)
    ? Object.fromEntries(Object.entries(body).map(([name, part]) => [name, withoutValues(part)]))
    : withoutValues(body);
  return message`"${quote(typeof outline === "string" ? outline : jsonWithoutSecrets(outline))}"`;
}

function withoutValues(part: unknown): unknown {
  const shown = parseJsonList(part);
  return typeof shown === "object" && shown !== null ? mapLeaves(shown, () => "…") : part;
}

/**
 * The reasons in an error's body: one for the whole request, and those for single fields under the API's names.
 *
 * @param given undefined if the source is not JSON
 */
export function parseError(
  given: unknown,
  bodyText: string,
): { reason: Message; fields: Map<string, readonly Quote[]> } {
  // Yii shows nothing but the list.
  const body = Array.isArray(given) ? { errors: given } : given;
  const fields = new Map<string, Quote[]>();
  const unlessEmpty = (words: Quote): Message => (excerpt(words.text) === "" ? [] : [words]);
  const whole = (): Message =>
    unlessEmpty(given === undefined ? quoteText(bodyText) : quote(jsonWithoutSecrets(given)));
  if (!isObject(body)) return { reason: whole(), fields };
  const { named, others } = fieldErrorsIn(body);
  for (const [name, reasons] of named) {
    const quotes = getOrMake(fields, withWireName(name), () => []);
    for (const reason of [reasons].flat()) quotes.push(quote(wordsOf(reason)));
  }
  const hasFields = fields.size > 0;
  // What holds the reasons for the fields is none for the whole request.
  const holdsFields = (one: unknown): boolean => {
    const held = parseJsonList(messageIn(one) ?? one);
    const parts = typeof held === "object" && held !== null ? Object.values(held) : [];
    return parts.some((part) => typeof part === "object" && part !== null);
  };
  const reasons = [
    body.message,
    body.error,
    hasFields && isObject(body.errors) ? "" : body.errors,
    body.detail,
  ];
  const firstReason = reasons.find(
    (one) => !isEmptyOrFalse(one) && one !== true && !(hasFields && holdsFields(one)),
  );
  // Rails writes `{"message": "Invalid.", "errors": ["Interval is not in your plan."]}`.
  const listedErrors = [body, body.error]
    .filter(isObject)
    .flatMap(({ errors, details }) => [errors, details])
    .filter((one) => !hasFields && Array.isArray(one) && one.length > 0);
  const texts = [
    ...new Set(
      [...(firstReason === undefined ? [] : [firstReason]), ...listedErrors, ...others].map(wordsOf),
    ),
  ].map(quote);
  const shown = texts.map(unlessEmpty).filter((one) => one.length > 0);
  if (texts.length > 0) return { reason: joinMessages(shown, "; "), fields };
  return { reason: hasFields ? [] : whole(), fields };
}

interface FieldErrors {
  /** The reasons for single fields, by the server's names. */
  readonly named: readonly (readonly [name: string, reasons: unknown])[];
  /** What stands in one list with them, and names no field. */
  readonly others: readonly unknown[];
}

function fieldErrorsIn(body: Record<string, unknown>): FieldErrors {
  if (isObject(body.errors) && !isEmptyOrFalse(body.errors))
    return { named: reasonsAt(body.errors) ?? Object.entries(body.errors), others: [] };
  const listed = listsIn(body)
    .filter((list) => list.some(isNamed))
    .flat();
  const others = listed.filter((entry) => !isNamed(entry) && !isEmptyOrFalse(entry) && entry !== true);
  if (listed.length > 0)
    return {
      named: listed.flatMap(namedError),
      others: others.map((entry) => reasonIn(entry) ?? withoutValues(entry)),
    };
  // Some servers show them without an envelope: `{"interval": ["Not in your plan."]}`.
  const isEnvelope = ["error", "errors", "message", "messages"].some((name) => name in body);
  const parts = [body.data, body.detail, body.details, isEnvelope ? undefined : body].filter(isObject);
  const found = parts.map((part) => reasonsAt(part)).find((one) => one?.length);
  return { named: found ?? [], others: [] };
}

/** The lists in a body, and those that are as deep in it as Strapi's `error.details.errors`. Zod's message is a list as JSON text. */
function listsIn(body: Record<string, unknown>, depth = 3): (readonly unknown[])[] {
  const parts = Object.entries(body).flatMap(([name, part]) =>
    /warning/i.test(name) ? [] : [parseJsonList(part)],
  );
  const inner = depth === 1 ? [] : parts.filter(isObject).flatMap((part) => listsIn(part, depth - 1));
  return [...parts.filter((part): part is readonly unknown[] => Array.isArray(part)), ...inner];
}

/**
 * The lists of reasons in a value, by their paths: `request_headers.1.value` of `{"request_headers": [{}, {"value": ["Too long."]}]}`.
 * Undefined if there is anything else in it.
 */
function reasonsAt(
  value: unknown,
  path: readonly string[] = [],
): [path: string, reasons: unknown][] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const parts = Object.entries(value);
  const isWords = parts.length > 0 && parts.every(([, part]) => typeof part === "string");
  if (Array.isArray(value) && isWords) return [[path.join("."), value]];
  // PocketBase shows `{"interval": {"code": "validation_in_invalid", "message": "Not in your plan."}}`.
  const text = path.length > 0 && !Array.isArray(value) ? messageIn(value) : undefined;
  if (text !== undefined) return [[path.join("."), [text]]];
  const found = parts.map(([name, part]) => reasonsAt(part, [...path, name]));
  return found.every((one) => one !== undefined) ? found.flat() : undefined;
}

/**
 * An error in a list that names its field, as FastAPI shows it: `{"loc": ["body", "interval"], "msg": "Not in your plan."}`. Spring, Zod,
 * Symfony, JSON:API, Ajv (`"path": "/interval"`) and Litestar (`"key": "interval"`) have further names.
 */
function namedError(entry: unknown): [name: string, reason: unknown][] {
  if (!isObject(entry)) return [];
  const { property, propertyPath, source, path, instancePath, field, param, key, loc } = entry;
  const pointer = isObject(source) ? pathOfPointer(source.pointer) : undefined;
  const steps = [path, instancePath].map((one) => pathOfPointer(one, /^\//) ?? one);
  const given = [property, propertyPath, ...steps, field, param, pointer, key, loc].find(
    (one) => (typeof one === "string" || Array.isArray(one)) && one.length > 0,
  );
  // A step of Valibot's path is an object.
  const name = [given]
    .flat()
    .filter((step) => typeof step === "string" || typeof step === "number")
    .join(".");
  const reason = reasonIn(entry);
  return name !== "" && !partsOfRequest.includes(name) && reason !== undefined ? [[name, reason]] : [];
}

function reasonIn(entry: unknown): string | undefined {
  if (!isObject(entry)) return undefined;
  const { message: text, msg, defaultMessage, detail, reason } = entry;
  return [text, msg, defaultMessage, detail, reason].find((one) => typeof one === "string");
}

const isNamed = (entry: unknown): boolean => namedError(entry).length > 0;

/** The parts of a request with which servers begin the path of a field. */
const partsOfRequest: readonly string[] = ["body", "form", "query", "params", "data"];

/**
 * The path of a field in a JSON pointer: `request_headers.0.key` of `/data/attributes/request_headers/0/key`. Any other slash may be one
 * of a secret, and stays, so that the secret is found.
 */
const pathOfPointer = (pointer: unknown, beginning = /^/): string | undefined =>
  typeof pointer === "string" && beginning.test(pointer)
    ? pointer
        .replace(/^#?\/?(?:(?:data|body)\/)?(?:attributes\/)?/, "")
        .replace(/\/(?=(?:\d+|key|value)(?:\/|$))/g, ".")
    : undefined;

const wireNames = byPlainName(
  definitions.flatMap(({ fields }) => Object.values(fields).map(({ wire }) => wire)),
);

/** What frameworks write around the steps of a path: `form.interval` in Flask, and `children.interval.errors` in Symfony. */
const wrappers = new RegExp(`^(?:${partsOfRequest.join("|")})\\.|\\bchildren\\.|\\.errors$`, "g");

/** A field's path with the API's name, where a server writes `SslAlertDays` or `sslAlertDays` for `ssl_alert_days`. */
const withWireName = (path: string): string =>
  path.replace(wrappers, "").replace(/^[^.[]+/, (name) => wireNames.get(plainName(name)) ?? name);

const messageIn = (value: unknown): string | undefined => {
  const text = isObject(value) ? value.message : value;
  return typeof text === "string" ? text : undefined;
};

function wordsOf(value: unknown): string {
  const text = messageIn(value);
  if (text === undefined) return jsonWithoutSecrets(value);
  const shown: unknown = JSON.parse(jsonWithoutSecrets(text));
  return typeof shown === "string" ? shown : JSON.stringify(shown);
}
