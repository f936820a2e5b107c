import { MissingError, type Message } from "../api/errors";
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
  const { claims, collection, definition, ledger, reader } = scope;
  assertSameServer(scope, outputs, options);
  const operation = new Operation(scope, options);
  const readRecord = () => reader.readById(id, operation);
  const deleter = await claims.beginDelete(id, outputs, readRecord);
  if (deleter === "nobody") return claims.describeStay(id);
  if (deleter === "another process") return undefined;
  const isSameAccount = isAccountOfState(scope, outputs);
  try {
    if (!isSameAccount || hasFixedKey(definition)) await assertRecordOfState();
    ledger.markOutdated(id);
    await collection.remove(id, operation);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    await assertGone(scope, id, outputs, error, operation);
  }
  ledger.markDeleted(id);
  return undefined;

  /** In the account of state, a record that is not found is deleted all the same: the API's word on the delete counts. */
  async function assertRecordOfState(): Promise<void> {
    try {
      assertSameRecord(scope, outputs, await readRecord());
    } catch (error) {
      if (!isSameAccount || !(error instanceof MissingError)) throw error;
    }
  }
}
