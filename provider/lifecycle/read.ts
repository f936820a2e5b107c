import { isDeepStrictEqual } from "node:util";

import type { ApiRecord } from "../api/record";
import { ApiError, message, NotFoundError, quoteId, UptimeError } from "../api/errors";
import { Operation } from "../api/operation";
import { fieldOf, managedKeys } from "../definitions/keys";
import { mayBeEscaped, shownValues, shows, wantedValues, type WantedValues } from "./difference";
import { assertGoneInRefresh, isGivenAway } from "./gone";
import { outputsOf, outputsOfRecord } from "./outputs";
import type { RecordScope } from "./record-scope";
import type { RequestOptions, Outputs, OperationResult } from "./resource";
import { unconfirmedIdAdvice, assertSameRecord } from "./same-record";
import { assertSameAddress, isAccountOfState, oldSettingsSentences } from "./state-account";

/** The current outputs of a resource in state, or undefined if it is gone. */
export async function read(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  options: RequestOptions,
): Promise<OperationResult | undefined> {
  const { claims, definition, ledger, settings } = scope;
  assertSameAddress(scope, outputs, options);
  claims.hear(id, outputs, options.owner);
  const operation = new Operation(scope, options);
  // The server may have given the id to a create of this run, or give it to one during the read.
  const isGivenAwayNow = (): Promise<boolean> => isGivenAway(scope, id, outputs, operation);
  if (await isGivenAwayNow()) return undefined;
  // After an operation that failed half-way, the attributes in state are not from a verified record.
  const takesAttributes = settings.refreshAttributes || outputs.isPartial === true;
  const wanted = takesAttributes ? undefined : wantedValues(definition, outputs.values);
  const record = await findRecord(scope, id, outputs, wanted, operation).catch(async (error: unknown) => {
    if (!(await isGivenAwayNow())) throw error;
    return undefined;
  });
  if (await isGivenAwayNow()) return undefined;
  if (!record) {
    ledger.markGone(id);
    return undefined;
  }
  assertSameRecord(scope, outputs, record, operation);
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
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  wanted: WantedValues | undefined,
  operation: Operation,
): Promise<ApiRecord | undefined> {
  try {
    return await scope.reader.get(id, wanted, operation);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    await assertGoneInRefresh(scope, id, outputs, error, operation);
    // Without it, the next create would make a second record.
    if (!outputs.isIdUnconfirmed || scope.settings.adoptExisting) return undefined;
    throw new UptimeError(
      message`${scope.definition.label} ${quoteId(id)} does not exist (${error}). ${unconfirmedIdAdvice(scope, id)} If it is
        gone, run \`pulumi state delete URN\`.${oldSettingsSentences(operation)}`,
      { cause: error },
    );
  }
}

/** Reads a record that is not in state, with its outputs. Throws {@link NotFoundError} if it does not exist. */
export async function readUnmanaged(
  scope: RecordScope,
  id: string,
  account: string | undefined,
  options: RequestOptions,
): Promise<{ readonly record: ApiRecord; readonly outputs: Outputs }> {
  const operation = new Operation(scope, options);
  try {
    const record = await scope.collection.get(id, operation);
    // A create that is not answered yet may have just made it.
    if (!scope.creates.hasInFlight) scope.ledger.markSeen(id);
    const unescape = await shouldUnescape(scope, [record], operation);
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
  scope: RecordScope,
  id: string,
  inState: Outputs,
  options: RequestOptions,
): Promise<Outputs | undefined> {
  assertSameAddress(scope, inState, options);
  const operation = new Operation(scope, options);
  const record = await findRecord(scope, id, inState, undefined, operation);
  if (!record) return undefined;
  // In state's account, a record that is only read may get another name.
  if (!isAccountOfState(scope, inState)) assertSameRecord(scope, inState, record, operation);
  const unescape = await shouldUnescape(scope, [record], operation);
  return outputsOfRecord(scope, record, inState.account, unescape);
}

/**
 * Whether to unescape the strings of records that nobody has declared: see {@link mayBeEscaped}. The list is read only if it matters,
 * as for a text such as `&copy; Example`.
 */
export async function shouldUnescape(
  { definition, reader }: RecordScope,
  records: readonly ApiRecord[],
  operation: Operation,
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
