import { shorten } from "../../common/text";
import { driftTables, handHeading, otherSections, type DriftedResource } from "../shared/drift-report";
import { listSection, type Section } from "../shared/layout";
import { countTexts, isDestructive } from "../shared/planned-changes";
import type { PlannedChange, PlannedOperation, PlannedProperty } from "../shared/planned-changes";
import { secretText } from "../shared/preview";
import { codeBlock, codeSpan, fenceFor, listOf, printable } from "../shared/quoting";
import { isOfThisPackage, titleOf } from "../shared/resource-types";
import { pendingChanges } from "./apply-actions";
import type { Facts } from "./facts";

/** The most characters of a value, unless the comment has no limit. */
const maxValueCharacters = 120;

/** The most lines of an error if there is no room for all of it. */
const maxShortErrorLines = 5;

/** With more warnings than this, the changes come first. */
const maxWarningsFirst = 10;

const maxNamed = 40;

/**
 * What a comment shows below its head; what matters most comes first.
 *
 * @param isWhole values are shown whole
 */
export function sectionsOf(facts: Facts, isWhole: boolean): Section[] {
  const { failedChecks, errors, changes, edits, tried, isKnown } = facts;
  const show: ShowValue = isWhole ? (value) => value : shortValue;
  const isOther = (change: PlannedChange): boolean => !isOfThisPackage(change.urn) && !isDestructive(change);
  const section = (operation: PlannedOperation, name: string, suffix = ""): Section => {
    const list = changes.filter((change) => change.operation === operation && !isOther(change));
    return changesSection(`#### ${name} (${list.length})${suffix}`, list, show, edits);
  };
  const others = changes.filter(isOther);
  const warnings = warningItems(facts);
  const warningSection = listSection(warnings, "#### Before you merge");
  const isShort = warnings.length <= maxWarningsFirst;
  return [
    listSection(failedChecks.map((check) => `- ${codeSpan(check)}`)),
    { heading: "", items: errors.map(errorItem) },
    ...(isShort ? [warningSection] : []),
    section("replace", "Replaced", ": the old record is deleted, with its history and id"),
    section("delete", "Deleted"),
    section("create", "Created"),
    section("update", "Updated"),
    ...(isShort ? [] : [warningSection]),
    ...tried,
    ...(isKnown ? [codeSection(facts)] : []),
    ...driftSections(facts, show),
    changesSection(`#### Of other packages: ${countTexts(others).join(", ")}`, others, show, edits),
    section("import", "Imported", ": nothing is written"),
  ];
}

/** An error, shortened to its first lines if there is no room for all of it. */
function errorItem(error: string): Section["items"][number] {
  const lines = error.trim().split(/\r?\n/);
  const first = lines.slice(0, maxShortErrorLines).map((line) => shorten(line, maxValueCharacters));
  return { text: codeBlock(lines), short: codeBlock(first) };
}

function warningItems({ missingImports, changes, drift, noLongerIgnored, warnings }: Facts): string[] {
  const named = (titles: readonly string[]): string => codeSpan(listOf(titles, maxNamed));
  const pending = pendingChanges(changes, drift).map(({ title }) => title);
  const imports = named([...missingImports].map(titleOf));
  return [
    missingImports.size > 0 &&
      `- The program has the option \`import\` for ${imports}, and the record is gone, so the apply will fail. Remove the option ` +
        "first: then the record is created again.",
    pending.length > 0 &&
      `- A run was killed while it created ${named(pending)}, so the records may exist, and merging this creates them again. Find them ` +
        "with `pulumi-uptime drift --unmanaged`, and let `uptime:adoptExisting` take them.",
    noLongerIgnored.length > 0 &&
      `- The program does not have ${named(noLongerIgnored)} in \`ignoreChanges\` any more. What somebody has set there by hand is not ` +
        "below, and the next update of the resource overwrites it.",
    ...warnings.map((text) => `- ${codeSpan(text)}`),
  ].filter((item) => item !== false);
}

/** The code of other packages that is in state and not in this program. */
function codeSection({ drift, programCode }: Facts): Section {
  const undeclared = (drift?.code ?? []).filter(({ hash }) => !programCode.includes(hash));
  const items = undeclared.map(({ hash, address, resources }) => {
    const what =
      address === undefined
        ? `code ${codeSpan(hash)}`
        : `the plugin from ${codeSpan(address)}, ${codeSpan(hash)}`;
    const entry = (most: number): string => `- ${codeSpan(listOf(resources, most))}: ${what}`;
    return { text: entry(resources.length), short: entry(3) };
  });
  const heading =
    `#### Code in the stack's state that is not in this program (${undeclared.length})\n\n` +
    "Pulumi runs this code when it refreshes or deletes these resources, and merging this pull request allows that. Expect the code " +
    "if the pull request changes or removes it, or if an earlier comment shows the same hash. Otherwise find out who wrote it " +
    "into the state before you merge.";
  return { heading, items };
}

const signs = { create: "+", import: "+", update: "!", replace: "!", delete: "-" } as const;

type ShowValue = (value: string) => string;

const shortValue: ShowValue = (value) =>
  value.length <= maxValueCharacters
    ? value
    : `${value.slice(0, maxValueCharacters).toWellFormed()}… (${value.length.toLocaleString("en")} characters)`;

/** Changes as a diff, because GitHub and GitLab color its lines by their first character. */
function changesSection(
  heading: string,
  changes: readonly PlannedChange[],
  show: ShowValue,
  edits: Facts["edits"],
): Section {
  const items = changes.map((change) => {
    const sign = signs[change.operation];
    const edit = edits.get(change.urn);
    const lines = [
      `${change.title}${detailOf(change, show)}`,
      ...propertyLines(change, show, edit).map((line) => `    ${line}`),
    ];
    return {
      text: lines.map((line) => `${sign} ${printable(line)}`).join("\n"),
      short: `${sign} ${printable(change.title)}`,
    };
  });
  const fence = fenceFor(items.map(({ text }) => text).join("\n"), 3);
  return { heading, open: `${fence}diff`, close: fence, items };
}

/** What the line of a resource shows after its name. */
function detailOf(change: PlannedChange, show: ShowValue): string {
  const { operation, definition, importId, recordId = importId, recordNames, account } = change;
  const { isDeletedFirst, isPendingDelete, isProtected, keptBy } = change;
  const isNamed = recordId !== undefined && (definition !== undefined || operation !== "update");
  const known = isNamed
    ? [`${definition ? "record" : "id"} ${show(recordId)}`, ...recordNames.map(show)]
    : [];
  return [
    ...(account === undefined ? [] : [` of ${account}`]),
    ...(known.length > 0 ? [`: ${known.join(", ")}`] : []),
    ...(isDeletedFirst ? ["; it is deleted first"] : []),
    ...(isPendingDelete ? ["; an earlier run has replaced it"] : []),
    ...(isProtected && operation === "delete" ? ["; it is protected"] : []),
    ...(keptBy !== undefined && isDestructive(change) ? [`; the record stays (${keptBy})`] : []),
  ].join("");
}

/** The properties that change, and such options; of a resource of another package only these. */
function propertyLines(change: PlannedChange, show: ShowValue, edit?: DriftedResource): string[] {
  const { operation, definition, properties, isUnfinished, options, maybeChanged } = change;
  const optionLines = options.map((option) => `option ${propertyText(option, show)}`);
  if (!isOfThisPackage(change.urn) || operation === "import" || operation === "delete") return optionLines;
  const unclear = maybeChanged.map((key) => `${key} (secret)`);
  const isHidden = properties.length === 0 && (unclear.length > 0 || options.length === 0);
  const other = isUnfinished ? "what an earlier run has left undone" : "an option of the resource";
  if (isHidden && operation !== "create") return [[...unclear, other].join(", or "), ...optionLines];
  const isDefault = ({ property, after }: PlannedProperty): boolean =>
    operation === "create" &&
    after !== undefined &&
    after === JSON.stringify(definition?.fields[property]?.default);
  const shown = properties.filter((property) => !isDefault(property));
  const lines = shown.map((property) => propertyText(property, show, edit));
  return [...lines, ...unclear.map((text) => `${text} may change too`), ...optionLines];
}

/** A property with its old and new value. Merging overwrites what was set by hand, so that is the old value, and not state's. */
function propertyText(
  { property, before, after }: PlannedProperty,
  show: ShowValue,
  edit?: DriftedResource,
): string {
  const planned = show(after ?? "(none)");
  const byHand = edit?.outcome === "changed" && edit.properties.find((one) => one.property === property);
  if (!byHand)
    return before === undefined ? `${property}: ${planned}` : `${property}: ${show(before)} => ${planned}`;
  const edited = byHand.secret ? secretText : JSON.stringify(byHand.inApi ?? null);
  return `${property}: ${show(edited)} (by hand) => ${planned}`;
}

function driftSections({ drift, missingImports, isKnown, changes }: Facts, show: ShowValue): Section[] {
  if (!drift) return [];
  const changeByUrn = new Map(changes.map((change) => [change.urn, change]));
  /** What the API shows, and what merging does there if that is not to set it back. */
  const inApiText = ({ urn, outcome, replaces }: DriftedResource, name: string, inApi: string): string => {
    if (!isKnown) return inApi;
    const { operation, properties = [], keptBy } = changeByUrn.get(urn) ?? {};
    if (missingImports.has(urn)) return "cannot be imported again: the apply fails";
    if (outcome === "gone")
      return operation === "delete" ? "leaves the state too" : "is created again, with a new id";
    if (operation === "delete" || operation === "replace")
      return `${inApi}; the record ${keptBy === undefined ? "is deleted" : "stays as it is"}`;
    const changed = properties.find(({ property }) => property === name);
    if (replaces) return `${inApi}; the record is replaced`;
    return changed ? `${inApi}; becomes ${changed.after ?? "(none)"}` : inApi;
  };
  const cells = (resource: DriftedResource, row: readonly string[]): string[] => {
    const [title = "", id = "", property = "", inState = "", inApi = ""] = row;
    const { record, outcome } = resource;
    const isNamed = record !== undefined && outcome === "changed";
    return [
      title,
      isNamed ? `${id} ${show(JSON.stringify(record))}` : id,
      property,
      show(inState),
      show(inApiText(resource, property, inApi)),
    ];
  };
  const heading = isKnown ? "#### Edited by hand: merging this undoes these edits" : handHeading;
  return [
    ...driftTables(drift, heading, "Record", cells),
    // What a merge creates again is among the warnings.
    ...otherSections(isKnown ? { ...drift, pending: [] } : drift),
  ];
}
