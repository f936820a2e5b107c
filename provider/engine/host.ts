import { fstatSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

const isHost = /[\\/]cmd[\\/]dynamic-provider\b/.test(process.argv[1] ?? "");

/**
 * Leaves WebAssembly as it is compiled first. The only such code is undici's parser of HTTP, which is fast enough for an
 * API; compiling it a second time, for speed, takes up to 40 MB beside everything else.
 */
export function saveMemory(): void {
  if (!isHost) return;
  for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
}

/**
 * Ends this process with the engine that has started it. The SDK's host of dynamic providers outlives an engine that is
 * killed, and would go on repeating creates that nobody records, while the next `pulumi up` makes them too. The engine
 * holds the other end of the standard input for as long as it lives.
 *
 * At the end of a run the engine interrupts its plugins, and shows what they print until they are gone. Without a listener
 * they would be gone at once, and the log's summary with them.
 */
export function endWithEngine(): void {
  if (!isHost) return;
  for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) process.once(signal, () => process.exit());
  if (!fstatSync(0).isFIFO()) return;
  const started = Date.now();
  const end = (): void => {
    // An end at once means that nobody holds the other end, so it says nothing of the engine.
    if (Date.now() - started > 100) process.exit(1);
  };
  process.stdin.on("end", end);
  process.stdin.on("error", end);
  process.stdin.resume();
}
