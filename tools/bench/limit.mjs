// `npm run bench:limit`: creates many monitors at once on a server that allows a number of requests a minute, for every way
// to limit and to say so, over real HTTP and in real minutes. Prints the requests that were sent and the time that they took,
// each as a ratio to what the limit needs. Fails if a limit that announces itself takes more than 1.1 times as long as
// needed. `-- RATE CREATES` for other numbers than 100 and 199.
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../setup.mjs";

const load = createRequire(import.meta.url);
const built = (...path) => load(join(root, "dist", ...path));
const { dynamicProvider } = built("provider", "engine", "dynamic.js");
const { monitor } = built("provider", "definitions", "monitor.js");
const { Emulator } = built("provider", "emulator", "index.js");
const { limitKinds, limitTellings, neededTime } = built("provider", "emulator", "limited.js");

const [perMinute = 100, creates = 199] = process.argv.slice(2).map(Number);
const mostRatio = 1.1;
/** Operations that the engine has under way at the same time. */
const parallel = 16;

async function measure(kind, telling, isSet) {
  const started = Date.now();
  const limit = limitKinds[kind](perMinute, 60_000);
  const emulator = await Emulator.start();
  emulator.fault = () => {
    const now = Date.now();
    // The first window begins with the run: if it began earlier, it would end earlier.
    const verdict = limit(now - started);
    const headers = limitTellings[telling](verdict, now);
    const status = verdict.wait > 0 ? { status: 429, body: { message: "Too Many Attempts." } } : {};
    return { kind: "answer", effect: verdict.wait === 0, headers, ...status };
  };
  const provider = dynamicProvider(monitor);
  const config = {
    "uptime:baseUrl": emulator.url,
    "uptime:apiKey": emulator.apiKey,
    ...(isSet && { "uptime:requestsPerMinute": String(perMinute) }),
  };
  await provider.configure({ config: { get: (key) => config[key] } });
  let begun = 0;
  const create = async () => {
    while (begun < creates) {
      const declared = { name: `Monitor ${++begun}`, url: "https://example.com/", interval: 60 };
      const { inputs } = await provider.check({}, declared);
      await provider.create(inputs);
    }
  };
  try {
    await Promise.all(Array.from({ length: parallel }, create));
    const milliseconds = Date.now() - started;
    if (emulator.monitors.size !== creates)
      throw new Error(`${emulator.monitors.size} monitors, not ${creates}.`);
    // Each create is one request, and the list before the first is one more.
    const needed = creates + 1;
    // What a person says holds for any minute, even if a bucket would allow more.
    const least = neededTime(limitKinds[isSet ? "sliding" : kind](perMinute, 60_000), needed, 0);
    return { requests: emulator.requests.length / needed, time: milliseconds / least, milliseconds };
  } finally {
    await emulator.stop();
  }
}

const cases = Object.keys(limitKinds).flatMap((kind) => [
  ...Object.keys(limitTellings).map((telling) => ({ kind, telling, isSet: false })),
  { kind, telling: "nothing", isSet: true },
]);
console.log(
  `${creates} creates, ${perMinute} requests a minute. The time may be ${mostRatio} if the limit announces itself.\n`,
);
console.log(`${"limit".padEnd(8)} ${"says".padEnd(46)} requests  time`);
const results = cases.map(async ({ kind, telling, isSet }, index) => {
  // They overlap, but not their bursts: the time to measure is that of waiting, not that of a busy machine.
  await sleep(index * 2500);
  const isAnnounced = isSet || telling !== "nothing";
  const says = isSet ? "nothing; uptime:requestsPerMinute is set" : telling;
  const { requests, time, milliseconds } = await measure(kind, telling, isSet);
  const isGood = !isAnnounced || time <= mostRatio;
  const numbers = `${requests.toFixed(3).padStart(8)} ${time.toFixed(3).padStart(5)}`;
  console.log(
    `${kind.padEnd(8)} ${says.padEnd(46)} ${numbers}  (${Math.round(milliseconds / 1000)} s)${isGood ? "" : "  TOO LONG"}`,
  );
  return isGood;
});
if ((await Promise.all(results)).includes(false)) process.exitCode = 1;
// Connections that are kept alive would hold the process for some seconds.
process.exit();
