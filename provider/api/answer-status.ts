// Whether an answer says that its request has succeeded, beside its HTTP status: by `success: false` or `code: 403`, for example.
import type { Definition } from "../definitions/field";
import { isObject } from "../common/values";
import {
  isBlankOrFalse,
  isFalse,
  isRecordOf,
  isSetDate,
  isTrue,
  unwrapSingle,
  parseId,
  parseRecord,
  parseRecords,
  plainName,
  textOf,
} from "./answer";
import type { Method } from "./transport";

/** Whether an answer holds nothing, or nothing where the record would be, and no unclear code beside that. */
export function isBlankAnswer(body: unknown, definition: Definition): boolean {
  if (isBlankOrFalse(body)) return true;
  return (
    isObject(body) &&
    parseId(body) === undefined &&
    !hasUnclearCode(body, definition) &&
    [definition.singular, "data"].some((key) => key in body && isBlankOrFalse(body[key]))
  );
}

/**
 * Whether an answer has a code or a status that may mean a failure: 10001 of `{"code": 10001, "data": null}`, or `{"result": "error"}`,
 * for example. A flag of success beside it decides.
 */
export function hasUnclearCode(body: unknown, definition: Definition): boolean {
  const said = statusesIn(body, definition);
  const isSuccess = said.some(([name, value]) => flagNames.test(name) && isTrue(value));
  const isUnclear = (value: unknown): boolean =>
    !isSuccessStatus(value) && !wordsForNothing.test(textOf(value));
  return !isSuccess && said.some(([name, value]) => namesOfDoubt.test(name) && isUnclear(value));
}

/** Whether the answer to a DELETE says that it had its effect: by holding nothing, the record, or a word of success. */
export function saysDeleted(body: unknown, id: string, definition: Definition): boolean {
  if (isObject(body) && body.data === false) return false;
  if (isBlankAnswer(body, definition)) return true;
  const record = parseRecord(body, definition);
  const isClear = !hasUnclearCode(body, definition);
  if (record?.id === id && (isClear || isRecordOf(definition, record))) return true;
  if (!isObject(body)) return isDeletionStatus(body);
  return statusesIn(body, definition).some(([name, value]) =>
    statusNames.test(name)
      ? isClear && isSuccessStatus(value)
      : (flagNames.test(name) || deletedNames.test(name)) && isDeletionStatus(value),
  );
}

/** Whether an answer without a record says that the request failed, whatever its status. In a record, the same names are fields. */
export function isFailure(body: unknown, definition: Definition, method: Method): boolean {
  // A bare `false` or `0` says that nothing was done, or to how many records.
  if (method !== "GET" && isFalse(body)) return true;
  const said = statusesIn(body, definition);
  const whole = unwrapSingle(body);
  const errors = isObject(whole) ? [whole.error, whole.errors] : [];
  const isRefusal = (mayBeRecord: boolean): boolean =>
    errors.some((error) => !isBlankOrFalse(error) && !isFalse(error)) ||
    said.some(([name, value]) => {
      if (flagNames.test(name) || (deletedNames.test(name) && method === "DELETE")) return isFalse(value);
      if (mayBeRecord) return false;
      return statusNames.test(name)
        ? isFailureStatus(value, method)
        : namesOfDoubt.test(name) && wordsOfFailure.test(textOf(value));
    });
  // Nearly always, so that a list is not parsed twice.
  if (!isRefusal(false)) return false;
  const record = parseRecord(body, definition);
  const holdsRecords = method !== "DELETE" && (parseRecords(body, definition)?.length ?? 0) > 0;
  if (holdsRecords || isRecordOf(definition, record)) return false;
  // An object with an id may be a record that shows nothing else. After a delete it cannot be one, and after a create its own address
  // decides.
  return isRefusal(record !== undefined && method !== "DELETE" && method !== "POST");
}

/** All values by their {@link plainName}, in the parts of an answer that may say whether the request has succeeded. */
function statusesIn(body: unknown, { singular }: Definition): (readonly [name: string, value: unknown])[] {
  const whole = unwrapSingle(body);
  const parts = isObject(whole) ? [whole, whole.meta, whole.data, whole[singular]] : [];
  return parts
    .filter(isObject)
    .flatMap((part) => Object.entries(part).map(([name, value]) => [plainName(name), value] as const));
}

const flagNames = /^(?:is)?(?:success(?:ful)?|ok)$/;
const statusNames = /^(?:status(?:code)?|code)$/;
const deletedNames = /^(?:is)?deleted$/;
/** Names whose words count too. Their numbers may mean anything, such as an id; but beside nothing, no live record must count as gone. */
const namesOfDoubt = /^(?:(?:http)?(?:status(?:code)?|code)|stat|result|(?:is)?(?:success(?:ful)?|ok))$/;

/** Whether a value is a word or a code of success. A code other than 0, 20000 and those of HTTP may mean anything: 10001, for example. */
const isSuccessStatus = (value: unknown): boolean =>
  /^(?:true|yes|ok|done|success(?:ful)?|deleted|0+|2\d\d|20000)$/i.test(textOf(value));

/** Whether a value says that a delete is done: a word of success, the number of deleted records, a record's id, or a date. */
const isDeletionStatus = (value: unknown): boolean =>
  isSuccessStatus(value) || /^\d+$/.test(textOf(value)) || isSetDate(value);

/** What servers write as a status if they have nothing to show. */
const wordsForNothing = /^(?:|not[ _-]?found|gone|no[ _-]?(?:content|data)|empty)$/i;

const wordsOfFailure = /^(?:error|fail|failed|failure|unauthorized|unauthenticated|forbidden|denied)$/i;

/** A create that is answered with a code such as 50001 may have been stored. */
function isFailureStatus(value: unknown, method: Method): boolean {
  const text = textOf(value);
  const isCode = /^(?:4\d{2,}|5\d\d)$/.test(text) || (method !== "POST" && /^5\d{3,}$/.test(text));
  return value === false || wordsOfFailure.test(text) || isCode;
}
