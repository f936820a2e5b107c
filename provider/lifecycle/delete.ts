import { MissingError } from "../api/errors";
import { Operation } from "../api/operation";
import { hasFixedKey } from "../definitions/keys";
import { claimOf } from "./claims";
import { assertGone } from "./gone";
import type { RecordScope } from "./record-scope";
import type { EngineOptions, Outputs } from "./resource";
import { assertSameRecord, assertSameServer, isAccountOfState } from "./same-record";

/** Deletes the record of a resource, unless another resource has it too, or it is gone. */
export async function deleteRecord(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  options: EngineOptions,
): Promise<void> {
  const { collection, definition, ledger, note, reader } = scope;
  assertSameServer(scope, outputs, options);
  const operation = new Operation(scope, options);
  const claim = claimOf(outputs);
  ledger.end(id, claim);
  const readRecord = () => reader.readById(id, operation);
  if (ledger.hasOther(id, claim) || !(await note.mayDelete(id, claim, readRecord))) return;
  const isSameAccount = isAccountOfState(scope, outputs);
  try {
    if (!isSameAccount || hasFixedKey(definition)) await assertRecordOfState();
    ledger.change(id);
    await collection.remove(id, operation);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    await assertGone(scope, id, outputs, error, operation);
  }
  ledger.delete(id);

  /** In the account of state, a record that is not found is deleted all the same: the API's word on the delete counts. */
  async function assertRecordOfState(): Promise<void> {
    try {
      assertSameRecord(scope, outputs, await readRecord());
    } catch (error) {
      if (!isSameAccount || !(error instanceof MissingError)) throw error;
    }
  }
}
