import { Command, CommanderError, InvalidArgumentError, Option } from "commander";

import type * as emulatorCli from "../emulator/cli";
import { UptimeError } from "../api/errors";
import { examine } from "./doctor";
import type { DoctorOptions, Finding } from "./doctor";
import { driftMarkdown, driftTable, findDrift } from "./drift";
import type { DriftOptions } from "./drift";
import { exportAccount, splits } from "./export";
import type { ExportOptions } from "./export";
import { refusedImports } from "./imports";
import type { Looked } from "./imports";
import { labelIn, nameIn } from "./pulumi";
import { reportOf } from "./report";
import { withSettingFlags } from "./settings";
import type { Surroundings } from "./terminal";
import { styled, visible } from "./terminal";
import { version } from "./version";

const codes = `
Exit codes:
  0  done, and nothing to report
  1  an error; it is one sentence on the standard error
  2  drift was found (drift), or an import would be refused (doctor)
`;

/**
 * Runs the tool with arguments, without the name of the program.
 *
 * @returns the exit code
 */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  // The emulator reads its own arguments, --help among them.
  if (args[0] === "emulator") return emulator().runEmulator(args.slice(1));
  const { stderr } = surroundings;
  let code = 0;
  const program = programOf(surroundings, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    // Commander has said already what is wrong with the arguments; help is no failure.
    if (error instanceof CommanderError) return error.exitCode;
    const message = error instanceof Error ? error.message : String(error);
    stderr.write(`${visible(message.replace(/\s*\n\s*/g, " "))}\n`);
    if (!(error instanceof UptimeError) && error instanceof Error)
      stderr.write(`${error.stack ?? ""}\nThis is a fault of pulumi-uptime; please report it.\n`);
    return 1;
  }
}

function programOf(surroundings: Surroundings, finish: (code: number) => void): Command {
  const { stdout, stderr } = surroundings;
  const program = new Command("pulumi-uptime")
    .description("Brings domains and uptime monitors under Pulumi, and watches over them.")
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .showHelpAfterError("(see --help)")
    .addHelpText("after", codes);

  withSettingFlags(
    program
      .command("export")
      .description(
        "Writes a Pulumi program that takes over what is at the API. Nothing is written at the API.",
      )
      .requiredOption("--out <dir>", "folder to write to: a Pulumi project, or one that is made")
      .addOption(new Option("--only <kind>", "only these records").choices(["domains", "monitors"]))
      .option("--search <text>", "only records that the API finds by this text")
      .addOption(new Option("--search-by <field>", "what to search in").choices(["name", "url"]))
      .option("--status-page <id>", "only monitors of this status page", statusPageId)
      .addOption(
        new Option("--split <rule>", "one file per kind, per host, or per beginning of the name (`Shop - …`)")
          .choices(splits)
          .default("kind"),
      )
      .option("--stack <name>", "stack of the project, for settings and for what it manages already")
      .option("--account <name>", "account of uptime:accounts to export")
      .option(
        "--state <file>",
        "also write the stack's state with the records in it, for `pulumi stack import`",
      )
      .option("--stack-export <file>", "read the stack's state from a file instead of from Pulumi")
      .option("--secrets <file>", "also write the values of secrets, for `pulumi config set-all --json`")
      .option("--dry-run", "write nothing, only say what would be written")
      .option("--json", "print what was done as JSON"),
  )
    .addHelpText(
      "after",
      `
The API key comes from the environment (UPTIME_API_KEY) or from the configuration of the project's stack.

Examples:
  pulumi-uptime export --out uptime
  pulumi-uptime export --out uptime --only monitors --search shop --split host
  pulumi-uptime export --out . --stack prod --state state.json && pulumi stack import --file state.json
`,
    )
    .action(async (options: ExportOptions & { json?: boolean }) => {
      const report = await exportAccount(options, surroundings);
      stdout.write(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : reportOf(report));
    });

  withSettingFlags(
    program
      .command("drift")
      .description(
        "Lists what differs between a stack's state and the API. Writes neither, and runs no program.",
      )
      .option("--cwd <dir>", "the project's folder (default: this one)")
      .option("--stack <name>", "stack to look at (default: the one that is selected)")
      .option("--state <file>", "read the state from a file, as `pulumi stack export` writes it")
      .addOption(new Option("--json", "print JSON").conflicts("markdown"))
      .option("--markdown", "print Markdown"),
  )
    .addHelpText(
      "after",
      `
Settings come from options, from the stack's configuration, and from the environment. With --state, the stack is only
asked when --stack names it. Fields in ignoreChanges are no drift.

Examples:
  pulumi-uptime drift --stack prod
  pulumi-uptime drift --markdown > drift.md; test $? -ne 2 || mail -s drift ops@example.com < drift.md
  pulumi stack export --show-secrets > state.json && pulumi-uptime drift --state state.json --json
`,
    )
    .action(async (options: DriftOptions & { json?: boolean; markdown?: boolean }) => {
      const report = await findDrift(options, surroundings);
      stdout.write(
        options.json
          ? `${JSON.stringify(report, undefined, 2)}\n`
          : options.markdown
            ? driftMarkdown(report)
            : driftTable(report),
      );
      for (const { urn, message } of report.errors)
        stderr.write(`${visible(`${nameIn(urn)}: ${message}`)}\n`);
      finish(report.errors.length > 0 ? 1 : report.drifted.length > 0 ? 2 : 0);
    });

  withSettingFlags(
    program
      .command("doctor")
      .description("Checks the settings, and says how the install answers. It only reads.")
      .option("--stack [name]", "stack whose configuration holds the settings (default: the selected one)")
      .option("--cwd <dir>", "the project's folder (default: that of --program, or this one)")
      .option("--account <name>", "account of uptime:accounts to look at")
      .option("--program <dir>", "also list all resources of a program whose import would be refused")
      .option("--json", "print JSON"),
  )
    .addHelpText(
      "after",
      `
Settings come from options, from the stack's configuration where there is a Pulumi project, and from the environment.
With --program, the program is run as in a preview, but without Pulumi's engine, and everything that it declares is
checked: a preview reports only one of the resources that are refused.

Examples:
  UPTIME_BASE_URL=https://uptime.example.com UPTIME_API_KEY=… pulumi-uptime doctor
  pulumi-uptime doctor --stack prod
  pulumi-uptime doctor --program . --stack prod
`,
    )
    .action(async (options: DoctorOptions & { json?: boolean }) => {
      const findings = await examine(options, surroundings);
      const failed = findings.some(({ level }) => level === "failed");
      const looked =
        options.program === undefined || failed
          ? undefined
          : await refusedImports(options.program, options, surroundings);
      if (looked) findings.push(...findingsOf(looked));
      if (options.json)
        stdout.write(`${JSON.stringify({ findings, ...(looked && { program: looked }) }, undefined, 2)}\n`);
      else for (const finding of findings) stdout.write(lineOf(finding, surroundings));
      if (failed) stderr.write("Not all is well; see above.\n");
      finish(failed ? 1 : looked && looked.refused.length > 0 ? 2 : 0);
    });

  program
    .command("emulator")
    .description("Starts an emulator of the API on this machine, to try programs without an account.")
    .argument("[options...]", "see `pulumi-uptime emulator --help`");
  return program;
}

const colours = { ok: "green", warning: "yellow", failed: "red" } as const;

function lineOf({ level, text }: Finding, { stdout, env }: Surroundings): string {
  return `${styled(colours[level], level.padEnd(7), stdout, env)}  ${visible(text)}\n`;
}

function findingsOf({ imports, refused, notes }: Looked): Finding[] {
  return [
    ...notes.map((text): Finding => ({ level: "warning", text })),
    ...refused.map(({ type, name, importId, reasons }): Finding => ({
      level: "failed",
      text: `${labelIn(type)} ${name}${importId === undefined ? "" : ` (import ${importId})`}: ${reasons.join("; ")}`,
    })),
    {
      level: "ok",
      text: `The program imports ${imports} records; ${refused.length} resources would be refused`,
    },
  ];
}

function statusPageId(text: string): string {
  if (/^\d+$/.test(text)) return text;
  throw new InvalidArgumentError("It is the id of a status page, a whole number.");
}

/** It is a test's, too, and most people never need it. */
// eslint-disable-next-line @typescript-eslint/no-require-imports
const emulator = () => require("../emulator/cli") as typeof emulatorCli;
