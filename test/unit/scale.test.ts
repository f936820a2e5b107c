import fc from "fast-check";

import { json, type Answer } from "../../provider/emulator/answers";
import { startDynamic, type Provider, type Settings } from "../support/calls";
import { VirtualClock } from "../support/clock";
import { limitKinds, limitTellings, neededTime } from "../support/limits";
import { each } from "../support/program";
import { isList } from "../support/sent";
import { apiKey, networkError, origin, SimulatedApi } from "../support/simulated/api";
import type { Misbehaviour, Seen } from "../support/simulated/api";
import { SimulatedProcess } from "../support/simulated/process";
import { sample } from "../support/size";

// No name is the beginning of another, as one that a server has cut would be.
const inputsOf = (number: number) => ({
  name: `Monitor ${String(number).padStart(5, "0")}`,
  url: `https://${number}.example.com/`,
  interval: 60,
});

/** How many resources the engine deals with at the same time. */
const parallel = 16;

let time: VirtualClock;
let api: SimulatedApi;
/** What persons were told of waits. */
let told: string[];
beforeEach(() => {
  told = [];
  time = new VirtualClock();
  api = new SimulatedApi(time);
  // The pauses between retries.
  jest.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => jest.restoreAllMocks());

function newProcess(settings: Settings = {}): Provider {
  const all = { "uptime:baseUrl": origin, "uptime:apiKey": apiKey, ...settings };
  const { clock, transport } = new SimulatedProcess(time, api);
  const surroundings = { clock, transport, showWait: (line: string) => told.push(line) };
  return startDynamic(all, surroundings).monitor;
}

/** Creates the given number of monitors, each process its share of them, and makes sure that none fails and none is made twice. */
async function createAll(count: number, processes: readonly Provider[]): Promise<void> {
  const create = async (provider: Provider, number: number): Promise<string> => {
    const { inputs } = await provider.check("", {}, { ...inputsOf(number), __provider: "text" });
    return (await provider.create("", inputs)).id;
  };
  const before = new Set(api.tables.monitor.all());
  const numbers = Array.from({ length: count }, (_, number) => number);
  const made = processes.map((provider, index) =>
    each(
      numbers.filter((number) => number % processes.length === index),
      (number) => create(provider, number),
      parallel,
    ),
  );
  const ids = (await time.until(Promise.all(made))).flat();
  const added = api.tables.monitor.all().filter((record) => !before.has(record));
  expect(ids.sort()).toEqual(added.map(({ id }) => String(id)).sort());
}

/** A tenth of all requests; the same ones each time. */
function tenth(): () => boolean {
  const seed = 27;
  const digits = fc.sample(fc.integer({ min: 0, max: 9 }), { seed, numRuns: 20_000 });
  return () => digits.pop() === 0;
}

const busy = (retryAfter?: string): Answer =>
  json(503, { message: "Busy" }, retryAfter === undefined ? {} : { "retry-after": retryAfter });

const without503 = (retryAfter?: string): Misbehaviour => ({
  effectAfter: "never",
  answer: () => busy(retryAfter),
});

describe("searches for lost creates, a tenth of all", () => {
  const [before, pagesBefore] = [250, 3];
  /** How many list requests and looks creates make if an answer takes the given number of milliseconds. */
  async function created(latency: number): Promise<{ pages: number; first: number; second: number }> {
    for (let number = 0; number < before; number++) api.tables.monitor.add(inputsOf(90_000 + number));
    api.latency = () => latency / 2;
    const isHit = tenth();
    let [first, second] = [0, 0];
    const hit = new Set<string>();
    api.misbehave = ({ method, body }) => {
      const key = JSON.stringify(body);
      // Each at most once: what is lost again is looked for among all that is new since the first time.
      if (method !== "POST" || hit.has(key) || !isHit()) return undefined;
      hit.add(key);
      const isDone = ++first % 2 === 0;
      if (isDone) return { answer: () => networkError("UND_ERR_SOCKET", "other side closed") };
      second++;
      return without503();
    };
    await createAll(count, [newProcess()]);
    return { pages: api.requests.filter(isList).length - pagesBefore, first, second };
  }
  const count = sample(90, 150, 1000);

  /** The pages of the whole list at the end. */
  const whole = Math.ceil((before + count) / 100);

  test("read one page each, and the whole list before one is sent again", async () => {
    const { pages, first, second } = await created(1000);
    expect(second).toBeGreaterThan(count / 30);
    expect(pages).toBeGreaterThanOrEqual(first + second * pagesBefore);
    expect(pages).toBeLessThanOrEqual(first + second * whole);
  });

  test("read no more pages than have new records, if hundreds are created between two searches", async () => {
    const { pages, first, second } = await created(2);
    expect(pages).toBeLessThanOrEqual(first + second * (Math.ceil(count / 100) + whole));
  });
});

describe("creates on a limit of 60 a minute take at most a tenth longer than their requests need", () => {
  interface Case {
    readonly processes?: number;
    /** Milliseconds from a request to its answer. */
    readonly latency?: number;
    /** What a tenth of all requests are answered with. */
    readonly faults?: readonly ("with" | "without")[];
    /** What the server says of its limit. */
    readonly telling?: keyof typeof limitTellings;
    readonly settings?: Settings;
    /** How many requests are sent for one that is needed, at most. */
    readonly mostSent?: number;
  }
  const all: readonly [string, Case][] = [
    ["as they are", {}],
    ["of four processes", { processes: 4 }],
    ["with 500 ms latency", { latency: 500 }],
    ["with a tenth of all answers 503 with Retry-After", { faults: ["with"] }],
    ["with a tenth of all answers 503 without Retry-After", { faults: ["without"] }],
    ["with all of that", { processes: 4, latency: 500, faults: ["with", "without"] }],
  ];
  const tellings: readonly [string, keyof typeof limitKinds, Case][] = [
    [
      "that a server tells of as a Unix time",
      "window",
      { telling: "X-RateLimit as a Unix time", mostSent: 1.15 },
    ],
    [
      "that a server tells of in milliseconds",
      "bucket",
      // Each request that is accepted is followed by a burst that is not.
      { telling: "X-RateLimit in milliseconds", mostSent: 5 },
    ],
    // What a person has set is kept to in any minute, whatever a server may allow beyond it.
    [
      "that is set",
      "sliding",
      { telling: "nothing", settings: { "uptime:requestsPerMinute": "60" }, mostSent: 1.15 },
    ],
  ];
  const kinds = sample(["sliding"] as const, ["sliding"] as const, ["sliding", "window", "bucket"] as const);

  test.each([
    ...kinds.flatMap((kind) => all.map(([name, options]) => [name, kind, options] as const)),
    ...tellings,
  ])("%s (%s)", async (_name, kind, options) => {
    const { processes = 1, latency = 10, faults = [], settings, mostSent = 2.5 } = options;
    const telling = limitTellings[options.telling ?? "Retry-After in seconds"];
    const count = sample(150, 150, 1000);
    const limit = limitKinds[kind](60, 60_000);
    const isHit = tenth();
    // A list for each process, and a request for each create.
    let needed = processes + count;
    let hits = 0;
    const fault = ({ method }: Seen): Misbehaviour | undefined => {
      if (faults.length === 0 || !isHit()) return undefined;
      const retryAfter = faults[++hits % faults.length] === "with" ? "1" : undefined;
      needed++;
      if (method === "GET") return without503(retryAfter);
      const isDone = hits % 4 < 2;
      // One look finds it; two that do not are followed by the same create.
      if (!isDone) needed += 2;
      return isDone ? { answer: (usual) => usual && busy(retryAfter) } : without503(retryAfter);
    };
    api.latency = () => latency / 2;
    api.misbehave = (request) => {
      const verdict = limit(time.now());
      const headers = telling(verdict, time.date());
      if (verdict.wait === 0)
        return (
          fault(request) ?? {
            answer: (usual) => usual && { ...usual, headers: { ...usual.headers, ...headers } },
          }
        );
      return { effectAfter: "never", answer: () => json(429, { message: "Too many requests" }, headers) };
    };
    await createAll(
      count,
      Array.from({ length: processes }, () => newProcess(settings)),
    );
    const least = neededTime(limitKinds[kind](60, 60_000), needed, 0);
    expect(time.now() / least).toBeLessThanOrEqual(1.1);
    expect(api.requests.length / needed).toBeLessThanOrEqual(mostSent);
    expect(told.length).toBeGreaterThan(0);
    for (const line of told) expect(line).toMatch(/^rate limit: \d+ s, \d+ of \d+ done$/);
  });
});
