import { counted } from "../../common/text";
import { failed, ok, warning, type Finding } from "../shared/finding";
import { countTexts } from "../shared/planned-changes";
import { oneLine, listOf } from "../shared/quoting";
import { adoptedAmong, type FoundNamesake } from "./namesakes";
import type { ProgramReport } from "./program";

/** The code of findings about resources that a preview would refuse. */
export const refusedCode = "program-refused";

/** The findings of a preview: one for each warning and each reason to refuse a resource, and one for all other creates, updates and so on. */
export function programFindings(report: ProgramReport): Finding[] {
  const { resources, planned, twins, withoutChannels, refused, errors, unchecked } = report;
  const nothing = planned.length + refused.length === 0 ? ", and there is nothing to do" : "";
  const noChannels = `Without alert channels, nobody is told of a failure: ${listOf(withoutChannels)}.`;
  return [
    ...plainFindings(planned.filter(({ namesakes }) => namesakes.length === 0)),
    ...planned.filter(({ namesakes }) => namesakes.length > 0).map(namesakeFinding),
    ...twins.map(({ same, resources }) => {
      const which = `Several new resources have the same ${same}: ${listOf(resources)}.`;
      return warning("program-twins", `${which} If they are to adopt a record, only one of them can.`);
    }),
    ...(withoutChannels.length > 0 ? [warning("program-channels", noChannels)] : []),
    ...unchecked.map((text) => warning("program-unchecked", text)),
    ...refused.flatMap(({ title, importId, reasons }) => {
      const resource = importId === undefined ? title : `${title} (import ${importId})`;
      return reasons.map((reason) => failed(refusedCode, `${resource}: ${reason}`));
    }),
    ...errors.map((error) => {
      const withoutStack = error.replace(/\n\s+at [^]*/, "");
      return failed("preview", `The preview failed: ${oneLine(withoutStack)}`);
    }),
    // After an error the preview has not reached every resource, so the number would be too low.
    ...(errors.length > 0
      ? []
      : [ok("program", `The program declares ${counted(resources, "resource")}${nothing}.`)]),
  ];
}

type Planned = ProgramReport["planned"][number];

/** What a create does although there are records with the name of the new resource. */
function namesakeFinding({ title, namesakes }: Planned): Finding {
  const like = namesakes.map(differenceText).join("; ");
  // The records that the create may adopt, and those of them that are equal.
  const free = namesakes.filter(({ owner }) => owner === undefined);
  const equal = free.filter(({ differs }) => differs.length === 0);
  const [first] = free;
  if (first?.adoptExisting) {
    const adopted = adoptedAmong(namesakes);
    if (!adopted)
      return failed(
        refusedCode,
        `${title}: with ${first.adoptSetting}, exactly one record must be equal: ${like}.`,
      );
    return ok("program-plan", `${title}: adopts record ${adopted.id}.`);
  }
  const text = `${title}: would be created, although a record like it exists: ${like}.`;
  return warning(
    "program-plan",
    first ? `${text} ${adoptionAdvice(equal.length, first.adoptSetting)}` : text,
  );
}

function adoptionAdvice(equalRecords: number, setting: string): string {
  if (equalRecords > 1)
    return `To adopt one, name its id with the option import; ${setting} refuses several that are equal.`;
  const adopt = `name its id with the option import, or set ${setting} for one run.`;
  return equalRecords === 1
    ? `To adopt it, ${adopt}`
    : `To adopt it, first declare what is there; then ${adopt}`;
}

/** A finding for each operation, such as `2 to create: Monitor home, Monitor shop`. */
function plainFindings(planned: ProgramReport["planned"]): Finding[] {
  const operations = new Set(planned.map(({ operation }) => operation));
  return [...operations].map((operation) => {
    const same = planned.filter((one) => one.operation === operation);
    const titles = same.map(({ title, record }) => (record === undefined ? title : `${title} (${record})`));
    return ok("program-plan", `${countTexts(same).join("")}: ${listOf(titles)}`);
  });
}

/** Names a record of the same name, whose it is, and the properties that differ. */
function differenceText({ id, differs, owner }: FoundNamesake): string {
  const whose = owner === undefined ? "" : `, which ${owner} has,`;
  return `record ${id}${whose} ${differs.length === 0 ? "is equal" : `differs in ${differs.join(", ")}`}`;
}
