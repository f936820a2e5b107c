import { NotFoundError, type Message } from "../api/errors";
import { Operation } from "../api/operation";
import { hasFixedKey } from "../definitions/keys";
import { assertGone } from "./gone";
import type { RecordScope } from "./record-scope";
import type { EngineOptions, Outputs } from "./resource";
import { assertSameRecord, assertSameServer, isAccountOfState } from "./same-record";

/** Deletes the record of a resource, unless it is gone, or another resource has it too: then the message says that it stays. */
export async function deleteRecord(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  options: EngineOptions,
): Promise<Message | undefined> {
  const { claims, collection, definition, ledger } = scope;
  assertSameServer(scope, outputs, options);
  const operation = new Operation(scope, options);
  const deleter = await claims.beginDelete(id, outputs, () => collection.find(id, operation));
  if (deleter === "nobody") return claims.describeStay(id);
  if (deleter === "another process") return undefined;
  const isSameAccount = isAccountOfState(scope, outputs);
  try {
    if (!isSameAccount || hasFixedKey(definition)) {
      // In the account of state the answer to the DELETE decides, so a record that is not found here is no error yet.
      const record = await (isSameAccount ? collection.find(id, operation) : collection.get(id, operation));
      if (record) assertSameRecord(scope, outputs, record);
    }
    ledger.markChanged(id);
    // A delete whose answer was lost is sent again, and until then the server may have used the id again.
    await collection.delete(id, operation, {
      onSend: () => {
        claims.assertNotVoid(id, outputs);
      },
    });
  } catch (error) {
    if (claims.isVoid(id, outputs)) return undefined;
    if (!(error instanceof NotFoundError)) throw error;
    await assertGone(scope, id, outputs, error, operation);
  }
  // If the claim is void, the id is now that of a record which this run has created.
  if (!claims.isVoid(id, outputs)) ledger.markDeleted(id);
  return undefined;
}
