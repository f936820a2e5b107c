import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Emulator, ReceivedRequest, Table } from "../../provider/emulator";
import { defaultsOf, domain, monitor } from "../../provider/emulator/resources";
import { isFull } from "../support/size";
import { type Declared, programOf, startStack, stopStacks } from "../support/stack";
import type { Result, Workspace } from "../support/workspace";

const apiKey = "canary-of-the-key-4711";
const secret = "canary-of-a-secret-0815";

/** At full size `CHAOS_SEEDS=3,7` runs these seeds alone. */
const seeds =
  process.env.CHAOS_SEEDS?.split(",").map(Number) ?? range(isFull ? 10 : 1).map((index) => index + 1);

/** Processes of a test, to be ended after it. */
const started: number[] = [];

afterEach(async () => {
  for (const pid of started.splice(0)) kill(pid);
  await stopStacks();
});

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Calls something once, at a certain request. */
function atRequest(
  number: number,
  call: () => void,
  counts: (request: ReceivedRequest) => boolean = () => true,
): (request: ReceivedRequest) => void {
  let seen = 0;
  return (request) => {
    if (counts(request) && ++seen === number) call();
  };
}

/** Monitors and domains of all sorts; some monitors differ in nothing but the name, and two in nothing at all. */
function declare(monitors: number, domains: number, step: 1 | 2): Declared[] {
  const variants: Record<string, unknown>[] = [
    {},
    { interval: step === 1 ? 300 : 600 },
    { alertCondition: "url_text", alertTextLookup: `text ${step}`, cacheBuster: step === 1 },
    { requestHeaders: [{ key: "X-Secret", value: secret }], sslAlertDays: 14 },
    step === 1 ? { alertChannelIds: [1, 2], domainAlertDays: 30 } : {},
    { requestAuthUsername: "user", requestAuthPassword: `${secret} ${step}` },
  ];
  const monitorOf = (index: number): Declared => {
    const name = index < 2 ? "twin" : `monitor ${index}`;
    const variant = index < 2 ? {} : variants[index % variants.length];
    const url = `https://example.com/${step}`;
    return { kind: "Monitor", name: `m${index}`, args: { name, url, interval: 60, ...variant } };
  };
  const domainOf = (index: number): Declared => ({
    kind: "Domain",
    name: `d${index}`,
    args: { name: `d${index}.example`, homepageUrl: `https://example.com/${step}` },
  });
  return [...range(monitors).map(monitorOf), ...range(domains).map(domainOf)];
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

/** The record that a declaration asks for, without what the API makes up. */
function recordOf({ kind, args }: Declared): Record<string, unknown> {
  const wire = Object.entries(args).map(([key, value]): [string, unknown] => [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    typeof value === "boolean" ? Number(value) : value,
  ]);
  return { ...defaultsOf(kind === "Domain" ? domain : monitor), ...Object.fromEntries(wire) };
}

/** The API holds exactly what is declared, each resource under the id that state has. */
async function expectExactly(
  declared: readonly Declared[],
  { monitors, domains }: { monitors: Table; domains: Table },
  workspace: Workspace,
): Promise<void> {
  const state = await workspace.resources();
  const found = declared.map(({ kind, name }) => {
    const record = (kind === "Domain" ? domains : monitors).get(state[name]?.id ?? "none") ?? {};
    return Object.fromEntries(
      Object.entries(record).filter(([key]) => !["id", "created_at", "updated_at"].includes(key)),
    );
  });
  expect(found).toEqual(declared.map(recordOf));
  const idsOf = (kind: string) =>
    Object.values(state).flatMap(({ type, id }) => (type.endsWith(`:${kind}`) ? Number(id) : []));
  expect(idsOf("Monitor").sort(byNumber)).toEqual(monitors.all().map(({ id }) => id));
  expect(idsOf("Domain").sort(byNumber)).toEqual(domains.all().map(({ id }) => id));
  const { checkpoint } = JSON.parse(await workspace.stateText()) as {
    checkpoint: { latest?: { pending_operations?: unknown[] } };
  };
  expect(checkpoint.latest?.pending_operations ?? []).toEqual([]);
}

function byNumber(one: number, other: number): number {
  return one - other;
}

/** Runs the CLI, and looks for the canaries in all that it prints and keeps. */
class Trial {
  runs = 0;

  constructor(readonly workspace: Workspace) {}

  async run(...args: string[]): Promise<Result> {
    this.runs++;
    return this.seen(await this.workspace.run(args));
  }

  async seen(result: Result): Promise<Result> {
    for (const text of [result.output, await this.workspace.stateText()]) {
      expect(text).not.toContain(apiKey);
      expect(text).not.toContain(secret);
    }
    return result;
  }

  /** Runs it until it succeeds, at most twice. */
  async untilGreen(command: string, ...args: string[]): Promise<Result> {
    const once = () => this.run(command, "--yes", "--skip-preview", ...args);
    const first = await once();
    if (first.code === 0) return first;
    const second = await once();
    if (second.code !== 0) throw new Error(`Twice in vain:\n${first.output}\n${second.output}`);
    return second;
  }
}

describe("an `up` that is killed", () => {
  const monitors = isFull ? 60 : 24;

  /** Runs an `up` and ends one of its processes at a certain create, or a moment later. */
  async function killedUp(
    trial: Trial,
    emulator: Emulator,
    create: number,
    random: () => number,
    victimIn: (family: readonly Process[]) => Process | undefined,
  ): Promise<readonly Process[]> {
    const { child, done } = trial.workspace.start(["up", "--yes", "--skip-preview"]);
    let victim: Process | undefined;
    let family: Process[] = [];
    const strike = atRequest(
      create,
      () => {
        family = [{ pid: child.pid ?? 0, command: "pulumi up" }, ...descendantsOf(child.pid ?? 0)];
        started.push(...family.map(({ pid }) => pid));
        victim = victimIn(family);
        if (victim) kill(victim.pid);
      },
      ({ method }) => method === "POST",
    );
    emulator.fault = (request) => {
      setTimeout(() => {
        strike(request);
      }, random() * 40);
      return { kind: "delay", delayMs: Math.round(random() * 40), answerDelayMs: Math.round(random() * 40) };
    };
    const result = await done;
    emulator.fault = undefined;
    expect(victim).toBeDefined();
    expect((await trial.seen(result)).code).not.toBe(0);
    return family;
  }

  test.each(seeds)(
    "converges with uptime:adoptExisting (seed %d)",
    async (seed) => {
      // Of equal records that nobody manages it is not known which is whose.
      const declared = declare(monitors, 3, 1).slice(1);
      const random = randomOf(seed);
      const { emulator, workspace } = await startStack({
        emulator: { apiKey },
        program: programOf(declared),
        config: { "uptime:adoptExisting": "true" },
      });
      const trial = new Trial(workspace);
      const some = (least: number) => least + Math.floor(random() * (monitors / 3));

      const isProvider = ({ command }: Process) => /^\S*node .*dynamic-provider/.test(command);
      const find = (family: readonly Process[]) => family.find(isProvider);
      await killedUp(trial, emulator, some(3), random, find);
      const family = await killedUp(trial, emulator, some(1), random, ([cli]) => cli);

      // The provider ends with the engine, or it would go on repeating creates beside the next run.
      const provider = find(family)?.pid ?? 0;
      for (let waited = 0; isRunning(provider) && waited < 5000; waited += 50) await sleep(50);
      expect(isRunning(provider)).toBe(false);

      await workspace.mend();
      const locked = await trial.run("up", "--yes", "--skip-preview");
      expect(locked.code).not.toBe(0);
      expect(locked.output).toContain("pulumi cancel");
      await trial.run("cancel", "--yes");
      await trial.untilGreen("up");
      // Otherwise each run would warn of the creates that were interrupted.
      await trial.untilGreen("refresh", "--clear-pending-creates");
      await expectExactly(declared, emulator, workspace);
    },
    900_000,
  );
});

test("an adopted record survives a replacement as a new one", async () => {
  const declared = declare(6, 1, 1).slice(1);
  const [adopted] = declared.slice(-1);
  if (!adopted) throw new Error("Nothing is declared.");
  const { emulator, workspace } = await startStack({
    emulator: { apiKey, firstId: 7 },
    program: programOf(declared),
    config: { "uptime:adoptExisting": "true" },
  });
  const trial = new Trial(workspace);
  const idsOf = async () => Object.values(await workspace.resources()).map(({ urn, id }) => ({ urn, id }));
  for (const one of declared.slice(-2))
    (one.kind === "Domain" ? emulator.domains : emulator.monitors).add(recordOf(one));
  expect((await trial.run("up", "--yes", "--skip-preview")).code).toBe(0);
  await expectExactly(declared, emulator, workspace);
  const before = (await idsOf()).filter(({ id }) => id === "7");
  expect(before).toHaveLength(2);

  const replaced = before.flatMap(({ urn }) => ["--replace", urn]);
  expect((await trial.run("up", "--yes", "--skip-preview", ...replaced)).code).toBe(0);
  await expectExactly(declared, emulator, workspace);
  expect((await idsOf()).filter(({ id }) => id === "7")).toEqual([]);
});

interface Process {
  readonly pid: number;
  readonly command: string;
}

/** The processes under one, nearest first. */
function descendantsOf(pid: number): Process[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // It has ended meanwhile.
      }
    });
  const under = (parent: number): typeof all =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...under(one.pid)]);
  return under(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
