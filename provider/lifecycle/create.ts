import { isRecordOf } from "../api/answer";
import {
  AnotherRecordError,
  ApiError,
  LostAnswerError,
  message,
  messageOf,
  MissingError,
  NotStoredError,
  unfinished,
  UptimeError,
} from "../api/errors";
import { PartialFailureError } from "./resource";
import { Operation } from "../api/operation";
import type { Definition } from "../definitions/field";
import { adopt } from "./adopt";
import type { Baseline, CreatedRecord } from "./creates";
import { compare, fieldOf, shows, wantedIn } from "./difference";
import type { Values } from "./difference";
import { importRecord } from "./import";
import { unnamed } from "./ledger";
import { findLost, mayExist } from "./lost-create";
import { outputsOf } from "./outputs";
import type { Inputs, Options, State } from "./resource";
import type { Account } from "./account";
import { encode, sendUpdate, store, verify } from "./write";

/**
 * How often a create is sent at most, each time after looks that show that the last one had no effect. A server that cuts
 * off five in a row does so for a reason.
 */
const mostSends = 5;

/** Imports, adopts or creates the record of a resource, and makes sure that it is as declared. Never makes two. */
export async function create(account: Account, inputs: Inputs, options: Options): Promise<State> {
  const { definition, ledger, settings } = account;
  const { importId } = inputs;
  const { owner } = options;
  const operation = new Operation({ ...options, clock: account.clock });
  if (importId !== undefined && !ledger.isSpent(importId, owner)) {
    const imported = await importRecord(account, importId, inputs, options, operation);
    return { id: importId, outputs: outputsOf(account, inputs, imported.record, imported) };
  }

  const wanted = wantedIn(definition, inputs.values);
  const sent = wantedIn(definition, inputs.values, (_, field) => !field.updateOnly);
  const late = [...wanted].filter(([key]) => !sent.has(key));
  const adopted = settings.adoptExisting ? await adopt(account, sent, owner, operation) : undefined;
  const created = adopted ?? (await make(account, sent, owner ?? unnamed, operation));
  const { id, record } = created;
  // A created record needs no claim: nobody had it before.
  const claim = adopted?.claim;

  try {
    // What is not shown cannot be known of a record that was there before, so it is sent.
    const isUnseen = adopted && [...wanted.keys()].some((key) => fieldOf(definition, key).writeOnly);
    const isDone = late.every(
      ([key, value]) => record && compare(fieldOf(definition, key), value, record).outcome === "same",
    );
    const settled =
      isDone && !isUnseen
        ? await verify(account, id, sent, created, operation)
        : await sendUpdate(account, id, wanted, operation);
    return { id, outputs: outputsOf(account, inputs, settled, { claim }) };
  } catch (error) {
    const seen = error instanceof NotStoredError ? error.record : (record ?? { id, shown: {} });
    const outputs = outputsOf(account, inputs, seen, { claim, isPartial: true });
    for (const [key] of late) if (!shows(fieldOf(definition, key), seen)) outputs.values[key] = null;
    throw new PartialFailureError(
      id,
      outputs,
      message`The ${definition.label} was ${adopted ? "adopted" : "created"} with the id ${id}, but ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Creates a record. Never sends a create again before it is known that the last one had no effect. */
async function make(
  account: Account,
  values: Values,
  owner: string,
  operation: Operation,
): Promise<CreatedRecord> {
  const { creates, definition, traits } = account;
  const baseline = await creates.baseline(operation);
  const form = JSON.stringify(encode(definition, values, traits.emptyForms));
  return creates.inTurn(form, operation, async () => {
    const since = creates.highestSince(baseline);
    for (let sends = 1, lost: LostAnswerError | undefined; ; sends++) {
      const search = { values, owner, baseline, since };
      const post = send(account, values, owner, baseline, operation);
      creates.inFlight.add(post);
      let result: CreatedRecord | LostAnswerError;
      try {
        result = await post.finally(() => creates.inFlight.delete(post));
      } catch (error) {
        if (!lost) throw withWayOut(definition, error);
        // What is refused as a duplicate may be what the last one has made.
        const status = refusalOf(error)?.status;
        const isDuplicate = status === 409 || status === 422;
        const found = isDuplicate && (await findLost(account, { ...search, lost, isDuplicate }, operation));
        if (found) return found;
        throw new UptimeError(message`${lost} Then ${messageOf(error)} ${mayExist(definition)}`, {
          cause: error,
        });
      }
      if (!(result instanceof LostAnswerError)) return result;
      lost = result;
      const found = await findLost(account, { ...search, lost }, operation);
      if (found) return found;
      if (lost.next !== "send again" || sends >= mostSends)
        throw new UptimeError(message`${lost} ${mayExist(definition)}`, { cause: lost });
    }
  });
}

/** Sends a create once, and takes the record that it is answered with. */
async function send(
  account: Account,
  values: Values,
  owner: string,
  baseline: Baseline,
  operation: Operation,
): Promise<CreatedRecord | LostAnswerError> {
  const { creates, definition, ledger } = account;
  const { singular } = definition;
  let written;
  try {
    written = await store(account, values, operation);
  } catch (error) {
    if (error instanceof LostAnswerError) return error;
    throw error;
  }
  const { id, record, status, request } = written;
  if (id === undefined)
    return new LostAnswerError(
      message`${request} was answered with status ${status} and without an id, so the new ${singular} was looked for, and was not found.`,
      "keep looking",
    );
  const standing = ledger.standing(id);
  if (standing === "held" || (standing !== "ended" && baseline.has(id)))
    throw new UptimeError(
      message`${request} was answered with ${singular} ${id}, which was there before: the API seems to return an existing record instead of creating one. To manage that record, use the option import with its id, or set uptime:adoptExisting; otherwise change what tells the two apart.`,
    );
  ledger.note(id, { is: "taken", owner });
  if (record && isRecordOf(definition, record)) {
    creates.learn(id, baseline);
    return { id, record, status };
  }

  // An id alone may be that of something else, such as a job.
  try {
    const shown = await account.reader.show(id, operation);
    creates.learn(id, baseline);
    return { id, record: shown, status };
  } catch (error) {
    const isAnother = error instanceof AnotherRecordError;
    // Whatever else is wrong, the id is known and must be kept.
    if (!isAnother && !(error instanceof MissingError)) return { id, status };
    ledger.note(id, { is: "given back" });
    const problem = isAnother ? "another record is there" : `there is no such ${singular}`;
    return new LostAnswerError(
      message`${request} was answered with the id ${id}, but ${problem}, so the new one was looked for, and was not found.`,
      isAnother ? "give up" : "keep looking",
      { cause: error },
      isAnother ? undefined : id,
    );
  }
}

/** A refusal because of a name that no two records can have: with `up --replace`, which compares nothing, the old one has it. */
function withWayOut({ fields, singular }: Definition, error: unknown): unknown {
  const refusal = refusalOf(error);
  const [key, field] = Object.entries(fields).find(([, one]) => one.replace) ?? [];
  if (!refusal || !field || !(error instanceof UptimeError)) return error;
  const isAboutIt = refusal.status === 409 || refusal.fields.size === 0 || refusal.fields.has(field.wire);
  if (!isAboutIt || ![409, 422].includes(refusal.status)) return error;
  return new UptimeError(
    message`${unfinished(error)}. If it is to replace a ${singular} with the same ${String(key)}, as with \`pulumi up --replace\`, give the resource the option deleteBeforeReplace.`,
    { cause: error },
  );
}

function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  return error instanceof UptimeError && error.cause instanceof ApiError ? error.cause : undefined;
}
