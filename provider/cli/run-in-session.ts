import { CommanderError } from "commander";

import { quote, UptimeError } from "../api/errors";
import { Redactor } from "../engine/redactor";
import { Session } from "../lifecycle/session";
import { withoutSecrets, writeLine, type CommandContext, type ProcessContext } from "./shared/terminal";

/** A person waits for the answer, so a refused connection is tried again for less time than in a deployment. */
const unreachableMilliseconds = 3000;

/** Runs a command with a session, whose secrets it does not print. Returns the exit code. Throws errors of Commander only. */
export async function runInSession(
  processContext: ProcessContext,
  run: (context: CommandContext) => Promise<unknown>,
): Promise<number> {
  const session = new Session({ unreachableMilliseconds });
  const stdout = withoutSecrets(processContext.stdout, session.secrets, processContext.env);
  const stderr = withoutSecrets(processContext.stderr, session.secrets, processContext.env);
  let code = 0;
  try {
    await run({ ...processContext, stdout, stderr, session, setExitCode: (result) => (code = result) });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) throw error;
    for (const line of explanation(error, new Redactor(session.secrets))) writeLine(stderr, line);
    return 1;
  }
}

/** An error in one sentence; of a bug also its stack. */
function explanation(error: unknown, redactor: Redactor): string[] {
  const sentence = redactor.error(error).replace(/\s*\n\s*/g, " ");
  if (error instanceof UptimeError || !(error instanceof Error)) return [sentence];
  // The stack begins with the message, which may repeat a key.
  const frames = (error.stack ?? "").split("\n").filter((line) => /^ +at /.test(line));
  const stack = frames.map((frame) => `  ${redactor.message([quote(frame)])}`);
  return [sentence, error.name, ...stack, "This is a bug in pulumi-uptime; please report it."];
}
