import { resolve } from "node:path";

import { InvalidArgumentError, type Command } from "commander";

import { UptimeError } from "../../api/errors";
import { counted } from "../../common/text";
import { driftReport, driftSummary } from "../drift/report";
import { exists, readText } from "../shared/files";
import { findingReport } from "../shared/finding";
import { parsePrinted } from "../shared/json";
import { layOut } from "../shared/markdown-layout";
import { countTexts, errorsIn, plannedChanges, previewReport, summaryOf } from "../shared/preview";
import type { OperationCounts } from "../shared/preview";
import { codeSpan, firstWords } from "../shared/quoting";
import type { CommandContext } from "../shared/terminal";
import { withTried } from "../try/report";
import { digestOf, reasonsNotToApply, type ReviewOptions } from "./review";
import { sectionsOf } from "./sections";

/** The most lines of a failure that are shown; the job's log has all. */
const mostLines = 40;

interface CommentOptions extends ReviewOptions {
  readonly preview?: string;
  readonly previewLog?: string;
  readonly drift?: string;
  readonly doctor?: string;
  readonly tried?: string;
  readonly fullAt?: string;
  readonly limit: number;
}

export function configure(command: Command, context: CommandContext): void {
  command
    .option("--preview <file>", "what `pulumi preview --json` printed")
    .option("--preview-log <file>", "what it printed to its standard error, shown if there is no result")
    .option("--drift <file>", "what `pulumi-uptime drift --json` printed")
    .option("--doctor <file>", "what `pulumi-uptime doctor --json` printed")
    .option("--tried <file>", "what `pulumi-uptime try --json` printed")
    .option("--full-at <url>", "address of the page that has everything, such as the job's log")
    .option("--limit <bytes>", "how long the comment may be; 0 is no limit", byteLimit, 65_536)
    .option("--reviewed <digest>", "fail if the changes or the drift are not those of this digest")
    .option(
      "--max-deletes <number>",
      "fail if more resources of this package, or a larger share such as 20%, would be deleted or replaced",
      deleteLimit,
    )
    .addHelpText(
      "after",
      `
Prints a Markdown comment for a pull request or an issue: a summary, the program's changes, the drift as a table, and last
what is only imported. Long values are folded. What does not fit is left out as a whole, and the comment says how much
that is; drift has half of the space at least. GitHub allows 65536 characters, GitLab 1000000. A file that does not exist
counts as not given.

The comment's first line has a digest of the changes and the drift. --reviewed accepts that line too. --max-deletes with a
share needs --drift, which counts the resources.

Examples:
  pulumi preview --json > preview.json
  pulumi-uptime drift --json > drift.json
  pulumi-uptime comment --preview preview.json --drift drift.json > comment.md
  pulumi-uptime comment --preview preview.json --drift drift.json --reviewed "$(head -n 1 comment.md)" --max-deletes 20%
`,
    )
    .action((options: CommentOptions) => {
      const { comment, reasons } = review(options, context.cwd);
      context.stdout.write(comment);
      if (reasons.length > 0) throw new UptimeError(reasons.join(" "));
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

/** The comment, from the files that the options name, and why it must not be applied. */
function review(options: CommentOptions, cwd: string): { comment: string; reasons: string[] } {
  // In CI, a command that failed is the reason why a later one has left no file.
  const textOf = (option: "preview" | "previewLog" | "drift" | "doctor" | "tried"): string | undefined => {
    const path = resolve(cwd, options[option] ?? "");
    return options[option] !== undefined && exists(path) ? readText(path) : undefined;
  };
  const [previewText, driftText, doctorText] = [textOf("preview"), textOf("drift"), textOf("doctor")];
  const tried = textOf("tried");
  if ([previewText, driftText, doctorText, tried].every((text) => text === undefined))
    throw new UptimeError(
      "There is nothing to comment on: none of the files of --preview, --drift, --doctor and --tried exists.",
    );

  const preview = parsePrinted(previewReport, previewText ?? "");
  const changes = plannedChanges(preview ?? {});
  const drift = parsePrinted(driftReport, driftText ?? "");
  const checks = doctorText === undefined ? [] : failedChecks(doctorText);
  const errors = preview ? errorsIn(preview) : [];
  if (previewText !== undefined && !preview)
    errors.push(unreadablePreview(previewText, textOf("previewLog") ?? ""));
  const isDriftKnown = driftText === undefined || drift?.errors.length === 0;
  const digest =
    preview && errors.length + checks.length === 0 && isDriftKnown ? digestOf(changes, drift) : undefined;

  const counts = summaryOf(preview ?? {});
  const sentences: string[] = [];
  if (preview)
    sentences.push(
      `Program: ${countTexts(counts).join(", ") || "no changes"}, ${counts.same ?? 0} unchanged.`,
    );
  if (drift) sentences.push(`Drift: ${driftSummary(drift)}`);
  else if (driftText !== undefined)
    sentences.push("Drift: it could not be looked for; see the log of the job.");
  const head = [
    // CI finds the comment by its first line, to update it.
    `<!-- ${["uptime-preview", digest ?? []].flat().join(" ")} -->`,
    headingOf(checks.length > 0, errors.length > 0, previewText !== undefined, driftText !== undefined),
    ...[lossText(counts), sentences.join(" ")].flatMap((text) => (text === "" ? [] : [`**${text}**`])),
  ];
  return {
    comment: layOut(
      head,
      withTried(sectionsOf(checks, errors, changes, drift), tried),
      options.limit,
      options.fullAt,
    ),
    reasons: reasonsNotToApply(options, digest, changes, drift),
  };
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

/** How many resources the program would lose, of those that the stack has. */
function lossText({ replace = 0, delete: deleted = 0, update = 0, same = 0 }: OperationCounts): string {
  const losses = [
    ...(replace > 0 ? [`replaces ${replace}`] : []),
    ...(deleted > 0 ? [`deletes ${deleted}`] : []),
  ];
  if (losses.length === 0) return "";
  return `This ${losses.join(" and ")} of ${counted(replace + deleted + update + same, "resource")}.`;
}

function headingOf(
  areChecksFailed: boolean,
  isPreviewFailed: boolean,
  isPreviewed: boolean,
  isCompared: boolean,
): string {
  if (areChecksFailed) return "### Some checks failed";
  if (isPreviewFailed) return "### The preview failed";
  if (isPreviewed) return "### What merging this changes";
  return isCompared ? "### Drift" : "### Checks";
}

/** What failed, each as an item of a list. */
function failedChecks(text: string): string[] {
  const report = parsePrinted(findingReport, text);
  if (!report) return ["- `pulumi-uptime doctor` printed no result; see the log of the job."];
  return report.findings.flatMap(({ level, text }) => (level === "failed" ? [`- ${codeSpan(text)}`] : []));
}
