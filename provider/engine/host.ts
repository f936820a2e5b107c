import { fstatSync } from "node:fs";
import { connect } from "node:net";

const isHost = /[\\/]cmd[\\/]dynamic-provider\b/.test(process.argv[1] ?? "");

/** How often to look whether the engine is still there if its end cannot be seen at the standard input. */
const lookMilliseconds = 2000;

/** Prepares this process if it is the SDK's host of dynamic providers, and not a program or a test. */
export function prepareHost(): void {
  if (!isHost) return;
  endWithEngine();
}

/**
 * Ends this process with the engine that has started it. The SDK's host of dynamic providers outlives an engine that is
 * killed, and would go on repeating creates that nobody records, while the next `pulumi up` makes them too. The engine
 * holds the other end of the standard input for as long as it lives; if nobody does, its address tells whether it lives.
 *
 * At the end of a run the engine interrupts its plugins, and shows what they print until they are gone. Without a listener
 * they would be gone at once, and the log's summary with them.
 */
function endWithEngine(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) process.once(signal, () => process.exit());
  if (!fstatSync(0).isFIFO()) {
    watchEngine();
    return;
  }
  process.stdin.on("end", watchEngine);
  process.stdin.on("error", watchEngine);
  process.stdin.resume();
}

/** Ends this process as soon as nothing listens at the engine's address, which the host is started with. */
function watchEngine(): void {
  const [, host, port] = /^(.+):(\d+)$/.exec(process.argv[2] ?? "") ?? [];
  if (host === undefined) return;
  const connection = connect(Number(port), host, () => {
    connection.destroy();
    setTimeout(watchEngine, lookMilliseconds).unref();
  });
  connection.on("error", () => process.exit(1));
}
