import type { ApiRecord } from "../api/answer";
import type { Written } from "../api/collection";
import { ApiError, joined, message, NotStoredError, quote, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { Operation } from "../api/operation";
import type { Definition, Field } from "../definitions/field";
import { encodings, isEmpty } from "../definitions/kinds";
import type { Pair } from "../definitions/kinds";
import { differences, fieldOf, quoteValue } from "./difference";
import type { Difference, Values } from "./difference";
import type { EmptyForms } from "./server-traits";
import type { Account } from "./account";
import { topLevel } from "./validate";

/**
 * How often, and how many milliseconds apart, a record is read after an update that was only accepted: a queue that needs
 * longer than some seconds is told of as a value that was not stored.
 */
const mostLooks = 5;
const lookPause = 1000;

/** Sends a create. Its answer may be lost, or hold no record. */
export async function store(account: Account, values: Values, operation: Operation): Promise<Written> {
  const { result } = await sendInSomeForm(account, values, account.traits.emptyForms, (form) =>
    account.collection.store(form, operation),
  );
  if (result.id !== undefined) account.ledger.note(result.id, { is: "written" });
  return result;
}

/** Updates a record and returns it as it is then. Throws {@link NotStoredError} and {@link MissingError}. */
export async function sendUpdate(
  account: Account,
  id: string,
  values: Values,
  operation: Operation,
  forms = account.traits.emptyForms,
): Promise<ApiRecord> {
  account.ledger.note(id, { is: "written" });
  const sent = await sendInSomeForm(account, values, forms, (form) => patch(account, id, form, operation));
  return verify(account, id, values, sent.result, operation, sent.forms);
}

/** Compares the record with what was sent; says "empty" in another way if the first was ignored. */
export async function verify(
  account: Account,
  id: string,
  values: Values,
  answered: { readonly record?: ApiRecord | undefined; readonly status?: number | undefined },
  operation: Operation,
  forms = account.traits.emptyForms,
): Promise<ApiRecord> {
  const { definition, reader, traits } = account;
  const shown = answered.record;
  const seen = [...values].flatMap(([key, value]) => (isEmpty(value) ? [] : [key]));
  let record = shown && traits.isWhole(shown, seen) ? shown : await reader.show(id, operation);
  // What was only accepted may be done a moment later.
  const isAccepted = shown === undefined && (answered.status === 202 || answered.status === 204);
  for (let look = 1; isAccepted && look < mostLooks; look++) {
    if (differences(definition, values, record).length === 0 || operation.isInterrupted) break;
    await operation.sleep(lookPause);
    record = await reader.show(id, operation);
  }
  traits.learnShown(values, record);
  const lost = differences(definition, values, record);
  if (lost.length === 0) {
    traits.emptyForms = forms;
    return record;
  }
  if (lost.every(({ wanted }) => isEmpty(wanted))) {
    const next = nextForms(
      forms,
      lost.map(({ field }) => field),
    );
    if (next) return sendUpdate(account, id, values, operation, next);
  }
  throw new NotStoredError(
    message`the API took these properties and did not store them: ${joined(lost.map(lossOf), "; ")}.`,
    record,
  );
}

/** By PATCH, or by PUT on a server that does not know PATCH. */
async function patch(
  { collection, traits }: Account,
  id: string,
  form: readonly Pair[],
  operation: Operation,
): Promise<Written> {
  // Other updates in flight may learn of PUT meanwhile.
  const method = traits.updateMethod;
  try {
    return await collection.update(id, form, operation, method);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 405) || method === "PUT") throw error;
    traits.updateMethod = "PUT";
    return collection.update(id, form, operation, "PUT");
  }
}

/** Sends values; if "empty" is refused in one form, in the next one. */
async function sendInSomeForm<T>(
  { definition }: Account,
  values: Values,
  first: EmptyForms,
  transmit: (form: readonly Pair[]) => Promise<T>,
): Promise<{ result: T; forms: EmptyForms }> {
  let forms = first;
  for (let refusal: ApiError | undefined; ;) {
    try {
      return { result: await transmit(encode(definition, values, forms)), forms };
    } catch (error) {
      if (!(error instanceof ApiError && error.isRefusal))
        throw refusal ? explained(definition, refusal) : error;
      refusal ??= error;
      const next = nextForms(forms, emptyFields(definition, values, error));
      if (!next) throw explained(definition, refusal);
      forms = next;
    }
  }
}

/** The form's pairs of some values, with "empty" said in a certain way. */
export function encode(definition: Definition, values: Values, forms: EmptyForms): Pair[] {
  return [...values].flatMap(([key, value]) => {
    const field = fieldOf(definition, key);
    const ways = encodings(field, value);
    return ways[Math.min(forms[groupOf(field)], ways.length - 1)] ?? [];
  });
}

/** The next way to say "empty" for some fields: each group's second form, one after the other, then both. */
function nextForms(forms: EmptyForms, fields: readonly Field[]): EmptyForms | undefined {
  const isOpen = (group: keyof EmptyForms): boolean =>
    fields.some((field) => groupOf(field) === group && encodings(field, null).length > forms[group] + 1);
  if (isOpen("list")) return { ...forms, list: forms.list + 1 };
  if (isOpen("other")) return { list: 0, other: forms.other + 1 };
  return undefined;
}

function groupOf(field: Field): keyof EmptyForms {
  return field.kind === "idList" || field.kind === "headerList" ? "list" : "other";
}

/** The fields sent as empty that a refusal may be about. */
function emptyFields(definition: Definition, values: Values, refusal: ApiError): Field[] {
  const named = [...refusal.fields.keys()].map(topLevel);
  return [...values]
    .filter(([, value]) => isEmpty(value))
    .map(([key]) => fieldOf(definition, key))
    .filter(({ wire }) => named.length === 0 || named.includes(wire));
}

/** What was sent of a property, and what is there. */
function lossOf({ key, field, wanted, shown, problem }: Difference): Message {
  if (field.secret) return [`${key} (what is there differs from what was sent)`];
  const sent = `${key} was sent as ${JSON.stringify(wanted)}`;
  if (problem !== undefined) return message`${sent}, and ${quote(problem)}`;
  const hasOffset = field.kind === "dateTime" && typeof shown === "string" && /[+-]\d\d:?\d\d$/.test(shown);
  const hint = hasOffset ? " (an offset other than +00:00 is not supported)" : "";
  return message`${sent} and is ${quoteValue(shown)}${hint}`;
}

/** A refusal with the properties' own names in place of the API's. */
function explained({ fields }: Definition, error: ApiError): UptimeError {
  const reasons = [...error.fields].map(([name, texts]) => {
    const key = Object.keys(fields).find((one) => fields[one]?.wire === topLevel(name));
    const path = name.replace(/^[^.[]+/, key ?? "$&").replace(/\.(\d+)/g, "[$1]");
    return message`${path}: ${joined(texts, " ")}`;
  });
  if (reasons.length === 0) return error;
  const said = error.said.length > 0 ? message` (${error.said})` : "";
  return new UptimeError(
    message`${error.request} was refused with status ${error.status}${said}: ${joined(reasons, "; ")}`,
    { cause: error },
  );
}
