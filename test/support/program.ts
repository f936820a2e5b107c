import { Emulator } from "../../provider/emulator";
import type { EmulatorOptions, Fault, ReceivedRequest } from "../../provider/emulator";
import type { Surroundings } from "../../provider/lifecycle/session";
import { silenceHost, startDynamic } from "./calls";
import type { Kind, Provider, Settings } from "./calls";
import { NetworkClock } from "./clock";
import { failureOf } from "./emulator";
import { ModelStack } from "./model";
import { PluginProcess } from "./plugin-calls";

export { kinds } from "./calls";
export type { Kind } from "./calls";
export { answer, failureOf } from "./emulator";

export const fronts = ["dynamic", "plugin"] as const;
export type Front = (typeof fronts)[number];

/** The server of the present test. */
export let server: Server;

/** Gives each test of the file, or of its describe, a server of its own. */
export function withServer(options: EmulatorOptions = {}): void {
  silenceHost();
  beforeEach(async () => {
    server = await Server.start(options);
  });
  afterEach(() => server.stop());
}

/** A server on a clock of its own that takes every key, as that of one account with several people does. */
class Server {
  readonly clock = new NetworkClock();
  /** Asked for each request; undefined to behave. */
  fault: ((request: ReceivedRequest) => Fault | undefined) | undefined;

  private constructor(readonly emulator: Emulator) {}

  static async start(options: EmulatorOptions): Promise<Server> {
    const holder: { server?: Server } = {};
    const emulator = await Emulator.start({
      settled: true,
      sleep: async (...args) => holder.server?.clock.hold(...args),
      ...options,
    });
    const server = (holder.server = new Server(emulator));
    emulator.fault = (request) => {
      emulator.apiKey = request.headers.authorization?.replace("Bearer ", "") ?? "";
      return server.fault?.(request);
    };
    return server;
  }

  async stop(): Promise<void> {
    this.clock.stop();
    await this.emulator.stop();
  }

  /** How many pages of a list were asked for. */
  get lists(): number {
    return this.emulator.requests.filter(isList).length;
  }

  /** The requests as lines, such as `GET /api/v1/monitors/1`. */
  get sent(): string[] {
    return this.emulator.requests.map(({ method, path }) => `${method} ${path}`);
  }

  get posts(): number {
    return this.emulator.writes().filter(({ method }) => method === "POST").length;
  }

  ids(kind: Kind = "monitor"): string[] {
    return this.emulator[`${kind}s`].all().map(({ id }) => String(id));
  }

  removeAll(): void {
    this.emulator.monitors.clear();
    this.emulator.domains.clear();
  }

  /** The first creates misbehave, each in its way; undefined behaves. */
  onCreates(...faults: (Fault | undefined)[]): void {
    const left = [...faults];
    this.fault = ({ method }) => (method === "POST" ? left.shift() : undefined);
  }
}

export const isList = ({ method, path }: Pick<ReceivedRequest, "method" | "path">): boolean =>
  method === "GET" && /\/(monitors|domains)$/.test(path);

/** The key that this run of Pulumi has. */
export const myKey = "my-key";
export const otherKey = "other-key";

/** The resources of one stack, over several runs. Each run has a process of its own, which all of them share. */
export class Program {
  private settings: Settings;
  private process!: PluginProcess | undefined;
  /** The calls that the engine makes in this run. */
  providers!: Readonly<Record<Kind, Provider>>;
  private readonly resources: ModelStack[] = [];

  constructor(
    private readonly server: Server,
    readonly front: Front,
    settings: Settings = {},
    private readonly surroundings: Surroundings = {},
  ) {
    this.settings = { "uptime:baseUrl": server.emulator.url, "uptime:apiKey": myKey, ...settings };
    this.nextRun();
  }

  /** A resource of the stack that is in no state yet. */
  resource(kind: Kind = "monitor", options = {}): ModelStack {
    const one = new ModelStack(kind, {}, options, this.server.clock, () => this.providers);
    this.resources.push(one);
    return one;
  }

  /** Another run, with some settings changed. */
  nextRun(changed: Settings = {}): void {
    this.settings = { ...this.settings, ...changed };
    const surroundings = { clock: this.server.clock, ...this.surroundings };
    this.process = this.front === "plugin" ? new PluginProcess(surroundings) : undefined;
    this.begin(this.process?.begin(this.settings) ?? startDynamic(this.settings, surroundings));
  }

  /** Another run in the same process, as of a plugin that is attached. */
  continue(address?: string): void {
    if (this.process) this.begin(this.process.begin(this.settings, address));
  }

  /** The dynamic host answers it with nothing, and passes nothing on. */
  async cancel(): Promise<void> {
    await this.process?.cancel();
  }

  private begin(providers: Readonly<Record<Kind, Provider>>): void {
    this.providers = providers;
    for (const one of this.resources) one.nextRun();
  }
}

/** Does something for each, for so many at a time, as the engine does. */
export async function each<T, R>(
  all: readonly T[],
  operation: (one: T) => Promise<R>,
  atOnce = Infinity,
): Promise<R[]> {
  const results: R[] = [];
  const entries = all.entries();
  const work = async (): Promise<void> => {
    for (const [index, one] of entries) results[index] = await operation(one);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, work));
  return results;
}

/** What a refresh makes of each resource; an error leaves it in state. */
export function refreshAll(all: readonly ModelStack[], atOnce?: number): Promise<string[]> {
  return each(
    all,
    async (one) => {
      const failure = await failureOf(one.refresh());
      return failure ? "error" : one.state ? "there" : "gone";
    },
    atOnce,
  );
}

/** What a destroy makes of each resource. */
export function destroyAll(all: readonly ModelStack[], atOnce?: number): Promise<string[]> {
  return each(all, async (one) => ((await failureOf(one.destroy())) ? "error" : "deleted"), atOnce);
}

/** So many times the same. */
export const times = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);
