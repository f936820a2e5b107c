import type { ApiRecord } from "../api/record";
import type { WriteAnswer } from "../api/collection";
import {
  ApiError,
  ifError,
  InterruptedError,
  joinMessages,
  message,
  NotFoundError,
  quoteValue,
  UptimeError,
  type Message,
} from "../api/errors";
import type { Definition, Field } from "../definitions/field";
import {
  encodeValue,
  hasFallbackForm,
  isList,
  type FormPair,
  type FallbackForms,
} from "../definitions/codecs";
import { fieldOf, fixedKeys, isConfidential } from "../definitions/keys";
import { differences, isSecretDifference, showsAll } from "./difference";
import type { Difference, WantedValues } from "./difference";
import { topLevel } from "./paths";
import type { OperationScope, RecordScope } from "./record-scope";
import type { Outputs } from "./resource";

/** The API took a value and did not store it. */
export class NotStoredError extends UptimeError {
  constructor(
    given: string | Message,
    readonly record: ApiRecord,
  ) {
    super(given);
  }
}

/**
 * How often, and how far apart, a record is read if it differs from what was sent: the server may still be at
 * work, or a replica may lag. A value that takes longer is reported as not stored.
 */
const maxReads = 5;
const readPauseMilliseconds = 1000;

/** A resource that has a record, by the record's id and its own claim, which is undefined in old state. */
type RecordHolder = Pick<Outputs, "claim"> & { readonly id: string };

/** What is known after a write. */
interface WriteOutcome extends Partial<Pick<WriteAnswer, "record" | "words">> {
  readonly fallbackForms?: FallbackForms | undefined;
}

/**
 * Updates a record and returns it as it is then. Fields that no update changes are compared and not sent; if there are no
 * others, the record is only read and compared. Throws {@link NotStoredError}, and NotFoundError if the record is gone.
 */
export async function sendUpdate(
  scope: OperationScope,
  resource: RecordHolder,
  wanted: WantedValues,
  fallbackForms?: FallbackForms,
): Promise<ApiRecord> {
  const { claims, collection, ledger, operation } = scope;
  const { id } = resource;
  const fixed = fixedKeys(scope.definition);
  const changeable = new Map([...wanted].filter(([key]) => !fixed.includes(key)));
  // A strict server refuses an empty update, such as that of a domain with only a name.
  if (changeable.size === 0) return verify(scope, resource, wanted, {});
  ledger.markChanged(id);
  // While it waits, the server may give the id to a create of this run.
  const assertNotVoid = (): void => {
    claims.assertNotVoid(id, resource);
  };
  const send = (pairs: readonly FormPair[]): Promise<WriteAnswer> =>
    collection.update(id, pairs, operation, assertNotVoid);
  const answer = await sendForm(scope, changeable, send, { fallbackForms });
  operation.mayHaveEffect = true;
  return verify(scope, resource, wanted, answer, fallbackForms !== undefined);
}

/**
 * Compares the record with the values that were sent, and throws {@link NotStoredError} if it differs. An answer proves what is
 * stored, never that it is not: if it shows something else, or not all, the record itself is read. If all that was not stored has another
 * form, it is sent once more in that one.
 *
 * @param isSecondForm whether it has been sent in both forms
 */
export async function verify(
  scope: OperationScope,
  resource: RecordHolder,
  wanted: WantedValues,
  answered: WriteOutcome,
  isSecondForm = false,
): Promise<ApiRecord> {
  const { collection, definition } = scope;
  const { record: shown, words, fallbackForms = collection.fallbackForms } = answered;
  const isProof = shown && showsAll(definition, wanted, shown, { mayHideEmpty: true });
  const isStored = (one: ApiRecord | undefined): boolean =>
    one !== undefined && differences(definition, wanted, one).length === 0;
  const record = isProof ? shown : await readUntil(scope, resource.id, isStored);
  const notStored = differences(definition, wanted, record);
  if (notStored.length === 0) return record;
  // Words in the place of 1 and 0 are only sent to a server that refuses those: PHP takes "false" for true.
  const hasOtherForm = ({ field, wanted: sent }: Difference): boolean =>
    hasFallbackForm(field, sent) && (fallbackForms.has(field.wire) || !field.takesTrueFalse);
  if (!isSecondForm && notStored.every(hasOtherForm)) {
    const wires = notStored.map(({ field }) => field.wire);
    // If a refusal was about something else, a fallback form was taken for the one that works.
    collection.forget(wires);
    const kept = [...fallbackForms].filter((wire) => !wires.includes(wire));
    const added = wires.filter((wire) => !fallbackForms.has(wire));
    const stored = await sendUpdate(scope, resource, wanted, new Set([...kept, ...added]));
    collection.remember(added);
    return stored;
  }
  throw new NotStoredError(
    message`the API accepted these properties and did not store them:
      ${joinMessages(notStored.map(describeNotStored), "; ")}.${words ? message` The response was ${words}.` : ""}`,
    record,
  );
}

/**
 * Reads a record until it is as expected, at most {@link maxReads} times, and returns it as it is then. If a read finds none, `isExpected`
 * gets undefined; if the last one does, its NotFoundError is thrown.
 */
export async function readUntil(
  { collection, operation }: OperationScope,
  id: string,
  isExpected: (record: ApiRecord | undefined) => boolean,
): Promise<ApiRecord> {
  for (let reads = 1; ; reads++) {
    const isLast = reads === maxReads || operation.isInterrupted;
    const found = await collection.get(id, operation).catch(ifError(NotFoundError, (missing) => missing));
    const record = found instanceof NotFoundError ? undefined : found;
    if (isLast || isExpected(record)) {
      if (found instanceof NotFoundError) throw found;
      return found;
    }
    // After an interruption the record is read at once, and for the last time.
    await operation.sleep(readPauseMilliseconds).catch(ifError(InterruptedError, () => undefined));
  }
}

interface SendOptions {
  readonly fallbackForms?: FallbackForms | undefined;
  readonly isCreate?: boolean;
}

/**
 * Sends values. If the server refuses some that have a fallback form, sends those once more in it. If that is refused too, the error is the
 * refusal that is not about a form.
 */
export async function sendForm(
  { collection, definition }: RecordScope,
  wanted: WantedValues,
  send: (pairs: readonly FormPair[]) => Promise<WriteAnswer>,
  { fallbackForms = collection.fallbackForms, isCreate = false }: SendOptions,
): Promise<WriteAnswer & WriteOutcome> {
  let unnamed: ApiError | undefined;
  const added: string[] = [];
  for (;;) {
    try {
      const answer = await send(formOf(definition, wanted, fallbackForms));
      collection.remember(added);
      return { ...answer, fallbackForms };
    } catch (error) {
      // Anything but a refusal is not about the form, and may have had an effect.
      if (!(error instanceof ApiError && error.isRefusal)) throw error;
      const named = namedIn(definition, error);
      if (named.length === 0) unnamed ??= error;
      // With a refusal inside a 2xx something may be stored, and a second create would store it again.
      const mayRepeat = !isCreate || error.status >= 400;
      const refused = mayRepeat ? refusedForms(definition, wanted, fallbackForms, error) : [];
      if (refused.length === 0) {
        // If fallback forms were sent in vain, the refusal before them was about something else.
        const isAboutForm = named.every((wire) => fallbackForms.has(wire));
        throw nameProperties(definition, isAboutForm ? (unnamed ?? error) : error);
      }
      added.push(...refused.map(({ wire }) => wire));
      fallbackForms = new Set([...fallbackForms, ...added]);
    }
  }
}

/** The fields that a refusal names, by the API's names. Other names may be of anything, as `detail` in Phoenix. */
function namedIn({ fields }: Definition, { answer }: ApiError): string[] {
  const wires = Object.values(fields).map(({ wire }) => wire);
  return [...answer.fields.keys()].map(topLevel).filter((name) => wires.includes(name));
}

function formOf(definition: Definition, wanted: WantedValues, fallbackForms: FallbackForms): FormPair[] {
  return [...wanted].flatMap(([key, value]) => encodeValue(fieldOf(definition, key), value, fallbackForms));
}

/** The fields whose values a server has refused, and may take in their fallback form. */
function refusedForms(
  definition: Definition,
  wanted: WantedValues,
  fallbackForms: FallbackForms,
  error: ApiError,
): readonly Field[] {
  const fields = [...wanted].flatMap(([key, value]) => {
    const field = fieldOf(definition, key);
    return hasFallbackForm(field, value) && !fallbackForms.has(field.wire) ? [field] : [];
  });
  const named = namedIn(definition, error);
  if (named.length > 0) return fields.filter(({ wire }) => named.includes(wire));
  // A refusal inside a 2xx that names no field may be about anything, and something may have been stored.
  if (error.status < 400) return [];
  // One kind of field at a time: alert days, then headers, whose entry without a name is refused more often, then channels, then all others.
  const days = fields.filter(({ zeroIsEmpty }) => zeroIsEmpty);
  const list = fields.filter(isList).slice(-1);
  return [days, list].find((some) => some.length > 0) ?? fields;
}

function describeNotStored(difference: Difference): Message {
  const { key, field, wanted, actual, problem } = difference;
  if (isConfidential(field) && problem !== undefined)
    return message`${key} was sent, and what is there cannot be compared. ${problem}`;
  if (isSecretDifference(difference)) return [`${key} (what is there differs from what was sent)`];
  // An update sends some ignored fields as the server has shown them.
  const sent = message`${key} was sent as ${quoteValue(wanted)}`;
  if (problem !== undefined) return message`${sent}, and what is there cannot be compared. ${problem}`;
  const hasOffset = field.type === "dateTime" && typeof actual === "string" && /[+-]\d\d:?\d\d$/.test(actual);
  const hint = hasOffset ? " (an offset other than +00:00 is not supported)" : "";
  return message`${sent} and is ${quoteValue(actual)}${hint}`;
}

/** The refusal with the names of properties instead of the API's names. */
function nameProperties({ fields }: Definition, error: ApiError): ApiError {
  const named = [...error.answer.fields].map(([name, texts]) => {
    const key = Object.keys(fields).find((one) => fields[one]?.wire === topLevel(name));
    // Any other number may be a part of a secret, which must be found.
    const path = name.replace(/^[^.[]+(?:\.(\d+)(?=\.|$))?/, (whole, index?: string) =>
      key === undefined ? whole : `${key}${index === undefined ? "" : `[${index}]`}`,
    );
    return [path, texts] as const;
  });
  return new ApiError({ ...error.answer, fields: new Map(named) });
}
