import { json } from "../../provider/emulator/answers";
import { startDynamic, type Settings } from "../support/calls";
import { VirtualClock } from "../support/clock";
import { limitKinds, limitTellings, neededTime } from "../support/limits";
import { each } from "../support/program";
import { apiKey, origin, SimulatedApi, type Misbehaviour, type Seen } from "../support/simulated/api";
import { SimulatedProcess } from "../support/simulated/process";
import { sample } from "../support/size";

interface Case {
  readonly processes?: number;
  /** Milliseconds from a request to its answer. */
  readonly latency?: number;
  /** Every tenth request is answered with 503. */
  readonly isBusy?: boolean;
  /** What the server says of its limit. */
  readonly telling?: keyof typeof limitTellings;
  readonly settings?: Settings;
  /** How many requests are sent for one that is needed, at most. */
  readonly mostSent: number;
}

// How many resources the engine deals with at the same time.
const parallel = 16;
// The pauses between retries.
beforeEach(() => void jest.spyOn(Math, "random").mockReturnValue(0.5));
afterEach(() => jest.restoreAllMocks());

test.each<[string, keyof typeof limitKinds, Case]>([
  [
    "of four processes, at 500 ms, with a tenth of all answers 503",
    "sliding",
    { processes: 4, latency: 500, isBusy: true, mostSent: 2.5 },
  ],
  [
    "that a server tells of as a Unix time",
    "window",
    { telling: "X-RateLimit as a Unix time", mostSent: 1.15 },
  ],
  // Each request that is accepted is followed by a burst that is not.
  [
    "that a server tells of in milliseconds",
    "bucket",
    { telling: "X-RateLimit in milliseconds", mostSent: 5 },
  ],
  // What a person has set is kept to in any minute, whatever a server may allow beyond it.
  [
    "that is set",
    "sliding",
    { telling: "nothing", settings: { "uptime:requestsPerMinute": "60" }, mostSent: 1.15 },
  ],
])("creates on a limit %s take at most a tenth longer than their requests need", async (_, kind, of) => {
  const { processes = 1, latency = 10, isBusy = false, settings = {}, mostSent } = of;
  const telling = limitTellings[of.telling ?? "Retry-After in seconds"];
  const count = sample(150, 150, 1000);
  const limit = limitKinds[kind](60, 60_000);
  const time = new VirtualClock();
  const api = new SimulatedApi(time);
  const told: string[] = [];
  // A list for each process, and a request for each create.
  let [needed, accepted, faults] = [processes + count, 0, 0];
  const fault = ({ method }: Seen): Misbehaviour | undefined => {
    if (!isBusy || ++accepted % 10 > 0) return undefined;
    const busy = json(503, { message: "Busy" }, ++faults % 2 === 0 ? {} : { "retry-after": "1" });
    needed++;
    const isDone = method !== "GET" && faults % 4 < 2;
    // One look finds a create that is done, and reads its record.
    if (isDone) needed++;
    if (isDone) return { answer: (usual) => usual && busy };
    // Two looks find nothing, of which the second reads the whole list. Then the same create follows.
    if (method !== "GET") needed += 2 + Math.floor(api.all("monitor").length / 100);
    return { effectAfter: "never", answer: () => busy };
  };
  api.latency = () => latency / 2;
  api.misbehave = (request) => {
    const verdict = limit(time.now());
    const headers = telling(verdict, time.date());
    if (verdict.wait > 0)
      return { effectAfter: "never", answer: () => json(429, { message: "Too many requests" }, headers) };
    const answer: Misbehaviour["answer"] = (usual) =>
      usual && { ...usual, headers: { ...usual.headers, ...headers } };
    return fault(request) ?? { answer };
  };
  const all = { "uptime:baseUrl": origin, "uptime:apiKey": apiKey, ...settings };
  const providers = Array.from({ length: processes }, () => {
    const { clock, transport } = new SimulatedProcess(time, api);
    return startDynamic(all, { clock, transport, showWait: (line) => told.push(line) }).monitor;
  });
  const numbers = Array.from({ length: count }, (_, number) => number);
  const made = providers.map((provider, index) =>
    each(
      numbers.filter((number) => number % processes === index),
      async (number) => {
        // No name is the beginning of another, as one that a server has cut would be.
        const name = `Monitor ${String(number).padStart(5, "0")}`;
        const declared = { name, url: `https://${number}.example.com/`, interval: 60, __provider: "text" };
        const { inputs } = await provider.check("", {}, declared);
        return (await provider.create("", inputs)).id;
      },
      parallel,
    ),
  );
  const ids = (await time.until(Promise.all(made))).flat();
  expect(ids.sort()).toEqual(
    api
      .all("monitor")
      .map(({ id }) => id)
      .sort(),
  );
  expect(time.now() / neededTime(limitKinds[kind](60, 60_000), needed)).toBeLessThanOrEqual(1.1);
  expect(api.requests.length / needed).toBeLessThanOrEqual(mostSent);
  expect(told.length).toBeGreaterThan(0);
  for (const line of told) expect(line).toMatch(/^rate limit: \d+ s, \d+ of \d+ done$/);
});
