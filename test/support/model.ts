import { systemClock, type Clock } from "../../provider/api/clock";
import { startDynamic } from "./calls";
import type { Kind, Properties, Provider, Settings, StartProcess } from "./calls";
import { entryOf, SimulatedEngine, urnOf, type Command, type Outcome, type Plan } from "./simulated/engine";

export type Inputs = Properties;

interface State {
  id: string;
  inputs: Inputs;
  outputs: Inputs;
  /** The last operation failed half-way: the next `up` updates whatever diff says. */
  unfinished: boolean;
}

interface Options {
  /** One of its own if it is not given. */
  name?: string | undefined;
  /** The type of the component that it is a child of. */
  parent?: string;
  ignoreChanges?: string[];
  replaceOnChanges?: string[];
  clock?: Clock;
  /** How a process begins: with dynamic resources if it is not given. */
  start?: (...args: Parameters<StartProcess>) => Providers;
  /** Gives each command a process, because the plugin takes nothing that its own process has made for what state holds. */
  restarts?: boolean;
}

type Providers = Readonly<Record<Kind, Provider>>;

let stacks = 0;
const text = 'exports.handler=()=>require("pulumi-uptime/provider")';

/** A program of one resource, which can be run again and again with other inputs. Thousands of cases take seconds. */
export class ModelStack {
  readonly name: string;
  readonly parent: string | undefined;
  private readonly engine: SimulatedEngine;
  private readonly begin: () => Providers;
  private readonly restarts: boolean;
  private providers: Providers;

  constructor(
    readonly kind: Kind,
    /** Those of the present run. */
    public config: Settings,
    private readonly options: Options = {},
  ) {
    const { name, parent, clock = systemClock, start = startDynamic, restarts = false, ...passed } = options;
    this.begin = () => start(this.config, { clock });
    this.restarts = restarts;
    this.providers = this.begin();
    this.name = name ?? `resource-${++stacks}`;
    this.parent = parent;
    this.engine = new SimulatedEngine(({ args, deleteBeforeReplace = false }) => {
      // To the plugin the engine passes the options itself.
      if (this.providers[kind].import) return Promise.resolve({ inputs: args, deleteBeforeReplace });
      // As the class does it.
      const mayClaim = "importId" in args || this.config["uptime:adoptExisting"] === "true";
      const all = { ...passed, ...(mayClaim && { resource: this.owner }) };
      const __options = Object.keys(all).length > 0 ? { __options: all } : {};
      return Promise.resolve({
        inputs: { ...__options, ...args, __provider: text },
        deleteBeforeReplace: deleteBeforeReplace || mayClaim,
      });
    });
  }

  /** Another resource of the same program: it shares this one's provider. */
  beside(options: Options = {}): ModelStack {
    const other = new ModelStack(this.kind, this.config, { ...this.options, name: undefined, ...options });
    other.providers = this.providers;
    return other;
  }

  /** Another run of Pulumi, which has a provider process of its own for this resource and those beside it. */
  nextRun(...beside: ModelStack[]): void {
    this.providers = this.begin();
    for (const other of beside) other.providers = this.providers;
  }

  get state(): State | undefined {
    const entry = this.engine.state.find((one) => !one.isDelete && !one.isPendingReplacement);
    if (!entry) return undefined;
    const { id, inputs, outputs, hasInitErrors } = entry;
    return { id, inputs, outputs, unfinished: hasInitErrors };
  }

  set state(state: State | undefined) {
    if (!state) {
      this.engine.state = [];
      return;
    }
    const { id, inputs, outputs, unfinished: hasInitErrors } = state;
    const known = { id, inputs, outputs: { __provider: text, ...outputs }, hasInitErrors };
    this.engine.state = [entryOf(this, known)];
  }

  /** What identifies it in its stack. */
  get owner(): string {
    return urnOf(this).split("::").slice(2).join("::");
  }

  /** What `pulumi preview` would say of the declared resource. */
  async preview(declared: Inputs): Promise<Plan | undefined> {
    if (this.restarts) this.nextRun();
    const { plans } = await this.run("up", declared, { isPreview: true });
    return [...plans.values()][0];
  }

  /** `pulumi up`: throws what the person would see, and keeps in state what the engine would keep. */
  async up(declared: Inputs): Promise<Plan | undefined> {
    const plan = await this.preview(declared);
    await this.run("up", declared);
    return plan;
  }

  /** `pulumi up --replace`, with the option `deleteBeforeReplace`. */
  async replace(declared: Inputs): Promise<void> {
    await this.run("up", declared, { isReplaced: true });
  }

  /** `pulumi refresh`. */
  async refresh(): Promise<void> {
    if (this.restarts) this.nextRun();
    await this.run("refresh");
  }

  /** `pulumi destroy`, in a process of its own. */
  async destroy(): Promise<void> {
    this.nextRun();
    await this.run("destroy");
  }

  /** What `pulumi up` does with a resource that the program no longer has. */
  async drop(): Promise<void> {
    await this.run("destroy");
  }

  private async run(
    command: Command,
    args: Inputs = {},
    { isPreview = false, isReplaced = false } = {},
  ): Promise<Outcome> {
    const { kind, name, parent, config: settings, providers } = this;
    const { ignoreChanges } = this.options;
    const declared = {
      kind,
      name,
      parent,
      args,
      ...(ignoreChanges && { ignoreChanges }),
      deleteBeforeReplace: isReplaced,
    };
    const outcome = await this.engine.run(
      { provider: () => providers[kind] },
      {
        command,
        settings,
        program: [declared],
        isPreview,
        ...(isReplaced && { replace: [urnOf(declared)] }),
      },
    );
    const [error] = outcome.errors;
    if (error) throw error;
    return outcome;
  }
}
