import { resolve } from "node:path";

import { InvalidArgumentError } from "commander";
import { escapeUTF8 } from "entities";
import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import { counted } from "../../api/text";
import { layOut } from "./layout";
import type { CommentSection } from "./layout";
import { driftReport, driftSummary, driftTable, uncomparedItems, unmanagedTable } from "../drift/report";
import type { DriftReport, Table } from "../drift/report";
import { exists, readText } from "../shared/files";
import { findingReport } from "../shared/finding";
import {
  byWeight,
  countsOf,
  countTexts,
  errorsIn,
  plannedChanges,
  previewReport,
  summaryOf,
} from "../shared/preview";
import type { OperationCounts, PlannedChange, PlannedProperty } from "../shared/preview";
import { parseAs } from "../shared/json";
import { codeBlock, codeSpan, markdownHead, markdownRow, visible } from "../shared/quoting";
import type { CommandContext } from "../shared/terminal";

interface CommentOptions {
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
Prints a Markdown comment for a pull request or an issue: a summary, the program's changes, the drift as a table, and last
what is only imported. Long values are folded. What does not fit is left out as a whole, and the comment says how much that is; drift has half of
the space at least. GitHub allows 65536 characters, GitLab 1000000. A file that does not exist counts as not given.

Example:
  pulumi preview --json > preview.json
  pulumi-uptime drift --json > drift.json
  pulumi-uptime comment --preview preview.json --drift drift.json > comment.md
`,
    )
    .action((options: CommentOptions) => {
      context.stdout.write(writeComment(options, context.cwd));
    });
}

function byteLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && (limit === 0 || limit >= 1000)) return limit === 0 ? Infinity : limit;
  throw new InvalidArgumentError("It is a whole number of at least 1000, or 0 for no limit.");
}

/** The comment, from the files that the options name. */
function writeComment(options: CommentOptions, cwd: string): string {
  // In CI, a command that failed is the reason why a later one has left no file.
  const textOf = (option: "preview" | "previewLog" | "drift" | "doctor"): string | undefined => {
    const path = resolve(cwd, options[option] ?? "");
    return options[option] !== undefined && exists(path) ? readText(path) : undefined;
  };
  const [previewText, driftText, doctorText] = [textOf("preview"), textOf("drift"), textOf("doctor")];
  if (previewText === undefined && driftText === undefined && doctorText === undefined)
    throw new UptimeError(
      "There is nothing to comment on: none of the files of --preview, --drift and --doctor exists.",
    );

  const preview = parseAs(previewReport, previewText ?? "");
  const { own, others } = plannedChanges(preview ?? {});
  own.sort(byWeight);
  const drift = parseAs(driftReport, driftText ?? "");
  const checks = doctorText === undefined ? [] : failedChecks(doctorText);
  const printed = previewText === undefined ? [] : [previewText, textOf("previewLog") ?? ""];
  const errors = preview ? errorsIn(preview) : printed.filter((text) => text !== "");

  const counts = summaryOf(preview ?? {});
  const sentences: string[] = [];
  if (preview)
    sentences.push(
      `Program: ${countTexts(counts).join(", ") || "no changes"}, ${counts.same ?? 0} unchanged.`,
    );
  if (drift) sentences.push(`Drift: ${driftSummary(drift)}`);
  else if (driftText !== undefined)
    sentences.push("Drift: it could not be looked for; see the log of the job.");
  const isFailed = errors.length > 0 || (previewText !== undefined && !preview);
  const head = [
    marker,
    headingOf(checks.length > 0, isFailed, previewText !== undefined),
    ...[lossText(counts), sentences.join(" ")].flatMap((text) => (text === "" ? [] : [`**${text}**`])),
  ];
  const isNew = ({ operation }: PlannedChange): boolean => operation !== "update" && operation !== "import";
  const otherCounts = countTexts(countsOf(others)).join(", ");
  const sections = {
    program: [
      listSection("checks", checks),
      listSection("errors", errors.map(errorBlock)),
      changesSection("Replaced, deleted and created", own.filter(isNew), false),
      changesSection(
        "Updated",
        own.filter(({ operation }) => operation === "update"),
      ),
      listSection("notes", otherCounts === "" ? [] : [`Resources of other packages: ${otherCounts}.`]),
    ],
    drift: drift ? driftSections(drift) : [],
    details: [
      listSection(
        "long values",
        longValues(
          own.filter((one) => one.operation !== "import"),
          drift,
        ),
      ),
      changesSection(
        "Imported",
        own.filter(({ operation }) => operation === "import"),
        true,
      ),
    ],
  };
  return layOut(head, sections, options.limit, options.fullAt);
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

function headingOf(areChecksFailed: boolean, isPreviewFailed: boolean, isPreviewed: boolean): string {
  if (areChecksFailed) return "### Some checks failed";
  if (isPreviewFailed) return "### The preview failed";
  return isPreviewed ? "### What merging this changes" : "### Drift";
}

/** What failed, each as an item of a list. */
function failedChecks(text: string): string[] {
  const report = parseAs(findingReport, text);
  if (!report) return ["- `pulumi-uptime doctor` printed no result; see the log of the job."];
  return report.findings.flatMap(({ level, text }) => (level === "failed" ? [`- ${codeSpan(text)}`] : []));
}

const errorBlock = (error: string): string => codeBlock(error.trim().split(/\r?\n/));

function listSection(noun: string, entries: readonly string[], heading = ""): CommentSection {
  return { noun, heading, open: "", close: "", entries };
}

const signs = { create: "+", import: "+", update: "!", replace: "!", delete: "-" } as const;

/** Changes as a diff: forges colour the lines by their first character. */
function changesSection(
  heading: string,
  changes: readonly PlannedChange[],
  isFolded?: boolean,
): CommentSection {
  const entries = changes.map(({ operation, importId, title, properties }) => {
    const record = importId === undefined ? "" : ` of record ${importId}, nothing is created`;
    // An import changes none.
    const details = operation === "import" ? [] : properties.map(changeText);
    // Pulumi shows a secret as [secret] before and after.
    if (properties.length === 0 && (operation === "update" || operation === "replace"))
      details.push("a secret, or an option of the resource");
    const lines = [` ${title}: ${operation}${record}`, ...details.map((detail) => `     ${detail}`)];
    return lines.map((line) => visible(signs[operation] + line)).join("\n");
  });
  // The fence must be longer than any in a value.
  const [fence = "```"] = codeBlock(entries).split("\n");
  return {
    noun: isFolded ? "imports" : "changes",
    heading: `#### ${heading}`,
    open: `${fence}diff`,
    close: fence,
    entries,
    ...(isFolded !== undefined && { isFolded }),
  };
}

const isLong = (text: string | undefined): boolean => (text ?? "").length > shortValue;

/** Long values as they were and as they are to be, and as declared and as found. */
function longValues(changes: readonly PlannedChange[], drift: DriftReport | undefined): string[] {
  const changed = changes.flatMap(({ title, properties }) =>
    properties.map(({ property, before, after }) => [`${title}: ${property}`, "- ", before, "+ ", after]),
  );
  const drifted = (drift ? driftTable(drift).rows : []).map(
    ([title = "", , property = "", declared, actual]) => [
      `${title}: ${property}`,
      "in state:   ",
      declared,
      "in the API: ",
      actual,
    ],
  );
  return [...changed, ...drifted].flatMap(([title = "", oldMark = "", old, newMark = "", present]) => {
    if (!isLong(old) && !isLong(present)) return [];
    const lines = [
      ...(old === undefined ? [] : [oldMark + old]),
      ...(present === undefined ? [] : [newMark + present]),
    ];
    const summary = `<code>${escapeUTF8(visible(title))}</code>`;
    return [[`<details><summary>${summary}</summary>`, codeBlock(lines, "diff"), "</details>"].join("\n\n")];
  });
}

function changeText({ property, before, after }: PlannedProperty): string {
  const to = shortForm(after ?? "");
  if (before === undefined) return `${property}: ${to}`;
  return `${property}: ${shortForm(before)} => ${to || "(none)"}`;
}

function shortForm(json: string): string {
  return isLong(json) ? `(${json.length.toLocaleString("en")} characters)` : json;
}

function driftSections(drift: DriftReport): CommentSection[] {
  const { heads, rows } = driftTable(drift);
  return [
    tableSection(
      "drifted properties",
      "#### Drift: edited by hand. The next `pulumi up --refresh --run-program` restores the declared values.",
      { heads, rows: rows.map((row) => row.map(shortForm)) },
    ),
    listSection("resources", uncomparedItems(drift), "#### Not compared"),
    tableSection("records", "#### Records that this stack does not manage", unmanagedTable(drift)),
  ];
}

function tableSection(noun: string, heading: string, { heads, rows }: Table): CommentSection {
  return { noun, heading, open: markdownHead(heads), close: "", entries: rows.map(markdownRow) };
}
