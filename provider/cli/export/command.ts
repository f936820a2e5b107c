import { join } from "node:path";

import { Option, type Command } from "commander";

import { counted } from "../../common/text";
import { definitions } from "../../definitions";
import { jsonText } from "../shared/json";
import { printable } from "../shared/quoting";
import { addSettingOptions } from "../shared/setting-options";
import type { CommandContext } from "../shared/terminal";
import { exportAccount, type ExportOptions, type ExportReport } from "./account";
import { languages } from "./import-file";

export function configure(command: Command, context: CommandContext): void {
  const plurals = definitions.map(({ plural }) => plural);
  addSettingOptions(
    command
      .option(
        "--out <dir>",
        "folder to write to: a Pulumi project, or a new folder for one (required, except with --dry-run)",
      )
      .addOption(
        new Option(
          "--language <name>",
          "typescript writes a program; the others write a file for `pulumi import` (default: typescript)",
        ).choices(languages),
      )
      .addOption(new Option("--only <kind>", "export only this kind of record").choices(plurals))
      .option("--search <text>", "export only records that the API finds by this text")
      .option("--stack <name>", "the project's stack: its settings, and the records to leave out")
      .option("--account <name>", "the account of uptime:accounts to export")
      .option(
        "--secrets <file>",
        "also write the secrets to this file, which the steps in NEXT-STEPS.md read",
      )
      .option("--dry-run", "write nothing, only list the files")
      .option("--json", "print the report as JSON"),
  )
    .addHelpText(
      "after",
      `
Reads the API and writes nothing to it. The key comes from the environment
(UPTIME_API_KEY) or from the stack's configuration. In YAML, Python and Go, the
plugin imports the records, and Pulumi generates the code. NEXT-STEPS.md has
the steps that follow.

Examples:
  pulumi-uptime export --out monitoring
  pulumi-uptime export --out monitoring --only monitors --search shop
  pulumi-uptime export --out . --language yaml
  pulumi-uptime export --out . --stack prod --secrets secrets.json
`,
    )
    .action(async (options: Omit<ExportOptions, "out"> & { out?: string }) => {
      const { out = options.dryRun ? "." : undefined } = options;
      // Commander would miss a required option before it notices one that does not exist.
      if (out === undefined) return command.error("error: required option '--out <dir>' not specified");
      const report = await exportAccount({ ...options, out }, context);
      context.stdout.write(options.json ? jsonText(report) : exportText(report));
    });
}

/** The report for a terminal. */
function exportText(report: ExportReport): string {
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
