import { counted } from "../../common/text";
import type { DriftReport } from "../shared/drift-report";
import type { OperationCounts, PlannedChanges, PlannedOperation } from "../shared/planned-changes";

type Effect = PlannedOperation | "again" | "lost";

/**
 * One sentence for all that a merge does: the program's changes, and the drift that it sets back.
 *
 * @param lost the URNs of resources that it cannot make again
 */
export function effectText(
  { own, others }: PlannedChanges,
  drift: DriftReport | undefined,
  { same = 0 }: OperationCounts,
  lost: ReadonlySet<string>,
): string {
  const operations: Effect[] = [];
  const madeAgain = (urn: string): Effect => (lost.has(urn) ? "lost" : "again");
  const drifted = new Map((drift?.drifted ?? []).map((one) => [one.urn, one.outcome]));
  for (const { urn, operation, isLeftover } of [...own, ...others]) {
    const isGone = drifted.get(urn) === "gone" && operation !== "delete" && !isLeftover;
    operations.push(isGone ? madeAgain(urn) : operation);
    if (!isLeftover) drifted.delete(urn);
  }
  for (const [urn, outcome] of drifted) operations.push(outcome === "gone" ? madeAgain(urn) : "update");
  const count = (one: Effect): number => operations.filter((other) => other === one).length;
  const [created, again] = [count("create"), count("again")];
  const verbs: [string, number][] = [
    ["replaces", count("replace")],
    ["deletes", count("delete")],
    ["creates", created + again],
    ["updates", count("update")],
    ["imports", count("import")],
    ["cannot create", count("lost")],
  ];
  const texts = verbs
    .filter(([, number]) => number > 0)
    .map(([verb, number], index) => {
      const what = index === 0 ? counted(number, "resource") : String(number);
      return `${verb} ${what}${verb === "creates" && again > 0 ? ` (${again} again)` : ""}`;
    });
  const unchanged = `${Math.max(0, same - drifted.size)} unchanged`;
  if (texts.length === 0) return `Merging this changes nothing, ${unchanged}.`;
  const last = texts.length > 1 ? ` and ${texts.pop() ?? ""}` : "";
  return `Merging this ${texts.join(", ")}${last}, ${unchanged}.`;
}
