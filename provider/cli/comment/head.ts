import { counted } from "../../common/text";
import { parseUrl } from "../../common/url";
import { driftSummary, type DriftedResource } from "../shared/drift-report";
import type { PlannedOperation } from "../shared/planned-changes";
import { codeSpan, listOf } from "../shared/quoting";
import type { CommentOptions, Facts } from "./facts";
import { digestOf, hashesText, markerLine } from "./marker";
import { deletesLabel, tooManyDeletes } from "./review";

/** The paragraphs above the sections. CI finds the comment by its first line. */
export function headOf(facts: Facts, options: CommentOptions): string[] {
  const { title, isKnown, drift, programCode, actions } = facts;
  const { commit, runUrl, limit, maxDeletes, reviewed } = options;
  const link = parseUrl(runUrl ?? "")?.href;
  const servers = drift?.servers ?? [];
  const about = [
    ...(servers.length === 0 ? [] : [`server ${codeSpan(listOf(servers))}`]),
    ...(commit === undefined ? [] : [`commit ${codeSpan(commit.slice(0, 10))}`]),
    ...(link === undefined ? [] : [`[log](<${link}>)`]),
  ];
  const effect = isKnown ? effectText(facts) : "It is not known what merging this changes.";
  const tooMany = actions && reviewed === undefined ? tooManyDeletes(actions, facts, maxDeletes) : undefined;
  const changeHashes = actions && hashesText(actions, programCode, limit);
  const heading = headingOf(facts, options);
  return [
    markerLine({ title, commit, digest: actions && digestOf(actions), changeHashes }),
    title === ""
      ? `### ${heading.replace(/^./, (letter) => letter.toUpperCase())}`
      : `### ${codeSpan(title)}: ${heading}`,
    about.join(" · "),
    options.preview === undefined ? "" : `**${effect}**`,
    drift ? `Drift: ${driftSummary(drift)}` : "",
    options.drift !== undefined && !drift ? "The drift is not known; see the log." : "",
    tooMany === undefined
      ? ""
      : `**${tooMany} The apply stops after the merge, unless this pull request has the label \`${deletesLabel}\` when it is merged: set it if you approve.**`,
    actions && changeHashes === undefined
      ? "**These are more changes than a review can hold: after the merge, the apply stops, and needs the digest that it prints.**"
      : "",
  ].filter((paragraph) => paragraph !== "");
}

function headingOf({ failedChecks, errors }: Facts, { preview, drift }: CommentOptions): string {
  if (failedChecks.length > 0) return "some checks failed";
  if (errors.length > 0) return "the preview failed";
  if (preview !== undefined) return "what merging this changes";
  return drift === undefined ? "checks" : "drift";
}

/** One sentence for all that a merge does: the program's changes, and the drift that it undoes. */
function effectText({ changes, unchanged, edits, missingImports }: Facts): string {
  type Effect = PlannedOperation | "create again" | "cannot create" | "another record";
  const changed = new Set(changes.filter(({ isPendingDelete }) => !isPendingDelete).map(({ urn }) => urn));
  // A change and an edit of one resource are one effect.
  const others = [...edits.values()].filter(({ urn }) => !changed.has(urn));
  const effectOf = ({ urn, outcome, replaces }: DriftedResource): Effect => {
    if (outcome === "gone") return missingImports.has(urn) ? "cannot create" : "create again";
    if (outcome !== "changed") return outcome;
    return replaces ? "replace" : "update";
  };
  const effects = [
    ...changes.map(({ urn, operation }): Effect => {
      const edit = edits.get(urn);
      const isUndone = operation === "update" || (edit?.outcome === "gone" && operation !== "delete");
      return edit && isUndone ? effectOf(edit) : operation;
    }),
    ...others.map(effectOf),
  ];
  const count = (...counts: Effect[]): number => effects.filter((effect) => counts.includes(effect)).length;
  const again = count("create again");
  const verbs: [verb: string, count: number, more?: string][] = [
    ["replaces", count("replace")],
    ["deletes", count("delete")],
    ["creates", count("create", "create again"), again > 0 ? ` (${again} again)` : ""],
    ["updates", count("update")],
    ["imports", count("import")],
    ["cannot create", count("cannot create")],
    ["cannot undo the edit of", count("another record")],
  ];
  const texts = verbs
    .filter(([, number]) => number > 0)
    .map(([verb, number, more = ""], index) =>
      index === 0 ? `${verb} ${counted(number, "resource")}${more}` : `${verb} ${number}${more}`,
    );
  // British English has no comma before the last "and".
  const all = new Intl.ListFormat("en-GB").format(texts);
  return `Merging this ${all || "changes nothing"}; ${Math.max(0, unchanged - others.length)} unchanged.`;
}
