import { resolve } from "node:path";

import { InvalidArgumentError } from "commander";
import { escapeUTF8 } from "entities";
import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import { layOut } from "./layout";
import type { CommentSection } from "./layout";
import {
  driftColumns,
  driftReport,
  driftRows,
  driftSummary,
  markdownHead,
  markdownRow,
  uncomparedItem,
  unmanagedRow,
} from "../drift/report";
import type { DriftReport } from "../drift/report";
import { exists, readText } from "../shared/files";
import { findingReport } from "../shared/finding";
import { errorsIn, parsePreview, plannedChanges } from "../shared/preview";
import type { PlannedChange, PlannedProperty, Preview } from "../shared/preview";
import { codeBlock, codeSpan, visible } from "../shared/quoting";
import type { CommandContext } from "../shared/terminal";

/** The options of `pulumi-uptime comment`; all but the limit name files. */
export interface CommentOptions {
  readonly preview?: string;
  readonly previewLog?: string;
  readonly drift?: string;
  readonly doctor?: string;
  readonly fullAt?: string;
  readonly limit: number;
}

/** By its first line the comment is found again, to be updated. */
const marker = "<!-- uptime-preview -->";

/** A longer value is folded, so that the list of changes stays readable. */
const shortValue = 120;

export function configure(command: Command, context: CommandContext): void {
  command
    .option("--preview <file>", "what `pulumi preview --json` printed")
    .option("--preview-log <file>", "what it printed to its standard error, shown if there is no result")
    .option("--drift <file>", "what `pulumi-uptime drift --json` printed")
    .option("--doctor <file>", "what `pulumi-uptime doctor --json` printed")
    .option("--full-at <url>", "address of the page that has everything, such as the job's log")
    .option("--limit <bytes>", "how long the comment may be; 0 is no limit", byteLimit, 65_536)
    .addHelpText(
      "after",
      `
Prints a Markdown comment for a pull request or an issue: a summary, the program's changes, then the drift as a table.
Long values are folded. What does not fit is left out as a whole, and the comment says how much that is; drift has half of
the space at least. GitHub allows 65536 characters, GitLab 1000000. A file that does not exist counts as not given.

Example:
  pulumi preview --json > preview.json
  pulumi-uptime drift --json > drift.json
  pulumi-uptime comment --preview preview.json --drift drift.json > comment.md
`,
    )
    .action((options: CommentOptions) => {
      context.stdout.write(writeComment(options, context));
    });
}

function byteLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && (limit === 0 || limit >= 1000)) return limit === 0 ? Infinity : limit;
  throw new InvalidArgumentError("It is a whole number of at least 1000, or 0 for no limit.");
}

/** The comment, from the files that the options name. */
export function writeComment(options: CommentOptions, { cwd }: Pick<CommandContext, "cwd">): string {
  // In CI, a command that failed is the reason why a later one has left no file.
  const text = (path: string | undefined): string | undefined =>
    path === undefined || !exists(resolve(cwd, path)) ? undefined : readText(resolve(cwd, path));
  const [previewText, logText, driftText, doctorText] = [
    options.preview,
    options.previewLog,
    options.drift,
    options.doctor,
  ].map(text);
  if (previewText === undefined && driftText === undefined && doctorText === undefined)
    throw new UptimeError(
      "There is nothing to comment on: none of the files of --preview, --drift and --doctor exists.",
    );

  const preview = previewText === undefined ? undefined : parsePreview(previewText);
  const drift = driftText === undefined ? undefined : parseDrift(driftText);
  const checks = doctorText === undefined ? [] : failedChecks(doctorText);
  const errors = preview
    ? errorsIn(preview)
    : previewText === undefined
      ? []
      : [previewText, logText ?? ""].filter(Boolean);
  const isFailed = errors.length > 0 || (previewText !== undefined && !preview);

  const head = [
    marker,
    headingOf(checks.length > 0, isFailed, previewText !== undefined),
    summaryOf(preview, drift, driftText !== undefined),
  ];
  const changes = preview ? plannedChanges(preview).changes : [];
  changes.sort((a, b) => order.indexOf(a.operation) - order.indexOf(b.operation));
  const sections = {
    program: [listSection("checks", "", checks), errorSection(errors), changesSection(changes)],
    drift: drift
      ? [
          driftSection(drift),
          listSection("resources", "#### Not compared", drift.errors.map(uncomparedItem)),
          unmanagedSection(drift),
        ]
      : [],
    details: [listSection("long values", "", [...longChanges(changes), ...longDrift(drift)])],
  };
  return layOut(
    head.filter((paragraph) => paragraph !== ""),
    sections,
    options.limit,
    options.fullAt,
  );
}

function headingOf(areChecksFailed: boolean, isPreviewFailed: boolean, isPreviewed: boolean): string {
  if (areChecksFailed) return "### Some checks failed";
  if (isPreviewFailed) return "### The preview failed";
  return isPreviewed ? "### What merging this changes" : "### Drift";
}

function parseDrift(text: string): DriftReport | undefined {
  try {
    return driftReport.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** What failed, each as an item of a list. */
function failedChecks(text: string): string[] {
  try {
    const { findings } = findingReport.parse(JSON.parse(text));
    return findings.filter(({ level }) => level === "failed").map((finding) => `- ${codeSpan(finding.text)}`);
  } catch {
    return ["- `pulumi-uptime doctor` printed no result; see the log of the job."];
  }
}

function summaryOf(
  preview: Preview | undefined,
  drift: DriftReport | undefined,
  isDriftKnown: boolean,
): string {
  const sentences: string[] = [];
  if (preview) {
    const { changes, unchanged } = plannedChanges(preview);
    const counts = (["create", "import", "update", "replace", "delete"] as const).flatMap((operation) => {
      const count = changes.filter((change) => change.operation === operation).length;
      return count > 0 ? [`${count} to ${operation}`] : [];
    });
    sentences.push(
      `Program: ${counts.length > 0 ? counts.join(", ") : "no changes"}, ${unchanged} unchanged.`,
    );
  }
  if (drift) sentences.push(`Drift: ${driftSummary(drift)}`);
  else if (isDriftKnown) sentences.push("Drift: it could not be looked for; see the log of the job.");
  return sentences.length > 0 ? `**${sentences.join(" ")}**` : "";
}

function errorSection(errors: readonly string[]): CommentSection {
  return listSection(
    "errors",
    "",
    errors.map((error) => codeBlock(error.trim().split(/\r?\n/))),
  );
}

function listSection(noun: string, heading: string, entries: readonly string[]): CommentSection {
  return { noun, heading, open: "", close: "", entries };
}

/** What matters most comes first: a record that is lost. An import changes nothing. */
const order = ["replace", "delete", "create", "update", "import"];

const signs = { create: "+", import: "+", update: "!", replace: "!", delete: "-" } as const;

/** The program's changes as a diff: forges colour the lines by their first character. */
function changesSection(changes: readonly PlannedChange[]): CommentSection {
  const entries = changes.map(({ operation, importId, title, properties, isSecretChange }) => {
    const sign = signs[operation];
    const record = importId === undefined ? "" : ` of record ${importId}, nothing is created`;
    const lines = [
      `${sign} ${title}: ${operation}${record}`,
      ...properties.map((property) => `${sign}     ${changeText(property)}`),
      ...(isSecretChange ? [`${sign}     a secret, or an option of the resource`] : []),
    ];
    return lines.map(visible).join("\n");
  });
  // The fence must be longer than any in a value.
  const [fence = "```"] = codeBlock(entries).split("\n");
  return {
    noun: "changes",
    heading: "#### Changes by the program",
    open: `${fence}diff`,
    close: fence,
    entries,
  };
}

const isLong = (text: string | undefined): boolean => (text ?? "").length > shortValue;

function longChanges(changes: readonly PlannedChange[]): string[] {
  return changes.flatMap(({ title, properties }) =>
    properties
      .filter(({ before, after }) => isLong(before) || isLong(after))
      .map(({ property, before, after }) =>
        folded(`${title}: ${property}`, [
          ...(before === undefined ? [] : [`- ${before}`]),
          ...(after === undefined ? [] : [`+ ${after}`]),
        ]),
      ),
  );
}

function changeText({ property, before, after }: PlannedProperty): string {
  const [from, to] = [before, after].map((value) => value && shortForm(value));
  if (from === undefined) return `${property}: ${to ?? ""}`;
  return to === undefined ? `${property}: ${from} => (none)` : `${property}: ${from} => ${to}`;
}

function shortForm(json: string): string {
  return isLong(json) ? `(${json.length.toLocaleString("en")} characters)` : json;
}

function driftSection({ drifted }: DriftReport): CommentSection {
  return {
    noun: "drifted properties",
    heading:
      "#### Drift: edited by hand. The next `pulumi up --refresh --run-program` restores the declared values.",
    open: markdownHead(driftColumns),
    close: "",
    entries: drifted.flatMap(driftRows).map((row) => markdownRow(row.map(shortForm))),
  };
}

function longDrift(drift: DriftReport | undefined): string[] {
  return (drift?.drifted ?? [])
    .flatMap(driftRows)
    .filter((row) => row.some(isLong))
    .map(([title = "", property = "", declared = "", actual = ""]) =>
      folded(`${title}: ${property}`, [`declared: ${declared}`, `actual:   ${actual}`]),
    );
}

function unmanagedSection({ unmanaged = [] }: DriftReport): CommentSection {
  return {
    noun: "records",
    heading: "#### Records that this stack does not manage",
    open: markdownHead(["Kind", "Id", "Name"]),
    close: "",
    entries: unmanaged.map((record) => markdownRow(unmanagedRow(record))),
  };
}

/** Lines that a reader unfolds. */
function folded(title: string, lines: readonly string[]): string {
  const summary = `<code>${escapeUTF8(visible(title))}</code>`;
  return [`<details><summary>${summary}</summary>`, codeBlock(lines, "diff"), "</details>"].join("\n\n");
}
