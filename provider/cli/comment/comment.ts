import { resolve } from "node:path";

import { InvalidArgumentError } from "commander";
import { escapeUTF8 } from "entities";
import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import { counted } from "../../api/text";
import { layOut } from "./layout";
import type { CommentSection } from "./layout";
import { digestOf, lossFaults, reviewFaults } from "./review";
import { driftReport, driftSummary, driftTable, uncomparedItems, unmanagedTable } from "../drift/report";
import type { DriftReport, Table } from "../drift/report";
import { exists, readText } from "../shared/files";
import { findingReport } from "../shared/finding";
import { countsOf, countTexts, errorsIn, plannedChanges, previewReport, summaryOf } from "../shared/preview";
import type { OperationCounts, PlannedChange, PlannedChanges, PlannedProperty } from "../shared/preview";
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
  readonly reviewed?: string;
  readonly maxDeletes?: string;
}

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
what is only imported. Long values are folded. What does not fit is left out as a whole, and the comment says how much that is; drift has half of
the space at least. GitHub allows 65536 characters, GitLab 1000000. A file that does not exist counts as not given.

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
      const { comment, faults } = review(options, context.cwd);
      context.stdout.write(comment);
      if (faults.length > 0) throw new UptimeError(faults.join(" "));
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
function review(options: CommentOptions, cwd: string): { comment: string; faults: string[] } {
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
  const changes = plannedChanges(preview ?? {});
  const drift = parseAs(driftReport, driftText ?? "");
  const checks = doctorText === undefined ? [] : failedChecks(doctorText);
  const errors = preview ? errorsIn(preview) : [];
  if (previewText !== undefined && !preview)
    errors.push([previewText, textOf("previewLog")].join("\n").trim() || "`pulumi preview` printed nothing.");
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
    // By its first line the comment is found again, to be updated.
    `<!-- ${["uptime-preview", digest ?? []].flat().join(" ")} -->`,
    headingOf(checks.length > 0, errors.length > 0, previewText !== undefined),
    ...[lossText(counts), sentences.join(" ")].flatMap((text) => (text === "" ? [] : [`**${text}**`])),
  ];
  const sections = {
    program: [
      listSection("checks", checks),
      listSection("errors", errors.map(errorBlock)),
      ...programSections(changes),
    ],
    drift: drift ? driftSections(drift) : [],
    details: [
      listSection("long values", longValues(changes, drift)),
      changesSection("Imported", changes.own.filter(isImport), true),
    ],
  };
  return {
    comment: layOut(head, sections, options.limit, options.fullAt),
    faults: faultsIn(digest, changes, drift, options),
  };
}

/** Why this must not be applied: it is not what was reviewed, or loses too much. */
function faultsIn(
  digest: string | undefined,
  { own }: PlannedChanges,
  drift: DriftReport | undefined,
  { reviewed, maxDeletes }: CommentOptions,
): string[] {
  if (reviewed === undefined && maxDeletes === undefined) return [];
  if (digest === undefined) return ["It is not known what would be done: see the errors above."];
  return [
    ...(reviewed === undefined ? [] : reviewFaults(digest, reviewed)),
    ...(maxDeletes === undefined ? [] : lossFaults(own, maxDeletes, drift?.checked)),
  ];
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

function programSections({ own, others }: PlannedChanges): CommentSection[] {
  const isUpdate = ({ operation }: PlannedChange): boolean => operation === "update";
  const otherCounts = countTexts(countsOf(others)).join(", ");
  return [
    changesSection(
      "Replaced, deleted and created",
      own.filter((change) => !isUpdate(change) && !isImport(change)),
    ),
    changesSection("Updated", own.filter(isUpdate)),
    listSection("notes", otherCounts === "" ? [] : [`Resources of other packages: ${otherCounts}.`]),
  ];
}

const isImport = ({ operation }: PlannedChange): boolean => operation === "import";

const signs = { create: "+", import: "+", update: "!", replace: "!", delete: "-" } as const;

/** Changes as a diff: forges colour the lines by their first character. */
function changesSection(
  heading: string,
  changes: readonly PlannedChange[],
  isFolded = false,
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
    isFolded,
  };
}

const isLong = (text: string | undefined): boolean => (text ?? "").length > shortValue;

/** Long values before and after, in state and in the API. */
function longValues({ own }: PlannedChanges, drift: DriftReport | undefined): string[] {
  const changed = own
    .filter((change) => !isImport(change))
    .flatMap(({ title, properties }) =>
      properties.map(({ property, before, after }) => [`${title}: ${property}`, before, after]),
    );
  const drifted = (drift ? driftTable(drift).rows : []).map(
    ([title = "", , property = "", declared, actual]) => [
      `${title}: ${property} in state and in the API`,
      declared,
      actual,
    ],
  );
  return [...changed, ...drifted].flatMap(([title = "", before, after]) => {
    if (!isLong(before) && !isLong(after)) return [];
    const lines = [
      ...(before === undefined ? [] : [`- ${before}`]),
      ...(after === undefined ? [] : [`+ ${after}`]),
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
  return {
    noun,
    heading,
    open: markdownHead(heads),
    close: "",
    entries: rows.map(markdownRow),
  };
}
