import type { Clock } from "../../../provider/api/clock";
import type { Transport } from "../../../provider/api/transport";
import type { NoteLine, RunNote } from "../../../provider/lifecycle/run-note";
import type { SessionDependencies } from "../../../provider/lifecycle/session";
import { OperationFailed, type Kind, type Provider, type ProviderProcess, type Settings } from "../calls";
import type { VirtualClock } from "../clock";
import type { Network } from "./api";
import type { Providers } from "./engine";
import type { Front } from "./front";

/** What the processes of a run have told each other, in that order. */
export type Notes<T> = { readonly process: T; readonly line: NoteLine }[];

let writers = 0;

/** The note of a run, without a file. */
export function noteOf<T>(notes: Notes<T>, self: T): RunNote {
  const own = new Set<NoteLine>();
  const writer = String(++writers);
  return {
    add: (told) => {
      const line = { ...told, writer };
      own.add(line);
      notes.push({ process: self, line });
    },
    linesAbout: (place) => notes.flatMap(({ line }) => (line.recordKey === place ? [line] : [])),
    isOwn: (line) => own.has(line),
  };
}

/** The surroundings of a provider's process: a clock, a network, and a reader of what it prints. */
export class SimulatedProcess implements SessionDependencies {
  readonly printed: string[] = [];
  readonly clock: Clock;
  readonly transport: Transport;
  readonly runNote: RunNote;
  private isDead = false;

  constructor(time: VirtualClock, network: Network, notes: Notes<SimulatedProcess> = []) {
    this.runNote = noteOf<SimulatedProcess>(notes, this);
    this.clock = {
      now: () => time.now(),
      date: () => time.date(),
      sleep: (milliseconds, signal) => this.whileAlive(time.sleep(milliseconds, signal)),
      timeout: (milliseconds) => time.timeout(milliseconds),
    };
    this.transport = (request) => this.whileAlive(network.answer(request));
  }

  readonly print = (line: string): void => void this.printed.push(line);

  /** Ends it at once: it gets no more answers, but what it has sent is carried out. */
  kill(): void {
    this.isDead = true;
  }

  private whileAlive<T>(work: Promise<T>): Promise<T> {
    const never = new Promise<never>(() => undefined);
    return work.finally(() => (this.isDead ? never : undefined));
  }
}

interface Running {
  readonly surroundings: SimulatedProcess;
  readonly process: ProviderProcess;
  hasEnded: boolean;
}

/** The processes of one run: one for each provider and each set of settings, because state keeps those of the last run. */
export class SimulatedProcesses implements Providers {
  private readonly running = new Map<string, Running>();
  private readonly notes: Notes<SimulatedProcess> = [];

  constructor(
    private readonly frontOf: (provider: string | undefined) => Front,
    private readonly time: VirtualClock,
    private readonly network: Network,
  ) {}

  provider(kind: Kind, settings: Settings, name?: string): Provider {
    const one = this.started(settings, name);
    return new Proxy(one.process[kind], {
      get: (provider, method) => {
        if (one.hasEnded) throw new OperationFailed("The plugin's process has ended.");
        return Reflect.get(provider, method) as unknown;
      },
    });
  }

  readonly isAnotherAccount: Required<Providers>["isAnotherAccount"] = async (old, present, names) => {
    const { process } = this.started(present, names.present);
    // Default providers have no names of their own.
    const named = (one: string | undefined): string | undefined => (one === "other" ? undefined : one);
    const own = { old: named(names.old), present: named(names.present) };
    return (await process.isAnotherAccount?.(old, present, own)) ?? false;
  };

  /** The first Ctrl-C, as the engine tells it. */
  cancel(): void {
    for (const { process } of this.running.values()) void process.cancel();
  }

  /** SIGTERM to the processes of the provider alone: they end when what they have sent is answered. */
  terminate(): void {
    for (const one of this.running.values()) void one.process.finish().then(() => (one.hasEnded = true));
  }

  /** What the processes have printed. */
  get printed(): readonly string[] {
    return [...this.running.values()].flatMap(({ surroundings }) => surroundings.printed);
  }

  kill(): void {
    for (const { surroundings } of this.running.values()) surroundings.kill();
  }

  private started(settings: Settings, name: string | undefined): Running {
    const key = JSON.stringify([name, settings]);
    let one = this.running.get(key);
    if (!one) {
      const surroundings = new SimulatedProcess(this.time, this.network, this.notes);
      const process = this.frontOf(name).start(settings, surroundings);
      this.running.set(key, (one = { surroundings, process, hasEnded: false }));
    }
    return one;
  }
}
