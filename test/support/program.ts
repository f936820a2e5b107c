import type { Surroundings } from "../../provider/lifecycle/session";
import { startDynamic, type Kind, type Provider, type Settings } from "./calls";
import { ModelStack } from "./model";
import { PluginProcess } from "./plugin-calls";
import { clock, failureOf, settingsOf } from "./server";

export const fronts = ["dynamic", "plugin"] as const;
export type Front = (typeof fronts)[number];

/** The resources of one stack, over several runs. Each run has a process of its own, which all of them share. */
export class Program {
  private settings: Settings;
  private process!: PluginProcess | undefined;
  /** The calls that the engine makes in this run. */
  providers!: Readonly<Record<Kind, Provider>>;
  private readonly resources: ModelStack[] = [];

  constructor(
    readonly front: Front,
    settings: Settings = {},
    private readonly surroundings: Surroundings = {},
  ) {
    this.settings = settingsOf(settings);
    this.nextRun();
  }

  /** A resource of the stack that is in no state yet. */
  resource(kind: Kind = "monitor", options = {}): ModelStack {
    const one = new ModelStack(kind, this.settings, { ...options, start: () => this.providers });
    this.resources.push(one);
    return one;
  }

  /** Another run, with some settings changed. */
  nextRun(changed: Settings = {}): void {
    this.settings = { ...this.settings, ...changed };
    const surroundings = { clock, ...this.surroundings };
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
    for (const one of this.resources) {
      one.config = this.settings;
      one.nextRun();
    }
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
