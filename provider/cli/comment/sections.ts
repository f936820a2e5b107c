import { parseUrn } from "../../common/urn";
import {
  anotherRecordHeading,
  driftRows,
  handHeading,
  otherSections,
  type DriftedResource,
  type DriftReport,
} from "../shared/drift-report";
import { listSection, tableSection, type Section } from "../shared/markdown-layout";
import { countsOf, countTexts } from "../shared/planned-changes";
import type {
  PlannedChange,
  PlannedChanges,
  PlannedOperation,
  PlannedProperty,
} from "../shared/planned-changes";
import { secretText } from "../shared/preview";
import { codeBlock, codeSpan, fenceFor, listOf, printable } from "../shared/quoting";
import { findDefinition, isOwn } from "../shared/resource-types";

/** The most characters of a value, unless the comment has no limit. */
const longestValue = 120;

/** With more warnings than this, the changes come first. */
const mostNotes = 10;

/** What a comment shows below its summary. */
export interface Content {
  /** Items of lists. */
  readonly checks: readonly string[];
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
  readonly changes: PlannedChanges;
  readonly drift: DriftReport | undefined;
  /** The URNs of resources that a merge cannot make again. */
  readonly lost: ReadonlySet<string>;
  /** The hashes of the code that the program declares. */
  readonly programCode: readonly string[];
  readonly tried: readonly Section[];
  /** The comment is about a merge, which also sets back what was edited by hand. */
  readonly isOfMerge: boolean;
  /** Values are shown whole. */
  readonly isWhole: boolean;
}

/** What matters most comes first. */
export function sectionsOf({
  checks,
  warnings,
  errors,
  changes,
  drift,
  lost,
  programCode,
  tried,
  isOfMerge,
  isWhole,
}: Content): Section[] {
  // A preview that has failed may have planned some changes, but merging does not make them.
  const isKnown = errors.length + checks.length === 0;
  const { own, others } = isKnown ? changes : { own: [], others: [] };
  const value = isWhole ? wholeValue : shortValue;
  const of = (list: readonly PlannedChange[], ...wanted: PlannedOperation[]): PlannedChange[] =>
    list.filter(({ operation }) => wanted.includes(operation));
  const edits = handEdits(drift);
  const section = (list: readonly PlannedChange[], name: string, note = ""): Section =>
    changesSection(`#### ${name} (${list.length})${note}`, list, value, edits);
  const notes = listSection(warnings, "#### Before you merge");
  const isShort = warnings.length <= mostNotes;
  const isLost: PlannedOperation[] = ["replace", "delete"];
  const rest = others.filter(({ operation }) => !isLost.includes(operation));
  return [
    listSection(checks),
    listSection(errors.map((error) => codeBlock(error.trim().split(/\r?\n/)))),
    ...(isShort ? [notes] : []),
    section(
      of([...own, ...others], "replace"),
      "Replaced",
      ": the old record is deleted, with its history and id",
    ),
    section(of([...own, ...others], "delete"), "Deleted"),
    section(of(own, "create"), "Created"),
    section(of(own, "update"), "Updated"),
    ...(isShort ? [] : [notes]),
    ...tried,
    ...(drift && isOfMerge ? [codeSection(drift, programCode)] : []),
    ...(drift ? driftSections(drift, lost, isOfMerge && isKnown, own, value) : []),
    changesSection(`#### Of other packages: ${countTexts(countsOf(rest)).join(", ")}`, rest, value, edits),
    section(of(own, "import"), "Imported", ": nothing is written"),
  ];
}

/** The code of other packages in state; what the program declares too is read there. */
function codeSection({ code }: DriftReport, programCode: readonly string[]): Section {
  const others = code.filter(({ hash }) => !programCode.includes(hash));
  const items = others.map(({ hash, address, resources }) => {
    const what =
      address === undefined
        ? `code ${codeSpan(hash)}`
        : `the plugin from ${codeSpan(address)}, ${codeSpan(hash)}`;
    const entry = (most: number): string => `- ${codeSpan(listOf(resources, most))}: ${what}`;
    return { text: entry(resources.length), short: entry(3) };
  });
  const heading =
    `#### Code in the stack's state that is not in this program (${others.length})\n\n` +
    "Pulumi runs it when it refreshes or deletes these resources, and merging this pull request allows that. Expect it if the " +
    "pull request changes or removes the code, or if an earlier comment shows the same hash. Otherwise find out who wrote it " +
    "into the state before you merge.";
  return { heading, open: "", close: "", items };
}

const signs = { create: "+", import: "+", update: "!", replace: "!", delete: "-" } as const;

/** A value as it is shown. */
type ShowValue = (value: string) => string;

const wholeValue: ShowValue = (value) => value;

const shortValue: ShowValue = (value) =>
  value.length <= longestValue
    ? value
    : `${value.slice(0, longestValue).toWellFormed()}… (${value.length.toLocaleString("en")} characters)`;

/** By URN and property, the values that somebody has set by hand: they are lost, and not those in state. */
type HandEdits = ReadonlyMap<string, ReadonlyMap<string, string>>;

function handEdits(drift: DriftReport | undefined): HandEdits {
  const changed = (drift?.drifted ?? []).filter(({ outcome }) => outcome === "changed");
  return new Map(
    changed.map(({ urn, properties }) => {
      const values = properties.map(
        ({ property, inApi, secret }) =>
          [property, secret ? secretText : JSON.stringify(inApi ?? null)] as const,
      );
      return [urn, new Map(values)];
    }),
  );
}

/** Changes as a diff, because GitHub and GitLab colour its lines by their first character. */
function changesSection(
  heading: string,
  changes: readonly PlannedChange[],
  value: ShowValue,
  edits: HandEdits,
): Section {
  const items = changes.map((change) => {
    const sign = signs[change.operation];
    const lines = [
      `${change.title}${detailOf(change, value)}`,
      ...propertyLines(change, value, edits.get(change.urn)).map((line) => `    ${line}`),
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
function detailOf(change: PlannedChange, value: ShowValue): string {
  const { operation, urn, importId, recordId = importId, recordNames, account } = change;
  const { isDeletedFirst, isLeftover, isProtected, isRetained } = change;
  const isLost = operation === "delete" || operation === "replace";
  const isRecord = findDefinition(parseUrn(urn).type) !== undefined;
  const isNamed = recordId !== undefined && (isRecord || operation !== "update");
  const known = isNamed
    ? [`${isRecord ? "record" : "id"} ${value(recordId)}`, ...recordNames.map(value)]
    : [];
  return [
    ...(account === undefined ? [] : [` of ${account}`]),
    ...(known.length > 0 ? [`: ${known.join(", ")}`] : []),
    ...(isDeletedFirst ? ["; it is deleted first"] : []),
    ...(isLeftover ? ["; an earlier run has replaced it"] : []),
    ...(isProtected && operation === "delete" ? ["; it is protected"] : []),
    ...(isRetained && isLost ? ["; the record stays (retainOnDelete)"] : []),
  ].join("");
}

/** The properties that change, and such options; of a resource of another package only these. */
function propertyLines(
  change: PlannedChange,
  value: ShowValue,
  edits?: ReadonlyMap<string, string>,
): string[] {
  const { operation, urn, properties, options, maybeChanged } = change;
  const optionLines = options.map((one) => `option ${propertyText(one, value)}`);
  if (!isOwn({ urn }) || operation === "import" || operation === "delete") return optionLines;
  const unclear = maybeChanged.map((key) => `${key} (secret)`);
  const isHidden = properties.length === 0 && (unclear.length > 0 || options.length === 0);
  if (isHidden && operation !== "create")
    return [[...unclear, "an option of the resource"].join(", or "), ...optionLines];
  const fields = findDefinition(parseUrn(urn).type)?.fields;
  const isDefault = ({ property, after }: PlannedProperty): boolean =>
    operation === "create" && after !== undefined && after === JSON.stringify(fields?.[property]?.default);
  const lines = properties.filter((one) => !isDefault(one)).map((one) => propertyText(one, value, edits));
  return [...lines, ...unclear.map((text) => `${text} may change too`), ...optionLines];
}

function propertyText(
  { property, before, after }: PlannedProperty,
  value: ShowValue,
  edits: ReadonlyMap<string, string> = new Map(),
): string {
  const present = value(after ?? "(none)");
  const edited = edits.get(property);
  const old = edited === undefined ? before && value(before) : `${value(edited)} (by hand)`;
  return old === undefined ? `${property}: ${present}` : `${property}: ${old} => ${present}`;
}

function driftSections(
  report: DriftReport,
  lost: ReadonlySet<string>,
  isOfMerge: boolean,
  own: readonly PlannedChange[],
  value: ShowValue,
): Section[] {
  const changes = new Map(own.map((change) => [change.urn, change]));
  /** What the API shows, and what merging does there if that is not to set it back. */
  const present = ({ urn, outcome }: DriftedResource, name: string, inApi: string): string => {
    const { operation, properties = [] } = changes.get(urn) ?? {};
    if (!isOfMerge) return inApi;
    if (lost.has(urn)) return "cannot be imported again: the apply fails";
    if (outcome === "gone")
      return operation === "delete" ? "leaves the state too" : "is made again, with a new id";
    if (operation === "delete" || operation === "replace") return `${inApi}; the record is deleted`;
    const changed = properties.find(({ property }) => property === name);
    return changed ? `${inApi}; becomes ${changed.after ?? "(none)"}` : inApi;
  };
  const rows = (drifted: readonly DriftedResource[]): string[][] =>
    drifted.flatMap((one) =>
      driftRows(one).map(([title = "", id = "", property = "", inState = "", inApi = ""]) => [
        title,
        one.record === undefined || one.outcome !== "changed"
          ? id
          : `${id} ${value(JSON.stringify(one.record))}`,
        property,
        value(inState),
        value(present(one, property, inApi)),
      ]),
    );
  const heads = ["Resource", "Record", "Property", "In state", "In the API"];
  const isAnother = ({ outcome }: DriftedResource): boolean => outcome === "another record";
  return [
    tableSection({ heads, rows: rows(report.drifted.filter(isAnother)) }, anotherRecordHeading),
    tableSection(
      { heads, rows: rows(report.drifted.filter((one) => !isAnother(one))) },
      isOfMerge ? "#### Edited by hand: merging this sets these back" : handHeading,
    ),
    // What a merge makes again is among the warnings.
    ...otherSections(isOfMerge ? { ...report, pending: [] } : report),
  ];
}
