// The emulator of the API as a process of its own, for the benchmark: its work must not be counted as the provider's.
// Started with `fork`; each message sets the latency and begins a new count of requests, and is answered with the old one.
import { createRequire } from "node:module";

const { Emulator } = createRequire(import.meta.url)("../../dist/provider/emulator/index.js");
const emulator = await Emulator.start();

process.on("message", ({ latency }) => {
  const counts = {};
  for (const { method } of emulator.requests) counts[method] = (counts[method] ?? 0) + 1;
  emulator.forget();
  emulator.fault = latency > 0 ? () => ({ kind: "delay", delayMs: latency }) : undefined;
  process.send({ counts });
});
process.on("disconnect", () => process.exit(0));
process.send({ url: emulator.url, apiKey: emulator.apiKey });
