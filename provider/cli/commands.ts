// Modules are loaded when they are needed: `--help` needs none of the API.
/* eslint-disable @typescript-eslint/no-require-imports */
import { Command, CommanderError } from "commander";

import type * as errors from "../api/errors";
import { ownPackage } from "../common/package";
import type * as emulator from "../emulator/cli";
import type * as redactors from "../engine/redactor";
import type * as sessions from "../lifecycle/session";
import type * as quoting from "./shared/quoting";
import type * as terminal from "./shared/terminal";
import type { CommandContext } from "./shared/terminal";

const exitCodes = `
Exit codes:
  0  done, and nothing to report
  1  an error; it is one sentence on the standard error
  2  something was found: drift or unmanaged records (drift), resources that
     would be refused (doctor), monitors that would alert (try)
`;

/** A module that adds options and an action to its command. */
interface CommandModule {
  readonly configure: (command: Command, context: CommandContext) => void;
}

const commands: readonly (readonly [name: string, purpose: string, load?: () => CommandModule])[] = [
  ["init", "Write a new project with one monitor.", () => require("./init") as CommandModule],
  [
    "export",
    "Write a program that imports the records in the API.",
    () => require("./export/command") as CommandModule,
  ],
  [
    "drift",
    "List what differs between a stack's state and the API.",
    () => require("./drift/command") as CommandModule,
  ],
  [
    "comment",
    "Turn a preview and the drift into a comment for a pull request.",
    () => require("./comment/command") as CommandModule,
  ],
  [
    "doctor",
    "Check versions, settings, the server, and a program.",
    () => require("./doctor/command") as CommandModule,
  ],
  [
    "try",
    "Send the monitors' requests from here, and list which would alert.",
    () => require("./try/command") as CommandModule,
  ],
  [
    "plugin",
    "Install the plugin, for other languages than TypeScript.",
    () => require("./plugin") as CommandModule,
  ],
  ["emulator", "Start an emulator of the API, to try programs."],
];

/** A person waits for the answer, so a refused connection is tried again for less time than in a deployment, in milliseconds. */
const unreachableMilliseconds = 3000;

/**
 * Runs a command.
 *
 * @param args the arguments after `pulumi-uptime`
 * @returns the exit code
 */
export async function runCommand(
  args: readonly string[],
  surroundings: Omit<CommandContext, "exit" | "session">,
): Promise<number> {
  const [first, second] = args;
  const wanted = first === "help" ? second : first;
  if (wanted === "emulator") {
    // It is a program of its own too.
    const { runEmulator } = require("../emulator/cli") as typeof emulator;
    return runEmulator(first === "help" ? ["--help"] : args.slice(1));
  }
  let code = 0;
  const root = commandLine(surroundings);
  let secrets: Iterable<string> = [];
  try {
    for (const [name, purpose, load] of commands) {
      const command = root.command(name).description(purpose);
      if (name !== wanted || !load) continue;
      const { Session } = require("../lifecycle/session") as typeof sessions;
      const session = new Session({ unreachableMilliseconds });
      ({ secrets } = session);
      const { withoutSecrets } = require("./shared/terminal") as typeof terminal;
      const stdout = withoutSecrets(surroundings.stdout, secrets);
      const stderr = withoutSecrets(surroundings.stderr, secrets);
      const { configure } = load();
      configure(command, { ...surroundings, stdout, stderr, session, exit: (result) => (code = result) });
    }
    await root.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    // Commander has printed what is wrong with the arguments; help is no failure.
    if (error instanceof CommanderError) return error.exitCode;
    explain(error, secrets, surroundings);
    return 1;
  }
}

function explain(
  error: unknown,
  secrets: Iterable<string>,
  { stderr }: Pick<CommandContext, "stderr">,
): void {
  const { Redactor } = require("../engine/redactor") as typeof redactors;
  const { quote, UptimeError } = require("../api/errors") as typeof errors;
  const { printable } = require("./shared/quoting") as typeof quoting;
  const redactor = new Redactor(secrets);
  const lines = [redactor.error(error).replace(/\s*\n\s*/g, " ")];
  if (!(error instanceof UptimeError) && error instanceof Error) {
    // The stack begins with the message, which may repeat a key.
    const frames = (error.stack ?? "").split("\n").filter((line) => /^ +at /.test(line));
    lines.push(error.name, ...frames.map((frame) => `  ${redactor.message([quote(frame)])}`));
    lines.push("This is a bug in pulumi-uptime; please report it.");
  }
  const { withoutSecrets } = require("./shared/terminal") as typeof terminal;
  withoutSecrets(stderr, secrets).write(lines.map((line) => `${printable(line)}\n`).join(""));
}

function commandLine({ stdout, stderr }: Pick<CommandContext, "stdout" | "stderr">): Command {
  return new Command("pulumi-uptime")
    .description("Brings domains and uptime monitors under Pulumi, and finds drift.")
    .version(ownPackage().version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // Help is the same everywhere.
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .showHelpAfterError("(see --help)")
    .addHelpText("after", exitCodes);
}
