import { createHash } from "node:crypto";

import type { DriftReport } from "../drift/report";
import type { PlannedChange, PlannedChanges } from "../shared/preview";

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
  const edits = (drift?.drifted ?? []).map(({ urn, id, kind, properties }) => [urn, id, kind, properties]);
  return `${hashOf(changes)}-${hashOf(edits)}`;
}

/** The order does not matter. */
function hashOf(entries: readonly unknown[]): string {
  if (entries.length === 0) return nothing;
  const lines = entries.map((entry) => JSON.stringify(entry)).sort();
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}

/**
 * How what would be done differs from what was reviewed. No changes and no drift need no review.
 *
 * @param reviewed a digest, or the line of a comment that holds it
 */
export function reviewFaults(digest: string, reviewed: string): string[] {
  const [changes = "", edits = ""] = digest.split("-");
  const isReviewed = (part: string): boolean => part === nothing || reviewed.includes(part);
  const faults = [
    ...(isReviewed(changes) ? [] : ["The program's changes are not the reviewed ones."]),
    ...(isReviewed(edits) ? [] : ["The drift is not the reviewed one."]),
  ];
  return faults.length === 0 ? [] : [...faults, `What is listed above has the digest ${digest}.`];
}

/**
 * Whether more resources would be deleted or replaced than a limit allows.
 *
 * @param limit a number, or a share such as `20%`
 * @param total how many resources of this package the stack has, if that is known
 */
export function lossFaults(own: readonly PlannedChange[], limit: string, total = 0): string[] {
  const lost = own.filter(({ operation }) => operation === "delete" || operation === "replace").length;
  const allowed = Math.floor(limit.endsWith("%") ? (total * parseInt(limit)) / 100 : parseInt(limit));
  if (lost <= allowed) return [];
  const of = total > 0 ? ` of ${total}` : "";
  return [
    `${lost}${of} resources would be deleted or replaced, and --max-deletes ${limit} allows ${allowed}.`,
  ];
}
