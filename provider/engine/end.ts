import { connect } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

import type { FrontSession } from "./front-session";

/** Time between two checks whether the engine still runs, once standard input has ended. */
const enginePollMilliseconds = 2000;

/** Time for the engine to receive the last response. */
const responseMilliseconds = 200;

/**
 * Ends this process at a signal. Requests that were sent are answered first, and the engine gets the results, so that they are
 * in state. The same signal again ends the process at once; another one does not, because a CI service that cancels a job sends
 * several.
 *
 * The engine also sends a signal at the end of each run. Without a listener the process would end at once, before it prints
 * its last lines.
 *
 * @param sessionOf the session, if there is one yet
 */
export function endAtSignal(sessionOf: () => Pick<FrontSession, "interrupt" | "idle"> | undefined): void {
  const end = async (): Promise<void> => {
    const session = sessionOf();
    session?.interrupt();
    // An idle session resolves before the next turn.
    const isBusy = await Promise.race([session?.idle().then(() => false), nextTurn(true)]);
    if (isBusy) await session?.idle().then(() => sleep(responseMilliseconds));
    process.exit();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) process.once(signal, () => void end());
}

/** The engine's address among a process's arguments: the last one, after options such as `--tracing`. */
export function engineAddressIn(args: readonly string[]): string | undefined {
  return args.findLast((arg) => /^\S+:\d+$/.test(arg));
}

/**
 * Ends this process when the engine that has started it has ended, even if that was killed: otherwise it would continue to
 * send creates that are not recorded, while the next `pulumi up` sends them too. The engine holds the other end of the
 * standard input while it runs. If that has ended, the engine's address shows whether it runs.
 *
 * @param address host and port at which the engine listens
 */
export function endWithEngine(address = ""): void {
  const [, host, port] = /^(.+):(\d+)$/.exec(address) ?? [];
  if (host === undefined) return;
  const watch = (): void => {
    const connection = connect(Number(port), host, () => {
      connection.destroy();
      setTimeout(watch, enginePollMilliseconds).unref();
    });
    connection.on("error", () => process.exit(1));
  };
  process.stdin.on("end", watch).on("error", watch).resume();
}
