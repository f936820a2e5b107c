import { resolve } from "node:path";

import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import { counted } from "../../common/text";
import { textIfThere } from "../shared/files";
import { parseAs } from "../shared/json";
import { printable, listOf } from "../shared/quoting";
import type { ApplyAction, ApplyActions } from "./apply-actions";
import type { Facts } from "./facts";
import { digestIn, digestOf, encodeTitle, hashesIn, markerIn, partialDigest, type Marker } from "./marker";

/** The label of a pull request that allows more deletes than `--max-deletes`. */
export const deletesLabel = "allow-deletes";

/** The most changes that the reason of a stop names; the comment above it has all. */
const maxNamed = 20;

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
type Review = { readonly digest: string } | ReturnType<typeof reviewedIn>;

/**
 * @param given a file with comments, or a digest
 * @param title what the comments are about, in their first lines
 */
export function readReview(given: string, title: string, cwd: string): Review {
  if (given.trim() === "") return reviewedIn([], title);
  const text = textIfThere(resolve(cwd, given));
  if (text === undefined) {
    const digest = digestIn(given);
    if (digest !== undefined) return { digest };
    throw new UptimeError(`--reviewed: ${given} is neither a file nor a digest.`);
  }
  const read = parseAs(comments, text);
  if (read) return reviewedIn(read, title);
  throw new UptimeError(
    `--reviewed: ${given} is not a JSON array of comments, each an object with its "body", and "pull" and "head" if they are known.`,
  );
}

/** The hashes of changes and of code in the comments on one stack. */
function reviewedIn(given: readonly ReviewComment[], title: string) {
  const marked = given.flatMap((comment) => {
    const marker = markerIn(comment.body);
    return marker?.title === encodeTitle(title)
      ? [{ ...comment, marker, problem: problemOfComment(comment, marker) }]
      : [];
  });
  const valid = marked.filter(({ problem }) => problem === undefined);
  const hashes = (of: typeof marked): Set<string> =>
    new Set(of.flatMap(({ marker }) => hashesIn(marker.changeHashes ?? "")));
  const waiting = valid.filter(({ applied }) => !applied);
  return {
    changeHashes: hashes(waiting),
    /** The changes whose deletes are allowed, however many. */
    deletes: hashes(waiting.filter(({ deletes }) => deletes)),
    /** The changes, and those of comments that were applied already. */
    code: hashes(valid),
    /** Why comments do not count. */
    problems: marked.flatMap(({ applied, problem }) => (problem === undefined || applied ? [] : [problem])),
    hasComments: given.length > 0,
  };
}

/** Why a comment does not count. */
function problemOfComment(
  { pull, head }: ReviewComment,
  { commit, digest, changeHashes }: Marker,
): string | undefined {
  const comment = pull === undefined ? "A comment" : `The comment on pull request ${pull}`;
  if (head !== undefined && commit !== head)
    return `${comment} is of commit ${commit ?? "(unknown)"}, and the pull request's head is ${head}.`;
  if (digest === undefined) return `${comment} is of a preview that failed.`;
  return changeHashes === undefined ? `${comment} has no room for its changes' hashes.` : undefined;
}

/** Why the preview must not run, and how to go on: Pulumi may run code from state that was not reviewed. */
export function codeStop(code: readonly ApplyAction[], review: Review): string | undefined {
  const isReviewed = ({ hash }: ApplyAction): boolean =>
    "digest" in review ? review.digest.startsWith(partialDigest(code)) : review.code.has(hash);
  const missing = code.filter((action) => !isReviewed(action));
  if (missing.length === 0) return undefined;
  const reason =
    "digest" in review
      ? `The digest ${review.digest} belongs to other code than ${titlesOf(code)}.`
      : [`Nobody has reviewed ${titlesOf(missing)}.`, ...review.problems].join(" ");
  return (
    `Nothing is previewed or applied, because state has code that nobody has reviewed, and Pulumi may run it. ${reason} Find out ` +
    "who wrote it. To go on: merge a pull request whose comment shows it or, if it is right, run the workflow by hand " +
    `with the digest ${partialDigest(code)}.`
  );
}

/** Why `pulumi up` must not run, and how to go on: it does something that was not reviewed, or deletes too much. */
export function applyStop(
  actions: ApplyActions,
  facts: Facts,
  review: Review,
  maxDeletes: string | undefined,
): string | undefined {
  const notReviewed = reviewReason(actions, facts, review);
  const tooMany = tooManyDeletes(actions, facts, maxDeletes, review);
  const reasons = [notReviewed, tooMany].filter((reason) => reason !== undefined);
  if (reasons.length === 0) return undefined;
  const what = [
    ...(notReviewed === undefined ? [] : ["whose comment shows these changes"]),
    ...(tooMany === undefined ? [] : [`that has the label ${deletesLabel} by then`]),
  ];
  const ways = [
    `merge a pull request ${what.join(" and ")}`,
    `if everything listed above is right, run the workflow by hand with the digest ${digestOf(actions)}`,
  ];
  return `Nothing is applied. ${reasons.join(" ")} To apply this: ${ways.join(" or, ")}.`;
}

function reviewReason(actions: ApplyActions, { title }: Facts, review: Review): string | undefined {
  const { writes, code } = actions;
  if (writes.length === 0) return undefined;
  if ("digest" in review)
    return review.digest === digestOf(actions)
      ? undefined
      : `The digest ${review.digest} belongs to other changes than those listed above.`;
  const { changeHashes, problems, hasComments } = review;
  const isReviewed = ({ hash, allowedBy = [] }: ApplyAction): boolean =>
    changeHashes.has(hash) ||
    (allowedBy.length > 0 && allowedBy.every((hashes) => hashes.some((one) => changeHashes.has(one))));
  const missing = [
    ...writes.filter((action) => !isReviewed(action)),
    ...code.filter(({ hash }) => !review.code.has(hash)),
  ];
  if (missing.length === 0) return undefined;
  if (changeHashes.size > 0) {
    const all = counted(writes.length + code.length, "change");
    const were = missing.length === 1 ? "was" : "were";
    return [`${missing.length} of ${all} ${were} not reviewed: ${titlesOf(missing)}.`, ...problems].join(" ");
  }
  const fault = hasComments
    ? `No comment is about a preview of ${title || "the stack"}.`
    : "There is no comment about a preview.";
  return ["None of this was reviewed.", ...(problems.length > 0 ? problems : [fault])].join(" ");
}

function titlesOf(actions: readonly ApplyAction[]): string {
  return listOf(
    actions.map(({ title }) => printable(title)),
    maxNamed,
  );
}

/**
 * Why an apply must not follow: it deletes or replaces too much.
 *
 * @param most a number, or a share such as `20%`; undefined if there is no limit
 */
export function tooManyDeletes(
  { writes }: ApplyActions,
  { changes, unchanged }: Facts,
  most: string | undefined,
  review?: Review,
): string | undefined {
  if (most === undefined || (review && "digest" in review)) return undefined;
  const deleted = writes.filter(
    ({ hash, isDestructive }) => isDestructive && !review?.deletes.has(hash),
  ).length;
  // What an earlier run has replaced is no resource any more.
  const present = changes.filter(
    ({ operation, isPendingDelete }) => !isPendingDelete && !["create", "import"].includes(operation),
  );
  const total = unchanged + present.length;
  const allowed = Math.floor(most.endsWith("%") ? (total * parseInt(most)) / 100 : parseInt(most));
  if (deleted <= allowed) return undefined;
  const limit = most.endsWith("%") ? `${most}, which allows ${allowed || "none"}` : String(allowed);
  return `${deleted} of ${counted(total, "resource")} would be deleted or replaced, and the limit is ${limit}.`;
}
