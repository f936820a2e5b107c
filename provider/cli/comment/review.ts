import { readFileSync } from "node:fs";

import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import { counted } from "../../common/text";
import { exists, readText } from "../shared/files";
import { parseAs } from "../shared/json";
import { printable, listOf } from "../shared/quoting";
import { markerIn } from "./marker";
import {
  digestIn,
  digestOf,
  hashesIn,
  partialDigest,
  type ApplyAction,
  type ApplyActions,
} from "./apply-actions";

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
    /** It was applied already: only the code that it shows in state still counts. */
    applied: z.optional(z.boolean()),
  }),
);
type ReviewComment = z.infer<typeof comments>[number];

/** What was reviewed: the changes in comments on one stack, or all changes of one run, by their digest. */
type Review =
  | { readonly digest: string }
  | {
      readonly comments: readonly ReviewComment[];
      /** The stack's name in the comments' first lines. */
      readonly title: string;
    };

/**
 * @param given the digest, or the file with the comments: `-` is the standard input
 * @param title what the comments are about, in their first lines
 * @param resolve makes a path from a file's name
 */
export function readReview(given: string, title: string, resolve: (path: string) => string): Review {
  if (given.trim() === "") return { comments: [], title };
  const isInput = given === "-";
  if (!isInput && !exists(resolve(given))) {
    const digest = digestIn(given);
    if (digest !== undefined) return { digest };
    throw new UptimeError(`--reviewed: ${given} is neither a file nor a digest.`);
  }
  const text = (isInput ? readFileSync(0, "utf8") : readText(resolve(given))).trim();
  // One comment, as `comment` has printed it.
  if (markerIn(text)) return { comments: [{ body: text }], title };
  const read = text === "" ? [] : parseAs(comments, text);
  if (read) return { comments: read, title };
  throw new UptimeError(
    `--reviewed: ${given} is not a JSON array of comments, each an object with its "body", and "pull" and "head" if they are known.`,
  );
}

/** Why nothing must be previewed: Pulumi may run code that was not reviewed. */
export function codeReasons(code: readonly ApplyAction[], review: Review): string[] {
  if (code.length === 0) return [];
  if ("digest" in review)
    return review.digest.startsWith(partialDigest(code))
      ? []
      : [`The digest ${review.digest} is that of other code than ${titlesOf(code)}.`];
  const { code: reviewed, problems } = hashesOf(review);
  const missing = code.filter(({ hash }) => !reviewed.has(hash));
  if (missing.length === 0) return [];
  return [`Nobody has reviewed ${titlesOf(missing)}.`, ...problems];
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
  const { changes, code: reviewedCode, problems } = hashesOf(review);
  const isReviewed = ({ hash, leftoverOf }: ApplyAction): boolean =>
    [hash, leftoverOf].some((one) => one !== undefined && changes.has(one));
  const missing = [
    ...writes.filter((one) => !isReviewed(one)),
    ...code.filter(({ hash }) => !reviewedCode.has(hash)),
  ];
  if (missing.length === 0) return [];
  const faults = problems.length > 0 ? ` ${problems.join(" ")}` : "";
  if (changes.size === 0)
    return [
      `Nothing of this was reviewed.${faults || (review.comments.length > 0 ? ` No comment on ${review.title || "the stack"} has a preview's changes in its first line.` : " There is no comment of a preview.")}`,
    ];
  const of = `${missing.length} of ${counted(writes.length + code.length, "change")}`;
  return [`${of} ${missing.length === 1 ? "was" : "were"} not reviewed: ${titlesOf(missing)}.${faults}`];
}

const titlesOf = (actions: readonly ApplyAction[]): string =>
  listOf(
    actions.map(({ title }) => printable(title)),
    mostNamed,
  );

interface ReviewedHashes {
  readonly changes: ReadonlySet<string>;
  /** Also those of comments that were applied already. */
  readonly code: ReadonlySet<string>;
  /** Why some comments do not count. */
  readonly problems: readonly string[];
}

function hashesOf({ comments, title }: Extract<Review, { comments: unknown }>): ReviewedHashes {
  const changes = new Set<string>();
  const code = new Set<string>();
  const problems: string[] = [];
  for (const { body, pull, head, applied } of comments) {
    const marker = markerIn(body);
    if (marker?.title !== title) continue;
    const problem = (text: string): void => {
      if (!applied) problems.push(text);
    };
    const whose = pull === undefined ? "A comment" : `The comment on pull request ${pull}`;
    if (head !== undefined && marker.commit !== head)
      problem(
        `${whose} is of commit ${marker.commit ?? "(unknown)"}, and the pull request's head is ${head}.`,
      );
    else if (marker.digest === undefined) problem(`${whose} is of a preview that failed.`);
    else if (marker.changes === undefined) problem(`${whose} has no room for its changes' hashes.`);
    else
      for (const hash of hashesIn(marker.changes)) {
        code.add(hash);
        if (!applied) changes.add(hash);
      }
  }
  return { changes, code, problems };
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
  review: Review = { comments: [], title: "" },
): string | undefined {
  if ("digest" in review) return undefined;
  const { comments, title } = review;
  const { changes: allowedOnes } = hashesOf({ title, comments: comments.filter(({ deletes }) => deletes) });
  const lost = writes.filter(({ hash, isLoss }) => isLoss && !allowedOnes.has(hash)).length;
  const allowed = Math.floor(most.endsWith("%") ? (total * parseInt(most)) / 100 : parseInt(most));
  if (lost <= allowed) return undefined;
  const limit = most.endsWith("%") ? `${most}, so ${allowed}` : String(allowed);
  return `${lost} of ${counted(total, "resource")} would be deleted or replaced, and the limit is ${limit}.`;
}
