import { isDeepStrictEqual } from "node:util";

import type { ApiRecord } from "../api/record";
import { ApiError, message, NotFoundError, quoteId, UptimeError } from "../api/errors";
import { fieldOf, managedKeys } from "../definitions/keys";
import { mayBeEscaped, shownValues, shows, wantedValues, type WantedValues } from "./difference";
import { assertGoneInRefresh, isGivenAway } from "./gone";
import { outputsOf, outputsOfRecord } from "./outputs";
import type { OperationScope } from "./record-scope";
import type { Outputs, OperationResult } from "./resource";
import { unconfirmedIdAdvice, assertSameRecord } from "./same-record";
import { assertSameAddress, isAccountOfState, oldSettingsSentences } from "./state-account";

/** The current outputs of a resource in state, or undefined if it is gone. */
export async function read(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
): Promise<OperationResult | undefined> {
  const { claims, definition, ledger, options, settings } = scope;
  assertSameAddress(scope, outputs);
  claims.hear(id, outputs, options.owner);
  // The server may have given the id to a create of this run, or give it to one during the read.
  const isGivenAwayNow = (): Promise<boolean> => isGivenAway(scope, id, outputs);
  if (await isGivenAwayNow()) return undefined;
  // After an operation that failed half-way, the attributes in state are not from a verified record.
  const takesAttributes = settings.refreshAttributes || outputs.isPartial === true;
  const wanted = takesAttributes ? undefined : wantedValues(definition, outputs.values);
  const record = await findRecord(scope, id, outputs, wanted).catch(async (error: unknown) => {
    if (!(await isGivenAwayNow())) throw error;
    return undefined;
  });
  if (await isGivenAwayNow()) return undefined;
  if (!record) {
    ledger.markGone(id);
    return undefined;
  }
  assertSameRecord(scope, outputs, record);
  ledger.markSeen(id);
  const isShown = (key: string): boolean => {
    const field = fieldOf(definition, key);
    return !field.writeOnly && shows(field, record);
  };
  return {
    id,
    outputs: outputsOf(scope, outputs, record, {
      claim: outputs.claim,
      tookExisting: outputs.tookExisting,
      isPartial: outputs.isPartial && !managedKeys(definition, outputs.values).every(isShown),
      attributes: takesAttributes ? undefined : outputs.attributes,
      isStrict: true,
    }),
  };
}

/** The record of a resource in state; undefined if it is gone for certain. */
async function findRecord(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
  wanted: WantedValues | undefined,
): Promise<ApiRecord | undefined> {
  try {
    return await scope.reader.get(id, wanted, scope.operation);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    await assertGoneInRefresh(scope, id, outputs, error);
    // Without it, the next create would make a second record.
    if (!outputs.isIdUnconfirmed || scope.settings.adoptExisting) return undefined;
    throw new UptimeError(
      message`${scope.definition.label} ${quoteId(id)} does not exist (${error}). ${unconfirmedIdAdvice(scope, id)} If it is
        gone, run \`pulumi state delete URN\`.${oldSettingsSentences(scope)}`,
      { cause: error },
    );
  }
}

/** Reads a record that is not in state, with its outputs. Throws {@link NotFoundError} if it does not exist. */
export async function readUnmanaged(
  scope: OperationScope,
  id: string,
  account: string | undefined,
): Promise<{ readonly record: ApiRecord; readonly outputs: Outputs }> {
  try {
    const record = await scope.collection.get(id, scope.operation);
    // A create that is not answered yet may have just made it.
    if (!scope.creates.hasInFlight) scope.ledger.markSeen(id);
    const unescape = await shouldUnescape(scope, [record]);
    return { record, outputs: outputsOfRecord(scope, record, account, unescape) };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const { label } = scope.definition;
    throw new NotFoundError(message`${label} ${quoteId(id)} does not exist (${error}).`, {
      cause: error,
    });
  }
}

/** Reads a record that `get` has put into state, with its outputs. Undefined if it is gone for certain. */
export async function readUnmanagedAgain(
  scope: OperationScope,
  id: string,
  inState: Outputs,
): Promise<Outputs | undefined> {
  assertSameAddress(scope, inState);
  const record = await findRecord(scope, id, inState, undefined);
  if (!record) return undefined;
  // In state's account, a record that is only read may get another name.
  if (!isAccountOfState(scope, inState)) assertSameRecord(scope, inState, record);
  const unescape = await shouldUnescape(scope, [record]);
  return outputsOfRecord(scope, record, inState.account, unescape);
}

/**
 * Whether to unescape the strings of records that nobody has declared: see {@link mayBeEscaped}. The list is read only if it matters,
 * as for a text such as `&copy; Example`.
 */
export async function shouldUnescape(
  { definition, operation, reader }: OperationScope,
  records: readonly ApiRecord[],
): Promise<boolean> {
  const valuesOf = (record: ApiRecord, unescape: boolean): unknown =>
    shownValues(definition, record, { unescape, refuse: () => undefined });
  const isSame = records.every((record) =>
    isDeepStrictEqual(valuesOf(record, false), valuesOf(record, true)),
  );
  if (isSame) return true;
  const listed = await reader.wholeList(operation).catch((error: unknown) => {
    // A key that may read a record may not be allowed to read the list.
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
  });
  return mayBeEscaped([...records, ...(listed?.all() ?? [])]);
}
