import * as z from "zod/mini";

import { counted } from "../../common/text";
import { parsePrinted } from "./json";
import { listSection, tableSection, textTable, type Section } from "./layout";
import { listOf } from "./quoting";

const triedMonitor = z.object({
  /** Such as `Monitor shop`. */
  title: z.string(),
  urn: z.optional(z.string()),
  id: z.optional(z.string()),
  /** Without query and password; none if it is secret. */
  url: z.optional(z.string()),
  outcome: z.enum(["ok", "alerts", "skipped"]),
  /** Why it would alert, or why it was skipped. A code is a fixed word, for programs. */
  reasons: z.array(z.object({ code: z.string(), text: z.string() })),
  status: z.optional(z.number()),
  /** The addresses that it was redirected to, like `url`. */
  redirects: z.optional(z.array(z.string())),
  /** Whole days until the certificate ends. */
  certificateDays: z.optional(z.number()),
});

/** The output of `try --json`. */
const tryReport = z.object({ monitors: z.array(triedMonitor) });

export type TriedMonitor = z.infer<typeof triedMonitor>;
export type TryReport = z.infer<typeof tryReport>;

const withOutcome = ({ monitors }: TryReport, outcome: TriedMonitor["outcome"]): TriedMonitor[] =>
  monitors.filter((monitor) => monitor.outcome === outcome);

export const alertingIn = (report: TryReport): TriedMonitor[] => withOutcome(report, "alerts");

/** The counts in one sentence. */
function summaryOf(report: TryReport): string {
  const skipped = withOutcome(report, "skipped").length;
  const alerting = alertingIn(report).length;
  const tried = report.monitors.length - skipped;
  const parts = [`${counted(tried, "monitor")} tried`];
  if (tried > 0) parts.push(`${alerting === 0 ? "none" : alerting} would alert at once`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return `${parts.join(", ")}.`;
}

/** The report for a terminal: a table of what would alert, was skipped or was redirected, and the counts. */
export function tryText(report: TryReport): string {
  const shown = [
    ...alertingIn(report),
    ...withOutcome(report, "skipped"),
    ...withOutcome(report, "ok").filter(({ redirects = [] }) => redirects.length > 0),
  ];
  if (shown.length === 0) return `${summaryOf(report)}\n`;
  const rows = shown.map((monitor) => [monitor.title, monitor.outcome, whyOf(monitor)]);
  const lines = textTable({ heads: ["Monitor", "Result", "Why"], rows });
  return [...lines, "", summaryOf(report), ""].join("\n");
}

/** All reasons and redirects of a monitor in one cell. */
function whyOf({ reasons, status, redirects = [] }: TriedMonitor): string {
  const texts = reasons.map(({ text }) => text);
  if (texts.length === 0 && status !== undefined) texts.push(`status ${status}`);
  if (redirects.length > 0) texts.push(`redirected to ${listOf(redirects)}`);
  return texts.join("; ");
}

/** The section of a comment about what `try --json` printed; none if there is no such file. */
export function triedSections(printed: string | undefined): Section[] {
  if (printed === undefined) return [];
  const report = parsePrinted(tryReport, printed);
  if (!report) return [listSection(["`pulumi-uptime try` printed no result; see the log of the job."])];
  const heading = `#### ${summaryOf(report)}`;
  const rows = alertingIn(report).map((monitor) => [monitor.title, whyOf(monitor)]);
  if (rows.length === 0) return [listSection([heading])];
  return [tableSection({ heads: ["Monitor", "Would alert at once"], rows }, heading)];
}
