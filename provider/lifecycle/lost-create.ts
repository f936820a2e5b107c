import { idNumber, isRecordOf, type ApiRecord } from "../api/answer";
import type { Collection } from "../api/collection";
import {
  ApiError,
  joinMessages,
  LostAnswerError,
  message,
  messageOf,
  quoteId,
  withoutPeriod,
  UptimeError,
} from "../api/errors";
import type { Message } from "../api/errors";
import type { Operation } from "../api/operation";
import type { Definition } from "../definitions/field";
import { fieldOf, fixedKeys, identityKeys } from "../definitions/keys";
import { describeRecord } from "./describe";
import { compare, differences, shows, type WantedValues } from "./difference";
import type { CreatedRecord, PlannedCreate } from "./pending-creates";
import type { RecordScope } from "./record-scope";

/** How often a create is sent at most. After five cuts in a row, another try is unlikely to succeed. */
const mostSends = 5;
/** Milliseconds between two looks, for a list that lags a little. */
const lookPause = 5000;
/** How many looks must find nothing before a create counts as having had no effect. */
const enoughLooks = 2;
/** Milliseconds to look for a create that is not sent again, or while looks fail. */
const longSearch = 60_000;

interface SentCreate extends PlannedCreate {
  /** The record has a higher id than this; undefined if ids are not in order. */
  readonly highestIdThen: bigint | undefined;
  /** How often it was sent. */
  readonly sends: number;
  /** The lost answer of the send before, if there was one. */
  readonly lost: LostAnswerError | undefined;
}

/** A create whose answer was lost. */
interface LostCreate extends SentCreate {
  readonly lost: LostAnswerError;
  /** It was sent again, and refused as if its record were there. */
  readonly isDuplicate: boolean;
}

/** The result of a look: new records that the create may have made. */
interface Look {
  /** Equal in everything that is declared and shown. */
  readonly equal: readonly ApiRecord[];
  /** With the same name or URL, or with the beginning of the name, and something else that differs. */
  readonly alike: readonly ApiRecord[];
  /** Why the look has failed. */
  readonly failure?: unknown;
}

/**
 * Finds out whether a failed create had an effect. Returns its record, or the error if it may be sent again; throws otherwise.
 */
export async function recoverCreate(
  scope: RecordScope,
  sent: SentCreate,
  error: unknown,
  operation: Operation,
): Promise<CreatedRecord | LostAnswerError> {
  const { definition } = scope;
  const { sends } = sent;
  if (error instanceof LostAnswerError) {
    const found = await findLost(scope, { ...sent, lost: error, isDuplicate: false }, operation);
    if (found) return found;
    if (error.next === "send again" && sends < mostSends) return error;
    throw lostError(definition, error);
  }
  if (!sent.lost) throw adviseReplacement(definition, error);
  // It may be refused as a duplicate of the record that the send before has created.
  const isDuplicate = [409, 422].includes(refusalOf(error)?.status ?? 0);
  const found = isDuplicate && (await findLost(scope, { ...sent, lost: sent.lost, isDuplicate }, operation));
  if (found) return found;
  throw lostError(definition, sent.lost, message`Then ${messageOf(error)}`, error);
}

/**
 * Looks for the record of a lost create, until there is one or it is clear that there is none: then it returns undefined. Throws
 * if the provider cannot tell which record it is.
 */
async function findLost(
  scope: RecordScope,
  sent: LostCreate,
  operation: Operation,
): Promise<CreatedRecord | undefined> {
  const { clock } = operation;
  const { creates, definition } = scope;
  /** After a create no failure drops its id, so an answer's id is kept even if nothing is found under it yet. */
  const giveUp = (reason: Message): CreatedRecord => {
    const { answeredId } = sent.lost;
    if (answeredId === undefined) throw lostError(definition, sent.lost, reason);
    const advice = message`If ${quoteId(answeredId)} is the id of something else, such as a job, the
      ${definition.singular} may exist with another id: then \`pulumi up --refresh\` with the setting
      uptime:adoptExisting finds and adopts it.`;
    return { ...take(scope, sent, answeredId), advice };
  };
  if (sent.baseline.isDoubtful)
    return giveUp([
      `It was not looked for, because the list of ${definition.plural} was empty before it, although this run knows of some: so the provider cannot tell which ones are new`,
    ]);
  const isLong = sent.isDuplicate || sent.lost.next === "look for a minute";
  const begun = clock.now();
  creates.lost.add(sent);
  try {
    for (let looks = 0; ;) {
      const isOver = clock.now() - begun >= longSearch || operation.isInterrupted;
      const isLast = isOver || (!isLong && looks + 1 >= enoughLooks);
      const found = await lookFor(scope, sent, operation, isLast);
      // Another look, which has ended at the same moment, may have taken one.
      const isFree = ({ id }: ApiRecord): boolean => !scope.claims.isTaken(id);
      const look = { ...found, equal: found.equal.filter(isFree), alike: found.alike.filter(isFree) };
      const [record, ...others] = look.equal;
      // If several are equal, other lost creates may take some of them; so look again.
      if (record && others.length === 0) return take(scope, sent, record.id, record);
      if (!("failure" in look)) looks++;
      const hasLooked = looks >= enoughLooks;
      const isEnd = "failure" in look ? clock.now() - begun >= longSearch : isLast && hasLooked;
      if (isEnd || operation.isInterrupted) {
        const conflict = conflictOf(definition, look);
        if (conflict) throw lostError(definition, sent.lost, conflict);
        if ("failure" in look) return giveUp(message`Then looking for it failed: ${messageOf(look.failure)}`);
        if (operation.isInterrupted) return giveUp(["Pulumi was interrupted"]);
        return sent.lost.answeredId === undefined ? undefined : giveUp([]);
      }
      try {
        await operation.sleep(lookPause);
      } catch (error) {
        return giveUp(messageOf(error));
      }
    }
  } finally {
    creates.lost.delete(sent);
  }
}

function take({ claims }: RecordScope, { owner }: LostCreate, id: string, record?: ApiRecord): CreatedRecord {
  return { id, claim: claims.takeFound(id, owner, record), record };
}

/** Why the provider cannot tell whether a new record is that of a lost create; undefined if there is none like it. */
function conflictOf(definition: Definition, { equal, alike }: Look): Message | undefined {
  if (equal.length > 1)
    return message`Several new ${definition.plural} are equal to it (${joinMessages(
      equal.map((record) => describeRecord(definition, record, [])),
      ", ",
    )}), so the provider cannot tell which one it has made`;
  if (alike.length === 0) return undefined;
  const named = joinMessages(
    alike.map((record) => describeRecord(definition, record)),
    ", ",
  );
  return message`There is a new record that may be this one or somebody else's, so nothing is sent again: ${named}`;
}

/** Adds the way out if the name is taken: `up --replace` calls no `diff`, so the old record may still have the name. */
function adviseReplacement(definition: Definition, error: unknown): unknown {
  const { fields, singular } = definition;
  const refusal = refusalOf(error);
  const [key] = fixedKeys(definition);
  if (!refusal || key === undefined || !(error instanceof UptimeError)) return error;
  const isAboutIt =
    refusal.status === 409 || refusal.fields.size === 0 || refusal.fields.has(fields[key]?.wire ?? "");
  if (!isAboutIt || ![409, 422].includes(refusal.status)) return error;
  return new UptimeError(
    message`${withoutPeriod(error)}. If it is to replace a ${singular} with the same ${key}, as with \`pulumi
      up --replace\`, give the resource the option deleteBeforeReplace.`,
    { cause: error },
  );
}

function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  return error instanceof UptimeError && error.cause instanceof ApiError ? error.cause : undefined;
}

/** Every error after a lost create says that there may be a record, and how to find it. */
function lostError(
  { singular }: Definition,
  lost: LostAnswerError,
  reason: Message = [],
  cause: unknown = lost,
): UptimeError {
  const sentences = [lost.parts, reason].filter((one) => one.length > 0).map(withoutPeriod);
  return new UptimeError(
    message`${joinMessages(sentences, ". ")}. The ${singular} may exist: the next \`pulumi up\` finds and
      adopts it if the setting uptime:adoptExisting is true (\`pulumi config set uptime:adoptExisting true\`);
      without it, it may be created again.`,
    { cause },
  );
}

/**
 * Looks once. Judges what it finds when every create that was sent before is answered, or is being looked for too.
 *
 * @param isLast decides, so the whole list is read: if the server's ids do not rise, a lower one may be that of the record too.
 */
async function lookFor(
  scope: RecordScope,
  sent: LostCreate,
  operation: Operation,
  isLast: boolean,
): Promise<Look> {
  const { collection, creates, definition } = scope;
  const { wanted, baseline, highestIdThen, lost } = sent;
  const isLater = (id: string): boolean => {
    const number = idNumber(id);
    return highestIdThen === undefined || number === undefined || number > highestIdThen;
  };
  const isNew = ({ id }: ApiRecord): boolean => {
    const wasNotThere = (isLast || isLater(id)) && !baseline.ids.has(idNumber(id) ?? id);
    // Servers use ids again.
    return (wasNotThere || scope.claims.isDeleted(id)) && !scope.claims.isTaken(id);
  };
  const isOthers = (record: ApiRecord): boolean =>
    [...creates.lost].some((other) => other !== sent && isEqual(definition, other.wanted, record));
  try {
    const listed = await listAbove(collection, isLast ? undefined : highestIdThen, operation);
    const candidates = listed.filter(isNew);
    // A create that is still in flight may have made one of them, and is about to say so.
    await operation.inTime(Promise.allSettled(creates.inFlight));
    const answered = candidates.find((record) => record.id === lost.answeredId && isNew(record));
    if (answered) return { equal: [answered], alike: [] };
    const equal: ApiRecord[] = [];
    const alike: ApiRecord[] = [];
    for (const candidate of candidates) {
      if (!isNew(candidate) || !mayBeAlike(definition, wanted, candidate)) continue;
      // A replica that lags may not show it at its own address yet.
      const record = (await collection.find(candidate.id, operation)) ?? candidate;
      if (record !== candidate && !isRecordOf(definition, record)) continue;
      const isSure = record !== candidate && (isLater(record.id) || scope.claims.isDeleted(record.id));
      if (isSure && isEqual(definition, wanted, record)) equal.push(record);
      else if (isAlike(definition, wanted, record) && !isOthers(record)) alike.push(record);
    }
    return { equal, alike };
  } catch (failure) {
    return { equal: [], alike: [], failure };
  }
}

/** The records of a list that falls by number down to an id, or all if it does not. */
async function listAbove(
  collection: Collection,
  id: bigint | undefined,
  operation: Operation,
): Promise<ApiRecord[]> {
  const listed: ApiRecord[] = [];
  let isFalling = id !== undefined;
  let lowest: bigint | undefined;
  let compared = 0;
  for await (const page of collection.list(operation)) {
    listed.push(...page);
    for (const number of page.map((record) => idNumber(record.id))) {
      isFalling &&= number !== undefined && (lowest === undefined || number < lowest);
      lowest = number;
      compared++;
    }
    // One id does not show the order.
    if (isFalling && compared > 1 && lowest !== undefined && id !== undefined && lowest <= id) break;
  }
  return listed;
}

function isEqual(definition: Definition, wanted: WantedValues, record: ApiRecord): boolean {
  return differences(definition, wanted, record).length === 0;
}

/** A listed record, which may show less than its own address does. */
function mayBeAlike(definition: Definition, wanted: WantedValues, listed: ApiRecord): boolean {
  const showsAll = identityKeys(definition).every((key) => shows(fieldOf(definition, key), listed));
  return !showsAll || isAlike(definition, wanted, listed);
}

/** A record is alike if it has the same name or URL, a name that the server has cut short, or shows neither. */
function isAlike(definition: Definition, wanted: WantedValues, record: ApiRecord): boolean {
  const keys = identityKeys(definition);
  if (!keys.some((key) => shows(fieldOf(definition, key), record))) return true;
  return keys.some((key) => {
    const field = fieldOf(definition, key);
    const value = wanted.get(key) ?? null;
    const comparison = compare(field, value, record);
    if (comparison.outcome === "same") return true;
    // A server cuts names short, and no URLs.
    if (field.type === "url" || comparison.outcome === "notShown" || typeof value !== "string") return false;
    const { value: actual } = comparison;
    return typeof actual === "string" && actual !== "" && value.startsWith(actual);
  });
}
