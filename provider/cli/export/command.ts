import { Option, type Command } from "commander";

import { definitions } from "../../definitions";
import { jsonText } from "../shared/json";
import { addSettingOptions } from "../shared/setting-options";
import type { CommandContext } from "../shared/terminal";
import { exportAccount, type ExportOptions } from "./account";
import { languages } from "./import-file";
import { exportText } from "./report";

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
