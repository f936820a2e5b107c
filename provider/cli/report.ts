import type { ExportReport } from "./export";
import { labelIn } from "./pulumi";
import { visible } from "./terminal";

const kindOf = (type: string): string => labelIn(type).toLowerCase();

/** What an export did, for a person. */
export function reportOf(report: ExportReport): string {
  const { resources, directory, files, known, dryRun, secrets, notes, adopted, state } = report;
  const lines: string[] = [];
  const page = files.find((file) => /^NEXT-STEPS.*\.md$/.test(file)) ?? "NEXT-STEPS.md";
  const refused = resources.filter(({ problems }) => problems.length > 0);
  const count = (kind: string): string =>
    counted(resources.filter(({ type }) => kindOf(type) === kind).length, kind);
  if (resources.length === 0)
    lines.push(known > 0 ? `Nothing is new: all ${known} records are known.` : "There are no such records.");
  else {
    lines.push(
      `${dryRun ? "Would write" : "Wrote"} ${count("monitor")} and ${count("domain")} to ${directory}` +
        `${known > 0 ? `; ${known} more were known already` : ""}:`,
      ...files.map((file) => `  ${file}`),
    );
  }
  if (state !== undefined)
    lines.push(
      `${dryRun ? "Would write" : "Wrote"} ${state}, the stack's state and ${adopted} more resources.`,
    );
  if (refused.length > 0)
    lines.push(
      "",
      "These hold what the provider would refuse. They are comments in the program; mend them at the API and there:",
      ...refused.map(
        ({ type, id, name, problems }) => `  ${kindOf(type)} ${id} (${name}): ${problems.join("; ")}`,
      ),
    );
  const required = secrets.filter(({ optional }) => !optional).length;
  const passwords = secrets.length - required;
  if (required > 0)
    lines.push(
      "",
      `The stack's configuration must hold ${counted(required, "value")} of request headers, as secrets.`,
    );
  if (passwords > 0)
    lines.push(
      `There is a user name at ${counted(passwords, "monitor")}; the API does not show whether there is a password. ${page} says more.`,
    );
  lines.push(...notes.flatMap((note) => ["", note]));
  if (report.next.length > 0 && !dryRun)
    lines.push(
      "",
      report.newProject || resources.length === 0
        ? `Next, in ${directory}:`
        : `Load the new files from the program, as ${page} says; then, in ${directory}:`,
      ...shortened(report.next, page).map((command) => `  ${command}`),
    );
  return `${lines.map(visible).join("\n")}\n`;
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** All are in the page. */
function shortened(commands: readonly string[], page: string): readonly string[] {
  if (commands.length <= 16) return commands;
  return [...commands.slice(0, 13), `… ${commands.length - 15} more, see ${page}`, ...commands.slice(-2)];
}
