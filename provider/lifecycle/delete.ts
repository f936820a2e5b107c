import { message, NotFoundError, UptimeError, type Message } from "../api/errors";
import { Operation } from "../api/operation";
import { assertGone, assertReadable } from "./gone";
import type { RecordScope } from "./record-scope";
import type { RequestOptions, Outputs } from "./resource";
import { assertSameRecord, mustCompareFirst } from "./same-record";
import { assertSameAddress, isAccountOfState } from "./state-account";
import { readUntil } from "./write";

/** Deletes the record of a resource, unless it is gone, or another resource has it too: then the message says that it stays. */
export async function deleteRecord(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  options: RequestOptions,
): Promise<Message | undefined> {
  const { claims, collection, ledger } = scope;
  assertSameAddress(scope, outputs, options);
  const operation = new Operation(scope, options);
  const deleter = await claims.beginDelete(id, outputs, () => collection.find(id, operation));
  if (deleter === "nobody") return claims.describeStay(id);
  if (deleter === "this process")
    await ledger.whileDeleting(id, () => sendDelete(scope, id, outputs, operation));
  return undefined;
}

async function sendDelete(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  operation: Operation,
): Promise<void> {
  const { claims, collection, ledger } = scope;
  const isSameAccount = isAccountOfState(scope, outputs);
  try {
    if (mustCompareFirst(scope, outputs)) {
      // In state's account the answer to the DELETE decides, so it is no error yet that the record is not found here.
      const record = await (isSameAccount ? collection.find(id, operation) : collection.get(id, operation));
      if (record) assertSameRecord(scope, outputs, record, operation);
    }
    ledger.markChanged(id);
    // A delete whose answer was lost is sent again, and until then the server may have used the id again.
    operation.beforeWrite = () => {
      claims.assertNotVoid(id, outputs);
    };
    const doubt = await collection.delete(id, operation).catch(notFoundAsDoubt);
    if (doubt) await assertDeleted(scope, id, doubt, operation);
  } catch (error) {
    if (claims.isVoid(id, outputs)) return;
    if (!(error instanceof NotFoundError)) throw error;
    await assertGone(scope, id, outputs, error, operation);
  }
  // If the claim is void, the id is now that of a record which this run has created.
  if (!claims.isVoid(id, outputs)) ledger.markDeleted(id, operation.clock.now());
}

/** A key that may not delete a record, or a proxy that allows no DELETE, may get 404 too. So the record's own address decides. */
function notFoundAsDoubt(error: unknown): Message {
  if (error instanceof NotFoundError) return error.parts;
  throw error;
}

/** Reads a record whose DELETE got an unclear answer. Throws unless the record is gone. */
async function assertDeleted(
  scope: RecordScope,
  id: string,
  doubt: Message,
  operation: Operation,
): Promise<void> {
  try {
    await readUntil(scope.collection, id, operation, (record) => record === undefined);
  } catch (error) {
    if (error instanceof NotFoundError) return assertReadable(scope, id, error, operation);
    throw error;
  }
  throw new UptimeError(
    message`${doubt}, and the ${scope.definition.singular} still exists. If the server deletes it later, the next run finds it gone.`,
  );
}
