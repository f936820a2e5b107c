import { resolve } from "node:path";

import { UptimeError } from "../../api/errors";
import { counted } from "../../common/text";
import { urnSuffixOf } from "../../common/urn";
import { groupBy } from "../../common/values";
import { nameKeyOf } from "../../definitions/keys";
import { reviewLine, reviewVariables } from "../../engine/review-file";
import { pathsInclude, pathsTouch, topLevel } from "../../lifecycle/paths";
import { driftReport, type DriftedResource, type DriftReport } from "../shared/drift-report";
import { textIfThere } from "../shared/files";
import { findingReport, type Finding } from "../shared/finding";
import { parseAs, parsePrinted } from "../shared/json";
import { createInstead, plannedChanges, unknownSteps } from "../shared/planned-changes";
import { declaredSteps, errorsIn, previewReport, secretText, stackNameIn } from "../shared/preview";
import type { DeclaredSteps, Preview } from "../shared/preview";
import { oneLine } from "../shared/quoting";
import { findDefinition, titleOf } from "../shared/resource-types";
import { optionsOf } from "../shared/state";
import type { CommandContext } from "../shared/terminal";
import { triedSections } from "../shared/try-report";
import { applyActions, declaredCodeHashes, importsOfGoneRecords } from "./apply-actions";

/** The most lines of a failure that are shown; the job's log has all. */
const maxFailureLines = 40;

export interface CommentOptions {
  readonly preview?: string;
  readonly previewLog?: string;
  readonly drift?: string;
  readonly doctor?: string;
  readonly tried?: string;
  readonly title?: string;
  readonly commit?: string;
  readonly runUrl?: string;
  readonly limit: number;
  readonly maxDeletes?: string;
  readonly reviewed?: string;
  readonly digest?: boolean;
  readonly code?: boolean;
}

export type Facts = ReturnType<typeof readFacts>;

/** What a comment and a review are made of. */
export function readFacts(options: CommentOptions, { cwd, env }: CommandContext) {
  // A file may be missing because an earlier step of the CI job failed.
  const textAt = (path = ""): string | undefined =>
    path === "" ? undefined : textIfThere(resolve(cwd, path));
  const texts = [options.preview, options.drift, options.doctor, options.tried].map(textAt);
  const [previewText, driftText, doctorText, triedText] = texts;
  if (texts.every((text) => text === undefined))
    throw new UptimeError(
      "There is nothing to comment on: none of the files of --preview, --drift, --doctor and --tried exists.",
    );
  const printed = parsePrinted(previewReport, previewText ?? "") ?? { steps: [] };
  const preview = withReviewLines(printed, textAt(env[reviewVariables.file]) ?? "");
  const found = parsePrinted(driftReport, driftText ?? "");
  const declared = declaredSteps(preview);
  const drift = found && { ...found, drifted: editsIn(found, preview, declared) };
  const edits = new Map(drift?.drifted.map((edit) => [edit.urn, edit]));
  const isGone = (urn: string): boolean => edits.get(urn)?.outcome === "gone";
  const findings = doctorText === undefined ? [] : findingsIn(doctorText);
  // A merge neither causes nor removes records of the account that look the same.
  const textsOf = (wanted: Finding["level"]): string[] =>
    findings.flatMap(({ level, code, text }) => (level === wanted && code !== "account-twins" ? [text] : []));
  const failedChecks = textsOf("failed");
  const errors = [...errorsIn(preview), ...unknownSteps(preview)];
  // A preview that could not begin prints an empty object; otherwise the stack is a step, also of an empty program.
  const hasResult = preview.steps.length > 0 || errors.length > 0;
  if (previewText !== undefined && !hasResult)
    errors.push(unreadablePreview(previewText, textAt(options.previewLog) ?? ""));
  const isKnown = previewText !== undefined && errors.length + failedChecks.length === 0;
  const { changes: planned, unchanged } = plannedChanges(preview);
  const changes = planned.map((change) =>
    change.operation === "replace" && isGone(change.urn) ? createInstead(change) : change,
  );
  return {
    title: options.title ?? stackNameIn(preview) ?? "",
    /** What `doctor` has found to fail. */
    failedChecks,
    warnings: textsOf("warning"),
    /** Why the preview has no result. */
    errors,
    /** It is known what a merge does: nothing has failed. */
    isKnown,
    /** What a merge does. A preview that has failed may have planned some changes, but merging does not make them. */
    changes: isKnown ? changes : [],
    unchanged,
    drift,
    /** The resources that have drifted, by URN. */
    edits,
    /** The URNs of resources that a merge cannot create again. */
    missingImports: importsOfGoneRecords(declared, drift?.drifted ?? []),
    /** Properties that state ignores and the program does not any more, such as `interval of Monitor shop`. */
    noLongerIgnored: noLongerIgnored(preview),
    programCode: declaredCodeHashes(declared),
    tried: triedSections(triedText),
    /** Undefined if not everything is known that an apply would do. */
    actions: isKnown && drift?.errors.length === 0 ? applyActions(declared, changes, drift) : undefined,
  };
}

/**
 * The edits as `up` would find them: under the URNs of the program, which may rename resources with an alias or by a move to the
 * plugin, and by its options and secrets, which may be other ones than state's.
 */
function editsIn({ drifted }: DriftReport, { steps }: Preview, declared: DeclaredSteps): DriftedResource[] {
  const renamed = steps.filter(({ urn, oldState }) => oldState?.urn !== urn);
  const newNames = new Map(renamed.map(({ urn, oldState }) => [oldState?.urn, urn]));
  return drifted.flatMap((known) => {
    const urn = newNames.get(known.urn) ?? known.urn;
    const state = declared.get(urn)?.newState;
    const edit = { ...withoutMarkedValues(known, state?.inputs), urn };
    if (!state || edit.outcome !== "changed") return [edit];
    const { ignoreChanges, replaceOnChanges } = optionsOf(state);
    const properties = edit.properties.filter(({ property }) => !pathsInclude(ignoreChanges, property));
    if (properties.length === 0) return [];
    // A secret has no values to compare, so any part of it counts.
    const isReplacing = ({ property, secret, inState, inApi }: (typeof properties)[number]): boolean =>
      secret
        ? (replaceOnChanges ?? []).some((path) => [property, "*"].includes(topLevel(path)))
        : pathsTouch(replaceOnChanges, property, inState ?? null, inApi ?? null);
    const replaces = edit.replaces ?? (properties.some(isReplacing) || undefined);
    return [{ ...edit, properties, replaces }];
  });
}

/** An edit without the values that the program marks as secret, because state may still have the same ones in plain text. */
function withoutMarkedValues(
  edit: DriftedResource,
  inputs: Readonly<Record<string, unknown>> = {},
): DriftedResource {
  const definition = findDefinition(edit.type);
  const isMarked = (key: string): boolean => inputs[key] === secretText;
  const isNameMarked = definition !== undefined && isMarked(nameKeyOf(definition));
  const properties = edit.properties.map((one) =>
    isMarked(one.property) ? { property: one.property, secret: true } : one,
  );
  return { ...edit, record: isNameMarked ? undefined : edit.record, properties };
}

/** What `drift` has not compared, because state has it in `ignoreChanges`, although the program sets it again. */
function noLongerIgnored({ steps }: Preview): string[] {
  return steps.flatMap(({ urn, oldState, newState }) => {
    if (!oldState || !newState) return [];
    const [before, after] = [oldState, newState].map((state) => optionsOf(state).ignoreChanges);
    const fields = Object.keys(findDefinition(newState.type)?.fields ?? {});
    return fields
      .filter((key) => newState.inputs?.[key] !== undefined)
      .filter((key) => pathsInclude(before, key) && !pathsInclude(after, key))
      .map((key) => `${key} of ${titleOf(urn)}`);
  });
}

/** A preview with what the provider has written about each resource: what changes in a dynamic one, and a hash of the values. */
function withReviewLines(preview: Preview, text: string): Preview {
  const lines = text.split("\n").flatMap((line) => parseAs(reviewLine, line) ?? []);
  const linesByResource = groupBy(lines, ({ urnSuffix }) => urnSuffix);
  const steps = preview.steps.map((step) => {
    const found = linesByResource.get(urnSuffixOf(step.urn)) ?? [];
    const changed = found.flatMap((line) => (line.changed ? [line.changed] : []));
    // If it is replaced, it is checked twice.
    const hashes = [...new Set(found.flatMap(({ hash }) => hash ?? []))].sort();
    return {
      ...step,
      diffReasons: step.diffReasons ?? (changed.length > 0 ? changed.flat() : undefined),
      valuesHash: hashes.length > 0 ? hashes.join() : undefined,
    };
  });
  return { ...preview, steps };
}

/** Why a preview has no result: what it printed, such as `error: no stack selected`, unless that is a part of a result. */
function unreadablePreview(text: string, log: string): string {
  const start = text.search(/^\{/m);
  const reason = /^\{"sequence":/m.test(text)
    ? "`pulumi preview --json` printed events instead of a result: run it without PULUMI_ENABLE_STREAMING_JSON_PREVIEW."
    : start < 0
      ? text
      : `\`pulumi preview --json\` printed no complete result: ${oneLine(text.slice(start), 100)}`;
  const lines = [reason, log].join("\n").trim().split("\n");
  const more = lines.length - maxFailureLines;
  if (more > 0) lines.splice(maxFailureLines, more, `… and ${counted(more, "more line")}`);
  return lines.join("\n") || "`pulumi preview` printed nothing.";
}

function findingsIn(text: string): readonly Finding[] {
  const report = parsePrinted(findingReport, text);
  const unreadable = "`pulumi-uptime doctor` printed no result; see the log of the job.";
  return report?.findings ?? [{ code: "doctor", level: "failed", text: unreadable }];
}
