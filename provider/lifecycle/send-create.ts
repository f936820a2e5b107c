import { isMarkedDeleted, isRecordOf, type ApiRecord } from "../api/record";
import type { WriteAnswer } from "../api/collection";
import {
  ApiError,
  LostAnswerError,
  type LostAnswerOptions,
  message,
  NotFoundError,
  quoteId,
  RecordMismatchError,
  UptimeError,
} from "../api/errors";
import type { FormPair } from "../definitions/codecs";
import { comparableIdentity } from "../definitions/keys";
import { sourceOf } from "../api/settings";
import { wasListed, type Baseline } from "./baseline";
import { identityIn, shownValues, type WantedValues } from "./difference";
import { recoverCreate } from "./lost-create";
import type { ObtainedRecord, PlannedCreate } from "./run-creates";
import type { OperationScope, RecordScope } from "./record-scope";
import { unconfirmedIdAdvice, compareIdentity } from "./same-record";
import { readUntil, sendForm } from "./write";

/** Creates a record. Never sends a create again before it is known that the last one had no effect. */
export async function sendCreate(scope: OperationScope, planned: PlannedCreate): Promise<ObtainedRecord> {
  const { creates, definition, operation } = scope;
  // Fields that no record shows, such as a password, do not tell two lost creates apart.
  const identity = comparableIdentity(definition, (key) => planned.wanted.get(key)) ?? "";
  return creates.inTurn(identity, operation, async () => {
    let highestIdBefore: bigint | undefined;
    for (let sendCount = 1, earlierLostAnswer: LostAnswerError | undefined; ; sendCount++) {
      // If it is sent several times, any of them may have had an effect, so keep the highest id known before the first.
      const post = postOnce(scope, planned, () => {
        if (sendCount === 1) highestIdBefore = creates.highestKnownId;
      });
      try {
        return await creates.whileInFlight(post);
      } catch (error) {
        const sent = { ...planned, highestIdBefore, earlierLostAnswer, sendCount };
        const found = await recoverCreate(scope, sent, error);
        if (!(found instanceof LostAnswerError)) return found;
        earlierLostAnswer = found;
      }
    }
  });
}

/** Sends a create once and returns its record. Throws {@link LostAnswerError} if the answer names none. */
async function postOnce(
  scope: OperationScope,
  planned: PlannedCreate,
  beforeSend: () => void,
): Promise<ObtainedRecord> {
  const { wanted, baseline } = planned;
  const { claims, collection, creates, ledger, operation, options } = scope;
  const send = async (pairs: readonly FormPair[]): Promise<WriteAnswer> => {
    const stored = await collection.create(pairs, operation, beforeSend);
    return stored.failure ? recordInFailure(scope, planned, stored, stored.failure) : stored;
  };
  const answer = await sendForm(scope, wanted, send, { isCreate: true });
  const { id, status, requestText, words, fallbackForms } = answer;
  if (id === undefined)
    throw new LostAnswerError(
      message`${requestText} returned status ${status} and no id${words ? message`: ${words}` : ""}.`,
      "look only",
    );
  const hasRecord = holdsRecord(scope, wanted, answer);
  assertNew(scope, id, planned, answer, hasRecord);
  // A server that reuses ids may also answer from a cache, with a record that has been deleted since.
  const mayBeDeleted =
    ledger.hasHeardOf(id) || (answer.record !== undefined && isMarkedDeleted(answer.record));
  const claim = claims.takeCreated(id, options.owner, hasRecord);
  ledger.markChanged(id);
  try {
    const record =
      hasRecord && !mayBeDeleted ? answer.record : await readCreated(scope, { id, claim }, wanted, answer);
    if (record) ledger.confirm(id);
    else creates.unconfirmedIds.set(id, { claim, wanted });
    creates.rememberId(id, baseline);
    claims.tellCreated(id, claim, record);
    return {
      id,
      claim,
      record,
      fallbackForms,
      advice: record ? undefined : unconfirmedIdAdvice(scope, id),
    };
  } catch (error) {
    ledger.release(id, claim);
    throw error;
  }
}

/**
 * An answer with a status of 2xx that says that the create failed, and names a record: `{"id": 9, "error": "no mail was sent"}`, for
 * example. If that is a new one, it was created. Otherwise throws the failure.
 */
async function recordInFailure(
  scope: OperationScope,
  { wanted, baseline }: PlannedCreate,
  answer: WriteAnswer,
  failure: UptimeError,
): Promise<WriteAnswer> {
  const { id } = answer;
  if (id === undefined || isOlderRecord(scope, id, baseline)) throw failure;
  // It may be shown a little later.
  const isShown = (record: ApiRecord | undefined): boolean => record !== undefined;
  const record = await readUntil(scope, id, isShown).catch((cause: unknown) => {
    const isMissing = cause instanceof NotFoundError;
    if (isMissing && answer.isFailureUnsure) throw new LostAnswerError(failure.parts, "look only", { cause });
    if (isMissing || isRefusedId(cause)) throw failure;
    throw new LostAnswerError(failure.parts, "look only", { answeredId: id, cause });
  });
  // The id may be the request's, and also that of somebody else's record.
  if (compareIdentity(scope.definition, wanted, record) === "differs") throw failure;
  return { ...answer, record };
}

/** Some servers do not answer 404 for an id that cannot be a record's, such as a job's or a request's, but refuse it. */
const isRefusedId = (error: unknown): boolean => error instanceof ApiError && error.isRefusal;

function isOlderRecord({ claims }: RecordScope, id: string, baseline: Baseline): boolean {
  return !claims.mayBeUsedAgain(id) && (wasListed(baseline, id) || claims.existedBefore(id));
}

/** Throws if an answer to a create is a record that was there before, or has only such a record's id, which is then something else's. */
function assertNew(
  scope: RecordScope,
  id: string,
  { baseline }: PlannedCreate,
  { requestText }: WriteAnswer,
  hasRecord: boolean,
): void {
  const { claims, definition } = scope;
  // If one create is answered with the id 7 alone, and another one with the monitor 7, the latter keeps the id.
  const isTaken = !hasRecord && claims.isTakenInRun(id);
  if (!isTaken && !isOlderRecord(scope, id, baseline)) return;
  if (!hasRecord)
    throw new LostAnswerError(
      message`${requestText} returned the id ${quoteId(id)} of a ${definition.singular} that was there
        before, and no record.`,
      "look only",
      // The other create may have been answered with the id of a job.
      { answeredId: isTaken ? id : undefined },
    );
  throw new UptimeError(
    message`${requestText} returned ${definition.singular} ${quoteId(id)}, which was there before: the
      API seems to return an existing record instead of creating one. To manage that record, use the option
      import with its id, or set ${sourceOf(scope.settings, "adoptExisting")}; otherwise change what tells the two apart.`,
  );
}

/** Whether an answer holds the record, and not only an id, or something else with an id, such as a job with a URL. */
const holdsRecord = ({ definition }: RecordScope, wanted: WantedValues, { record }: WriteAnswer): boolean =>
  record !== undefined &&
  isRecordOf(definition, record) &&
  compareIdentity(definition, wanted, record) !== "differs";

/**
 * Reads the record of a create whose answer does not prove what was created, such as an id alone. Returns undefined if the id stays
 * unconfirmed. Throws {@link LostAnswerError} if the record is not the resource's.
 */
async function readCreated(
  scope: OperationScope,
  { id, claim }: Pick<ObtainedRecord, "id" | "claim">,
  wanted: WantedValues,
  answer: WriteAnswer,
): Promise<ApiRecord | undefined> {
  const { definition, ledger } = scope;
  const { record, requestText } = answer;
  const lost = (problem: string, options?: LostAnswerOptions): LostAnswerError =>
    new LostAnswerError(
      message`${requestText} returned the id ${quoteId(id)}, but ${problem}.`,
      "look only",
      options,
    );
  // Meanwhile another create may have been answered with the record of this id.
  const isVoid = (): boolean => ledger.isVoid(id, claim);
  try {
    const hasOnlyId = !isRecordOf(definition, record);
    const found = await readUntil(scope, id, (one) => hasOnlyId || one !== undefined);
    const whose = whoseRecord(scope, wanted, answer, found);
    if (!isVoid() && whose !== "another's") return whose === "ours" ? found : undefined;
  } catch (cause) {
    if (cause instanceof NotFoundError || isRefusedId(cause))
      throw lost(`there is no such ${definition.singular}`, {
        cause,
        answeredId: id,
        otherId: record?.id,
      });
    // The record cannot be read now, but its id is known and must be kept.
    if (!isVoid() && !(cause instanceof RecordMismatchError)) return undefined;
  }
  // If jobs and records are numbered separately, a job may have the same id as a record of another create.
  throw lost("another record is there");
}

/**
 * Whose record is at the address of an id that an answer to a create has named.
 *
 * | the record                                                            | is                                      |
 * | --------------------------------------------------------------------- | --------------------------------------- |
 * | is as the answer has shown it, and no running create is of its name   | ours, even if the server has renamed it |
 * | shows our name and URL, or neither                                    | ours                                    |
 * | is only alike                                                         | ours; after 202, perhaps another's      |
 * | is anything else                                                      | another's                               |
 */
function whoseRecord(
  { creates, definition }: RecordScope,
  wanted: WantedValues,
  { record, status }: WriteAnswer,
  found: ApiRecord,
): "ours" | "perhaps another's" | "another's" {
  const answered =
    record && isRecordOf(definition, record)
      ? shownValues(definition, record, { unescape: true, refuse: () => undefined })
      : undefined;
  const isOfRunning = creates.isRunning(identityIn(definition, found) ?? "");
  if (answered && !isOfRunning && compareIdentity(definition, answered, found) !== "differs") return "ours";
  const likeness = compareIdentity(definition, wanted, found);
  if (likeness === "differs") return "another's";
  // With 202, the id is often a job's.
  return likeness === "alike" && status === 202 ? "perhaps another's" : "ours";
}
