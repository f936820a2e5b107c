import type { Clock } from "../../../provider/api/clock";
import type { Transport } from "../../../provider/api/transport";
import type { Neighbors } from "../../../provider/lifecycle/account";
import type { Surroundings } from "../../../provider/lifecycle/session";
import type { Kind, Provider, Settings, StartProcess } from "../calls";
import type { VirtualClock } from "../clock";
import type { SimulatedApi } from "./api";
import type { Providers } from "./engine";

/** What a process of the provider has around it: a clock, a way to the server, and somebody who reads what it prints. */
export class SimulatedProcess implements Surroundings {
  readonly printed: string[] = [];
  readonly clock: Clock;
  readonly transport: Transport;
  readonly neighbors: Neighbors;
  private isDead = false;

  /** @param got what each process of the run has adopted or imported */
  constructor(time: VirtualClock, api: SimulatedApi, got = new Map<SimulatedProcess, Set<string>>()) {
    const own = new Set<string>();
    got.set(this, own);
    this.neighbors = {
      tell: (record) => void own.add(record),
      have: (record) => [...got].some(([other, records]) => other !== this && records.has(record)),
    };
    this.clock = {
      now: () => time.now(),
      date: () => time.date(),
      sleep: (milliseconds, signal) => this.whileAlive(time.sleep(milliseconds, signal)),
      timeout: (milliseconds) => time.timeout(milliseconds),
    };
    this.transport = (request) => this.whileAlive(api.answer(request));
  }

  readonly print = (line: string): void => void this.printed.push(line);

  /** Ends it where it is: what it waits for never comes. What it has sent is carried out all the same. */
  kill(): void {
    this.isDead = true;
  }

  private whileAlive<T>(work: Promise<T>): Promise<T> {
    const never = new Promise<never>(() => undefined);
    return work.finally(() => (this.isDead ? never : undefined));
  }
}

/** The processes of one run: one for each set of settings, because state keeps those of the last run. */
export class SimulatedProcesses implements Providers {
  private readonly processes = new Map<string, SimulatedProcess>();
  private readonly providers = new Map<string, Record<Kind, Provider>>();
  private readonly got = new Map<SimulatedProcess, Set<string>>();

  constructor(
    private readonly start: StartProcess,
    private readonly time: VirtualClock,
    private readonly api: SimulatedApi,
  ) {}

  provider(kind: Kind, settings: Settings): Provider {
    const key = JSON.stringify(settings);
    let providers = this.providers.get(key);
    if (!providers) {
      const process = new SimulatedProcess(this.time, this.api, this.got);
      this.processes.set(key, process);
      this.providers.set(key, (providers = this.start(settings, process)));
    }
    return providers[kind];
  }

  kill(): void {
    for (const process of this.processes.values()) process.kill();
  }
}
