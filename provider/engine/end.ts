import { fstatSync } from "node:fs";
import { connect } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

import type { Session } from "../lifecycle/session";

/** Time between two looks at the engine, if standard input does not tell that it has ended. */
const lookMilliseconds = 2000;

/** Time for the engine to receive an answer that was just given. */
const answerMilliseconds = 200;

/**
 * Ends this process at a signal. Requests that were sent get their answers first, and so does the engine: what they have
 * made is in state then. A second signal ends it at once.
 *
 * At the end of a run the engine interrupts its plugins, and shows what they print until they are gone. Without a listener
 * they would be gone at once, and the log's summary with them.
 *
 * @param sessionOf the session, if there is one yet
 */
export function endAtSignal(sessionOf: () => Pick<Session, "interrupt" | "idle"> | undefined): void {
  const end = async (): Promise<void> => {
    const session = sessionOf();
    session?.interrupt();
    const isBusy = await Promise.race([session?.idle().then(() => false), nextTurn(true)]);
    if (isBusy) await session?.idle().then(() => sleep(answerMilliseconds));
    process.exit();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) process.once(signal, () => void end());
}

/**
 * Ends this process with the engine that has started it, also if that is killed: otherwise it would go on repeating creates
 * that nobody records, while the next `pulumi up` makes them too. The engine holds the other end of the standard input for
 * as long as it lives; if nobody does, its address tells whether it lives.
 *
 * @param address host and port at which the engine listens
 */
export function endWithEngine(address = ""): void {
  const [, host, port] = /^(.+):(\d+)$/.exec(address) ?? [];
  if (host === undefined) return;
  const watch = (): void => {
    const connection = connect(Number(port), host, () => {
      connection.destroy();
      setTimeout(watch, lookMilliseconds).unref();
    });
    connection.on("error", () => process.exit(1));
  };
  if (isPipe(0)) process.stdin.on("end", watch).on("error", watch).resume();
  else watch();
}

function isPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    // There is no standard input at all.
    return false;
  }
}
