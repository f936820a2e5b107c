import { Command, CommanderError } from "commander";

import { quote, UptimeError } from "../api/errors";
import { ownPackage } from "../common/package";
import { runEmulator } from "../emulator/cli";
import { Redactor } from "../engine/redactor";
import { Session } from "../lifecycle/session";
import * as comment from "./comment/comment";
import * as doctor from "./doctor/doctor";
import * as drift from "./drift/drift";
import * as exporting from "./export/export";
import * as init from "./init";
import * as plugin from "./plugin";
import { escapeInvisible } from "./shared/quoting";
import type { CommandContext } from "./shared/terminal";
import * as trying from "./try/try";

const exitCodes = `
Exit codes:
  0  done, and nothing to report
  1  an error; it is one sentence on the standard error
  2  drift or unmanaged records were found (drift), resources would be refused (doctor), or monitors would alert (try)
`;

/**
 * Runs a command.
 *
 * @param args the arguments after `pulumi-uptime`
 * @returns the exit code
 */
export async function runCommand(
  args: readonly string[],
  context: Omit<CommandContext, "exit" | "session">,
): Promise<number> {
  // The emulator reads its own arguments, --help among them.
  if (args[0] === "emulator") return runEmulator(args.slice(1));
  let code = 0;
  const session = new Session();
  const root = commandLine({
    ...context,
    session,
    exit: (result) => {
      code = result;
    },
  });
  try {
    await root.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    // Commander has printed what is wrong with the arguments; help is no failure.
    if (error instanceof CommanderError) return error.exitCode;
    const redactor = new Redactor(session.secrets);
    const lines = [redactor.error(error).replace(/\s*\n\s*/g, " ")];
    if (!(error instanceof UptimeError) && error instanceof Error) {
      // The stack begins with the message, which may repeat a key.
      const frames = (error.stack ?? "").split("\n").filter((line) => /^ +at /.test(line));
      lines.push(error.name, ...frames.map((frame) => `  ${redactor.message([quote(frame)])}`));
      lines.push("This is a bug in pulumi-uptime; please report it.");
    }
    context.stderr.write(lines.map((line) => `${escapeInvisible(line)}\n`).join(""));
    return 1;
  }
}

function commandLine(context: CommandContext): Command {
  const { stdout, stderr } = context;
  const root = new Command("pulumi-uptime")
    .description("Brings domains and uptime monitors under Pulumi, and finds drift.")
    .version(ownPackage().version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .showHelpAfterError("(see --help)")
    .addHelpText("after", exitCodes);
  const add = (name: string, purpose: string): Command => root.command(name).description(purpose);
  const commands = [
    [init, "init", "Write a new project with one monitor."],
    [
      exporting,
      "export",
      "Write a Pulumi program that imports the records in the API. Writes nothing to the API.",
    ],
    [
      drift,
      "drift",
      "List what differs between a stack's state and the API. Changes neither, and runs no program.",
    ],
    [comment, "comment", "Turn a preview and the drift into a comment for a pull request."],
    [doctor, "doctor", "Check versions, settings, and how the server responds. Only reads."],
    [trying, "try", "Send the requests of monitors from this machine, and list which would alert at once."],
    [
      plugin,
      "plugin",
      "Install the provider plugin, which programs in other languages than TypeScript and JavaScript need.",
    ],
  ] as const;
  for (const [{ configure }, name, purpose] of commands) configure(add(name, purpose), context);
  add(
    "emulator",
    "Start an emulator of the API on this machine, to try programs without an account.",
  ).argument("[options...]", "see `pulumi-uptime emulator --help`");
  return root;
}
