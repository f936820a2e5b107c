// What the body of an answer says of its request, whatever its status: by `success: false` or `code: 403`, for example.
//
// | a request                 | asks                                            |
// | ------------------------- | ----------------------------------------------- |
// | each                      | `isFailure`: does it say that it has failed?    |
// | for a record              | `holdsNothing`: is there no record?             |
// | for a list that is empty  | `mayMeanFailure`: may there be another reason?  |
// | DELETE                    | `saysDeleted`: if not, the record is read again |
import type { Definition } from "../definitions/field";
import { isObject } from "../common/values";
import { isRecordOf, unwrapList, unwrapSingle, parseId, parseRecord, parseRecords } from "./record";
import { isEmptyOrFalse, isFalse, isRealDate, plainName, textOf } from "./server-spelling";
import type { Method } from "./transport";

/** Whether an answer holds nothing, or nothing where the record would be, and no unclear code beside that. */
export function holdsNothing(body: unknown, definition: Definition): boolean {
  if (isEmptyOrFalse(body)) return true;
  return (
    isObject(body) &&
    parseId(body) === undefined &&
    !mayMeanFailure(body, definition) &&
    [definition.singular, "data"].some((key) => key in body && isEmptyOrFalse(body[key]))
  );
}

/**
 * Whether an answer has a code or a status that may mean a failure: 10001 of `{"code": 10001, "data": null}`, for example. A flag of
 * success beside it decides.
 */
export function mayMeanFailure(body: unknown, definition: Definition): boolean {
  const statements = statementsIn(body, definition, "GET");
  const isSuccess = statements.some(({ isFlag, meaning }) => isFlag && meaning === "success");
  return !isSuccess && statements.some(({ meaning }) => meaning !== "success");
}

/** Whether the answer to a DELETE says that it had its effect: by holding nothing, the record, or a word of success. */
export function saysDeleted(body: unknown, id: string, definition: Definition): boolean {
  if (isObject(body) && body.data === false) return false;
  // `{"message": "Down for maintenance", "data": null}` may mean anything.
  const words = isObject(body) ? textOf(body.message ?? body.msg) : "";
  if (holdsNothing(body, definition) && words === "") return true;
  const statements = statementsIn(body, definition, "DELETE");
  // It may be a field of the record that is shown, or refuse the request: `{"success": false, "data": {"id": 7, …}}`.
  if (statements.some(({ isFlag, meaning }) => isFlag && meaning === "failure")) return false;
  // Beside the record it is no field of it: `{"error": "locked", "data": {"id": 7, …}}`. A monitor has the error of its last check.
  if (isObject(body) && parseId(body) === undefined && hasError(body)) return false;
  const record = parseRecord(body, definition);
  const isClear = !mayMeanFailure(body, definition);
  if (record?.id === id && (isClear || isRecordOf(definition, record))) return true;
  if (!isObject(body)) return wordsOfSuccess.test(textOf(body)) || ["1", id].includes(textOf(body));
  return statements.some(({ isFlag, meaning }) => meaning === "success" && (isFlag || isClear));
}

/** Whether an answer without a record says that the request failed, whatever its status. In a record, the same names are fields. */
export function isFailure(body: unknown, definition: Definition, method: Method): boolean {
  // A bare `false` or `0` says that nothing was done, or to how many records.
  if (method !== "GET" && isFalse(body)) return true;
  const failures = statementsIn(body, definition, method).filter(({ meaning }) => meaning === "failure");
  // Nearly always, so that a list is not parsed twice.
  if (!hasError(body) && failures.length === 0) return false;
  const record = parseRecord(body, definition);
  const { list } = unwrapList(body, definition);
  const holdsRecords = method !== "DELETE" && (parseRecords(list, definition)?.length ?? 0) > 0;
  if (holdsRecords || isRecordOf(definition, record)) return false;
  // An object with an id may be a record that shows nothing else, and its status a field. After a delete it cannot be one, and after a
  // create its own address decides.
  const mayBeRecord = record !== undefined && method !== "DELETE" && method !== "POST";
  return !mayBeRecord || hasError(body) || failures.some(({ isFlag }) => isFlag);
}

/** Whether there is an error beside the record, or in it. */
function hasError(body: unknown): boolean {
  const whole = unwrapSingle(body);
  const errors = isObject(whole) ? [whole.error, whole.errors] : [];
  return errors.some((error) => !isEmptyOrFalse(error) && !isFalse(error));
}

/** What a value in an answer says of its request. Only the server knows what an unclear one means. */
type Meaning = "success" | "failure" | "unclear";

interface Statement {
  /** A flag, such as `success` or `ok`, and not a status, such as `code`, which may also be a field of a record. */
  readonly isFlag: boolean;
  readonly meaning: Meaning;
}

const flagNames = /^(?:is)?(?:success(?:ful)?|ok)$/;
const deletedNames = /^(?:is)?deleted$/;
const messageNames = /^(?:msg|message)$/;
const statusNames = /^(?:http)?(?:status(?:code)?|code|stat|result)$/;

/** All that an answer says, under the usual names, of whether its request has succeeded. */
function statementsIn(body: unknown, { singular }: Definition, method: Method): Statement[] {
  const whole = unwrapSingle(body);
  if (!isObject(whole)) return [];
  const isDelete = method === "DELETE";
  const parts = [whole, whole.meta, whole.data, isDelete && whole[singular]].filter(isObject);
  return parts.flatMap(Object.entries<unknown>).flatMap(([key, value]): Statement[] => {
    const name = plainName(key);
    if (flagNames.test(name) || (isDelete && deletedNames.test(name)))
      return [{ isFlag: true, meaning: meaningOfFlag(value) }];
    // Only a word of success is clear: `{"code": 1, "msg": "ok", "data": []}`.
    if (messageNames.test(name))
      return wordsOfSuccess.test(textOf(value)) ? [{ isFlag: true, meaning: "success" }] : [];
    if (!statusNames.test(name) || wordsForNothing.test(textOf(value))) return [];
    return [{ isFlag: false, meaning: meaningOfStatus(name, value, method) }];
  });
}

function meaningOfFlag(value: unknown): Meaning {
  if (isFalse(value) || /^no?$/i.test(textOf(value))) return "failure";
  // Under `deleted`, it may be the number of deleted records, a record's id, or a date.
  const isDone = wordsOfSuccess.test(textOf(value)) || /^\d+$/.test(textOf(value)) || isRealDate(value);
  return isDone ? "success" : "unclear";
}

function meaningOfStatus(name: string, value: unknown, method: Method): Meaning {
  const text = textOf(value);
  if (value === false || wordsOfFailure.test(text)) return "failure";
  if (wordsOfSuccess.test(text)) return "success";
  // A number in `result` may be an id.
  if (name === "result") return "unclear";
  // Any other code than 0, 20000 and those of HTTP may mean anything.
  if (/^(?:0+|2\d\d|20000)$/.test(text)) return "success";
  // A create that is answered with a code such as 50001 may have been stored.
  return /^(?:4\d{2,}|5\d\d)$/.test(text) || (method !== "POST" && /^5\d{3,}$/.test(text))
    ? "failure"
    : "unclear";
}

const wordsOfSuccess = /^(?:true|yes|ok|done|success(?:ful)?|deleted)$/i;
const wordsOfFailure = /^(?:error|fail|failed|failure|ko|unauthorized|unauthenticated|forbidden|denied)$/i;

/** What servers write as a status if they have nothing to show. */
const wordsForNothing = /^(?:|not[ _-]?found|gone|no[ _-]?(?:content|data)|empty)$/i;
