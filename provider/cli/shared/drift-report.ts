import * as z from "zod/mini";

import { counted } from "../../common/text";
import { parseUrn } from "../../common/urn";
import { layOut, listSection, tableSection, textTable, type Section, type Table } from "./layout";
import { secretText } from "./preview";
import { codeSpan, listOf, printable } from "./quoting";
import { labelIn, titleOf } from "./resource-types";

const driftedResource = z.object({
  urn: z.string(),
  type: z.string(),
  name: z.string(),
  id: z.string(),
  /** The account or the explicit provider, if it has a name. */
  account: z.optional(z.string()),
  /** The record's name in state, unless it is secret. */
  record: z.optional(z.string()),
  outcome: z.enum(["changed", "gone", "another record"]),
  /** Undoing it replaces the record, because of the option `replaceOnChanges`. */
  replaces: z.optional(z.literal(true)),
  /** The properties that differ or, if the record is gone, those that identify it. A secret one has no values. */
  properties: z.array(
    z.object({
      property: z.string(),
      inState: z.optional(z.unknown()),
      inApi: z.optional(z.unknown()),
      secret: z.boolean(),
    }),
  ),
  /** What has happened, unless the outcome is `changed`. */
  message: z.optional(z.string()),
});

/** The output of `drift --json`. */
export const driftReport = z.object({
  /** The number of resources that were compared. */
  checked: z.number(),
  drifted: z.array(driftedResource),
  /** The resources that could not be compared. */
  errors: z.array(z.object({ urn: z.string(), id: z.optional(z.string()), message: z.string() })),
  /** The records that no resource of the stack manages, if they were asked for. */
  unmanaged: z.optional(
    z.array(
      z.object({ type: z.string(), id: z.string(), name: z.string(), account: z.optional(z.string()) }),
    ),
  ),
  /** Why they could not be listed. */
  unlisted: z.optional(z.string()),
  /** The addresses of the servers that were asked. */
  servers: z._default(z.array(z.string()), []),
  /** The code of other packages in state, which Pulumi runs: a hash of each piece, and the resources that have it. */
  code: z._default(
    z.array(z.object({ hash: z.string(), address: z.optional(z.string()), resources: z.array(z.string()) })),
    [],
  ),
  /** The creates that a killed run has begun: the records may exist. */
  pending: z._default(z.array(z.object({ urn: z.string() })), []),
});

export type DriftedResource = z.infer<typeof driftedResource>;
export type DriftReport = z.infer<typeof driftReport>;

/** The most characters of a cell. Longer values would push the other columns out of sight. */
const maxCellCharacters = 59;

/** The rows of a resource: title, id, property or outcome, and the values in state and in the API. */
function driftRows(resource: DriftedResource): string[][] {
  const { id, account, outcome, message = "", properties } = resource;
  const title = titleOf(resource.urn) + (account === undefined ? "" : ` of ${account}`);
  const known = properties.map(({ inState, secret }) => (secret ? secretText : JSON.stringify(inState)));
  if (outcome !== "changed") return [[title, id, `(${outcome})`, known.join(", "), message]];
  return properties.map(({ property, inState, inApi, secret }) =>
    secret
      ? [title, id, property, secretText, `${secretText}, differs`]
      : [title, id, property, JSON.stringify(inState ?? null), JSON.stringify(inApi ?? null)],
  );
}

function unmanagedTable({ unmanaged = [] }: DriftReport, heading = "Kind"): Table {
  const rows = unmanaged.map(({ type, id, name, account }) => [
    account === undefined ? labelIn(type) : `${labelIn(type)} of ${account}`,
    id,
    name,
  ]);
  return { heads: [heading, "Id", "Name"], rows };
}

/** The counts in one sentence. It says "no drift" only if everything was compared. */
export function driftSummary({ checked, drifted, errors, unmanaged, unlisted }: DriftReport): string {
  const parts = [counted(checked, "resource") + " compared"];
  if (drifted.length > 0) parts.push(`${drifted.length} drifted`);
  else if (errors.length === 0) parts.push("no drift");
  else if (checked > 0) parts.push("none of them drifted");
  if (errors.length > 0) parts.push(`${errors.length} could not be compared`);
  if (unmanaged) parts.push(`${counted(unmanaged.length, "record")} not managed by this stack`);
  if (unlisted !== undefined) parts.push("the records not managed by this stack could not be listed");
  return `${parts.join(", ")}.`;
}

/** The report for a terminal: a table of the drift, a table of what is not managed, and the counts. */
export function driftText(report: DriftReport): string {
  const drift = { heads: driftHeads("Id"), rows: report.drifted.flatMap(driftRows) };
  const tables = [drift, unmanagedTable(report, "Not managed")];
  const lines = tables.flatMap((table) =>
    table.rows.length > 0 ? [...textTable(table, maxCellCharacters), ""] : [],
  );
  if (report.pending.length > 0) lines.push(printable(pendingText(report.pending)), "");
  return `${[...lines, driftSummary(report)].join("\n")}\n`;
}

/** The whole report as Markdown, for an issue or a CI page. The command `comment` writes one that keeps to a limit. */
export function driftMarkdown(report: DriftReport): string {
  return layOut(
    [driftSummary(report)],
    [...driftTables(report, handHeading, "Id"), ...otherSections(report)],
  );
}

export const handHeading =
  "#### Edited by hand: the next `pulumi up --refresh --run-program` undoes these edits";

const driftHeads = (id: string): string[] => ["Resource", id, "Property", "In state", "In the API"];

/**
 * The drift in two tables: what is another record, and what was edited by hand.
 *
 * @param cells changes the cells of a resource's row
 */
export function driftTables(
  { drifted }: DriftReport,
  heading: string,
  id: string,
  cells = (_: DriftedResource, row: readonly string[]): readonly string[] => row,
): Section[] {
  const table = (isAnother: boolean): Table => ({
    heads: driftHeads(id),
    rows: drifted
      .filter(({ outcome }) => (outcome === "another record") === isAnother)
      .flatMap((resource) => driftRows(resource).map((row) => cells(resource, row))),
  });
  const another =
    "#### Another record has the id: `pulumi up --refresh` fails. Undo the edit, or run `pulumi state delete URN`.";
  return [tableSection(table(true), another), tableSection(table(false), heading)];
}

/** What a report says besides the drift. */
export function otherSections(report: DriftReport): Section[] {
  const errors = groupErrors(report).map(
    ({ urn, reason }) => `- ${codeSpan(titleOf(urn))}: ${codeSpan(reason)}`,
  );
  return [
    listSection(report.pending.length > 0 ? [codeSpan(pendingText(report.pending))] : []),
    listSection(errors, "#### Not compared"),
    tableSection(unmanagedTable(report), "#### Records that this stack does not manage"),
  ];
}

/** What to do about creates that a killed run has begun. */
function pendingText(pending: DriftReport["pending"]): string {
  const titles = [...new Set(pending.map(({ urn }) => titleOf(urn)))];
  return (
    `A run was killed while it created ${listOf(titles, 20)}: the records may exist. Look for them with ` +
    "`npx --no pulumi-uptime drift --unmanaged`, and set uptime:adoptExisting to true for the next run. Once they are in state, or you are " +
    "sure that they do not exist, `pulumi refresh --clear-pending-creates --run-program` ends this message; it also stores edits by hand in state."
  );
}

/** Why resources could not be compared: each reason once, as the error of the first resource says it. */
export function groupErrors({ errors }: DriftReport): { urn: string; reason: string }[] {
  const found = new Map<string, DriftReport["errors"]>();
  for (const error of errors) {
    const { id, message } = error;
    // Reasons that differ only in the record's id are the same. A part of an IP address is no id.
    const withoutId = message.replace(/(?<![\w.-])[\w-]+/g, (word) => (word === id ? "" : word));
    const same = found.get(message) ?? found.get(withoutId) ?? [];
    same.push(error);
    found.set(message, same).set(withoutId, same);
  }
  return [...new Set(found.values())].flatMap(([first, ...others]) => {
    if (!first) return [];
    const names = listOf(others.map(({ urn }) => parseUrn(urn).name));
    const reason = others.length > 0 ? `${first.message} (the same for ${names})` : first.message;
    return [{ urn: first.urn, reason }];
  });
}
