import { MissingError } from "../api/errors";
import { Operation } from "../api/operation";
import { hasFixedKey } from "../definitions/keys";
import { sharedClaim, claimOf } from "./claims";
import { rememberState } from "./evidence";
import { assertGone } from "./gone";
import type { RecordScope } from "./record-scope";
import type { Claim, EngineOptions, Outputs } from "./resource";
import { assertSameRecord, assertSameServer, isAccountOfState } from "./same-record";

/** Deletes the record of a resource, unless another resource owns it or it is gone. */
export async function deleteRecord(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  options: EngineOptions,
): Promise<void> {
  const { collection, definition, ledger, note, reader } = scope;
  assertSameServer(scope, outputs, options);
  const operation = new Operation(scope, options);
  const claim = claimOf(outputs, options);
  const mustStay = ledger.mustStay(id, claim);
  ledger.add(id, { is: "disowned", claim });
  // No other process of the run adopts the record while its delete is on its way.
  note.addOwned(id, sharedClaim(outputs));
  if (mustStay || (await isOwnedInOtherProcess(scope, id, sharedClaim(outputs), operation))) return;
  rememberState(scope, id, outputs);
  ledger.add(id, { is: "ending", owner: options.owner });
  const isSameAccount = isAccountOfState(scope, outputs);
  try {
    if (!isSameAccount || hasFixedKey(definition))
      assertSameRecord(scope, outputs, await reader.readSingle(id, operation));
    ledger.add(id, { is: "changing" });
    await collection.remove(id, operation);
  } catch (error) {
    try {
      if (!(error instanceof MissingError)) throw error;
      // With the key that state was made with, a 404 is proof enough.
      if (!isSameAccount) await assertGone(scope, id, outputs, error, operation);
    } catch (failure) {
      ledger.add(id, { is: "not ended" });
      throw failure;
    }
  }
  ledger.add(id, { is: "ended", owner: options.owner, importId: outputs.importId });
}

/** Whether a resource of another process owns the record. */
async function isOwnedInOtherProcess(
  { note, reader }: RecordScope,
  id: string,
  claim: Claim,
  operation: Operation,
): Promise<boolean> {
  if (note.isOwnedElsewhere(id, claim)) return true;
  // With another key, the same id may be another record.
  if (!note.isReservedElsewhere(id)) return false;
  try {
    return note.isReservedElsewhere(id, await reader.readSingle(id, operation));
  } catch (error) {
    if (error instanceof MissingError) return false;
    throw error;
  }
}
