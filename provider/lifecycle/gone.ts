import { message, quoteId, UptimeError, type NotFoundError } from "../api/errors";
import type { CachedList } from "../api/cached-list";
import type { OperationScope } from "./record-scope";
import type { Outputs } from "./resource";
import { otherKeyAdvice, adviseSameAccount, isAccountOfState, oldSettingsSentences } from "./state-account";

/**
 * Throws unless a record that a delete or an update did not find is certainly gone. That is not certain in another account, or if the
 * list cannot be read: a proxy may answer everything with 404 while the server restarts, for example.
 */
export async function assertGone(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
  missing: NotFoundError,
): Promise<void> {
  if (!isAccountOfState(scope, outputs))
    throw new UptimeError(
      message`${scope.definition.label} ${quoteId(id)} does not exist for the current API key, and state was made with another
        one, so it may be in another account (${missing}).
        ${otherKeyAdvice(scope, outputs)}`,
      { cause: missing },
    );
  await assertReadable(scope, id, missing);
}

/** Throws if the API cannot be read: then a missing record proves nothing. */
export async function assertReadable(
  { definition, operation, reader }: OperationScope,
  id: string,
  missing: NotFoundError,
): Promise<void> {
  const { label, plural } = definition;
  try {
    await reader.assertListIsReadable(operation);
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    throw new UptimeError(
      message`${label} ${quoteId(id)} does not exist (${missing}), and the list of ${plural} cannot be read, so
        it is not known whether that is the API's response: ${error}. Try again; if this one
        record is gone, run \`pulumi state delete URN\`, and if the server is gone for good, \`pulumi stack rm
        --force\`.`,
      { cause: error },
    );
  }
}

/** Throws unless a record that a refresh did not find is gone: see {@link assertGone}. The list must not contradict it either. */
export async function assertGoneInRefresh(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
  missing: NotFoundError,
): Promise<void> {
  const { address, definition, keyFingerprint, ledger, operation, settings } = scope;
  const { label, plural } = definition;
  await assertGone(scope, id, outputs, missing);
  const missedAt = operation.clock.now();
  const list = await assertNotListed(scope, id, missing);
  // With a pair of equal digits, a person says that the account is really empty.
  const isReallyEmpty = settings.sameAccount.includes(`${keyFingerprint}=${keyFingerprint}`);
  if (list.size > 0 || ledger.heardCount <= 1 || isReallyEmpty) return;
  // The list may be older than a create of this run.
  if ((await assertNotListed(scope, id, missing, missedAt)).size > 0) return;
  throw new UptimeError(
    message`${label} ${quoteId(id)} does not exist (${missing}), and the list of ${plural} is
      empty, which looks like another account, so nothing is removed from state: check ${address.source}
      (${address.url}) and the API key. If the account is really empty,
      ${adviseSameAccount(scope, { keyFingerprint })}; for one record, run \`pulumi state delete URN\`.${oldSettingsSentences(scope)}`,
    { cause: missing },
  );
}

/**
 * Reads the list and returns it. Throws if it holds a record that is missing at its own address.
 *
 * @param since the list is read again if it was begun at this time on the clock, or before
 */
export async function assertNotListed(
  { definition, operation, reader }: OperationScope,
  id: string,
  missing: NotFoundError,
  since?: number,
): Promise<CachedList> {
  const missedAt = operation.clock.now();
  let list = await reader.wholeList(operation, id, since);
  if (list.get(id)) list = await reader.wholeList(operation, id, missedAt);
  if (!list.get(id)) return list;
  const { plural, singular } = definition;
  throw new UptimeError(
    message`${missing}, but the list of ${plural} holds ${quoteId(id)}, so it is not known
      whether the ${singular} exists. Try again later; if it is gone, run \`pulumi state delete URN\`.`,
    { cause: missing },
  );
}

/**
 * Whether the claim is void: the id is now that of a record which this run has created. A create that was answered with the id alone
 * may let it go before it ends, because it is a job's.
 */
export async function isGivenAway(
  { claims, creates, operation }: OperationScope,
  id: string,
  outputs: Outputs,
): Promise<boolean> {
  if (claims.isVoid(id, outputs)) await creates.waitForInFlight(operation);
  return claims.isVoid(id, outputs);
}
