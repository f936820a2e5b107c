// What a command needs is loaded when it runs, because loading everything takes a second.
/* eslint-disable @typescript-eslint/no-require-imports, @typescript-eslint/no-unsafe-return */
import { Command, CommanderError } from "commander";

import { ownPackage } from "../common/package";
import type * as terminal from "./shared/terminal";
import type { CommandContext, ProcessContext } from "./shared/terminal";

const exitCodes = `
Exit codes:
  0  done, and nothing to report
  1  an error, printed to standard error
  2  something was found: drift or unmanaged records (drift), resources that
     would be refused (doctor), monitors that would alert (try)
`;

/** A module that adds options and an action to its command. */
interface CommandModule {
  readonly configure: (command: Command, context: CommandContext) => void;
}

const commands: readonly (readonly [name: string, purpose: string, load: () => CommandModule])[] = [
  ["init", "Write a new project with one monitor.", () => require("./init")],
  ["export", "Write a program that imports the records in the API.", () => require("./export/command")],
  ["drift", "List what differs between a stack's state and the API.", () => require("./drift/command")],
  [
    "comment",
    "Turn a preview and the drift into a comment for a pull request.",
    () => require("./comment/command"),
  ],
  ["doctor", "Check versions, settings, the server, and a program.", () => require("./doctor/command")],
  [
    "try",
    "Send the monitors' requests from here, and list which would alert.",
    () => require("./try/command"),
  ],
  ["plugin", "Install the plugin, for languages other than TypeScript.", () => require("./plugin")],
  ["emulator", "Start an emulator of the API, to try programs.", () => require("./emulator")],
];

/** Runs the command that the arguments after `pulumi-uptime` name. Returns the exit code. */
export async function runCommand(args: readonly string[], processContext: ProcessContext): Promise<number> {
  const root = commandLine(processContext);
  const wanted = args[0] === "help" ? args[1] : args[0];
  const added = commands.map(([name, purpose, load]) => {
    const command = root
      .command(name)
      .description(purpose)
      .showHelpAfterError(`(see \`pulumi-uptime help ${name}\`)`);
    return { name, command, load };
  });
  const found = added.find(({ name }) => name === wanted);
  // Commander ignores it if the command that `help` names does not exist.
  const isUnknown = wanted !== undefined && !found;
  const parse = async (): Promise<number> => {
    await root.parseAsync(isUnknown ? [wanted] : [...args], { from: "user" });
    return 0;
  };
  try {
    if (!found) return await parse();
    const { runInSession } = require("./shared/terminal") as typeof terminal;
    return await runInSession(processContext, (context) => {
      found.load().configure(found.command, context);
      return parse();
    });
  } catch (error) {
    // Commander has printed what is wrong with the arguments; help is no failure.
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
}

function commandLine({ stdout, stderr }: Pick<CommandContext, "stdout" | "stderr">): Command {
  return new Command("pulumi-uptime")
    .description("Tools for projects that manage domains and uptime monitors with Pulumi.")
    .version(ownPackage().version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // Help is the same everywhere.
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .showHelpAfterError("(see `pulumi-uptime help`)")
    .addHelpText("after", exitCodes);
}
