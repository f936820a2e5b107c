import { MissingError, UptimeError } from "../api/errors";
import type { ApiRecord } from "../api/answer";
import type { Operation } from "../api/operation";
import { shownIdentity } from "./difference";
import type { RecordScope } from "./record-scope";

// Which resource has which record, across the processes of one run. The ledger knows the same within this process.

/** The name of a record for processes with the same key. */
function nameByKey(scope: RecordScope, id: string): string {
  return `${scope.keyFingerprint} ${idOnServer(scope, id)}`;
}

/** The name of a record for all processes. It holds what the record shows, because two accounts of a server may use the same ids. */
function nameOnServer(scope: RecordScope, record: ApiRecord): string {
  return `${idOnServer(scope, record.id)} ${shownIdentity(scope.definition, record)}`;
}

function idOnServer({ address, definition }: RecordScope, id: string): string {
  return `${address.hash} ${definition.plural} ${id}`;
}

/**
 * Notes that a resource of this process has a record. Returns whether one of another process with the same key has it too.
 *
 * @param claim the resource's claim, if it has the record in state
 */
export function holdRecord(scope: RecordScope, id: string, claim?: string): boolean {
  const name = nameByKey(scope, id);
  scope.runNote.hold(name, claim);
  return scope.runNote.isHeldElsewhere(name);
}

/** Reserves an existing record for a resource of this process. Throws if another process was first, or cannot learn of it. */
export function reserveRecord(scope: RecordScope, record: ApiRecord): void {
  const { runNote } = scope;
  runNote.hold(idOnServer(scope, record.id));
  runNote.reserve(nameOnServer(scope, record));
  runNote.reserve(nameByKey(scope, record.id));
}

/** Notes that a resource of this process has created a record. Throws if another process adopted it before the answer came. */
export function holdCreated(scope: RecordScope, id: string): void {
  let isAdopted = false;
  try {
    isAdopted = holdRecord(scope, id);
  } catch {
    // State must get the new record, even if the note cannot be read.
  }
  if (isAdopted)
    throw new UptimeError(
      `${scope.definition.label} ${id} was created, but a resource of another provider has adopted it meanwhile: two ` +
        "resources that are equal cannot both have it. Give them different names, or remove one.",
    );
}

/** Whether a resource of another process has a record, or has reserved it with another key. */
export function isRecordHeldElsewhere(scope: RecordScope, record: ApiRecord): boolean {
  return isIdHeldElsewhere(scope, record.id) || scope.runNote.isHeldElsewhere(nameOnServer(scope, record));
}

/** Whether a resource of another process with the same key has a record. */
export function isIdHeldElsewhere(scope: RecordScope, id: string, claim?: string): boolean {
  return scope.runNote.isHeldElsewhere(nameByKey(scope, id), claim);
}

/**
 * Whether a resource of another process has the record of a resource in state. Its new provider may hold it for the same
 * resource, which is replaced. The record is read if a process with another key has reserved such an id.
 */
export async function isStateHeldElsewhere(
  scope: RecordScope,
  id: string,
  claim: string,
  operation: Operation,
): Promise<boolean> {
  if (isIdHeldElsewhere(scope, id, claim)) return true;
  if (!scope.runNote.isHeldElsewhere(idOnServer(scope, id))) return false;
  try {
    return scope.runNote.isHeldElsewhere(nameOnServer(scope, await scope.reader.show(id, operation)));
  } catch (error) {
    if (error instanceof MissingError) return false;
    throw error;
  }
}
