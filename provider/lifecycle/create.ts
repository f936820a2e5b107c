import { idNumber, isRecordOf, type ApiRecord } from "../api/answer";
import type { WriteAnswer } from "../api/collection";
import {
  AnotherRecordError,
  LostAnswerError,
  message,
  messageOf,
  MissingError,
  NotStoredError,
  quoteId,
  UptimeError,
} from "../api/errors";
import type { Message } from "../api/errors";
import { Operation } from "../api/operation";
import { fieldOf } from "../definitions/keys";
import { adopt } from "./adopt";
import { readBaseline, type Baseline } from "./baseline";
import { namedClaim, unnamedClaim } from "./claims";
import { describeRecord, resourceName } from "./describe";
import { compare, wantedValues, wantedValuesOnCreate } from "./difference";
import { importRecord } from "./import";
import { recoverCreate } from "./lost-create";
import { outputsOf } from "./outputs";
import type { CreatedRecord, PlannedCreate } from "./pending-creates";
import type { RecordScope } from "./record-scope";
import { PartialFailureError, type Inputs, type EngineOptions, type State } from "./resource";
import { formOf, sendUpdate, verify, withEmptyListForm } from "./write";

/** A created resource, and a message if it has adopted its record. */
interface CreatedState extends State {
  readonly announcement?: Message | undefined;
}

/** Imports, adopts or creates the record of a resource, and verifies it. Never creates two. */
export async function create(
  scope: RecordScope,
  inputs: Inputs,
  options: EngineOptions,
): Promise<CreatedState> {
  const { definition, ledger, settings } = scope;
  const { importId } = inputs;
  const { owner } = options;
  const operation = new Operation(scope, options);
  if (importId !== undefined && !ledger.isImportUsed(importId, owner)) {
    const imported = await importRecord(scope, importId, inputs, options, operation);
    return { id: importId, outputs: outputsOf(scope, inputs, imported.record, { claim: imported.claim }) };
  }

  const wanted = wantedValues(definition, inputs.values);
  const wantedOnCreate = wantedValuesOnCreate(definition, inputs.values);
  const baseline = await baselineOf(scope, operation);
  const adopted = settings.adoptExisting
    ? await adopt(scope, wantedOnCreate, baseline, owner, operation)
    : undefined;
  const claimOfNew = owner === undefined ? unnamedClaim : namedClaim(owner);
  const created =
    adopted ?? (await sendCreate(scope, { wanted: wantedOnCreate, claim: claimOfNew, baseline }, operation));
  const { id, record } = created;
  if (!adopted) scope.note.addCreated(id);
  // State needs no claim of a created record, because no resource owned it before.
  const claim = adopted?.claim;

  // A create sends all but update-only fields. The fields that an adopted record does not show may have any value.
  const unsent = [...wanted].filter(([key, value]) => {
    const field = fieldOf(definition, key);
    if (!adopted && !field.updateOnly) return false;
    return !record || compare(field, value, record).outcome !== "same";
  });
  try {
    const settled =
      unsent.length === 0
        ? await verify(scope, id, wantedOnCreate, created, operation, created.emptyLists)
        : await sendUpdate(scope, id, wanted, operation);
    return {
      id,
      outputs: outputsOf(scope, inputs, settled, { claim }),
      announcement:
        adopted &&
        message`${definition.label} ${resourceName(owner)} adopts ${definition.singular} ${describeRecord(definition, adopted.record)}. Nothing is created.`,
    };
  } catch (error) {
    const seen = error instanceof NotStoredError ? error.record : (record ?? { id, raw: {} });
    const outputs = outputsOf(scope, inputs, seen, { claim, isPartial: true });
    // A field that the record does not show may be unset. Store null, so that the next diff sends it.
    for (const [key] of unsent)
      if (compare(fieldOf(definition, key), null, seen).outcome === "notShown") outputs.values[key] = null;
    throw new PartialFailureError(
      id,
      outputs,
      message`The ${definition.label} was ${adopted ? "adopted" : "created"} with the id ${quoteId(id)}, but ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Reads the records that are there before the first create of this process; the other creates wait for that. */
function baselineOf({ collection, creates }: RecordScope, operation: Operation): Promise<Baseline> {
  creates.baseline ??= readBaseline(collection, operation.forOthersToo()).then(
    (baseline) => {
      creates.highestKnownId = baseline.highestId;
      return baseline;
    },
    (error: unknown) => {
      creates.baseline = undefined;
      throw error;
    },
  );
  return operation.inTime(creates.baseline);
}

/** Creates a record. Never sends a create again before it is known that the last one had no effect. */
async function sendCreate(
  scope: RecordScope,
  planned: PlannedCreate,
  operation: Operation,
): Promise<CreatedRecord> {
  const { creates, definition } = scope;
  const turnKey = JSON.stringify(formOf(definition, planned.wanted, "entry"));
  return inTurn(creates.turns, turnKey, operation, async () => {
    let highestIdThen = creates.highestKnownId;
    for (let sends = 1, lost: LostAnswerError | undefined; ; sends++) {
      // If it is sent several times, any of them may have had an effect, so keep the highest id known before the first.
      const onSend = lost ? undefined : () => (highestIdThen = creates.highestKnownId);
      const post = postOnce(scope, planned, operation, onSend);
      creates.inFlight.add(post);
      try {
        return await post.finally(() => creates.inFlight.delete(post));
      } catch (error) {
        const found = await recoverCreate(
          scope,
          { ...planned, highestIdThen, lost, sends },
          error,
          operation,
        );
        if (!(found instanceof LostAnswerError)) return found;
        lost = found;
      }
    }
  });
}

/** Runs identical creates one after another, so that a lost one cannot be mistaken for its twin. */
async function inTurn<T>(
  turns: Map<string, Promise<unknown>>,
  turnKey: string,
  operation: Operation,
  run: () => Promise<T>,
): Promise<T> {
  const before = turns.get(turnKey);
  const turn = (async () => {
    if (before) await operation.inTime(before);
    return run();
  })();
  // If the time of one ends while it waits, the next one waits for those before it too.
  const all: Promise<unknown> = Promise.allSettled([before, turn]).then(() => {
    if (turns.get(turnKey) === all) turns.delete(turnKey);
  });
  turns.set(turnKey, all);
  return turn;
}

/** Sends a create once, and returns the record of the answer. Throws {@link LostAnswerError} if there is none. */
async function postOnce(
  scope: RecordScope,
  { wanted, baseline, claim }: PlannedCreate,
  operation: Operation,
  onSend: (() => void) | undefined,
): Promise<CreatedRecord> {
  const { collection, creates, definition, ledger, traits } = scope;
  const { singular } = definition;
  const { answer, emptyLists } = await withEmptyListForm(scope, wanted, traits.emptyLists, (pairs) =>
    collection.store(pairs, operation, onSend),
  );
  if (emptyLists === "text") traits.emptyLists = emptyLists;
  const { id, status, request } = answer;
  if (id !== undefined) ledger.add(id, { is: "changing" });
  if (id === undefined)
    throw new LostAnswerError(
      message`${request} was answered with status ${status} and without an id, so the new ${singular} was looked for, and was not found.`,
      "keep looking",
    );
  const number = idNumber(id);
  const standing = ledger.standing(id);
  const isOwned = standing === "owned" || standing === "ending";
  if (isOwned || (standing !== "ended" && baseline.ids.has(number ?? id)))
    throw new UptimeError(
      message`${request} was answered with ${singular} ${quoteId(id)}, which was there before: the API seems to return an existing record instead of creating one. To manage that record, use the option import with its id, or set uptime:adoptExisting; otherwise change what tells the two apart.`,
    );
  ledger.add(id, { is: "taken", claim });
  const record = await readNewRecord(scope, id, answer, operation);
  const { highestKnownId } = creates;
  if (highestKnownId === undefined) return { id, record, status, emptyLists };
  // The id is lower than known ones, or not a number, so ids no longer show which records are new.
  if (number === undefined || number < (baseline.highestId ?? -1n)) creates.highestKnownId = undefined;
  else if (number > highestKnownId) creates.highestKnownId = number;
  return { id, record, status, emptyLists };
}

/** The record of an answer. An id alone may be that of something else, such as a job, so its record is read. */
async function readNewRecord(
  { definition, ledger, reader }: RecordScope,
  id: string,
  { record, request }: WriteAnswer,
  operation: Operation,
): Promise<ApiRecord | undefined> {
  if (record && isRecordOf(definition, record)) return record;
  try {
    return await reader.readSingle(id, operation);
  } catch (error) {
    const isAnother = error instanceof AnotherRecordError;
    // The record cannot be read now, but its id is known and must be kept.
    if (!isAnother && !(error instanceof MissingError)) return undefined;
    ledger.add(id, { is: "not taken" });
    const problem = isAnother ? "another record is there" : `there is no such ${definition.singular}`;
    throw new LostAnswerError(
      message`${request} was answered with the id ${quoteId(id)}, but ${problem}, so the new one was looked for, and was not found.`,
      isAnother ? "give up" : "keep looking",
      { cause: error },
      isAnother ? undefined : id,
    );
  }
}
