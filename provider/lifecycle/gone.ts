import { message, quoteId, withoutPeriod, UptimeError, type MissingError } from "../api/errors";
import type { Listing } from "../api/listing";
import type { Operation } from "../api/operation";
import type { RecordScope } from "./record-scope";
import type { Outputs } from "./resource";
import { isAccountOfState } from "./same-record";

/** Returns if it is proven that a missing record is gone; otherwise throws an error that says why not. */
export async function assertGone(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  missing: MissingError,
  operation: Operation,
): Promise<void> {
  const { definition, evidence, settings } = scope;
  const { label, plural } = definition;
  const answer = withoutPeriod(missing);
  const list = await assertNotListed(scope, id, missing, operation);
  const sameAccount =
    "If the present key belongs to the stack's account, run `pulumi config set uptime:sameAccount true`";
  if (!isAccountOfState(scope, outputs)) {
    for (const other of evidence.idsOf(definition)) {
      const listed = list.get(other);
      if (listed) evidence.addShown(definition, listed);
    }
    if (!evidence.isAccountProven)
      throw new UptimeError(
        message`${label} ${quoteId(id)} does not exist for the present API key, state was made with another key or address, and no record that state knows has been found, so it may be in another account (${answer}). ${sameAccount}; otherwise set the key of its account.`,
        { cause: missing },
      );
  } else if (list.size === 0 && evidence.idsOf(definition).length > 1 && !settings.sameAccount)
    throw new UptimeError(
      message`${label} ${quoteId(id)} does not exist (${answer}), and the list of ${plural} is empty, which looks like another account, so nothing is removed from state: check ${scope.address.source} (${scope.address.url}) and the API key. ${sameAccount}.`,
      { cause: missing },
    );
}

/** Reads the list and returns it. Throws if it holds a record that is missing at its own address. */
export async function assertNotListed(
  { clock, definition, reader }: RecordScope,
  id: string,
  missing: MissingError,
  operation: Operation,
): Promise<Listing> {
  const missedAt = clock.now();
  let list = await reader.wholeList(operation, id);
  if (list.get(id) && list.begun <= missedAt) list = await reader.wholeList(operation, id, missedAt);
  if (!list.get(id)) return list;
  const { plural, singular } = definition;
  throw new UptimeError(
    message`${withoutPeriod(missing)}, but the list of ${plural} holds ${quoteId(id)}, so it is not known whether the ${singular} exists. Its resource can be deleted with the API key that state was made with, or with uptime:sameAccount set to true.`,
    { cause: missing },
  );
}
