import { appendFileSync } from "node:fs";
import { resolve } from "node:path";

import { InvalidArgumentError, Option, type Command } from "commander";

import { UptimeError } from "../../api/errors";
import { counted } from "../../common/text";
import { parseUrl } from "../../common/url";
import { nameInStack } from "../../common/urn";
import { groupBy } from "../../common/values";
import { reviewNote, reviewVariables } from "../../engine/review-notes";
import { driftReport, driftSummary } from "../shared/drift-report";
import { exists, explainFailure, readText } from "../shared/files";
import { findingReport, type Finding } from "../shared/finding";
import { parseAs, parsePrinted } from "../shared/json";
import { layOut } from "../shared/markdown-layout";
import { plannedChanges, summaryOf, unknownSteps, type PlannedChange } from "../shared/planned-changes";
import { errorsIn, previewReport, stackNameIn, type Preview } from "../shared/preview";
import { codeSpan, firstWords, listOf } from "../shared/quoting";
import { isOwn, titleOf } from "../shared/resource-types";
import type { CommandContext } from "../shared/terminal";
import { triedSections } from "../shared/try-report";
import { effectText } from "./effect";
import { markerLine } from "./marker";
import {
  applyActions,
  codeActions,
  codeIn,
  digestOf,
  hashesText,
  lostImports,
  partialDigest,
  pendingChanges,
  type ApplyActions,
} from "./apply-actions";
import { codeReasons, deletesLabel, lossReason, readReview, reviewReasons } from "./review";
import { sectionsOf, type Content } from "./sections";

/** What GitHub takes as a summary of a job, less what else is appended. */
const longestSummary = 1_000_000;

/** The part of a comment that the hashes of its changes may have, so that the rest can be read: a third. */
const hashesShare = 1 / 3;

/** The most lines of a failure that are shown; the job's log has all. */
const mostLines = 40;

interface CommentOptions {
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
  readonly summary?: string;
  readonly digest?: boolean;
  readonly code?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  command
    .option("--preview <file>", "what `pulumi preview --json` printed, with the options below")
    .option("--preview-log <file>", "its standard error, shown if there is no result")
    .option("--drift <file>", "what `pulumi-uptime drift --json` printed")
    .option("--doctor <file>", "what `pulumi-uptime doctor --json` printed")
    .option("--tried <file>", "what `pulumi-uptime try --json` printed")
    .option("--title <name>", "what the comment is about (default: PROJECT/STACK)")
    .option("--commit <sha>", "the commit that was previewed")
    .option("--run-url <url>", "the page of this run, whose log has everything")
    .option("--limit <bytes>", "how long the comment may be; 0 is no limit", byteLimit, 65_536)
    .option("--max-deletes <number>", "how many resources may be deleted, or 20%", deleteLimit)
    .option("--reviewed <review>", "stop unless this was reviewed: a file, -, or a digest")
    .option("--summary <file>", "also append the result to a file")
    .addOption(new Option("--digest", "print only the digest of the changes").conflicts("reviewed"))
    .option("--code", "with --reviewed: print nothing, and check only the code in state")
    .addHelpText(
      "after",
      `
Prints a Markdown comment for a pull request or an issue. The preview must be
made with --show-replacement-steps; with --show-sames, the comment also shows
changes of the options protect and retainOnDelete, and tells the code of the
program from other code in state. A file that does not exist counts as not
given. GitHub allows 65536 characters, GitLab 1000000.

With --reviewed, the exit code is 1 if an apply would do anything else than the
reviewed comments of that title say. They are a JSON array of objects with
"body", "pull" and "head". To allow exactly one run, give its digest. Before the
apply's preview, --code checks the code of other packages in state.

--max-deletes counts deletes and replacements of all packages. Without
--reviewed, the comment only says that there are more.

Examples:
  pulumi-uptime drift --json > drift.json
  pulumi preview --json --show-replacement-steps --show-sames > preview.json
  pulumi-uptime comment --preview preview.json --drift drift.json
`,
    )
    .action((options: CommentOptions) => {
      run(options, context);
    });
}

function byteLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && (limit === 0 || limit >= 1000)) return limit === 0 ? Infinity : limit;
  throw new InvalidArgumentError("It is a whole number of at least 1000, or 0 for no limit.");
}

function deleteLimit(text: string): string {
  if (/^\d+%?$/.test(text)) return text;
  throw new InvalidArgumentError("It is a whole number, or a share such as 20%.");
}

function run(options: CommentOptions, context: CommandContext): void {
  const { cwd, stdout, stderr, env, exit } = context;
  const facts = readFacts(options, context);
  const { actions } = facts;
  if (options.digest) {
    if (!actions) throw new UptimeError(unknownReason(facts));
    stdout.write(`${digestOf(actions)}\n`);
    return;
  }
  if (options.code && options.reviewed === undefined)
    throw new UptimeError("--code checks what --reviewed gives: add it.");
  if (!options.code) stdout.write(commentOn(facts, options));
  const stop = stopText(options, facts, (path) => resolve(cwd, path));
  if (options.summary !== undefined) {
    const path = resolve(cwd, options.summary);
    const comment = commentOn(facts, { ...options, limit: Math.min(options.limit, longestSummary) });
    const text = stop === undefined ? comment : `> [!CAUTION]\n> ${codeSpan(stop)}\n\n${comment}`;
    explainFailure(`${path} cannot be written`, () => {
      appendFileSync(path, `${text}\n`);
    });
  }
  if (stop === undefined) return;
  // GitHub shows such a line on the run's page.
  const isGitHub = env.GITHUB_ACTIONS === "true";
  stderr.write(isGitHub ? `::error title=pulumi-uptime::${stop.replaceAll("%", "%25")}\n` : `${stop}\n`);
  exit(1);
}

/** What the files say. */
interface Facts extends Omit<Content, "isOfMerge" | "isWhole"> {
  readonly title: string;
  readonly isPreviewed: boolean;
  readonly isDrift: boolean;
  readonly isDriftUnreadable: boolean;
  /** What merging does, in one sentence; undefined if that is not known. */
  readonly effect: string | undefined;
  /** How many resources the stack has. */
  readonly total: number;
  /** Undefined if not everything is known that an apply would do. */
  readonly actions: ApplyActions | undefined;
}

function readFacts(options: CommentOptions, { cwd, env }: CommandContext): Facts {
  // In CI, a step before may have failed, so that a later one has written no file.
  const textAt = (path: string | undefined): string | undefined => {
    const file = resolve(cwd, path ?? "");
    return path && exists(file) ? readText(file) : undefined;
  };
  const { preview: previewFile, drift: driftFile, doctor: doctorFile } = options;
  const texts = [previewFile, driftFile, doctorFile, options.tried].map(textAt);
  const [previewText, driftText, doctorText, triedText] = texts;
  if (texts.every((text) => text === undefined))
    throw new UptimeError(
      "There is nothing to comment on: none of the files of --preview, --drift, --doctor and --tried exists.",
    );
  const notes = reviewNotesIn(textAt(env[reviewVariables.file]) ?? "");
  const printed = parsePrinted(previewReport, previewText ?? "");
  const preview = printed && withChanges(printed, notes);
  const drift = parsePrinted(driftReport, driftText ?? "");
  const findings = doctorText === undefined ? [] : findingsIn(doctorText);
  const itemsOf = (wanted: Finding["level"]): string[] =>
    findings.flatMap(({ level, text }) => (level === wanted ? [`- ${codeSpan(text)}`] : []));
  const errors = preview ? errorsIn(preview) : [];
  // A preview that could not begin prints an empty object; otherwise the stack is a step, also of an empty program.
  const isRun = (preview?.steps ?? []).length > 0 || errors.length > 0;
  if (previewText !== undefined && !isRun)
    errors.push(unreadablePreview(previewText, textAt(options.previewLog) ?? ""));
  errors.push(...unknownSteps(preview ?? {}));
  const changes = plannedChanges(preview ?? {});
  const counts = summaryOf(preview ?? {});
  const checks = itemsOf("failed");
  const isKnown = preview && errors.length + checks.length === 0 && drift?.errors.length === 0;
  const isFailed = errors.length + checks.length > 0;
  const lost = lostImports(preview ?? {}, drift);
  return {
    title: options.title ?? stackNameIn(preview ?? {}) ?? "",
    isPreviewed: previewText !== undefined,
    checks,
    warnings: [
      ...lostItems(lost),
      ...pendingItems(pendingChanges(changes.own, drift)),
      ...itemsOf("warning"),
    ],
    lost,
    programCode: codeIn(preview ?? {}),
    errors,
    changes,
    drift,
    tried: triedSections(triedText),
    isDrift: driftText !== undefined,
    isDriftUnreadable: driftText !== undefined && drift === undefined,
    effect: preview && !isFailed ? effectText(changes, drift, counts, lost) : undefined,
    total: (counts.delete ?? 0) + (counts.replace ?? 0) + (counts.update ?? 0) + (counts.same ?? 0),
    actions: isKnown
      ? applyActions(preview, changes, drift, (urn) => notes.get(nameInStack(urn))?.values)
      : undefined,
  };
}

/** What to do before a merge that would import records that are gone. */
function lostItems(urns: ReadonlySet<string>): string[] {
  if (urns.size === 0) return [];
  const names = codeSpan(
    listOf(
      [...urns].map((urn) => titleOf({ urn })),
      mostLines,
    ),
  );
  return [
    `- The program has the option \`import\` for ${names}, and the record is gone, so the apply will fail. Remove the option first: ` +
      "then the record is made again.",
  ];
}

/** What to do before a merge makes again what a killed run may have made. */
function pendingItems(changes: readonly PlannedChange[]): string[] {
  if (changes.length === 0) return [];
  const names = codeSpan(
    listOf(
      changes.map(({ title }) => title),
      mostLines,
    ),
  );
  return [
    `- A run was killed while it created ${names}, so the records may exist, and merging this makes them again. Find them ` +
      "with `pulumi-uptime drift --unmanaged`, and let `uptime:adoptExisting` take them.",
  ];
}

/** What the provider has noted of a resource. */
interface ReviewNotes {
  /** The hashes of its values. If it is replaced, it is checked twice. */
  readonly values: string | undefined;
  /** The properties that change. */
  readonly changed: string[] | undefined;
}

/** By the names of resources in the stack. */
function reviewNotesIn(text: string): Map<string, ReviewNotes> {
  const lines = text.split("\n").flatMap((line) => parseAs(reviewNote, line) ?? []);
  return new Map(
    [...groupBy(lines, ({ name }) => name)].map(([name, found]) => {
      const hashes = [...new Set(found.flatMap(({ hash }) => hash ?? []))];
      const changes = found.flatMap(({ changed }) => (changed ? [changed] : []));
      const values = hashes.length > 0 ? hashes.sort().join() : undefined;
      return [name, { values, changed: changes.length > 0 ? changes.flat() : undefined }];
    }),
  );
}

/** A preview that names what changes in dynamic resources too. */
function withChanges(preview: Preview, notes: ReadonlyMap<string, ReviewNotes>): Preview {
  const steps = preview.steps?.map((step) => {
    const changed = isOwn(step) ? notes.get(nameInStack(step.urn))?.changed : undefined;
    return { ...step, diffReasons: step.diffReasons ?? changed };
  });
  return { ...preview, steps };
}

function commentOn(facts: Facts, { commit, runUrl, limit, maxDeletes, reviewed }: CommentOptions): string {
  const { title, isPreviewed, effect, errors, checks, drift, actions, total } = facts;
  const heading =
    checks.length > 0
      ? "some checks failed"
      : errors.length > 0
        ? "the preview failed"
        : isPreviewed
          ? "what merging this changes"
          : facts.isDrift
            ? "drift"
            : "checks";
  const link = parseUrl(runUrl ?? "")?.href;
  const about = [
    ...(drift?.servers ?? []).map((server) => `server ${codeSpan(server)}`),
    ...(commit === undefined ? [] : [`commit ${codeSpan(commit.slice(0, 10))}`]),
    ...(link === undefined ? [] : [`[log](<${link}>)`]),
  ];
  const isLimited = actions && maxDeletes !== undefined && reviewed === undefined;
  const tooMany = isLimited ? lossReason(actions, total, maxDeletes) : undefined;
  const changes = actions && hashesText(actions, limit * hashesShare);
  const head = [
    // CI finds the comment by its first line.
    markerLine({
      title,
      commit,
      digest: actions && digestOf(actions),
      changes,
    }),
    title === ""
      ? `### ${heading.replace(/^./, (letter) => letter.toUpperCase())}`
      : `### ${codeSpan(title)}: ${heading}`,
    about.join(" · "),
    effect === undefined ? "" : `**${effect}**`,
    isPreviewed && effect === undefined ? "**It is not known what merging this changes.**" : "",
    drift ? `Drift: ${driftSummary(drift)}` : "",
    facts.isDriftUnreadable ? "Drift: it could not be looked for; see the log." : "",
    tooMany === undefined
      ? ""
      : `**${tooMany} The apply stops after the merge, unless this pull request has the label \`${deletesLabel}\` when it is merged: set it if you approve.**`,
    actions && changes === undefined
      ? "**These are more changes than a review can hold: after the merge, the apply stops, and needs the digest that it prints.**"
      : "",
  ];
  const isWhole = limit === Infinity;
  return layOut(
    head.filter((paragraph) => paragraph !== ""),
    sectionsOf({ ...facts, isOfMerge: isPreviewed, isWhole }),
    limit,
  );
}

/** Why `up` must not follow, and how to go on; undefined if it may. */
function stopText(
  { reviewed, maxDeletes, code }: CommentOptions,
  facts: Facts,
  resolve: (path: string) => string,
): string | undefined {
  const { actions, total } = facts;
  if (reviewed === undefined) return undefined;
  const review = readReview(reviewed, facts.title, resolve);
  if (code) {
    if (!facts.drift) throw new UptimeError(unknownReason(facts));
    const found = codeActions(facts.drift.code);
    const unknown = codeReasons(found, review);
    if (unknown.length === 0) return undefined;
    return (
      `Nothing is previewed or applied, because Pulumi may run code from the state that no review has. ${unknown.join(" ")} Find out ` +
      "who has written it. To go on: a pull request whose comment shows it, and is reviewed, or if it is right, a run by hand " +
      `with the digest ${partialDigest(found)}.`
    );
  }
  if (!actions) return unknownReason(facts);
  const notReviewed = reviewReasons(actions, review);
  const tooMany = maxDeletes === undefined ? undefined : lossReason(actions, total, maxDeletes, review);
  const reasons = [...notReviewed, ...(tooMany === undefined ? [] : [tooMany])];
  if (reasons.length === 0) return undefined;
  const ways = [
    ...(tooMany === undefined
      ? []
      : [`the label ${deletesLabel} on a pull request, which counts if it was set before the merge`]),
    ...(notReviewed.length === 0 ? [] : ["a comment that shows it, and is reviewed"]),
    `if all that is listed above is right, a run by hand with the digest ${digestOf(actions)}`,
  ];
  return `Nothing is applied. ${reasons.join(" ")} To go on: ${ways.join(", or ")}.`;
}

function unknownReason({ errors, checks }: Facts): string {
  const what =
    checks.length > 0
      ? "a check failed"
      : errors.length > 0
        ? "the preview failed"
        : "the drift is not known";
  return `Nothing is applied. It is not known what would be done: ${what}, see above.`;
}

/** Says why a preview has no result: what it printed, unless that is a part of a result. */
function unreadablePreview(text: string, log: string): string {
  const start = text.search(/^\{/m);
  const said = /^\{"sequence":/m.test(text)
    ? "`pulumi preview --json` printed events instead of a result: run it without PULUMI_ENABLE_STREAMING_JSON_PREVIEW."
    : start < 0
      ? text
      : `\`pulumi preview --json\` printed no whole result: ${firstWords(text.slice(start), 100)}`;
  const lines = [said, log].join("\n").trim().split("\n");
  const more = lines.length - mostLines;
  if (more > 0) lines.splice(mostLines, more, `… and ${counted(more, "more line")}`);
  return lines.join("\n") || "`pulumi preview` printed nothing.";
}

function findingsIn(text: string): readonly Finding[] {
  const report = parsePrinted(findingReport, text);
  const unreadable = "`pulumi-uptime doctor` printed no result; see the log of the job.";
  return report?.findings ?? [{ code: "doctor", level: "failed", text: unreadable }];
}
