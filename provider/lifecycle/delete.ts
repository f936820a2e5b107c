import { MissingError } from "../api/errors";
import { isHeldElsewhere, operationOf } from "./account";
import type { Account } from "./account";
import { proveGone } from "./gone";
import { claimInState, claimOf } from "./ledger";
import type { Options, Outputs } from "./resource";
import { assertOwnRecord, assertSameServer, isAccountOfState, isIdentified, noteState } from "./same-record";

/** Deletes the record of a resource, unless another resource has it or it is gone. */
export async function remove(
  account: Account,
  id: string,
  outputs: Outputs,
  options: Options,
): Promise<void> {
  const { collection, ledger, reader } = account;
  assertSameServer(account, outputs, options);
  const operation = operationOf(account, options);
  const claim = claimOf(outputs, options);
  const isOthers = ledger.mustStay(id, claim);
  ledger.note(id, { is: "left", claim });
  if (isOthers || (await isHeldElsewhere(account, id, claimInState(outputs), operation))) return;
  noteState(account, id, outputs);
  ledger.note(id, { is: "ending", owner: options.owner });
  const isOurs = isAccountOfState(account, outputs);
  try {
    if (!isOurs || isIdentified(account)) assertOwnRecord(account, outputs, await reader.show(id, operation));
    ledger.note(id, { is: "written" });
    await collection.remove(id, operation);
  } catch (error) {
    try {
      if (!(error instanceof MissingError)) throw error;
      // With the key that state was made with, the record's own address is enough.
      if (!isOurs) await proveGone(account, id, outputs, error, operation);
    } catch (failure) {
      ledger.note(id, { is: "not ended" });
      throw failure;
    }
  }
  ledger.note(id, { is: "ended", owner: options.owner, importId: outputs.importId });
}
