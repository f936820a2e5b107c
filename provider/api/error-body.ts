import { excerpt } from "../common/text";
import { isObject } from "../common/values";
import { saysNothing } from "./answer";
import { quote, type Message, type Quote } from "./errors";

/** The reasons in an error's body: one for the whole request, and those for single fields under the API's names. */
export function parseError(
  body: unknown,
  source: string,
): { reason: Message; fields: Map<string, readonly Quote[]> } {
  const fields = new Map<string, readonly Quote[]>();
  const quoteUnlessEmpty = (text: string): Message => (excerpt(text) === "" ? [] : [quote(text)]);
  if (!isObject(body)) return { reason: quoteUnlessEmpty(source), fields };
  if (isObject(body.errors))
    for (const [name, reasons] of Object.entries(body.errors))
      fields.set(
        name,
        (Array.isArray(reasons) ? reasons : [reasons]).map((reason) => quote(wordsOf(reason))),
      );
  const reasons = [body.message, body.error, Array.isArray(body.errors) ? body.errors : undefined];
  const whole = reasons.find((words) => !saysNothing(words));
  const reason =
    whole === undefined
      ? fields.size > 0
        ? []
        : quoteUnlessEmpty(source)
      : quoteUnlessEmpty(wordsOf(whole));
  return { reason, fields };
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (isObject(value) && typeof value.message === "string") return value.message;
  return JSON.stringify(value);
}
