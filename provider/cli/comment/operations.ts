import { createHash } from "node:crypto";

import type { DriftReport } from "../drift/report";
import { changeOf, type PlannedChange, type PlannedChanges, type Preview } from "../shared/preview";
import { isOwn, titleOf } from "../shared/resource-types";
import { listOf } from "../shared/quoting";
import { foreignCode, hashLength, shortHash } from "../shared/state-code";

/** Something that an apply does, and that somebody must have reviewed. */
export interface Operation {
  /** The same for the same operation, in whatever run. It tells nothing of values. */
  readonly hash: string;
  /** Such as `Monitor shop: delete`. */
  readonly title: string;
  /** It deletes a record or resource, or replaces it. */
  readonly isLoss?: boolean;
  /** The hashes of what is left to a later run if this one fails in the middle: reviewed with this. */
  readonly leftovers?: readonly string[];
  /** Of an update: the hash among the leftovers of what sets the same resource to the same values. */
  readonly leftoverOf?: string | undefined;
}

/** What an apply does and runs. */
export interface Operations {
  /** What writes: the program's changes, and the drift that they set back. A create that was cut off before is two of them. */
  readonly writes: readonly Operation[];
  /** The code of other packages in state. */
  readonly code: readonly Operation[];
  /** The code that the program declares, as far as the preview shows it: it is in state after an apply. */
  readonly programCode: readonly string[];
}

/** @param valuesOf a keyed hash of the values of a resource, its secrets among them, by its URN */
export function operationsOf(
  preview: Preview,
  { own, others }: PlannedChanges,
  drift: DriftReport | undefined,
  valuesOf: (urn: string) => string | undefined,
): Operations {
  const steps = preview.steps ?? [];
  const creates = createsOf(steps, valuesOf);
  const changes = [
    ...own.map((change) => {
      const hash = hashOfOwn(change, valuesOf(change.urn));
      const isMade = change.operation !== "delete";
      return operationOf(change, hash, isMade ? restOf(creates.get(change.urn)) : undefined);
    }),
    // Their values may be new in each preview, and the comment does not show them.
    ...others.map((change) => operationOf(change, shortHash([change.operation, change.urn]))),
  ];
  const edits = (drift?.drifted ?? []).map((one) => {
    const create = creates.get(one.urn);
    // If a run has stored the drift, and failed before it set it back, the next one plans a create or an update.
    const again = one.outcome === "gone" ? create : undefined;
    return {
      hash: shortHash(["drift", one.urn, one.id, one.outcome, one.properties]),
      title: `${titleOf(one)}: ${one.outcome === "changed" ? "edited by hand" : one.outcome}`,
      leftovers: [again, restOf(create)].flatMap((hash) => hash ?? []),
    };
  });
  const interrupted = pendingChanges(own, drift).map(({ urn, title }) => ({
    hash: shortHash(["pending", urn]),
    title: `${title}: a run was killed while it created it`,
  }));
  const writes = [...changes, ...edits, ...interrupted];
  return { writes, code: codeOperations(drift?.code ?? []), programCode: codeIn(preview) };
}

/** The code of other packages in state, which Pulumi runs. */
export function codeOperations(code: DriftReport["code"]): Operation[] {
  return code.map(({ hash, address, resources }) => ({
    hash,
    title: `code in state of ${listOf(resources, 3)} (${address ?? hash})`,
  }));
}

/** The hashes of the code that the program declares. Outputs are still those of state. */
export function codeIn({ steps }: Preview): string[] {
  const declared = (steps ?? []).flatMap(({ urn, newState }) =>
    newState ? [{ urn, type: newState.type, inputs: newState.inputs }] : [],
  );
  return foreignCode(declared).map(({ hash }) => hash);
}

/** What a preview creates although a killed run may have created it already. */
export function pendingChanges(
  own: readonly PlannedChange[],
  drift: DriftReport | undefined,
): readonly PlannedChange[] {
  const pending = new Set((drift?.pending ?? []).map(({ urn }) => urn));
  return own.filter(
    ({ urn, operation }) => pending.has(urn) && (operation === "create" || operation === "replace"),
  );
}

/** By its URN, the hash of the create that would bring what the program declares of a resource, whatever state has of it. */
function createsOf(
  steps: NonNullable<Preview["steps"]>,
  valuesOf: (urn: string) => string | undefined,
): Map<string, string> {
  return new Map(
    steps.flatMap(({ urn, newState }) => {
      const create = newState && isOwn({ urn }) ? changeOf({ op: "create", urn, newState }) : undefined;
      return create ? [[urn, hashOfOwn(create, valuesOf(urn))] as const] : [];
    }),
  );
}

/** The hash of an update that brings what is missing of a create. */
function restOf(create: string | undefined): string | undefined {
  return create && shortHash(["rest", create]);
}

function hashOfOwn(change: PlannedChange, values: string | undefined): string {
  const { operation, urn, importId, record, account, provider, isProtected, isRetained } = change;
  const { properties, secrets } = change;
  const [id] = record;
  const changed = properties.map(({ property, before, after }) => JSON.stringify([property, before, after]));
  const isSecretSent = operation !== "delete" && secrets.length > 0;
  return shortHash([
    ...[operation, urn, importId, id, account, provider, isProtected, isRetained],
    changed.sort(),
    isSecretSent ? values : undefined,
  ]);
}

function operationOf(change: PlannedChange, hash: string, rest?: string): Operation {
  const { title, operation, isLeftover, urn, record } = change;
  const oldRecord = shortHash(["leftover", urn, record[0]]);
  return {
    hash: isLeftover ? oldRecord : hash,
    title: `${title}: ${operation}${isLeftover ? " what an earlier run has left" : ""}`,
    isLoss: operation === "delete" || operation === "replace",
    leftovers: [...(operation === "replace" ? [oldRecord] : []), ...(rest === undefined ? [] : [rest])],
    leftoverOf: operation === "update" ? rest : undefined,
  };
}

/** The digest of an apply that writes nothing. */
export const nothingToDo = "none";

/** One word for exactly what an apply does and runs. It begins with the word for the code, which is known before a preview. */
export function digestOf({ writes, code }: Pick<Operations, "writes" | "code">): string {
  return writes.length === 0 ? nothingToDo : `${digestOfCode(code)}${digestOfAll(writes)}`;
}

/** One word for the code of other packages in state. */
export const digestOfCode = (code: readonly Operation[]): string => digestOfAll(code);

function digestOfAll(operations: readonly Operation[]): string {
  const hashes = operations.map(({ hash }) => hash).sort();
  return createHash("sha256").update(hashes.join()).digest("hex").slice(0, 16);
}

/** Whether a text is such a word; by hand, it may be pasted with what was around it. */
export function digestIn(text: string): string | undefined {
  return /^[\s.`"']*((?:[\da-f]{16}){1,2})[\s.`"']*$/i.exec(text)?.[1]?.toLowerCase();
}

/**
 * All hashes in one word, for the comment's first line. Those of what a failed run leaves come last: there may be no room.
 *
 * @param most the most characters that there is room for
 * @returns undefined if there is no room
 */
export function hashesText({ writes, code, programCode }: Operations, most: number): string | undefined {
  const hashes = [...[...writes, ...code].map(({ hash }) => hash), ...programCode];
  const leftovers = writes.flatMap(({ leftovers = [] }) => leftovers);
  return [[...hashes, ...leftovers], hashes]
    .map((some) => [...new Set(some)].sort().join(""))
    .find((text) => text.length <= most);
}

export function hashesIn(text: string): string[] {
  return text.match(new RegExp(`.{${hashLength}}`, "g")) ?? [];
}
