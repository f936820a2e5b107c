import type { FrontSession } from "../../provider/engine/front-session";
import type { SessionDependencies } from "../../provider/lifecycle/session";
import { startDynamic, type Kind, type Provider, type Settings } from "./calls";
import { ModelResource, type ResourceOptions } from "./model";
import { PluginProcess } from "./plugin-calls";
import { clock, failureOf, settingsOf } from "./server";
import { sample } from "./size";

export type Front = "dynamic" | "plugin";
/** The fronts on which a scenario is tried. A quick run tries the one that most programs use. */
export const fronts = sample<readonly Front[]>(["dynamic"], ["dynamic", "plugin"], ["dynamic", "plugin"]);

interface ProgramOptions extends SessionDependencies {
  /** Gives each command a run of its own, because the plugin takes nothing that its own process has made for what state holds. */
  readonly restarts?: boolean;
  /** What the resources of a run share in the dynamic host. */
  readonly session?: FrontSession;
  /** The resources have an explicit provider of this name. */
  readonly providerName?: string;
}

/** The resources of one stack, over several runs. Each run has a process of its own, which all of them share. */
export class Program {
  settings: Settings;
  readonly restarts: boolean;
  private readonly surroundings: SessionDependencies;
  private readonly session: FrontSession | undefined;
  private readonly providerName: string | undefined;
  private process!: PluginProcess | undefined;
  /** The calls that the engine makes in this run. */
  providers!: Readonly<Record<Kind, Provider>>;

  constructor(
    readonly front: Front,
    settings: Settings = {},
    { restarts = false, session, providerName, ...surroundings }: ProgramOptions = {},
  ) {
    this.settings = settingsOf(settings);
    this.restarts = restarts;
    this.session = session;
    this.providerName = providerName;
    this.surroundings = surroundings;
    this.nextRun();
  }

  /** A resource of the stack that is in no state yet. */
  resource(kind: Kind = "monitor", options: ResourceOptions = {}): ModelResource {
    return new ModelResource(kind, this, options);
  }

  /** Monitors that are in no state yet, of which a test takes as many as it needs. */
  resources(): [ModelResource, ModelResource, ModelResource] {
    return [this.resource(), this.resource(), this.resource()];
  }

  /** Another run, with some settings changed. */
  nextRun(changed: Settings = {}): void {
    this.settings = { ...this.settings, ...changed };
    const surroundings = { clock, ...this.surroundings };
    this.process = this.front === "plugin" ? new PluginProcess(surroundings, this.providerName) : undefined;
    this.providers =
      this.process?.begin(this.settings) ?? startDynamic(this.settings, surroundings, this.session);
  }

  /** Another run in the same process, as of a plugin that is attached. */
  continue(address?: string): void {
    if (this.process) this.providers = this.process.begin(this.settings, address);
  }

  /** The dynamic host answers it with nothing, and passes nothing on. */
  async cancel(): Promise<void> {
    await this.process?.cancel();
  }
}

/** Does something for each, a limited number at a time, as the engine does. */
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
export function refreshAll(all: readonly ModelResource[], atOnce?: number): Promise<string[]> {
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
export function destroyAll(all: readonly ModelResource[], atOnce?: number): Promise<string[]> {
  return each(all, async (one) => ((await failureOf(one.destroy())) ? "error" : "deleted"), atOnce);
}

/** So many times the same. */
export const times = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);
