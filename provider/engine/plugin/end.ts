import { fstatSync } from "node:fs";

/**
 * Ends this process with the engine that has started it, also when that is killed: otherwise it would go on repeating
 * creates that nobody records. The engine holds the other end of the standard input for as long as it lives.
 */
export function endWithEngine(): void {
  // At the end of a run the engine interrupts its plugins, after it has told them by `Cancel`.
  for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) process.once(signal, () => process.exit());
  if (!isPipe(0)) return;
  const started = performance.now();
  const end = (): void => {
    // An end at once means that nobody holds the other end, so it says nothing of the engine.
    if (performance.now() - started > 100) process.exit(1);
  };
  process.stdin.on("end", end).on("error", end).resume();
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
