import { z } from "zod";

import { codeCell, codeSpan, visible } from "../shared/quoting";
import { labelIn, titleOf } from "../shared/resource-types";
import { counted, shorten } from "../../api/text";

const driftedProperty = z.object({
  property: z.string(),
  /** Both values are left out of secrets. */
  declared: z.unknown().optional(),
  actual: z.unknown().optional(),
  secret: z.boolean(),
});

const driftedResource = z.object({
  urn: z.string(),
  type: z.string(),
  name: z.string(),
  id: z.string(),
  kind: z.enum(["changed", "gone", "another record"]),
  properties: z.array(driftedProperty),
  /** What is wrong, if it is not a change. */
  message: z.string().optional(),
});

const uncomparedResource = z.object({ urn: z.string(), message: z.string() });

const unmanagedRecord = z.object({
  type: z.string(),
  id: z.string(),
  name: z.string(),
  account: z.string().optional(),
});

/** What `drift --json` prints. */
export const driftReport = z.object({
  /** How many resources were compared. */
  checked: z.number(),
  drifted: z.array(driftedResource),
  /** The resources that could not be compared. */
  errors: z.array(uncomparedResource),
  /** Properties that are encrypted in the state, and so could not be compared. */
  encrypted: z.array(z.string()),
  /** The records that no resource of the stack manages, if they were asked for. */
  unmanaged: z.array(unmanagedRecord).optional(),
});

/** A property that differs between state and API. */
export type DriftedProperty = z.infer<typeof driftedProperty>;
/** A resource that differs from its record. */
export type DriftedResource = z.infer<typeof driftedResource>;
export type UncomparedResource = z.infer<typeof uncomparedResource>;
export type UnmanagedRecord = z.infer<typeof unmanagedRecord>;
export type DriftReport = z.infer<typeof driftReport>;

/** The most characters of a cell, so that a table of four fits a terminal. */
const widest = 59;

/** The columns of a table of drift. */
export const driftColumns: readonly string[] = ["Resource", "Property", "Declared", "Actual"];

/** One row for each property, or one for the whole resource. */
export function driftRows(resource: DriftedResource): string[][] {
  const title = titleOf(resource);
  if (resource.kind !== "changed") return [[title, `(${resource.kind})`, "", resource.message ?? ""]];
  return resource.properties.map(({ property, declared, actual, secret }) =>
    secret
      ? [title, property, "[secret]", "[secret], differs"]
      : [title, property, JSON.stringify(declared ?? null), JSON.stringify(actual ?? null)],
  );
}

/** The counts in one sentence. It says "no drift" only if everything was compared. */
export function driftSummary({ checked, drifted, errors, encrypted, unmanaged }: DriftReport): string {
  const parts = [counted(checked, "resource") + " compared"];
  if (drifted.length > 0) parts.push(`${drifted.length} drifted`);
  else if (checked > 0 && (errors.length > 0 || encrypted.length > 0))
    parts.push("none of them drifted as far as compared");
  else if (errors.length === 0) parts.push("no drift");
  if (errors.length > 0) parts.push(`${errors.length} could not be compared`);
  if (unmanaged) parts.push(`${counted(unmanaged.length, "record")} not managed by this stack`);
  return `${parts.join(", ")}.`;
}

function notesOf({ encrypted }: DriftReport): string[] {
  if (encrypted.length === 0) return [];
  return [
    `Not compared, because it is encrypted in the state: ${encrypted.join(", ")}. ` +
      "`pulumi stack export --show-secrets` writes a state that can be compared.",
  ];
}

/** For a person: a table of the drift, a list of what is not managed, and the counts. */
export function driftText(report: DriftReport): string {
  const lines: string[] = [];
  if (report.drifted.length > 0)
    lines.push(...table([driftColumns, ...report.drifted.flatMap(driftRows)]), "");
  if (report.unmanaged && report.unmanaged.length > 0)
    lines.push(...table([["Not managed", "Id", "Name"], ...report.unmanaged.map(unmanagedRow)]), "");
  return `${[...lines, driftSummary(report), ...notesOf(report)].join("\n")}\n`;
}

/** A row of a table of records that no resource manages. */
export function unmanagedRow({ type, id, name, account }: UnmanagedRecord): string[] {
  return [account === undefined ? labelIn(type) : `${labelIn(type)} of ${account}`, id, name];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const shown = rows.map((row) => row.map((cell) => shorten(visible(cell), widest)));
  const widths = (shown[0] ?? []).map((_, column) =>
    Math.max(...shown.map((row) => row[column]?.length ?? 0)),
  );
  return shown.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** For an issue or a page of CI: everything, as Markdown. `comment` makes one that keeps to a limit. */
export function driftMarkdown(report: DriftReport): string {
  const parts = [driftSummary(report), ...notesOf(report)];
  if (report.drifted.length > 0) parts.push(markdownTable(driftColumns, report.drifted.flatMap(driftRows)));
  if (report.errors.length > 0)
    parts.push(
      ["These resources could not be compared:", "", ...report.errors.map(uncomparedItem)].join("\n"),
    );
  if (report.unmanaged && report.unmanaged.length > 0)
    parts.push(
      "These records are in the API, and no resource of this stack manages them:",
      markdownTable(["Kind", "Id", "Name"], report.unmanaged.map(unmanagedRow)),
    );
  return `${parts.join("\n\n")}\n`;
}

/** An item of a Markdown list. */
export function uncomparedItem({ urn, message }: UncomparedResource): string {
  return `- ${codeSpan(titleOf({ urn }))}: ${codeSpan(message)}`;
}

/** A row of a Markdown table. */
export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map(codeCell).join(" | ")} |`;
}

/** The lines above the rows of a Markdown table. */
export function markdownHead(heads: readonly string[]): string {
  return `| ${heads.join(" | ")} |\n|${" --- |".repeat(heads.length)}`;
}

function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [markdownHead(heads), ...rows.map(markdownRow)].join("\n");
}
