import { randomBytes } from "node:crypto";

import type { ApiRecord } from "../api/answer";
import { message, quoteId, UptimeError } from "../api/errors";
import { describeOwner } from "./describe";
import type { RecordScope } from "./record-scope";
import type { Claim, EngineOptions, Outputs } from "./resource";

/** The claim of every resource whose state is older than claims and has none. */
const oldClaim = "" as Claim;

/** The claim of a resource that gets its record now. */
export function newClaim(): Claim {
  return randomBytes(4).toString("hex") as Claim;
}

export function claimOf({ claim }: Pick<Outputs, "claim">): Claim {
  return claim ?? oldClaim;
}

/** Notes that a resource in state has the record. */
export function hearOf(
  { ledger }: RecordScope,
  id: string,
  outputs: Outputs,
  { owner }: EngineOptions,
): void {
  ledger.hear(id, claimOf(outputs), owner);
}

/**
 * Notes that a resource of the program keeps the record that it has in state. Throws if another resource of the program has
 * the record too: after `b` has adopted the record of `a`, for example.
 */
export function keepRecord(scope: RecordScope, id: string, outputs: Outputs, options: EngineOptions): void {
  const { definition, ledger, note, owners } = scope;
  const { owner } = options;
  if (!owners.isDeclared(owner)) return;
  const claim = claimOf(outputs);
  assertNotVoid(scope, id, outputs);
  note.keep(id, claim);
  const rival = ledger.otherDeclaredOwner(id, claim, owner);
  if (rival === undefined && !note.hasOther(id, claim)) return;
  throw new UptimeError(
    message`${definition.label} ${quoteId(id)} belongs to ${describeOwner(owners, owner)}, and
      ${rival === undefined ? "a resource of another provider" : describeOwner(owners, rival)} has it too.
      Remove one of the two from the program: the record stays. If the record of one of them is gone, and this
      is the one that has got its id, run \`pulumi state delete URN\` for the other.`,
  );
}

/** Whether this run deletes a record, or has deleted it. The record counts also if another process knows it by another key. */
export function isDeletedByRun({ ledger, note }: RecordScope, id: string, record?: ApiRecord): boolean {
  return ledger.isDeleted(id) || note.isDeleted(id, record);
}

/** Whether a resource's claim is void: its record is gone for certain, because this run has created another with its id. */
export function isVoid({ ledger, note }: RecordScope, id: string, outputs: Outputs): boolean {
  const claim = claimOf(outputs);
  return ledger.isVoid(id, claim) || note.isCreatedElsewhere(id, claim);
}

/** Throws if {@link isVoid}. */
export function assertNotVoid(scope: RecordScope, id: string, outputs: Outputs): void {
  const { label, singular } = scope.definition;
  if (isVoid(scope, id, outputs))
    throw new UptimeError(
      message`The record of this ${label} is gone: the server has given its id ${quoteId(id)} to a ${singular}
        that this run has created. Run \`pulumi state delete URN\` for this resource, and \`pulumi up\` again.`,
    );
}
