import { MissingError } from "../api/errors";
import { Operation } from "../api/operation";
import { isStateHeldElsewhere } from "./other-processes";
import type { RecordScope } from "./record-scope";
import { noteState } from "./evidence";
import { assertGone } from "./gone";
import { claimInState, claimOf } from "./claims";
import type { Options, Outputs } from "./resource";
import { assertOwnRecord, assertSameServer, isAccountOfState, hasIdentifyingField } from "./same-record";

/** Deletes the record of a resource, unless another resource has it or it is gone. */
export async function remove(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  options: Options,
): Promise<void> {
  const { clock, collection, ledger, reader } = scope;
  assertSameServer(scope, outputs, options);
  const operation = new Operation({ ...options, clock });
  const claim = claimOf(outputs, options);
  const isHeldByOther = ledger.mustStay(id, claim);
  ledger.note(id, { is: "left", claim });
  if (isHeldByOther || (await isStateHeldElsewhere(scope, id, claimInState(outputs), operation))) return;
  noteState(scope, id, outputs);
  ledger.note(id, { is: "ending", owner: options.owner });
  const isSameAccount = isAccountOfState(scope, outputs);
  try {
    if (!isSameAccount || hasIdentifyingField(scope))
      assertOwnRecord(scope, outputs, await reader.show(id, operation));
    ledger.note(id, { is: "written" });
    await collection.remove(id, operation);
  } catch (error) {
    try {
      if (!(error instanceof MissingError)) throw error;
      // With the key that state was made with, a 404 is proof enough.
      if (!isSameAccount) await assertGone(scope, id, outputs, error, operation);
    } catch (failure) {
      ledger.note(id, { is: "not ended" });
      throw failure;
    }
  }
  ledger.note(id, { is: "ended", owner: options.owner, importId: outputs.importId });
}
