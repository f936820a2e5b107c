import { excerpt } from "../common/text";
import { isObject } from "../common/values";
import { definitions } from "../definitions";
import { secretFieldsByName } from "../definitions/keys";
import { isBlankOrFalse } from "./answer";
import { message, quote, type Message, type Quote } from "./errors";

/** The names of secret fields. An answer may show the records of others, whose secrets nobody else knows. */
const secretFieldNames = new Set(definitions.flatMap(secretFieldsByName).map(([name]) => name));

/** A body as JSON, without secret fields. */
export function jsonWithoutSecrets(body: unknown): string {
  return JSON.stringify(body, (name, value: unknown) => (secretFieldNames.has(name) ? undefined : value));
}

/** A body in a message. */
export function quoteBody(body: unknown): Message {
  if (body === undefined) return ["an empty answer"];
  return message`"${quote(typeof body === "string" ? body : jsonWithoutSecrets(body))}"`;
}

/**
 * The reasons in an error's body: one for the whole request, and those for single fields under the API's names.
 *
 * @param body undefined if the source is not JSON
 */
export function parseError(
  body: unknown,
  source: string,
): { reason: Message; fields: Map<string, readonly Quote[]> } {
  const fields = new Map<string, readonly Quote[]>();
  const quoteUnlessEmpty = (text: string): Message => (excerpt(text) === "" ? [] : [quote(text)]);
  const whole = (): Message => quoteUnlessEmpty(body === undefined ? source : jsonWithoutSecrets(body));
  if (!isObject(body)) return { reason: whole(), fields };
  const errors = isObject(body.errors) ? body.errors : isFieldErrors(body) ? body : {};
  for (const [name, reasons] of Object.entries(errors))
    fields.set(
      name,
      (Array.isArray(reasons) ? reasons : [reasons]).map((reason) => quote(wordsOf(reason))),
    );
  const reasons = [body.message, body.error, Array.isArray(body.errors) ? body.errors : undefined];
  const words = reasons.find((one) => !isBlankOrFalse(one));
  if (words !== undefined) return { reason: quoteUnlessEmpty(wordsOf(words)), fields };
  return { reason: fields.size > 0 ? [] : whole(), fields };
}

/** Some servers show the reasons for each field without an envelope: `{"interval": ["Not in your plan."]}`. */
function isFieldErrors(body: Record<string, unknown>): boolean {
  const isWords = (value: unknown): boolean =>
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
  const isEnvelope = ["error", "errors", "message", "messages"].some((name) => name in body);
  return !isEnvelope && Object.values(body).length > 0 && Object.values(body).every(isWords);
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (isObject(value) && typeof value.message === "string") return value.message;
  return jsonWithoutSecrets(value);
}
