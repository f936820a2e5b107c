import { createHash } from "node:crypto";

import type { DriftReport } from "../drift/report";
import type { PlannedChange, PlannedChanges } from "../shared/planned-changes";
import type { Preview } from "../shared/preview";
import { titleOf } from "../shared/resource-types";
import { foreignCode, hashLength, shortHash } from "../shared/state-code";

/** One thing that an apply does or runs, and that somebody must have reviewed. */
interface ApplyAction {
  /** The same in each run for the same action. It does not show values. */
  readonly hash: string;
  /** Such as `Monitor shop: delete`. */
  readonly title: string;
  /** It deletes a record or resource, or replaces it. */
  readonly isLoss?: boolean;
  /** If it is a replacement that cannot delete the old record: the hash of that delete in a later run. */
  readonly leftover?: string;
}

/** All that an apply does and runs. */
export interface ApplyActions {
  /** What writes: the program's changes, and the drift that an apply sets back. */
  readonly writes: readonly ApplyAction[];
  /** The code of other packages in state. */
  readonly code: readonly ApplyAction[];
  /** What the program adds to that code: it is in state after an apply. */
  readonly newCode: readonly string[];
}

/** @param valuesOf a keyed hash of the values of a resource, its secrets among them, by its URN */
export function applyActions(
  preview: Preview,
  { own, others }: PlannedChanges,
  drift: DriftReport | undefined,
  valuesOf: (urn: string) => string | undefined,
): ApplyActions {
  const changes = [
    ...own.map((change) => actionOf(change, hashOfOwn(change, valuesOf(change.urn)))),
    // Their values may be new in each preview, and the comment does not show them.
    ...others.map((change) => actionOf(change, shortHash([change.operation, change.urn]))),
  ];
  const edits = (drift?.drifted ?? []).map((one) => ({
    hash: shortHash(["drift", one.urn, one.id, one.outcome, one.properties]),
    title: `${titleOf(one)}: ${one.outcome === "changed" ? "edited by hand" : one.outcome}`,
  }));
  const code = (drift?.code ?? []).map(({ hash, resources }) => ({
    hash,
    title: `code of ${resources.slice(0, 3).join(", ")}, which state holds`,
  }));
  const declared = (preview.steps ?? []).flatMap(({ urn, newState }) =>
    newState ? [{ ...newState, urn }] : [],
  );
  return {
    writes: [...changes, ...edits],
    code,
    newCode: foreignCode(declared).map(({ hash }) => hash),
  };
}

function hashOfOwn(change: PlannedChange, values: string | undefined): string {
  const { operation, urn, importId, recordId, isProtected, isRetained, properties, secrets } = change;
  const changed = properties.map(({ property, before, after }) => JSON.stringify([property, before, after]));
  const isSecretSent = operation !== "delete" && secrets.length > 0;
  return shortHash([
    ...[operation, urn, importId, recordId, isProtected, isRetained],
    changed.sort(),
    isSecretSent ? values : undefined,
  ]);
}

function actionOf(change: PlannedChange, hash: string): ApplyAction {
  const { title, operation, isLeftover, urn, recordId } = change;
  const leftover = shortHash(["leftover", urn, recordId]);
  return {
    hash: isLeftover ? leftover : hash,
    title: `${title}: ${operation}${isLeftover ? " what an earlier run has left" : ""}`,
    isLoss: operation === "delete" || operation === "replace",
    ...(operation === "replace" && { leftover }),
  };
}

/** One word for exactly what an apply does; `none` if it writes nothing. */
export function digestOf({ writes, code }: ApplyActions): string {
  if (writes.length === 0) return "none";
  const hashes = [...writes, ...code].map(({ hash }) => hash);
  return createHash("sha256").update(hashes.sort().join()).digest("hex").slice(0, 20);
}

/** The digest in a text; undefined if there is none. Somebody may have pasted it with what was around it. */
export function digestIn(text: string): string | undefined {
  return /^[\s.`"']*([\da-f]{20})[\s.`"']*$/i.exec(text)?.[1]?.toLowerCase();
}

/** With more hashes than this, a comment has no room for those of {@link ApplyAction.leftover} beside the names of all resources. */
const mostHashes = 2000;

/** All hashes in one word, for the comment's first line. */
export function hashesText({ writes, code, newCode }: ApplyActions): string {
  const hashes = [...[...writes, ...code].map(({ hash }) => hash), ...newCode];
  const leftovers = writes.flatMap(({ leftover }) => leftover ?? []);
  const all = new Set(hashes.length + leftovers.length > mostHashes ? hashes : [...hashes, ...leftovers]);
  return [...all].sort().join("");
}

export function hashesIn(text: string): string[] {
  return text.match(new RegExp(`.{${hashLength}}`, "g")) ?? [];
}
