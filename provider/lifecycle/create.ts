import type { ApiRecord } from "../api/record";
import { message, messageOf, NotFoundError, quoteId, RecordMismatchError } from "../api/errors";
import { fieldOf, nameKeyOf } from "../definitions/keys";
import { adopt } from "./adopt";
import { searchKeyOf } from "./baseline";
import { describeRecord } from "./describe";
import { compare, wantedValues, wantedValuesOnCreate, type WantedValues } from "./difference";
import { importRecord } from "./import";
import { outputsOf, partialOutputsOf } from "./outputs";
import type { ObtainedRecord, PlannedCreate } from "./run-creates";
import type { OperationScope, RecordScope } from "./record-scope";
import { compareIdentity, confirmsId } from "./same-record";
import { PartialFailureError, type Inputs, type OperationResult } from "./resource";
import { sendCreate } from "./send-create";
import { NotStoredError, readUntil, sendUpdate, verify } from "./write";

/** Imports, adopts or creates the record of a resource, and verifies it. Never creates two. */
export async function create(scope: OperationScope, inputs: Inputs): Promise<OperationResult> {
  const { creates, definition, operation, owners, settings } = scope;
  if (inputs.importId !== undefined) return importRecord(scope, inputs.importId, inputs);

  const wanted = wantedValuesOnCreate(definition, inputs.values);
  const planned = { wanted, baseline: await creates.readBaseline(operation) };
  const adopted = settings.adoptExisting ? await adopt(scope, planned) : undefined;
  const created = adopted ?? (await sendCreate(scope, planned));
  const result = await settle(scope, inputs, wanted, created);
  if (!adopted) return { ...result, namesake: freeNamesake(scope, planned) };
  const announcement = message`${definition.label} ${owners.resourceName(scope.options.owner)} adopts
    ${definition.singular} ${describeRecord(definition, adopted.record)}. Nothing is created.`;
  return { ...result, announcement };
}

/**
 * A record that was there before a new one, with the same name (and URL, for a monitor) as far as the list shows them, and that no
 * resource has.
 */
function freeNamesake(
  { claims, definition }: RecordScope,
  { wanted, baseline }: PlannedCreate,
): OperationResult["namesake"] {
  const listed = baseline.byName.get(searchKeyOf(wanted.get(nameKeyOf(definition)))) ?? [];
  const found = listed.find(
    (record) => compareIdentity(definition, wanted, record) === "same" && claims.isFree(record),
  );
  // It may be the old record of a replacement, which is deleted later; so the end of the run asks again.
  return (
    found && {
      text: message`${definition.singular} ${describeRecord(definition, found)}`,
      isStillFree: () => claims.isFree(found),
    }
  );
}

/** Makes sure that the record has everything that is declared. Whatever fails now, state gets the record's id. */
async function settle(
  scope: OperationScope,
  inputs: Inputs,
  wantedOnCreate: WantedValues,
  created: ObtainedRecord,
): Promise<OperationResult> {
  const { definition, ledger } = scope;
  const { id, claim, record, advice, tookExisting = false } = created;
  const wanted = wantedValues(definition, inputs.values);
  // An update still has to send update-only fields, and fields that an adopted record does not show as declared.
  const hasUnsent = [...wanted].some(([key, value]) => {
    const field = fieldOf(definition, key);
    if (!tookExisting && !field.updateOnly) return false;
    return !record || compare(field, value, record).outcome !== "same";
  });
  let confirmed = record;
  try {
    confirmed ??= await readNew(scope, created, wanted);
    ledger.confirm(id);
    const settled = hasUnsent
      ? await updateNew(scope, created, wanted)
      : await verify(scope, created, wantedOnCreate, { ...created, record: confirmed });
    return { id, outputs: outputsOf(scope, inputs, settled, { claim, tookExisting }) };
  } catch (error) {
    const seen = error instanceof NotStoredError ? error.record : (confirmed ?? { id, raw: {} });
    const isIdUnconfirmed = confirmed === undefined;
    const kept = { claim, tookExisting, isIdUnconfirmed };
    const outputs = partialOutputsOf(scope, inputs, seen, kept);
    const failure = message`The ${definition.label} was ${tookExisting ? "adopted" : "created"} with the id
      ${quoteId(id)}, but ${messageOf(error)}`;
    const text = advice && isIdUnconfirmed ? message`${failure}. ${advice}` : failure;
    throw new PartialFailureError(id, outputs, text, { cause: error });
  }
}

/** Updates a new record, which may not be at its own address yet. */
async function updateNew(
  scope: OperationScope,
  created: ObtainedRecord,
  wanted: WantedValues,
): Promise<ApiRecord> {
  try {
    return await sendUpdate(scope, created, wanted);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  await readNew(scope, created, wanted);
  return sendUpdate(scope, created, wanted);
}

/** Reads a new record, which may not be at its own address yet. Throws if the record there is not what was sent. */
async function readNew(
  scope: OperationScope,
  { id }: ObtainedRecord,
  wanted: WantedValues,
): Promise<ApiRecord> {
  const { definition } = scope;
  const isOurs = (one: ApiRecord | undefined): boolean =>
    one !== undefined && confirmsId(definition, wanted, one);
  const found = await readUntil(scope, id, isOurs);
  if (isOurs(found)) return found;
  throw new RecordMismatchError(
    message`${definition.singular} ${describeRecord(definition, found)} is not what was sent, so it may be another record, and was
      left alone.`,
  );
}
