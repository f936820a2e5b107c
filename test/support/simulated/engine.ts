import { OperationFailed } from "../calls";
import { engineUnknown } from "../../../provider/common/marks";
import type { CallOptions, Kind, Properties, Provider, ProviderProcess, Settings } from "../calls";

/** A resource as a program declares it. */
export interface Declared {
  readonly kind: Kind;
  readonly name: string;
  /** The type of the component that it is a child of; the component itself has one name for all types. */
  readonly parent?: string | undefined;
  readonly args: Properties;
  readonly import?: string | undefined;
  readonly ignoreChanges?: readonly string[] | undefined;
  readonly deleteBeforeReplace?: boolean | undefined;
  /** Aliases: what it was before. */
  readonly formerly?: readonly Pick<Declared, "name" | "parent">[] | undefined;
  /** Names of resources, each with its parent, that must be there before. */
  readonly after?: readonly string[] | undefined;
  /** Those of them whose outputs are in one of its properties: a monitor's URL, a domain's name. */
  readonly uses?: readonly string[] | undefined;
  readonly retainOnDelete?: boolean | undefined;
  /** The provider, if it is not the default one. */
  readonly provider?: string | undefined;
}

/** What the engine is told of a resource: its inputs as they travel, and the options that are the engine's own. */
export interface Goal {
  readonly inputs: Properties;
  readonly deleteBeforeReplace: boolean;
  /** The record that the engine itself is to import. */
  readonly importId?: string;
}

/** How a program registers a resource with the engine. */
export type Register = (declared: Declared, settings: Settings) => Promise<Goal>;

/** Where a run finds the provider. */
export interface Providers {
  /** @param name of an explicit provider */
  provider(kind: Kind, settings: Settings, name?: string): Provider;
  /** What the engine asks when a resource moves to another provider. */
  isAnotherAccount?: ProviderProcess["isAnotherAccount"];
  /** The first Ctrl-C. */
  cancel?(): void;
}

/** A resource in state. */
export interface Entry {
  urn: string;
  readonly kind: Kind;
  id: string;
  inputs: Properties;
  outputs: Properties;
  /** The record that the engine itself has imported, as the program names it. */
  readonly importId?: string | undefined;
  readonly provider?: string | undefined;
  readonly retainOnDelete?: boolean | undefined;
  /** The next `up` replaces it. */
  readonly isTainted?: boolean | undefined;
  /** URNs of what it depends on, and of those of them whose outputs its inputs hold. */
  dependencies: readonly string[];
  uses: readonly string[];
  /** The last operation failed half-way: the next `up` updates whatever diff says. */
  hasInitErrors: boolean;
  /** It was replaced, and is to be deleted at the end. */
  isDelete: boolean;
  /** It was deleted, and its replacement is still to be created. */
  isPendingReplacement: boolean;
}

export type Command =
  | "up"
  | "up --refresh"
  | "up --refresh --run-program"
  | "refresh"
  | "refresh --run-program"
  | "destroy"
  | "destroy --run-program";

export interface RunOptions {
  readonly command: Command;
  readonly settings: Settings;
  /** The explicit providers of the program, by their names. */
  readonly explicit?: Readonly<Record<string, Settings>> | undefined;
  /** In the order in which the program registers them. */
  readonly program: readonly Declared[];
  /** URNs; undefined: all. */
  readonly targets?: readonly string[] | undefined;
  /** `--target-dependents` */
  readonly isForDependents?: boolean | undefined;
  /** URNs that `--replace` names. */
  readonly replace?: readonly string[] | undefined;
  /** URNs that `--exclude` names. */
  readonly excluded?: readonly string[] | undefined;
  /** `--continue-on-error` */
  readonly isContinued?: boolean | undefined;
  /** `--parallel` */
  readonly parallel?: number | undefined;
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

/** What a run does with a resource of the program. */
export type Plan = "same" | "create" | "import" | "update" | "replace";

export interface Outcome {
  readonly isKilled: boolean;
  readonly errors: readonly Error[];
  readonly operations: readonly Operation[];
  /** By the URN of the resource. */
  readonly plans: ReadonlyMap<string, Plan>;
}

export const isGreen = ({ isKilled, errors }: Outcome): boolean => !isKilled && errors.length === 0;

/** What ends a run before its time. */
interface Endings {
  /** The engine is gone at once. */
  readonly killed?: Promise<void>;
  /** The first Ctrl-C. */
  readonly interrupted?: Promise<void>;
}

/** The run has failed, and does nothing more. */
class Cancelled extends Error {}

/** What tells one resource of a program from another. */
type Named = Pick<Declared, "kind" | "name" | "parent" | "provider">;

/** Whether a provider is of the other front, whose resources have types of their own. */
export const isOtherFront = (provider = ""): boolean => provider.startsWith("other");

export function urnOf({ kind, name, parent, provider }: Named): string {
  const type = isOtherFront(provider) ? "uptime:index" : "pulumi-nodejs:dynamic/uptime";
  const own = `${type}:${kind === "monitor" ? "Monitor" : "Domain"}`;
  return `urn:pulumi:stack::project::${parent === undefined ? "" : `${parent}$`}${own}::${name}`;
}

/** The URN of a resource, and those that it had before. */
export const urnsOf = ({ kind, provider, name, parent, formerly = [] }: Declared): string[] =>
  [{ name, parent }, ...formerly].map((names) => urnOf({ kind, provider, ...names }));

type State = "id" | "inputs" | "outputs";

/** A resource in state after an operation that was done. */
export function entryOf(named: Named, state: Partial<Entry> & Pick<Entry, State>): Entry {
  return {
    urn: urnOf(named),
    kind: named.kind,
    provider: named.provider,
    dependencies: [],
    uses: [],
    hasInitErrors: false,
    isDelete: false,
    isPendingReplacement: false,
    ...state,
  };
}

/** How a program names a resource among its own. */
export const labelOf = ({ kind, name, parent, provider }: Named): string =>
  `${isOtherFront(provider) ? "other " : ""}${kind} ${parent === undefined ? "" : `${parent}/`}${name}`;

/**
 * A small model of Pulumi's engine (3.250, pkg/resource/deploy: the deployment executor, the step generator and the steps):
 * which calls it makes to a provider, in which order, with what, and what it then keeps in state.
 */
export class SimulatedEngine {
  /** In the order in which they were made. */
  state: Entry[] = [];
  /** The settings of the last run of a program, which state keeps. */
  settings: Settings | undefined;
  /** Those of explicit providers, by their names. */
  explicit: Readonly<Record<string, Settings>> = {};

  constructor(readonly register: Register) {}

  /** Runs a command to its end, or until it is killed: then state is what it was saved as at that moment. */
  async run(providers: Providers, options: RunOptions, endings: Endings = {}): Promise<Outcome> {
    const { killed, interrupted } = endings;
    const run = new Run(options.isPreview ? this.copy() : this, providers, options);
    void interrupted?.then(() => run.interrupt());
    await Promise.race([run.execute(), ...(killed ? [killed.then(() => (run.isKilled = true))] : [])]);
    return run;
  }

  /** A copy for a preview, which changes no state. */
  private copy(): SimulatedEngine {
    const { state, settings, explicit } = this;
    return Object.assign(new SimulatedEngine(this.register), { state, settings, explicit });
  }
}

/** What is done with a resource, in parallel with the steps of others. */
type Step = () => Promise<void>;

class Run implements Outcome {
  readonly errors: Error[] = [];
  readonly operations: Operation[] = [];
  readonly plans = new Map<string, Plan>();
  /** Nothing that happens later is recorded. */
  isKilled = false;
  private isFailed = false;
  private isInterrupted = false;
  private settings: Settings;
  private explicit: Readonly<Record<string, Settings>>;
  /** The settings in state when the run began. */
  private readonly before: Readonly<Record<string, Settings | undefined>>;
  private readonly isPreview: boolean;
  /** Steps that run, and those that wait for one of them to end. */
  private working = 0;
  private readonly waiting: (() => void)[] = [];
  /** URNs that the program has registered. */
  private readonly operated = new Set<string>();
  /** Old URNs of aliased resources that are done. */
  private readonly registered = new Map<string, Promise<void>>();
  /** URNs of resources that are not created, because the run is for others. */
  private readonly skipped = new Set<string>();
  private generating: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly engine: SimulatedEngine,
    private readonly providers: Providers,
    private readonly options: RunOptions,
  ) {
    const { command, settings, isPreview = false } = options;
    this.isPreview = isPreview;
    // What happens without the program happens with the settings that state keeps.
    const isWithoutProgram = ["up --refresh", "refresh", "destroy"].includes(command);
    this.settings = (isWithoutProgram ? engine.settings : undefined) ?? settings;
    this.explicit = engine.explicit;
    this.before = { ...engine.explicit, "": engine.settings };
  }

  interrupt(): void {
    this.isInterrupted = true;
    this.fail(new Error("The run was interrupted."));
    this.providers.cancel?.();
    for (const go of this.waiting.splice(0)) go();
  }

  async execute(): Promise<void> {
    const { command, program } = this.options;
    const runsProgram = command !== "refresh" && command !== "destroy";
    try {
      const { targets = [], replace = [] } = this.options;
      if (command === "up --refresh" || command === "refresh") {
        if (this.state.length > 0) this.assertInState(targets);
        await this.refreshAll(this.state);
        if (command === "refresh" || this.errors.length > 0) return;
      }
      if (runsProgram) {
        // The program's providers are there before its resources.
        this.settings = this.engine.settings = this.options.settings;
        this.explicit = this.engine.explicit = { ...this.explicit, ...this.options.explicit };
      }
      if (runsProgram && command !== "destroy --run-program") {
        this.assertInState(replace);
        for (const declared of program) {
          const done = this.register(declared, command);
          done.catch(() => undefined);
          this.registered.set(labelOf(declared), done);
        }
        await Promise.allSettled(this.registered.values());
      }
      if (this.isFailed) return;
      if (command === "refresh --run-program")
        await this.refreshAll(this.state.filter(({ urn }) => !this.operated.has(urn)));
      else await this.deleteAll();
    } catch (error) {
      this.fail(error);
    }
  }

  private get state(): Entry[] {
    return this.engine.state;
  }

  /** It is saved after every step, unless the engine is dead. */
  private set state(all: Entry[]) {
    if (!this.isKilled) this.engine.state = all;
  }

  private assertInState(urns: readonly string[]): void {
    const missing = urns.filter((urn) => !this.state.some((entry) => entry.urn === urn));
    if (missing.length > 0) throw new Error(`${missing.join(", ")} could not be found in the stack`);
  }

  private isTargeted(urn: string): boolean {
    if (this.options.excluded?.includes(urn)) return false;
    return this.options.targets?.includes(urn) ?? true;
  }

  private fail(error: unknown): void {
    this.isFailed ||= !this.options.isContinued || this.isInterrupted;
    if (!(error instanceof Cancelled))
      this.errors.push(error instanceof Error ? error : new Error(String(error)));
  }

  private provider({ kind, provider }: Pick<Entry, "kind" | "provider">): Provider {
    return this.providers.provider(kind, this.settingsOf(provider), provider);
  }

  private settingsOf(provider: string | undefined): Settings {
    return (provider === undefined ? undefined : this.explicit[provider]) ?? this.settings;
  }

  /** Waits until `--parallel` allows another step. */
  private async enter(): Promise<void> {
    const { parallel = Infinity } = this.options;
    while (this.working >= parallel && !this.isFailed)
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.working++;
  }

  /** Nothing begins in a run that has failed; what has begun goes on. */
  private async call<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
    const isStep = operation.operation !== "check" && operation.operation !== "diff";
    if (isStep) await this.enter();
    try {
      if (this.isFailed) throw new Cancelled();
      this.operations.push(operation);
      const result = await run();
      operation.outcome = "done";
      return result;
    } catch (error) {
      const isKept = error instanceof OperationFailed && error.id !== undefined;
      operation.outcome = isKept ? "kept" : "failed";
      if (isKept) operation.result = error.id;
      throw error;
    } finally {
      if (isStep) {
        this.working--;
        this.waiting.shift()?.();
      }
    }
  }

  private remove(entry: Entry): void {
    this.state = this.state.filter((one) => one !== entry);
  }

  /** In its place. */
  private exchange(old: Entry, entry: Entry): void {
    this.state = this.state.map((one) => (one === old ? entry : one));
  }

  /** A resource of this run comes after everything it depends on. */
  private replaceEntry(old: Entry | undefined, entry: Entry): void {
    this.state = [...this.state.filter((one) => one !== old), entry];
  }

  // Refresh ---------------------------------------------------------------------------------------------------------

  /** All at once. One that fails stops no other, but the run ends after them. */
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
    const { urn, id } = entry;
    const provider = this.provider(entry);
    const read = await this.call({ operation: "read", urn, id }, () =>
      provider.read(urn, id, entry.outputs, entry.inputs),
    );
    if (!read) {
      this.remove(entry);
      return undefined;
    }
    const { inputs = entry.inputs, ...there } = read;
    const refreshed: Entry = { ...entry, ...there, inputs, hasInitErrors: false };
    // Whether there is drift is asked with the old inputs as the new ones.
    await this.call({ operation: "diff", urn, id: refreshed.id }, () =>
      provider.diff(urn, refreshed.id, refreshed.outputs, refreshed.inputs, entry.inputs),
    );
    this.exchange(entry, refreshed);
    return refreshed;
  }

  // Registrations ---------------------------------------------------------------------------------------------------

  private async register(declared: Declared, command: Command): Promise<void> {
    const goal = await this.engine.register(declared, this.options.settings);
    await Promise.all((declared.after ?? []).flatMap((label) => this.registered.get(label) ?? []));
    try {
      await this.proceed(() => this.generate(declared, goal, command));
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** The engine deals with one registration at a time, until it hands a step over to a worker. */
  private async proceed(generate: () => Promise<Step>): Promise<void> {
    const generated = this.generating.then(generate);
    this.generating = generated.catch(() => undefined);
    const step = await generated;
    await step();
  }

  private find(declared: Declared): Entry | undefined {
    for (const urn of urnsOf(declared)) {
      const found = this.state.find((one) => one.urn === urn && !one.isDelete);
      if (found) return found;
    }
    return undefined;
  }

  /** Decides what to do with a resource; returns the step, which other registrations need not wait for. */
  private async generate(declared: Declared, goal: Goal, command: Command): Promise<Step> {
    if (this.isFailed) throw new Cancelled();
    const urn = urnOf(declared);
    const urnNamed = (label: string): string => {
      const found = this.options.program.find((one) => labelOf(one) === label);
      return found ? urnOf(found) : label;
    };
    const needs = {
      dependencies: (declared.after ?? []).map(urnNamed),
      uses: (declared.uses ?? []).map(urnNamed),
    };
    const found = this.find(declared);
    this.operated.add(urn).add(found?.urn ?? urn);
    const isRenamed = found && (this.isTargeted(urn) || this.isTargeted(found.urn));
    const old = isRenamed ? { ...found, urn } : found;
    if (found && old) this.exchange(found, old);
    const isReplaced = old?.isTainted === true || this.options.replace?.includes(urn) === true;
    if (!this.isTargeted(urn)) {
      // What depends on one that --exclude names is made all the same.
      if (!old && this.options.targets) this.skipped.add(urn);
      return () => Promise.resolve();
    }
    const unmade = needs.dependencies.find((dependency) => this.skipped.has(dependency));
    if (unmade !== undefined) throw new Error(`${urn} depends on ${unmade}, which is not among the targets`);
    const isRefresh = command === "refresh --run-program";
    const decide = (known: Entry | undefined): Promise<Step> =>
      this.decide(declared, goal, urn, needs, known, isReplaced);
    // It runs as a step of its own, and the registration goes on behind it.
    if (old && (isRefresh || command === "up --refresh --run-program"))
      return async () => {
        const refreshed = await this.refresh(old);
        if (!isRefresh) await this.proceed(() => decide(refreshed));
      };
    return isRefresh ? () => Promise.resolve() : decide(old);
  }

  /** Whether its provider is another one, with another account. */
  private async isMoved(old: Entry, { provider }: Declared): Promise<boolean> {
    const before = this.before[old.provider ?? ""] ?? this.before[""];
    if (!before || !this.providers.isAnotherAccount) return false;
    const names = { old: old.provider, present: provider };
    return this.providers.isAnotherAccount(before, this.settingsOf(provider), names);
  }

  private async decide(
    declared: Declared,
    goal: Goal,
    urn: string,
    needs: Pick<Entry, "dependencies" | "uses">,
    old: Entry | undefined,
    isReplaced: boolean,
  ): Promise<Step> {
    if (this.isFailed) throw new Cancelled();
    const provider = this.provider(declared);
    const { importId } = goal;
    const { ignoreChanges, retainOnDelete } = declared;
    const entry = (state: Pick<Entry, State>): Entry =>
      entryOf(declared, { ...state, ...needs, importId, retainOnDelete });
    const planned = (plan: Plan, step: Step): Step => {
      this.plans.set(urn, plan);
      return step;
    };
    const isImport = importId !== undefined && old?.importId !== importId && old?.id !== importId;
    if (isImport)
      return planned("import", () =>
        this.import(urn, old, async () => {
          const imported = await provider.import?.(urn, importId, goal.inputs);
          if (!imported) throw new Error("The engine cannot import resources of this provider.");
          return entry(imported);
        }),
      );
    const check = async (olds: Properties, given: Properties): Promise<Properties> => {
      const { inputs, failures } = await this.call({ operation: "check", urn }, () =>
        provider.check(urn, olds, given),
      );
      if (failures.length > 0) throw new OperationFailed(failures.join("\n"));
      return inputs;
    };
    const created = (inputs: Properties): Entry => entry({ id: "", inputs, outputs: {} });
    const inputs =
      old && !isReplaced
        ? await check(old.inputs, ignoring(goal.inputs, old.inputs, ignoreChanges))
        : await check({}, goal.inputs);
    if (!old) return planned("create", () => this.create(provider, created(inputs), undefined));
    const { changes, replaces, deleteBeforeReplace } = isReplaced
      ? { changes: true, replaces: true, deleteBeforeReplace: false }
      : (await this.isMoved(old, declared))
        ? { changes: true, replaces: true }
        : await this.call({ operation: "diff", urn, id: old.id }, () =>
            provider.diff(urn, old.id, old.outputs, old.inputs, inputs, { ignoreChanges }),
          );
    if ((changes && replaces) || old.isPendingReplacement) {
      const replacement = created(isReplaced ? inputs : await check({}, goal.inputs));
      if (!goal.deleteBeforeReplace && deleteBeforeReplace !== true)
        return planned("replace", () => this.create(provider, replacement, old));
      // What uses it is deleted before it, if that must be replaced too; the program registers it later.
      const first = old.isPendingReplacement ? [] : [...(await this.replacedWith(old)), old];
      return planned("replace", async () => {
        for (const one of first) {
          await this.delete(one);
          this.exchange(one, { ...one, isPendingReplacement: true });
        }
        await this.create(provider, replacement, undefined);
      });
    }
    const { id, outputs } = old;
    const kept = entry({ id, inputs, outputs });
    if (changes || old.hasInitErrors)
      return planned("update", () => this.update(provider, old, kept, { ignoreChanges }));
    return planned("same", () => {
      this.replaceEntry(old, kept);
      return Promise.resolve();
    });
  }

  /** What must be replaced with a resource, the last first. Whether it must is asked with the values unknown that it uses. */
  private async replacedWith(replaced: Entry): Promise<Entry[]> {
    const gone = new Set([replaced.urn]);
    const found: Entry[] = [];
    for (const entry of this.state) {
      if (entry.isDelete || entry.isPendingReplacement || !entry.uses.some((urn) => gone.has(urn))) continue;
      const { urn, id, outputs, inputs } = entry;
      const unknown = { [entry.kind === "monitor" ? "url" : "name"]: engineUnknown };
      const { replaces } = await this.call({ operation: "diff", urn, id }, () =>
        this.provider(entry).diff(urn, id, outputs, inputs, { ...inputs, ...unknown }),
      );
      if (!replaces) continue;
      gone.add(urn);
      found.unshift(entry);
    }
    return found;
  }

  // Steps -----------------------------------------------------------------------------------------------------------

  /** Takes a record over. What the resource had before is deleted at the end. */
  private async import(urn: string, replaced: Entry | undefined, read: () => Promise<Entry>): Promise<void> {
    const operation: Operation = { operation: "import", urn };
    const entry = await this.call(operation, read);
    operation.result = entry.id;
    if (this.isPreview) return;
    this.condemn(urn, replaced);
    this.replaceEntry(undefined, entry);
  }

  /** What was deleted before its replacement goes, also when that has failed half-way; what was replaced goes at the end. */
  private condemn(urn: string, replaced: Entry | undefined): void {
    this.state = this.state
      .filter((one) => one.urn !== urn || !one.isPendingReplacement)
      .map((one) => (one === replaced ? { ...one, isDelete: true } : one));
  }

  private async create(provider: Provider, entry: Entry, replaced: Entry | undefined): Promise<void> {
    const { urn, inputs } = entry;
    if (this.isPreview) {
      await provider.previewOutputs?.(urn, undefined, inputs);
      return;
    }
    const operation: Operation = { operation: "create", urn };
    await this.write(
      entry,
      async () => {
        const created = await this.call(operation, () => provider.create(urn, inputs));
        operation.result = created.id;
        return created;
      },
      (made) => {
        this.condemn(urn, replaced);
        this.replaceEntry(undefined, made);
      },
    );
  }

  private async update(provider: Provider, old: Entry, entry: Entry, options: CallOptions): Promise<void> {
    const { urn, inputs } = entry;
    if (this.isPreview) {
      await provider.previewOutputs?.(urn, old, inputs);
      return;
    }
    await this.write(
      entry,
      () =>
        this.call({ operation: "update", urn, id: old.id }, () =>
          provider.update(urn, old.id, old.outputs, old.inputs, inputs, options),
        ),
      (updated) => this.replaceEntry(old, updated),
    );
  }

  /** Saves what a write has made of a resource, also if it has failed half-way. */
  private async write(
    entry: Entry,
    run: () => Promise<Partial<Entry>>,
    save: (written: Entry) => void,
  ): Promise<void> {
    try {
      save({ ...entry, ...(await run()) });
    } catch (error) {
      if (error instanceof OperationFailed && error.id !== undefined) {
        save({ ...entry, id: error.id, outputs: error.outputs ?? {}, hasInitErrors: true });
      }
      throw error;
    }
  }

  private async delete(entry: Entry): Promise<void> {
    if (this.isPreview || entry.retainOnDelete) return;
    const { urn, id, outputs, inputs } = entry;
    await this.call({ operation: "delete", urn, id }, () =>
      this.provider(entry).delete(urn, id, outputs, inputs),
    );
  }

  /** What was replaced, and what the program no longer has: dependents first, what is independent at once. */
  private async deleteAll(): Promise<void> {
    const { targets, isForDependents } = this.options;
    // With a target may go what depends on it, and only if it is a target too.
    const allowed = new Set(targets);
    if (targets) {
      for (const target of targets) {
        const entry = this.state.find(({ urn, isDelete }) => urn === target && !isDelete);
        if (entry) for (const { urn } of await this.replacedWith(entry)) allowed.add(urn);
      }
      for (const { urn, dependencies } of this.state)
        if (dependencies.some((dependency) => allowed.has(dependency))) allowed.add(urn);
    }
    // After an error not all of them were registered.
    const spared = new Set(this.errors.length > 0 ? this.options.program.flatMap(urnsOf) : []);
    const left = new Set(
      this.state.filter(
        ({ urn, isDelete }) =>
          (!targets || allowed.has(urn)) &&
          !this.options.excluded?.includes(urn) &&
          (isDelete || !(this.operated.has(urn) || spared.has(urn))),
      ),
    );
    for (const { urn } of left)
      if (!this.isTargeted(urn) && !isForDependents)
        throw new Error(`${urn} would be deleted, and is not among the targets`);
    // It is deleted already.
    for (const entry of left)
      if (entry.isPendingReplacement && !entry.isDelete) {
        left.delete(entry);
        this.remove(entry);
      }
    const failed = new Set<Entry>();
    while (left.size > 0 && !this.isFailed) {
      const needed = new Set([...left, ...failed].flatMap(({ dependencies }) => dependencies));
      const chain = [...left].filter(({ urn }) => !needed.has(urn));
      if (chain.length === 0 && failed.size > 0) return;
      // Old URNs may make a circle of dependencies, which is deleted at once.
      const batch = chain.length > 0 ? chain : [...left];
      await Promise.all(
        batch.map(async (entry) => {
          left.delete(entry);
          try {
            await this.delete(entry);
            this.remove(entry);
          } catch (error) {
            failed.add(entry);
            this.fail(error);
          }
        }),
      );
    }
  }
}

/** The old value, or none, for properties whose changes are to be ignored, and for parts such as `requestHeaders[0].value`. */
function ignoring(news: Properties, olds: Properties, paths: readonly string[] = []): Properties {
  const inputs = structuredClone(news);
  for (const path of paths) {
    const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
    const last = steps.pop() ?? "";
    const inside = (value: unknown): unknown =>
      steps.reduce((part, step) => (part as Properties)[step], value);
    const [target, source] = [inside(inputs) as Properties, inside(olds) as Properties];
    if (last in source) target[last] = source[last];
    else Reflect.deleteProperty(target, last);
  }
  return inputs;
}
