import { createHash } from "node:crypto";

import type { DriftReport } from "../drift/report";
import type { PlannedChange, PlannedChanges } from "../shared/preview";

/** What must hold before `pulumi up` may run. */
export interface ReviewOptions {
  /** The digest of what was reviewed, or the line of a comment that holds it. */
  readonly reviewed?: string;
  /** How many resources may be deleted or replaced: a number, or a share such as `20%`. */
  readonly maxDeletes?: string;
}

/** In a digest, for no changes or no drift. */
const nothing = "none";

/**
 * What an `up` would do, as two hashes: of the program's changes, and of the drift. They hold less than the comment shows,
 * and so no secret.
 */
export function digestOf({ own, others }: PlannedChanges, drift: DriftReport | undefined): string {
  const changes = [
    ...own.map(({ operation, urn, importId, properties }) => {
      const values = properties.map(({ property, before, after }) =>
        JSON.stringify([property, before, after]),
      );
      return [operation, urn, importId, values.sort()];
    }),
    // The comment does not show the values of other packages, which may be new in each preview.
    ...others.map(({ operation, urn, properties }) => {
      return [operation, urn, properties.map(({ property }) => property).sort()];
    }),
  ];
  const edits = (drift?.drifted ?? []).map(({ urn, id, outcome, properties }) => [
    urn,
    id,
    outcome,
    properties,
  ]);
  return `${hashOf(changes)}-${hashOf(edits)}`;
}

/** A hash of the entries, which does not depend on their order. */
function hashOf(entries: readonly unknown[]): string {
  if (entries.length === 0) return nothing;
  const lines = entries.map((entry) => JSON.stringify(entry)).sort();
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}

/**
 * Why no `up` must follow: it would do something else than was reviewed, or lose too much.
 *
 * @param digest undefined if not all is known that it would do
 */
export function reasonsNotToApply(
  { reviewed, maxDeletes }: ReviewOptions,
  digest: string | undefined,
  { own }: PlannedChanges,
  drift: DriftReport | undefined,
): string[] {
  if (reviewed === undefined && maxDeletes === undefined) return [];
  if (digest === undefined) return ["It is not known what would be done: see the errors above."];
  return [
    ...(reviewed === undefined ? [] : reviewReasons(digest, reviewed)),
    ...(maxDeletes === undefined ? [] : lossReasons(own, maxDeletes, drift?.checked)),
  ];
}

/** Why the changes or the drift count as not reviewed. If there are none, none need be. */
function reviewReasons(digest: string, reviewed: string): string[] {
  const [changes = "", edits = ""] = digest.split("-");
  const isReviewed = (part: string): boolean => part === nothing || reviewed.includes(part);
  const reasons = [
    ...(isReviewed(changes) ? [] : ["The program's changes are not the reviewed ones."]),
    ...(isReviewed(edits) ? [] : ["The drift is not the reviewed one."]),
  ];
  return reasons.length === 0 ? [] : [...reasons, `What is listed above has the digest ${digest}.`];
}

/** @param total how many resources of this package the stack has, if that is known */
function lossReasons(own: readonly PlannedChange[], most: string, total = 0): string[] {
  const lost = own.filter(({ operation }) => operation === "delete" || operation === "replace").length;
  const allowed = Math.floor(most.endsWith("%") ? (total * parseInt(most)) / 100 : parseInt(most));
  if (lost <= allowed) return [];
  const of = total > 0 ? ` of ${total}` : "";
  return [
    `${lost}${of} resources would be deleted or replaced, and --max-deletes ${most} allows ${allowed}.`,
  ];
}
