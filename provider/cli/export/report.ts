import { join } from "node:path";

import { counted } from "../../common/text";
import { printable } from "../shared/quoting";
import { labelIn } from "../shared/resource-types";

/** The result of an export, or of a dry run. */
export interface ExportReport {
  readonly directory: string;
  readonly dryRun: boolean;
  /** `typescript`, or the language of the code that Pulumi generates. */
  readonly language: string;
  readonly files: readonly string[];
  readonly resources: readonly {
    readonly type: string;
    readonly id: string;
    readonly name: string;
    /** The reasons for which the provider would refuse it; then it is a comment in a program, and left out of a file for `pulumi import`. */
    readonly problems: readonly string[];
  }[];
  /** The number of records that the stack manages already. */
  readonly known: number;
  /** The keys that the stack's configuration must hold, or may hold. */
  readonly secrets: readonly { readonly key: string; readonly optional: boolean; readonly of: string }[];
  readonly notes: readonly string[];
}

/** The report as people read it. */
export function exportText(report: ExportReport): string {
  const { resources, directory, files, known, dryRun, secrets, notes, language } = report;
  const wrote = dryRun ? "Would write" : "Wrote";
  const page = files.find((file) => /^NEXT-STEPS.*\.md$/.test(file));
  const refused = resources.filter(({ problems }) => problems.length > 0);
  const lines: string[] = [];

  if (resources.length > 0) {
    const more = known > 0 ? `; the stack already manages ${known} more` : "";
    const left =
      refused.length > 0
        ? language === "typescript"
          ? `, and ${refused.length} more as ${refused.length > 1 ? "comments" : "a comment"}`
          : ` and left out ${refused.length} more`
        : "";
    const place = directory === "." ? "here" : `to ${directory}`;
    lines.push(
      `${wrote} ${counted(resources.length - refused.length, "resource")} ${place}${left}${more}${files.length > 0 ? ":" : "."}`,
      ...files.map((file) => `  ${file}`),
    );
  } else if (known > 0) lines.push(`Nothing is new: the stack already manages ${counted(known, "record")}.`);
  else lines.push("No records match.");
  if (refused.length > 0)
    lines.push(
      "",
      `The provider would refuse these records. ${
        language === "typescript"
          ? "They are comments in the program; correct them in the API and in the program:"
          : "They are left out; correct them in the API and export again:"
      }`,
      ...refused.map(
        ({ type, id, name, problems }) => `  ${labelIn(type)} ${id} (${name}): ${problems.join("; ")}`,
      ),
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
