import { join } from "node:path";

import { counted } from "../../common/text";
import { printable } from "../shared/quoting";
import type { ExportReport } from "./account";

export function exportText(report: ExportReport): string {
  const { resources, refused, directory, files, known, dryRun, secrets, notes, language } = report;
  const wrote = dryRun ? "Would write" : "Wrote";
  const page = files.find((file) => /^NEXT-STEPS.*\.md$/.test(file));
  const place = directory === "." ? "here" : `to ${directory}`;
  const more = known > 0 ? `; the stack already manages ${counted(known, "record")}` : "";
  const lines = [
    `${wrote} ${counted(resources.length, "resource")} ${place}${more}${files.length > 0 ? ":" : "."}`,
    ...files.map((file) => `  ${file}`),
  ];
  if (refused.length > 0)
    lines.push(
      "",
      "The provider would refuse these records, so they are left out. Correct them in the API, and export again once the stack's state has the others:",
      ...refused.map(({ title, reasons }) => `  ${title}: ${reasons.join("; ")}`),
    );
  if (secrets.length > 0)
    lines.push(
      "",
      language === "typescript"
        ? `The program reads ${counted(secrets.length, "secret")} from the stack's configuration.`
        : "Request headers and passwords are secrets, so they are neither in the import file nor in the code that Pulumi generates. " +
            "They stay as they are in the API.",
    );
  lines.push(...notes.flatMap((note) => ["", note]));
  if (page !== undefined && !dryRun) lines.push("", `Next, follow ${join(directory, page)}.`);
  return `${lines.map(printable).join("\n")}\n`;
}
