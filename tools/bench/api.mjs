// The emulator of the API as a process of its own, for the benchmark: its work must not be counted as the provider's.
// Started with `fork`; each message sets the latency and begins a new count of requests, and is answered with the old one.
import { createRequire } from "node:module";

const { Emulator } = createRequire(import.meta.url)("../../dist/provider/emulator/index.js");
const emulator = await Emulator.start();

process.on("message", ({ latency, requestsPerMinute }) => {
  const requests = emulator.requests.length;
  const counts = { requests, reads: requests - emulator.writes().length };
  emulator.forget();
  const delay = latency > 0 ? { kind: "delay", delayMs: latency } : undefined;
  const refusal = limiter(requestsPerMinute);
  emulator.fault = () => refusal() ?? delay;
  process.send(counts);
});

/** Refuses requests beyond a number in any minute. */
function limiter(count) {
  if (count === undefined) return () => undefined;
  const taken = [];
  return () => {
    const now = Date.now();
    while (taken[0] <= now - 60_000) taken.shift();
    if (taken.length === count) {
      const seconds = Math.ceil((taken[0] + 60_000 - now) / 1000);
      return { kind: "answer", effect: false, status: 429, headers: { "retry-after": String(seconds) } };
    }
    taken.push(now);
    return undefined;
  };
}
process.on("disconnect", () => process.exit(0));
process.send({ url: emulator.url, apiKey: emulator.apiKey });
