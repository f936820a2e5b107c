import { counted } from "../../common/text";
import { failed, ok, warning, type Finding } from "../shared/finding";
import { countsOf, countTexts } from "../shared/planned-changes";
import { firstWords, listOf } from "../shared/quoting";
import type { SimilarRecord } from "./accounts";
import type { ProgramReport } from "./program";

/** The code of findings about resources that a preview would refuse. */
export const refusedCode = "program-refused";

/** The findings of a preview: one for each planned resource, and one for each reason to refuse one. */
export function programFindings({
  resources,
  planned,
  twins,
  silent,
  refused,
  errors,
  unchecked,
}: ProgramReport): Finding[] {
  const counts = [
    ...countTexts(countsOf(planned)),
    ...(refused.length > 0 ? [`${refused.length} refused`] : []),
  ].join(", ");
  return [
    ...planned.map(({ title, operation, record, namesakes }) => {
      if (namesakes.length === 0) {
        const taken = record === undefined ? "" : ` record ${record}, nothing is created`;
        return ok("program-plan", `${title}: ${operation}${taken}`);
      }
      const text = `${title}: ${operation}, although a record like it exists: ${namesakes.map(differenceText).join("; ")}.`;
      const advice =
        " To adopt it, name its id with the option import, or set uptime:adoptExisting for one run.";
      const isFree = namesakes.some(({ owner }) => owner === undefined);
      return warning("program-plan", isFree ? text + advice : text);
    }),
    ...twins.map(({ same, resources }) =>
      warning("program-twins", `Several new resources have the same ${same}: ${listOf(resources)}.`),
    ),
    ...(silent.length > 0
      ? [
          warning(
            "program-channels",
            `Without alert channels, nobody is told of a failure: ${listOf(silent)}.`,
          ),
        ]
      : []),
    ...unchecked.map((text) => warning("program-unchecked", text)),
    ...refused.flatMap(({ title, importId, reasons }) => {
      const resource = importId === undefined ? title : `${title} (import ${importId})`;
      return reasons.map((reason) => failed(refusedCode, `${resource}: ${reason}`));
    }),
    // The stack trace of an exception is left out.
    ...errors.map((error) =>
      failed("preview", `The preview failed: ${firstWords(error.replace(/\n\s+at [^]*/, ""))}`),
    ),
    // After an error the preview has not reached every resource, so the counts would be too low.
    ...(errors.length > 0
      ? []
      : [
          ok(
            "program",
            `The program declares ${counted(resources, "resource")}: ${counts || "nothing to do"}.`,
          ),
        ]),
  ];
}

/** Names a similar record, the resource that has it, and the properties that differ. */
function differenceText({ id, differs, owner }: SimilarRecord): string {
  const whose = owner === undefined ? "" : `, which ${owner} has,`;
  return `record ${id}${whose} ${differs.length === 0 ? "is equal" : `differs in ${differs.join(", ")}`}`;
}
