import { escapeUTF8 } from "entities";

import { driftSections, driftTable, type DriftReport } from "../drift/report";
import { listSection, type Section, type Sections } from "../shared/markdown-layout";
import { countsOf, countTexts } from "../shared/preview";
import type { PlannedChange, PlannedChanges, PlannedProperty } from "../shared/preview";
import { codeBlock, fenceFor, escapeInvisible } from "../shared/quoting";

/** A longer value is folded, so that the list of changes stays readable. */
const shortValue = 120;

/**
 * What a comment has below its summary.
 *
 * @param checks items of a list
 */
export function sectionsOf(
  checks: readonly string[],
  errors: readonly string[],
  changes: PlannedChanges,
  drift: DriftReport | undefined,
): Sections {
  const { own, others } = changes;
  const isUpdate = ({ operation }: PlannedChange): boolean => operation === "update";
  const otherCounts = countTexts(countsOf(others)).join(", ");
  return {
    program: [
      listSection("checks", checks),
      listSection("errors", errors.map(errorBlock)),
      changesSection(
        "Replaced, deleted and created",
        own.filter((change) => !isUpdate(change) && !isImport(change)),
      ),
      changesSection("Updated", own.filter(isUpdate)),
      listSection("notes", otherCounts === "" ? [] : [`Resources of other packages: ${otherCounts}.`]),
    ],
    drift: drift ? driftSections(drift, shortForm) : [],
    details: [
      listSection("long values", longValues(changes, drift)),
      changesSection("Imported", own.filter(isImport), true),
    ],
  };
}

const errorBlock = (error: string): string => codeBlock(error.trim().split(/\r?\n/));

const isImport = ({ operation }: PlannedChange): boolean => operation === "import";

const signs = { create: "+", import: "+", update: "!", replace: "!", delete: "-" } as const;

/** Changes as a diff, because GitHub and GitLab colour its lines by their first character. */
function changesSection(heading: string, changes: readonly PlannedChange[], isFolded = false): Section {
  const entries = changes.map(
    ({ operation, importId, lost = [], title, properties, secrets, isDeletedFirst }) => {
      const record = importId === undefined ? "" : ` of record ${importId}, nothing is created`;
      const old = lost.length === 0 ? "" : ` (${lost.map(shortForm).join(", ")})`;
      const first = isDeletedFirst ? ", the old one is deleted first" : "";
      // An import changes no property.
      const details = operation === "import" ? [] : properties.map(changeText);
      // Pulumi shows a secret as [secret] before and after.
      if (properties.length === 0 && (operation === "update" || operation === "replace"))
        details.push([...secrets.map((key) => `${key} (secret)`), "an option of the resource"].join(", or "));
      const lines = [
        ` ${title}: ${operation}${record}${old}${first}`,
        ...details.map((detail) => `     ${detail}`),
      ];
      return lines.map((line) => escapeInvisible(signs[operation] + line)).join("\n");
    },
  );
  const fence = fenceFor(entries.join("\n"), 3);
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
  const drifted = driftTable(drift?.drifted ?? []).rows.map(
    ([title = "", , property = "", inState, inApi]) => [
      `${title}: ${property} in state and in the API`,
      inState,
      inApi,
    ],
  );
  return [...changed, ...drifted].flatMap(([title = "", before, after]) => {
    if (!isLong(before) && !isLong(after)) return [];
    const lines = [
      ...(before === undefined ? [] : [`- ${before}`]),
      ...(after === undefined ? [] : [`+ ${after}`]),
    ];
    const summary = `<code>${escapeUTF8(escapeInvisible(title))}</code>`;
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
