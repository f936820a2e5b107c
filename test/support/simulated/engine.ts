import type { Kind } from "./api";
import { OperationFailed } from "../calls";
import type { CallOptions, Properties, Provider } from "../calls";
import type { Declared, Front, Goal } from "./front";
import type { SimulatedProcess } from "./process";
import type { SimulatedTime } from "./time";

/** A resource in state. */
export interface Entry {
  urn: string;
  readonly kind: Kind;
  id: string;
  inputs: Properties;
  outputs: Properties;
  /** The record that the engine itself has imported, as the program names it. */
  readonly importId?: string | undefined;
  /** URNs of what it depends on. */
  dependencies: readonly string[];
  /** The last operation failed half-way: the next `up` updates whatever diff says. */
  hasInitErrors: boolean;
  /** It was replaced, and is to be deleted at the end. */
  isDelete: boolean;
  /** It was deleted, and its replacement is still to be created. */
  isPendingReplacement: boolean;
}

export type Command =
  "up" | "up --refresh" | "up --refresh --run-program" | "refresh" | "refresh --run-program" | "destroy";

export interface RunOptions {
  readonly command: Command;
  readonly settings: Readonly<Record<string, string>>;
  /** In the order in which the program registers them. */
  readonly program: readonly Declared[];
  /** URNs; undefined: all. */
  readonly targets?: readonly string[] | undefined;
  /** URNs that `--replace` names. */
  readonly replace?: readonly string[] | undefined;
  /** Only what would be done: nothing is created, updated or deleted, and state stays. */
  readonly isPreview?: boolean | undefined;
}

/** An operation that the provider carried out, or tried to. */
export interface Operation {
  readonly operation: "check" | "diff" | "create" | "import" | "read" | "update" | "delete";
  readonly urn: string;
  readonly id?: string;
  /** Undefined: it has not ended. */
  outcome?: "done" | "failed" | "kept";
  /** The resource's new id, if it has one. */
  result?: string;
}

export interface Outcome {
  /** What the provider has printed. */
  readonly printed: readonly string[];
  readonly errors: readonly string[];
  readonly operations: readonly Operation[];
}

/** The run has failed, and does nothing more. */
class Cancelled extends Error {}

/** What tells one resource of a program from another. */
export interface Named {
  readonly kind: Kind;
  readonly name: string;
  readonly parent?: string | undefined;
}

export function urnOf({ kind, name, parent }: Named): string {
  const own = `pulumi-nodejs:dynamic/uptime:${kind === "monitor" ? "Monitor" : "Domain"}`;
  return `urn:pulumi:stack::project::${parent === undefined ? "" : `${parent}$`}${own}::${name}`;
}

/** How a program names a resource among its own. */
export const labelOf = ({ kind, name, parent }: Named): string =>
  `${kind} ${parent === undefined ? "" : `${parent}/`}${name}`;

/**
 * Pulumi's engine, as small as it can be and still do what the real one does (3.250, pkg/resource/deploy: the deployment
 * executor, the step generator and the steps) with resources of a provider: which calls it makes, in which order, with
 * what, and what it then keeps in state.
 */
export class SimulatedEngine {
  /** In the order in which they were made. */
  state: Entry[] = [];
  /** The settings of the last run of a program, which state keeps. */
  settings: RunOptions["settings"] | undefined;

  constructor(
    private readonly front: Front,
    private readonly time: SimulatedTime,
  ) {}

  /**
   * Runs a command to its end, or until it is killed: then state is what it was saved as at that moment.
   *
   * @param process starts a process for the provider
   */
  async run(
    process: () => SimulatedProcess,
    options: RunOptions,
    killed?: Promise<void>,
    limit = Infinity,
  ): Promise<Outcome> {
    const { state, settings } = this;
    const run = new Run(this, this.front, process, options);
    const work = run.execute().then(() => false);
    const ended = killed ? Promise.race([work, killed.then(() => true)]) : work;
    try {
      const isKilled = await this.time.until(ended, limit);
      if (isKilled) run.errors.push("killed");
      return run;
    } finally {
      run.end();
      if (options.isPreview) Object.assign(this, { state, settings });
    }
  }
}

class Run implements Outcome {
  readonly errors: string[] = [];
  readonly operations: Operation[] = [];
  /** Whatever still comes is not recorded. */
  private isDead = false;
  private isFailed = false;
  /** One for each set of settings that is in use: the last run's and this one's. */
  private readonly processes = new Map<string, SimulatedProcess>();
  private readonly providers = new Map<string, Provider>();
  private settings: RunOptions["settings"];
  private readonly isPreview: boolean;
  /** URNs that the program has registered. */
  private readonly operated = new Set<string>();
  /** Old URNs of aliased resources that are done. */
  private readonly registered = new Map<string, Promise<void>>();
  /** URNs of resources that are not created, because the run is for others. */
  private readonly skipped = new Set<string>();
  private generating: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly engine: SimulatedEngine,
    private readonly front: Front,
    private readonly start: () => SimulatedProcess,
    private readonly options: RunOptions,
  ) {
    const { command, settings, isPreview = false } = options;
    this.isPreview = isPreview;
    // What happens without the program happens with the settings that state keeps.
    const isWithoutProgram = ["up --refresh", "refresh", "destroy"].includes(command);
    this.settings = (isWithoutProgram ? engine.settings : undefined) ?? settings;
  }

  /** The processes of the run end, where they are. */
  end(): void {
    this.isDead = true;
    for (const process of this.processes.values()) process.kill();
  }

  get printed(): string[] {
    return [...this.processes.values()].flatMap(({ printed }) => printed);
  }

  async execute(): Promise<void> {
    const { command, program } = this.options;
    try {
      const { targets = [], replace = [] } = this.options;
      if (command === "up --refresh" || command === "refresh") {
        if (this.state().length > 0) this.assertInState(targets);
        await this.refreshAll(this.state());
        if (command === "refresh" || this.isFailed) return;
      }
      if (command !== "destroy") {
        this.assertInState(replace);
        this.settings = this.options.settings;
        this.engine.settings = this.settings;
        for (const declared of program) {
          const done = this.register(declared, command);
          done.catch(() => undefined);
          this.registered.set(labelOf(declared), done);
        }
        await Promise.allSettled(this.registered.values());
      }
      if (this.isFailed) return;
      if (command === "refresh --run-program")
        await this.refreshAll(this.state().filter(({ urn }) => !this.operated.has(urn)));
      else await this.deleteAll();
    } catch (error) {
      this.fail(error);
    }
  }

  private state(): Entry[] {
    return this.engine.state;
  }

  private assertInState(urns: readonly string[]): void {
    const missing = urns.filter((urn) => !this.state().some((entry) => entry.urn === urn));
    if (missing.length > 0) throw new Error(`${missing.join(", ")} could not be found in the stack`);
  }

  private isTargeted(urn: string): boolean {
    return this.options.targets?.includes(urn) ?? true;
  }

  private fail(error: unknown): void {
    this.isFailed = true;
    if (!(error instanceof Cancelled))
      this.errors.push(error instanceof Error ? error.message : String(error));
  }

  private provider(kind: Kind): Provider {
    const settings = JSON.stringify(this.settings);
    let process = this.processes.get(settings);
    if (!process) this.processes.set(settings, (process = this.start()));
    const key = `${kind} ${settings}`;
    let provider = this.providers.get(key);
    if (!provider) this.providers.set(key, (provider = this.front.provider(process, kind, this.settings)));
    return provider;
  }

  /** Nothing begins in a run that has failed; what has begun goes on. */
  private async call<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
    if (this.isFailed) throw new Cancelled();
    this.operations.push(operation);
    try {
      const result = await run();
      operation.outcome = "done";
      return result;
    } catch (error) {
      operation.outcome = error instanceof OperationFailed && error.id !== undefined ? "kept" : "failed";
      if (error instanceof OperationFailed && error.id !== undefined) operation.result = error.id;
      throw error;
    }
  }

  /** State is saved after every step, unless the engine is dead. */
  private save(change: () => void): void {
    if (!this.isDead) change();
  }

  private remove(entry: Entry): void {
    this.engine.state = this.state().filter((one) => one !== entry);
  }

  private replaceEntry(old: Entry | undefined, entry: Entry): void {
    // A resource of this run comes after everything it depends on.
    if (old) this.engine.state = this.state().filter((one) => one !== old);
    this.engine.state.push(entry);
  }

  // Refresh ---------------------------------------------------------------------------------------------------------

  /** All at once; one that fails stops no other, but the run ends behind them. */
  private async refreshAll(entries: readonly Entry[]): Promise<void> {
    const failures: unknown[] = [];
    await Promise.all(
      entries
        .filter(({ urn }) => this.isTargeted(urn))
        .map((entry) => this.refresh(entry).catch((error: unknown) => failures.push(error))),
    );
    for (const failure of failures) this.fail(failure);
  }

  /** The resource as it is now, or undefined when it is gone. */
  private async refresh(entry: Entry): Promise<Entry | undefined> {
    if (entry.isPendingReplacement) return entry;
    const { urn, id, kind } = entry;
    const provider = this.provider(kind);
    const read = await this.call({ operation: "read", urn, id }, () =>
      provider.read(urn, id, entry.outputs, entry.inputs),
    );
    if (!read) {
      this.save(() => {
        this.remove(entry);
      });
      return undefined;
    }
    const refreshed: Entry = {
      ...entry,
      id: read.id,
      outputs: read.outputs,
      inputs: read.inputs ?? entry.inputs,
      hasInitErrors: false,
    };
    // Whether there is drift is asked with the old inputs as the new ones.
    await this.call({ operation: "diff", urn, id: refreshed.id }, () =>
      provider.diff(urn, refreshed.id, refreshed.outputs, refreshed.inputs, entry.inputs),
    );
    this.save(() => {
      this.engine.state = this.state().map((one) => (one === entry ? refreshed : one));
    });
    return refreshed;
  }

  // Registrations ---------------------------------------------------------------------------------------------------

  private async register(declared: Declared, command: Command): Promise<void> {
    const goal = await this.front.register(declared, this.options.settings);
    const before = (declared.after ?? []).map((label) => this.registered.get(label) ?? Promise.resolve());
    await Promise.all(before);
    // The engine deals with one registration at a time, until it hands a step over to a worker.
    const generated = this.generating.then(() => this.generate(declared, goal, command));
    this.generating = generated.catch(() => undefined);
    try {
      const step = await generated;
      await step();
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  private find(declared: Declared): Entry | undefined {
    const { kind, formerly = [] } = declared;
    const urns = [urnOf(declared), ...formerly.map((former) => urnOf({ kind, ...former }))];
    for (const urn of urns) {
      const found = this.state().find((one) => one.urn === urn && !one.isDelete);
      if (found) return found;
    }
    return undefined;
  }

  /** Decides what to do with a resource; returns the step, which other registrations need not wait for. */
  private async generate(declared: Declared, goal: Goal, command: Command): Promise<() => Promise<void>> {
    if (this.isFailed) throw new Cancelled();
    const urn = urnOf(declared);
    const dependencies = (declared.after ?? []).map((label) => {
      const found = this.options.program.find((one) => labelOf(one) === label);
      return found ? urnOf(found) : label;
    });
    let old = this.find(declared);
    this.operated.add(urn);
    if (old) {
      this.operated.add(old.urn);
      if (this.isTargeted(urn) || this.isTargeted(old.urn)) {
        const renamed: Entry = { ...old, urn };
        this.renameIn(old, renamed);
        old = renamed;
      }
    }
    const isReplaced = this.options.replace?.includes(urn) ?? false;
    if (!this.isTargeted(urn)) {
      if (!old) this.skipped.add(urn);
      return () => Promise.resolve();
    }
    const unmade = dependencies.find((dependency) => this.skipped.has(dependency));
    if (unmade !== undefined) throw new Error(`${urn} depends on ${unmade}, which is not among the targets`);
    if (old && (command === "up --refresh --run-program" || command === "refresh --run-program")) {
      const known = old;
      // It runs as a step of its own, and the registration goes on behind it.
      return async () => {
        const refreshed = await this.refresh(known);
        if (command === "refresh --run-program") return;
        const generated = this.generating.then(() =>
          this.decide(declared, goal, urn, dependencies, refreshed, isReplaced),
        );
        this.generating = generated.catch(() => undefined);
        const step = await generated;
        await step();
      };
    }
    if (command === "refresh --run-program") return () => Promise.resolve();
    return this.decide(declared, goal, urn, dependencies, old, isReplaced);
  }

  private renameIn(old: Entry, renamed: Entry): void {
    this.save(() => {
      this.engine.state = this.state().map((one) => (one === old ? renamed : one));
    });
  }

  private async decide(
    declared: Declared,
    goal: Goal,
    urn: string,
    dependencies: readonly string[],
    old: Entry | undefined,
    isReplaced: boolean,
  ): Promise<() => Promise<void>> {
    if (this.isFailed) throw new Cancelled();
    const { kind } = declared;
    const provider = this.provider(kind);
    const { importId } = goal;
    const isImport = importId !== undefined && old?.importId !== importId && old?.id !== importId;
    if (isImport)
      return () =>
        this.import(urn, old, async () => {
          const imported = await provider.import?.(urn, importId, goal.inputs);
          if (!imported) throw new Error("The engine cannot import resources of this provider.");
          return {
            ...imported,
            urn,
            kind,
            importId,
            dependencies,
            hasInitErrors: false,
            isDelete: false,
            isPendingReplacement: false,
          };
        });
    const news = old ? ignoring(goal.inputs, old.inputs, declared.ignoreChanges ?? []) : goal.inputs;
    const check = async (olds: Properties, given: Properties): Promise<Properties> => {
      const { inputs, failures } = await this.call({ operation: "check", urn }, () =>
        provider.check(urn, olds, given),
      );
      if (failures.length > 0) throw new OperationFailed(failures.join("\n"));
      return inputs;
    };
    const isFresh = !old || isReplaced;
    const inputs = await check(isFresh ? {} : old.inputs, isFresh ? goal.inputs : news);
    const entry = (id: string, outputs: Properties, given: Properties): Entry => ({
      urn,
      kind,
      id,
      inputs: given,
      outputs,
      importId,
      dependencies,
      hasInitErrors: false,
      isDelete: false,
      isPendingReplacement: false,
    });
    if (!old) return () => this.create(provider, entry("", {}, inputs), undefined);
    const { ignoreChanges } = declared;
    const { changes, replaces, deleteBeforeReplace } = isReplaced
      ? { changes: true, replaces: true, deleteBeforeReplace: false }
      : await this.call({ operation: "diff", urn, id: old.id }, () =>
          provider.diff(urn, old.id, old.outputs, old.inputs, inputs, { ignoreChanges }),
        );
    if ((changes && replaces) || old.isPendingReplacement) {
      const fresh = isReplaced ? inputs : await check({}, goal.inputs);
      const replacement = entry("", {}, fresh);
      if (!goal.deleteBeforeReplace && deleteBeforeReplace !== true)
        return () => this.create(provider, replacement, old);
      return async () => {
        if (!old.isPendingReplacement) {
          await this.delete(old);
          this.save(() => {
            const pending = { ...old, isPendingReplacement: true };
            this.engine.state = this.state().map((one) => (one === old ? pending : one));
          });
        }
        await this.create(provider, replacement, undefined);
      };
    }
    if (changes || old.hasInitErrors)
      return () => this.update(provider, old, entry(old.id, old.outputs, inputs), { ignoreChanges });
    return () => {
      this.save(() => {
        this.replaceEntry(old, entry(old.id, old.outputs, inputs));
      });
      return Promise.resolve();
    };
  }

  // Steps -----------------------------------------------------------------------------------------------------------

  /** Takes a record over. What the resource had before is deleted at the end. */
  private async import(urn: string, replaced: Entry | undefined, read: () => Promise<Entry>): Promise<void> {
    const operation: Operation = { operation: "import", urn };
    const entry = await this.call(operation, read);
    operation.result = entry.id;
    if (this.isPreview) return;
    this.save(() => {
      this.condemn(urn, replaced);
      this.replaceEntry(undefined, entry);
    });
  }

  /** What was deleted before its replacement goes, also when that has failed half-way; what was replaced goes at the end. */
  private condemn(urn: string, replaced: Entry | undefined): void {
    this.engine.state = this.state()
      .filter((one) => one.urn !== urn || !one.isPendingReplacement)
      .map((one) => (one === replaced ? { ...one, isDelete: true } : one));
  }

  private async create(provider: Provider, entry: Entry, replaced: Entry | undefined): Promise<void> {
    if (this.isPreview) {
      await provider.expected?.(entry.urn, undefined, entry.inputs);
      return;
    }
    const operation: Operation = { operation: "create", urn: entry.urn };
    try {
      const { id, outputs } = await this.call(operation, () => provider.create(entry.urn, entry.inputs));
      operation.result = id;
      this.save(() => {
        this.condemn(entry.urn, replaced);
        this.replaceEntry(undefined, { ...entry, id, outputs });
      });
    } catch (error) {
      if (error instanceof OperationFailed && error.id !== undefined) {
        const { id, outputs = {} } = error;
        this.save(() => {
          this.condemn(entry.urn, replaced);
          this.replaceEntry(undefined, { ...entry, id, outputs, hasInitErrors: true });
        });
      }
      throw error;
    }
  }

  private async update(provider: Provider, old: Entry, entry: Entry, options: CallOptions): Promise<void> {
    if (this.isPreview) {
      await provider.expected?.(entry.urn, old, entry.inputs);
      return;
    }
    const { urn } = entry;
    try {
      const { outputs } = await this.call({ operation: "update", urn, id: old.id }, () =>
        provider.update(urn, old.id, old.outputs, old.inputs, entry.inputs, options),
      );
      this.save(() => {
        this.replaceEntry(old, { ...entry, outputs });
      });
    } catch (error) {
      if (error instanceof OperationFailed && error.id !== undefined) {
        const { id, outputs = {} } = error;
        this.save(() => {
          this.replaceEntry(old, { ...entry, id, outputs, hasInitErrors: true });
        });
      }
      throw error;
    }
  }

  private async delete(entry: Entry): Promise<void> {
    if (this.isPreview) return;
    const { urn, id, kind, outputs, inputs } = entry;
    await this.call({ operation: "delete", urn, id }, () =>
      this.provider(kind).delete(urn, id, outputs, inputs),
    );
  }

  /** What was replaced, and what the program no longer has: dependents first, what is independent at once. */
  private async deleteAll(): Promise<void> {
    const { targets } = this.options;
    // With a target may go what depends on it, and only if it is a target too.
    const allowed = new Set(targets);
    if (targets)
      for (const { urn, dependencies } of this.state())
        if (dependencies.some((dependency) => allowed.has(dependency))) allowed.add(urn);
    const left = new Set(
      this.state().filter(
        ({ urn, isDelete }) => (!targets || allowed.has(urn)) && (isDelete || !this.operated.has(urn)),
      ),
    );
    for (const { urn } of left)
      if (!this.isTargeted(urn)) throw new Error(`${urn} would be deleted, and is not among the targets`);
    // It is deleted already.
    for (const entry of left)
      if (entry.isPendingReplacement && !entry.isDelete) {
        left.delete(entry);
        this.save(() => {
          this.remove(entry);
        });
      }
    while (left.size > 0 && !this.isFailed) {
      const needed = new Set([...left].flatMap(({ dependencies }) => dependencies));
      const chain = [...left].filter(({ urn }) => !needed.has(urn));
      // Of a circle, which old URNs may make, all are deleted at once.
      const batch = chain.length > 0 ? chain : [...left];
      await Promise.all(
        batch.map(async (entry) => {
          left.delete(entry);
          try {
            await this.delete(entry);
            this.save(() => {
              this.remove(entry);
            });
          } catch (error) {
            this.fail(error);
          }
        }),
      );
    }
  }
}

/** The old value, or none, for properties whose changes are to be ignored. */
function ignoring(news: Properties, olds: Properties, names: readonly string[]): Properties {
  const inputs = { ...news };
  for (const name of names)
    if (name in olds) inputs[name] = olds[name];
    else Reflect.deleteProperty(inputs, name);
  return inputs;
}
