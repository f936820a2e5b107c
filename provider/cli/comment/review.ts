import { readFileSync } from "node:fs";

import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import { counted } from "../../common/text";
import { exists, readText } from "../shared/files";
import { parseAs } from "../shared/json";
import { printable, listOf } from "../shared/quoting";
import { markerIn } from "./marker";
import { digestIn, digestOf, hashesIn, type ApplyActions } from "./apply-actions";

/** The label of a pull request that allows more deletes than `--max-deletes`. */
export const deletesLabel = "allow-deletes";

/** The most changes that the reason of a stop names; the comment above it has all. */
const mostNamed = 20;

/** Comments that count as reviewed. */
const comments = z.array(
  z.object({
    body: z.string(),
    pull: z.optional(z.union([z.string(), z.number()])),
    /** The head commit of the pull request. */
    head: z.optional(z.string()),
    /** Whether its deletes are allowed, however many. */
    deletes: z.optional(z.boolean()),
  }),
);
type ReviewComment = z.infer<typeof comments>[number];

/** What was reviewed: the changes in comments, or all changes of one run, by their digest. */
type Review = { readonly digest: string } | { readonly comments: readonly ReviewComment[] };

/**
 * @param given the digest, or the file with the comments: `-` is the standard input
 * @param resolve makes a path from a file's name
 */
export function readReview(given: string, resolve: (path: string) => string): Review {
  if (given.trim() === "") return { comments: [] };
  const isInput = given === "-";
  if (!isInput && !exists(resolve(given))) {
    const digest = digestIn(given);
    if (digest !== undefined) return { digest };
    throw new UptimeError(`--reviewed: ${given} is neither a file nor a digest.`);
  }
  const text = (isInput ? readFileSync(0, "utf8") : readText(resolve(given))).trim();
  // One comment, as `comment` has printed it.
  if (markerIn(text)) return { comments: [{ body: text }] };
  const read = text === "" ? [] : parseAs(comments, text);
  if (read) return { comments: read };
  throw new UptimeError(
    `--reviewed: ${given} is not a JSON array of comments, each an object with its "body", and "pull" and "head" if they are known.`,
  );
}

/** Why an apply must not follow: it does something that was not reviewed. */
export function reviewReasons(actions: ApplyActions, review: Review): string[] {
  const { writes, code } = actions;
  if (writes.length === 0) return [];
  const digest = digestOf(actions);
  if ("digest" in review)
    return review.digest === digest
      ? []
      : [`The digest ${review.digest} is that of other changes than those listed above.`];
  const { reviewed, problems } = hashesOf(review.comments);
  const missing = [...writes, ...code].filter(({ hash }) => !reviewed.has(hash));
  if (missing.length === 0) return [];
  const faults = problems.length > 0 ? ` ${problems.join(" ")}` : "";
  if (reviewed.size === 0)
    return [
      `Nothing of this was reviewed.${faults || (review.comments.length > 0 ? " No comment has a preview's changes in its first line." : " There is no comment of a preview.")}`,
    ];
  const names = listOf(
    missing.map(({ title }) => printable(title)),
    mostNamed,
  );
  const of = `${missing.length} of ${counted(writes.length + code.length, "change")}`;
  return [`${of} ${missing.length === 1 ? "was" : "were"} not reviewed: ${names}.${faults}`];
}

/** The hashes of all comments, and why some do not count. */
function hashesOf(found: readonly ReviewComment[]): { reviewed: Set<string>; problems: string[] } {
  const reviewed = new Set<string>();
  const problems: string[] = [];
  for (const { body, pull, head } of found) {
    const marker = markerIn(body);
    if (!marker) continue;
    const whose = pull === undefined ? "A comment" : `The comment on pull request ${pull}`;
    if (head !== undefined && marker.commit !== head)
      problems.push(
        `${whose} is of commit ${marker.commit ?? "(unknown)"}, and the pull request's head is ${head}.`,
      );
    else if (marker.changes === undefined) problems.push(`${whose} is of a preview that failed.`);
    else for (const hash of hashesIn(marker.changes)) reviewed.add(hash);
  }
  return { reviewed, problems };
}

/**
 * Why an apply must not follow: it deletes or replaces too much.
 *
 * @param most a number, or a share such as `20%`
 * @param total how many resources the stack has
 */
export function lossReason(
  { writes }: ApplyActions,
  total: number,
  most: string,
  review: Review = { comments: [] },
): string | undefined {
  if ("digest" in review) return undefined;
  const { reviewed: allowedOnes } = hashesOf(review.comments.filter(({ deletes }) => deletes));
  const lost = writes.filter(({ hash, isLoss }) => isLoss && !allowedOnes.has(hash)).length;
  const allowed = Math.floor(most.endsWith("%") ? (total * parseInt(most)) / 100 : parseInt(most));
  if (lost <= allowed) return undefined;
  const limit = most.endsWith("%") ? `${most}, so ${allowed}` : String(allowed);
  return `${lost} of ${counted(total, "resource")} would be deleted or replaced, and the limit is ${limit}.`;
}
