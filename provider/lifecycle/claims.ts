import { randomUUID } from "node:crypto";

import type { EngineOptions, Outputs } from "./resource";

/** The claim of a resource that created its record, when the engine does not tell its name. */
export const unknownOwner = "";

/** Names another owner in a message. */
export function describeOwner(owner: string, kind = "resource"): string {
  return owner === unknownOwner ? `another ${kind}` : owner;
}

/**
 * The claim of a resource that adopts or imports a record: its owner and a random id. The id is needed because an older
 * resource of the same name may still have the record in state, and is about to be deleted.
 */
export function adoptionClaim(owner: string | undefined): string {
  return owner === undefined ? randomUUID() : `${owner}#${randomUUID()}`;
}

/** Identifies a resource among those that have the same record. */
export function claimOf({ claim }: Outputs, { owner, isOwnerCertain }: EngineOptions): string {
  return claim ?? (isOwnerCertain ? owner : undefined) ?? unknownOwner;
}

/** The claim that all processes of a run know. It comes from state alone, because the dynamic host is not told the owner. */
export function claimInState({ claim }: Outputs): string {
  return claim ?? unknownOwner;
}

/** The owner in a claim. */
export function ownerIn(claim: string): string {
  return claim.replace(/#[0-9a-f-]{36}$/, "");
}
