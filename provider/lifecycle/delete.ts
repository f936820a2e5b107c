import type { ApiRecord } from "../api/record";
import { ifError, message, NotFoundError, quoteId, UptimeError, type Message } from "../api/errors";
import { assertGone, assertReadable, isGivenAway } from "./gone";
import type { OperationScope } from "./record-scope";
import type { Outputs } from "./resource";
import { assertSameRecord, mustCompareFirst } from "./same-record";
import { assertSameAddress, isAccountOfState } from "./state-account";
import { readUntil } from "./write";

/**
 * Deletes the record of a resource, unless it is gone, or another resource has it too: then the message says that it stays. It also says
 * if its id is unconfirmed, and the record there is another's or none, because the resource's may have another id.
 */
export async function deleteRecord(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
): Promise<Message | undefined> {
  const { claims, collection, definition, ledger, operation } = scope;
  assertSameAddress(scope, outputs);
  const deleter = await claims.beginDelete(id, outputs, () => collection.find(id, operation));
  const { singular } = definition;
  const mayBeElsewhere = `The ${singular} may exist with another id, and state no longer has it: look for it in the API, and delete it there.`;
  if (deleter === "nobody") {
    const stay = claims.describeStay(id);
    if (!outputs.isIdUnconfirmed) return stay;
    return message`${stay} Only the response to the deleted resource's create has shown this id. ${mayBeElsewhere}`;
  }
  if (deleter === "another process") return undefined;
  const record = await ledger.whileDeleting(id, () => sendDelete(scope, id, outputs));
  if (record || !outputs.isIdUnconfirmed) return undefined;
  return message`There was no ${singular} to delete under the id ${quoteId(id)}, which only the response to its create has shown.
    ${mayBeElsewhere}`;
}

/** Returns the record as it was before, if it had to be read. */
async function sendDelete(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
): Promise<ApiRecord | undefined> {
  const { claims, collection, ledger, operation } = scope;
  const isSameAccount = isAccountOfState(scope, outputs);
  let record: ApiRecord | undefined;
  try {
    if (mustCompareFirst(scope, outputs)) {
      // In state's account the answer to the DELETE decides, so it is no error yet that the record is not found here.
      record = await (isSameAccount ? collection.find(id, operation) : collection.get(id, operation));
      if (record) assertSameRecord(scope, outputs, record);
    }
    ledger.markChanged(id);
    // A delete whose answer was lost is sent again, and until then the server may have used the id again.
    const assertNotVoid = (): void => {
      claims.assertNotVoid(id, outputs);
    };
    // A key that may not delete a record, or a proxy that allows no DELETE, may get 404 too. So the record's own address decides.
    const doubt = await collection
      .delete(id, operation, assertNotVoid)
      .catch(ifError(NotFoundError, ({ parts }) => parts));
    if (doubt) await assertDeleted(scope, id, doubt);
  } catch (error) {
    const wasVoid = claims.isVoid(id, outputs);
    if (await isGivenAway(scope, id, outputs)) return undefined;
    // A create that was answered with this id has let it go, so nothing shows yet that the record is deleted.
    if (wasVoid) return sendDelete(scope, id, outputs);
    if (!(error instanceof NotFoundError)) throw error;
    await assertGone(scope, id, outputs, error);
  }
  if (await isGivenAway(scope, id, outputs)) return undefined;
  ledger.markDeleted(id, operation.clock.now());
  return record;
}

/** Reads a record whose DELETE got an unclear answer. Throws unless the record is gone. */
async function assertDeleted(scope: OperationScope, id: string, doubt: Message): Promise<void> {
  try {
    await readUntil(scope, id, (record) => record === undefined);
  } catch (error) {
    if (error instanceof NotFoundError) return assertReadable(scope, id, error);
    throw error;
  }
  throw new UptimeError(
    message`${doubt}, and the ${scope.definition.singular} still exists. If the server deletes it later, the next run finds it gone.`,
  );
}
