import { randomUUID } from "node:crypto";

import type { EngineOptions, Outputs } from "./resource";

/** The owner of a record, if the engine does not tell its name; also its claim if it created the record. */
export const unknownOwner = "";

/**
 * The claim of a resource that adopts or imports a record: its name and a random id. The id is needed because an older resource
 * of the same name may still have the record in state, and is about to be deleted.
 */
export function newClaim(owner: string | undefined): string {
  return owner === undefined ? randomUUID() : `${owner}#${randomUUID()}`;
}

/** The claim of a resource in state: it identifies the resource among the owners of its record. */
export function claimOf({ claim }: Outputs, { owner, isOwnerCertain }: EngineOptions): string {
  return claim ?? (isOwnerCertain ? owner : undefined) ?? unknownOwner;
}

/** The claim that all processes of a run know. It comes from state alone, because the dynamic host is not told the owner. */
export function sharedClaim({ claim }: Outputs): string {
  return claim ?? unknownOwner;
}

/** The owner in a claim. */
export function ownerIn(claim: string): string {
  return claim.replace(/#[0-9a-f-]{36}$/, "");
}
