import { idNumber, isRecordOf, type ApiRecord } from "../api/answer";
import {
  ApiError,
  joinMessages,
  LostAnswerError,
  message,
  messageOf,
  withoutPeriod,
  UptimeError,
} from "../api/errors";
import type { Message } from "../api/errors";
import { Listing } from "../api/listing";
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
/** Milliseconds to look for a create that the server may still be working on, or while looks fail. */
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
  /** It was sent again and refused as a duplicate. */
  readonly isDuplicate?: boolean;
}

/** New records that a create may have made. */
interface Candidates {
  /** Equal in everything that is declared and shown. */
  readonly equal: readonly ApiRecord[];
  /** With the same name or URL, or with the beginning of the name, and something else that differs. */
  readonly alike: readonly ApiRecord[];
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
  const { lost, sends } = sent;
  if (error instanceof LostAnswerError) {
    const found = await findLost(scope, { ...sent, lost: error }, operation);
    if (found) return found;
    if (error.next === "search first" && sends < mostSends) return error;
    throw new UptimeError(message`${error} ${mayExistHint(definition)}`, { cause: error });
  }
  if (!lost) throw adviseReplacement(definition, error);
  // It may be refused as a duplicate of the record that the send before has created.
  const isDuplicate = [409, 422].includes(refusalOf(error)?.status ?? 0);
  const found = isDuplicate && (await findLost(scope, { ...sent, lost, isDuplicate }, operation));
  if (found) return found;
  throw new UptimeError(message`${lost} Then ${messageOf(error)} ${mayExistHint(definition)}`, {
    cause: error,
  });
}

/**
 * Looks for the record of a lost create. Returns undefined if there is none. Throws if there are several, or one that may be
 * somebody else's.
 */
async function findLost(
  scope: RecordScope,
  sent: LostCreate,
  operation: Operation,
): Promise<CreatedRecord | undefined> {
  const { clock, collection, definition, ledger } = scope;
  const { claim, lost } = sent;
  const { log } = collection.client;
  const fail = (reason: string | Message): UptimeError =>
    new UptimeError(message`${lost} ${reason} ${mayExistHint(definition)}`, { cause: lost });
  const enough = sent.isDuplicate ? 1 : enoughLooks;
  let candidates: Candidates = { equal: [], alike: [] };
  for (let looks = 0, tries = 1, waited = 0; ; tries++, waited += lookPause) {
    let failure: unknown;
    const begun = clock.now();
    try {
      const { equal, alike } = await findCandidates(scope, sent, operation);
      // Another look, which has ended at the same moment, may have taken one.
      const isFree = ({ id }: ApiRecord): boolean => !isOwned(scope, id);
      candidates = { equal: equal.filter(isFree), alike: alike.filter(isFree) };
      looks++;
      const [record, ...others] = candidates.equal;
      // If several are equal, other lost creates may take some of them; so look again.
      if (record && others.length === 0) {
        ledger.add(record.id, { is: "taken", claim });
        log.addSearch(collection.client.withoutKey(record.id));
        return { id: record.id, record };
      }
    } catch (error) {
      // A failed look does not count, but its time does: a server that hangs would be asked for half an hour.
      failure = error;
      waited += clock.now() - begun;
    }
    const isLong = (lost.next === "keep looking" && !sent.isDuplicate) || failure !== undefined;
    if (looks >= enough && failure === undefined && (!isLong || waited >= longSearch)) break;
    if ((waited >= longSearch && tries >= enoughLooks) || operation.isInterrupted) {
      if (failure === undefined) break;
      throw fail(message`Then looking for it failed: ${messageOf(failure)}`);
    }
    try {
      await operation.sleep(lookPause);
    } catch (error) {
      throw fail(messageOf(error));
    }
  }
  log.addSearch(undefined);
  const { equal, alike } = candidates;
  if (equal.length > 1)
    throw fail(
      message`Several new ${definition.plural} are equal to it (${joinMessages(
        equal.map((record) => describeRecord(definition, record, [])),
        ", ",
      )}), so it is not known which one it has made.`,
    );
  if (alike.length > 0) {
    const named = joinMessages(
      alike.map((record) => describeRecord(definition, record)),
      ", ",
    );
    throw fail(message`A new record may be it or somebody else's, so nothing is sent again: ${named}.`);
  }
  if (operation.isInterrupted) throw fail("Pulumi was interrupted.");
  return undefined;
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
    message`${withoutPeriod(error)}. If it is to replace a ${singular} with the same ${key}, as with \`pulumi up --replace\`, give the resource the option deleteBeforeReplace.`,
    { cause: error },
  );
}

function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  return error instanceof UptimeError && error.cause instanceof ApiError ? error.cause : undefined;
}

/** Every error after a lost create ends so. */
function mayExistHint({ singular }: Definition): string {
  return (
    `The ${singular} may exist: the next \`pulumi up\` finds and adopts it if the setting uptime:adoptExisting is true ` +
    "(`pulumi config set uptime:adoptExisting true`); without it, it may be created again."
  );
}

async function findCandidates(
  scope: RecordScope,
  { wanted, baseline, highestIdThen, lost }: LostCreate,
  operation: Operation,
): Promise<Candidates> {
  const { clock, collection, creates, definition, reader, traits } = scope;
  const isNew = ({ id }: ApiRecord): boolean => {
    const number = idNumber(id);
    const isLater = highestIdThen === undefined || number === undefined || number > highestIdThen;
    return isLater && !baseline.ids.has(number ?? id) && !isOwned(scope, id);
  };
  const list = new Listing(collection.list(operation), "desc", clock);
  if (highestIdThen === undefined) await list.complete();
  else await list.find(String(highestIdThen), () => Infinity);
  const candidates = list.all().filter(isNew);
  // A create that is still in flight may have made one of them, and is about to say so.
  await operation.inTime(Promise.allSettled(creates.inFlight));
  const answered = candidates.find((record) => record.id === lost.answeredId && isNew(record));
  if (answered) return { equal: [answered], alike: [] };
  const equal: ApiRecord[] = [];
  const alike: ApiRecord[] = [];
  for (const listed of candidates) {
    if (!isNew(listed) || !isAlike(definition, wanted, listed)) continue;
    const record = traits.showsAll(listed) ? listed : await reader.readSingle(listed.id, operation);
    if (!isNew(record) || !isRecordOf(definition, record)) continue;
    if (differences(definition, wanted, record).length === 0) equal.push(record);
    else if (isAlike(definition, wanted, record)) alike.push(record);
  }
  return { equal, alike };
}

function isOwned({ ledger, note }: RecordScope, id: string): boolean {
  return ["owned", "ending"].includes(ledger.standing(id)) || note.isOwnedElsewhere(id);
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
