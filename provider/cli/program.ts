/* eslint-disable @typescript-eslint/no-require-imports -- each command is loaded when it is called, and not before */
import { Command, CommanderError } from "commander";

import { UptimeError } from "../api/errors";
import type * as emulatorCommand from "../emulator/cli";
import type * as cleaning from "../engine/clean";
import type * as sessions from "../lifecycle/session";
import { visible } from "./shared/quoting";
import type { CommandContext } from "./shared/terminal";
import { ownPackage } from "../definitions/package";

/** The file of a command. */
interface CommandFile {
  /** Adds its arguments, options, help and action. */
  configure(command: Command, context: CommandContext): void;
}

/** All commands: what each is for, and its file. */
const commands: Readonly<Record<string, readonly [purpose: string, file: string]>> = {
  init: ["Write a new project with one monitor.", "./init"],
  export: [
    "Write a Pulumi program that imports the records in the API. Writes nothing to the API.",
    "./export/export",
  ],
  drift: [
    "List what differs between a stack's state and the API. Changes neither, and runs no program.",
    "./drift/drift",
  ],
  comment: ["Turn a preview and the drift into a comment for a pull request.", "./comment/comment"],
  doctor: ["Check versions, settings, and how the server responds. Only reads.", "./doctor/doctor"],
  plugin: [
    "Install the provider plugin, which programs in other languages than TypeScript and JavaScript need.",
    "./plugin",
  ],
};

const exitCodes = `
Exit codes:
  0  done, and nothing to report
  1  an error; it is one sentence on the standard error
  2  drift or unmanaged records were found (drift), or resources would be refused (doctor)
`;

/**
 * Runs the command line.
 *
 * @param args the arguments, without the name of the program
 * @returns the exit code
 */
export async function run(
  args: readonly string[],
  context: Omit<CommandContext, "exit" | "session">,
): Promise<number> {
  // The emulator reads its own arguments, --help among them.
  if (args[0] === "emulator")
    return (require("../emulator/cli") as typeof emulatorCommand).runEmulator(args.slice(1));
  let code = 0;
  let session: sessions.Session | undefined;
  const program = programFor(args, {
    ...context,
    get session() {
      return (session ??= new (require("../lifecycle/session") as typeof sessions).Session());
    },
    exit: (result) => {
      code = result;
    },
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    // Commander has printed what is wrong with the arguments; help is no failure.
    if (error instanceof CommanderError) return error.exitCode;
    const { errorText } = require("../engine/clean") as typeof cleaning;
    context.stderr.write(`${visible(errorText(error, session?.keys ?? []).replace(/\s*\n\s*/g, " "))}\n`);
    if (!(error instanceof UptimeError) && error instanceof Error)
      context.stderr.write(`${error.stack ?? ""}\nThis is a bug in pulumi-uptime; please report it.\n`);
    return 1;
  }
}

function programFor(args: readonly string[], context: CommandContext): Command {
  const { stdout, stderr } = context;
  const program = new Command("pulumi-uptime")
    .description("Brings domains and uptime monitors under Pulumi, and finds drift.")
    .version(ownPackage().version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .showHelpAfterError("(see --help)")
    .addHelpText("after", exitCodes);
  // Also in `help export`.
  const called = args.find((arg) => Object.hasOwn(commands, arg));
  for (const [name, [purpose, file]] of Object.entries(commands)) {
    const command = program.command(name).description(purpose);
    if (name === called) (require(file) as CommandFile).configure(command, context);
  }
  program
    .command("emulator")
    .description("Start an emulator of the API on this machine, to try programs without an account.")
    .argument("[options...]", "see `pulumi-uptime emulator --help`");
  return program;
}
