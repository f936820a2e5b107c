import type { ApiRecord } from "../api/record";
import {
  ApiError,
  joinMessages,
  LostAnswerError,
  message,
  messageOf,
  UptimeError,
  type Message,
} from "../api/errors";
import type { Operation } from "../api/operation";
import { configCommand, sourceOf } from "../api/settings";
import type { Definition } from "../definitions/field";
import { hasUniqueName, nameKeyOf } from "../definitions/keys";
import { wasListed } from "./baseline";
import { describeRecords } from "./describe";
import { isTaken, lookOnce, lookPauseMilliseconds, type Look } from "./lost-create-look";
import type { ObtainedRecord, LostCreate, SentCreate } from "./run-creates";
import type { OperationScope, RecordScope } from "./record-scope";
import { unconfirmedIdAdvice, compareIdentity, confirmsId } from "./same-record";

/** After five cuts in a row, another try is unlikely to succeed. */
const maxSends = 5;
/** This many looks must find nothing before a create counts as having had no effect. */
const minLooks = 2;
/** For a create that is not sent again, or while looks fail. */
const searchMilliseconds = 60_000;

/**
 * Finds out whether a failed create had an effect. Returns its record, or the error if it may be sent again; throws otherwise.
 *
 * | what came                                         | looks        | if they find nothing             |
 * | ------------------------------------------------- | ------------ | -------------------------------- |
 * | a lost answer: a cut, most 5xx                    | two          | sent again, five times in all    |
 * | a lost answer: a timeout, a redirect, without id  | for a minute | an error                         |
 * | a refusal, as a duplicate, of what was sent again | for a minute | an error                         |
 * | another error, of what was sent again             | none         | an error                         |
 * | an error of what was sent once                    | none         | that error                       |
 */
export async function recoverCreate(
  scope: OperationScope,
  sent: SentCreate,
  error: unknown,
): Promise<ObtainedRecord | LostAnswerError> {
  if (error instanceof LostAnswerError) {
    const mayResend = error.next === "look and send again";
    const found = await findLost(scope, { ...sent, lostAnswer: error, mayResend });
    if (found) return found;
    if (mayResend && sent.sendCount < maxSends) return error;
    throw lostError(scope, error);
  }
  const { earlierLostAnswer: lostAnswer } = sent;
  if (!lostAnswer) throw withDuplicateAdvice(scope, error);
  // A refusal as a duplicate may mean that the record is there already.
  const mayBeThere = error instanceof ApiError && [409, 422].includes(error.status);
  const found = mayBeThere && (await findLost(scope, { ...sent, lostAnswer, mayResend: false }));
  if (found) return found;
  throw lostError(scope, lostAnswer, message`Then ${messageOf(error)}`, error);
}

/** The record of a lost create; undefined if it is clear that there is none. Throws if the provider cannot tell. */
async function findLost(scope: OperationScope, lostCreate: LostCreate): Promise<ObtainedRecord | undefined> {
  const { creates, definition } = scope;
  if (lostCreate.baseline.isImplausiblyEmpty)
    return keepIdOrThrow(scope, lostCreate, [
      `The new ${definition.singular} was not looked for: before the create the list of ${definition.plural} was empty, although this run knows of some, so the provider cannot tell which ones are new`,
    ]);
  return creates.whileLost(lostCreate, () => search(scope, lostCreate));
}

/**
 * Looks until it finds one equal record. Gives up after an interruption, after the second look if the create may be sent again, and
 * otherwise after a minute. A look that has failed does not count.
 */
async function search(scope: OperationScope, lostCreate: LostCreate): Promise<ObtainedRecord | undefined> {
  const { claims, clock, operation } = scope;
  const { baseline, mayResend } = lostCreate;
  const { answeredId } = lostCreate.lostAnswer;
  const end = clock.now() + searchMilliseconds;
  const isLeft = (record: ApiRecord): boolean => !isTaken(scope, record);
  // An old record is found while this run deletes it.
  const isOld = ({ id }: ApiRecord): boolean => wasListed(baseline, id) || claims.mayBeUsedAgain(id);
  const seen = new Map<string, ApiRecord>();
  let previousId: string | undefined;
  for (let looks = 0; ;) {
    const isLast = clock.now() >= end || operation.isInterrupted || (mayResend && looks + 1 >= minLooks);
    const found = await lookOnce(scope, lostCreate, isLast);
    const { failure, isUndecided } = found;
    // Another look, which has ended at the same moment, may have taken one.
    const look = { ...found, equal: found.equal.filter(isLeft), doubtful: found.doubtful.filter(isLeft) };
    const listed = [...look.equal, ...look.doubtful];
    for (const one of listed) seen.set(one.id, one);
    // A replica that lags may no longer list what an earlier look has found. Then nothing is sent again.
    if (mayResend && listed.length === 0)
      look.doubtful = [...seen.values()].filter((one) => isLeft(one) && !isOld(one));
    const [record, ...others] = look.equal;
    if (failure === undefined) looks++;
    // A look that has failed or is undecided does not end the search before the minute is over. After an interruption, one look that
    // began after it decides.
    const isAtEnd = failure === undefined && !isUndecided ? isLast && looks >= minLooks : clock.now() >= end;
    // If the answer has named another id, two looks must find the record: a replica that lags may first show a person's record.
    const hasOtherId = answeredId !== undefined && record?.id !== answeredId;
    const needsSecondLook = hasOtherId && record?.id !== previousId;
    // If several are equal, other lost creates may take some of them; so look again.
    if (record && others.length === 0 && (isLast || !needsSecondLook)) {
      // One that the answer has named may only be alike.
      const isConfirmed = confirmsId(scope.definition, lostCreate.wanted, record);
      return claimFound(scope, lostCreate, record.id, isConfirmed ? record : undefined);
    }
    previousId = record?.id;
    if (operation.isInterrupted ? isLast : isAtEnd) return conclude(scope, lostCreate, look);
    try {
      await operation.sleep(lookPauseMilliseconds);
    } catch (error) {
      // After an interruption, one more look reads the whole list.
      if (!operation.isInterrupted) return keepIdOrThrow(scope, lostCreate, messageOf(error));
    }
  }
}

/**
 * What the last look means if it has not found the one record.
 *
 * | it has found                                   | the result                                               |
 * | ---------------------------------------------- | -------------------------------------------------------- |
 * | several that are equal, or doubtful ones       | an error that names them                                 |
 * | nothing, because it has failed                 | {@link keepIdOrThrow}                                    |
 * | nothing, and Pulumi was interrupted            | {@link keepIdOrThrow}                                    |
 * | nothing                                        | undefined; {@link keepIdOrThrow} if the answer had an id |
 */
async function conclude(
  scope: OperationScope,
  lostCreate: LostCreate,
  look: Look,
): Promise<ObtainedRecord | undefined> {
  const { lostAnswer } = lostCreate;
  const { definition, operation } = scope;
  const conflict = conflictOf(definition, look);
  if (conflict) throw conflictError(scope, lostAnswer, conflict);
  const reason = unlookedReason(look, operation);
  if (reason === undefined && lostAnswer.answeredId === undefined) return undefined;
  return keepIdOrThrow(scope, lostCreate, reason);
}

/** Why the last look does not show that there is no record; undefined if it does. */
function unlookedReason({ failure }: Look, { isInterrupted }: Operation): Message | undefined {
  if (failure !== undefined) return message`Then looking for it failed: ${messageOf(failure)}`;
  return isInterrupted ? ["Pulumi was interrupted"] : undefined;
}

/** @param record undefined if the record with the id may be another's */
function claimFound(
  scope: OperationScope,
  { baseline, lostAnswer, wanted }: LostCreate,
  id: string,
  record?: ApiRecord,
): ObtainedRecord {
  const { claims, creates, options } = scope;
  const claim = claims.takeFound(id, options.owner, record);
  if (record) {
    // Then a later create does not take a record that a person made before it.
    creates.rememberId(id, baseline);
    return { id, claim, record };
  }
  creates.unconfirmedIds.set(id, { claim, wanted });
  // The answer may have said that the create failed.
  return { id, claim, advice: message`${lostAnswer}. ${unconfirmedIdAdvice(scope, id)}` };
}

/**
 * After a create no failure drops its id, so an id in an answer is kept even if nothing is found under it yet. Throws if the answer had
 * no id, or if another resource or somebody else has that record by now.
 */
async function keepIdOrThrow(
  scope: OperationScope,
  lostCreate: LostCreate,
  reason?: Message,
): Promise<ObtainedRecord> {
  const { claims, collection, definition, operation } = scope;
  const { lostAnswer, wanted } = lostCreate;
  const { answeredId } = lostAnswer;
  if (answeredId === undefined) throw lostError(scope, lostAnswer, reason);
  const found = await collection.find(answeredId, operation).catch(() => undefined);
  const isOthers = found && compareIdentity(definition, wanted, found) === "differs";
  if (isOthers || claims.hasOtherClaim(answeredId)) throw lostError(scope, lostAnswer, reason);
  return claimFound(scope, lostCreate, answeredId);
}

/** Why the provider cannot tell whether a lost create made a new record; undefined if no new record is like it. */
function conflictOf(definition: Definition, { equal, doubtful }: Look): Message | undefined {
  if (equal.length > 1)
    return message`Several new ${definition.plural} are equal to it (${describeRecords(definition, equal, [])}), so the
      provider cannot tell which one it has made`;
  if (doubtful.length === 0) return undefined;
  return message`There is a new record that may be this one or somebody else's, so nothing is sent again:
    ${describeRecords(definition, doubtful)}`;
}

/** The error with the ways out if the name is taken: `up --replace` calls no `diff`, so the old record may still have the name. */
function withDuplicateAdvice({ definition, settings }: RecordScope, error: unknown): unknown {
  const { singular } = definition;
  const key = nameKeyOf(definition);
  if (!(error instanceof ApiError)) return error;
  // A refusal that names no field may be about a unique name.
  const { fields: refused } = error.answer;
  const mayBeNamed = refused.has(key) || (hasUniqueName(definition) && refused.size === 0);
  if (error.status !== 409 && !(error.isRefusal && mayBeNamed)) return error;
  const adopt = settings.adoptExisting ? "" : `set ${sourceOf(settings, "adoptExisting")}, or `;
  return new UptimeError(
    message`${messageOf(error)}. If a ${singular} with this ${key} exists, ${adopt}name its id with the option
      import if the resource is new. If a ${singular} in the trash still has it, restore that one or remove it for good. If
      the resource's own old record has it, as with \`pulumi up --replace\`, set the option deleteBeforeReplace.`,
    { cause: error },
  );
}

/** Every error after a lost create warns that there may be a record, and tells how to find it. */
function lostError(
  { definition: { singular }, settings }: RecordScope,
  lostAnswer: LostAnswerError,
  reason: Message = [`A new ${singular} was looked for, and none was found`],
  cause: unknown = lostAnswer,
): UptimeError {
  const command = settings.adoptExisting ? undefined : configCommand(settings, "adoptExisting", "true");
  return errorOf(
    [lostAnswer.parts, reason],
    message`The ${singular} may exist: the next \`pulumi up\` adopts it if ${sourceOf(settings, "adoptExisting")}
      ${settings.adoptExisting ? "stays" : "is"} true${command ? ` (${command})` : ""}; otherwise it may create a second one.`,
    cause,
  );
}

/** An error that names records that an adoption would not take, because they are not equal. */
function conflictError(
  { definition: { singular }, settings }: RecordScope,
  lostAnswer: LostAnswerError,
  conflict: Message,
): UptimeError {
  return errorOf(
    [lostAnswer.parts, conflict],
    message`The ${singular} may exist: if it is one of these, declare what is there, and name its id with the option
      import. Otherwise the next \`pulumi up\` creates another one, unless ${sourceOf(settings, "adoptExisting")} is true and
      an equal record exists.`,
    lostAnswer,
  );
}

function errorOf(reasons: readonly Message[], wayOut: Message, cause: unknown): UptimeError {
  return new UptimeError(message`${joinMessages(reasons, ". ")}. ${wayOut}`, { cause });
}
