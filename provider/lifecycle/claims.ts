import { randomUUID } from "node:crypto";

import type { Claim, EngineOptions, Outputs } from "./resource";

/** The owner of a record, if the engine does not tell its name. */
export const unknownOwner = "";

/** The claim of a resource that has created its record and that the engine does not name. */
export const unnamedClaim = "" as Claim;

/**
 * The claim of a resource that adopts or imports a record: its name and a random id. The id is needed because an older resource
 * of the same name may still have the record in state, and is about to be deleted.
 */
export function newClaim(owner: string | undefined): Claim {
  return (owner === undefined ? randomUUID() : `${owner}#${randomUUID()}`) as Claim;
}

/** The claim of a resource whose name is enough, because no resource had the record before. */
export function namedClaim(owner: string): Claim {
  return owner as Claim;
}

/** A claim that state holds. In state of an earlier build it may be the name of an imported resource, without its types. */
export function claimInState(text: string | undefined): Claim | undefined {
  return text as Claim | undefined;
}

/** The claim of a resource in state. */
export function claimOf({ claim }: Outputs, { owner, isOwnerCertain }: EngineOptions): Claim {
  return claim ?? (isOwnerCertain && owner !== undefined ? namedClaim(owner) : unnamedClaim);
}

/** The claim that all processes of a run know. It comes from state alone, because the dynamic host is not told the owner. */
export function sharedClaim({ claim }: Outputs): Claim {
  return claim ?? unnamedClaim;
}

/** The owner in a claim: {@link unknownOwner} for {@link unnamedClaim}. */
export function ownerIn(claim: Claim): string {
  return claim.replace(/#[0-9a-f-]{36}$/, "");
}
