import { revealed, type Kind, type Properties, type Provider, type Settings } from "./calls";
import { isMarked } from "./marks";
import { entryOf, SimulatedEngine, urnOf, type Command, type Outcome, type Plan } from "./simulated/engine";

export type Inputs = Properties;

interface State {
  id: string;
  inputs: Inputs;
  outputs: Inputs;
  /** The last operation failed half-way: the next `up` updates whatever diff says. */
  unfinished: boolean;
}

export interface ResourceOptions {
  /** One of its own if it is not given. */
  name?: string | undefined;
  /** The type of the component that it is a child of. */
  parent?: string;
  ignoreChanges?: string[];
  replaceOnChanges?: string[];
}

/** What a resource knows of its program: `Program`. */
interface OfProgram {
  /** Those of the present run. */
  readonly settings: Settings;
  readonly providers: Readonly<Record<Kind, Provider>>;
  /** Each command has a run of its own. */
  readonly restarts: boolean;
  resource(kind: Kind, options: ResourceOptions): ModelResource;
  nextRun(changed?: Settings): void;
}

let stacks = 0;
const codeOf = (kind: Kind): string => `exports.handler=()=>require("pulumi-uptime/provider").${kind}`;

/** A resource of a program, which can be run again and again with other inputs. Thousands of cases take seconds. */
export class ModelResource {
  readonly name: string;
  readonly parent: string | undefined;
  private readonly engine: SimulatedEngine;

  constructor(
    readonly kind: Kind,
    private readonly program: OfProgram,
    private readonly options: ResourceOptions = {},
  ) {
    const { name, parent, ...passed } = options;
    this.name = name ?? `resource-${++stacks}`;
    this.parent = parent;
    this.engine = new SimulatedEngine(({ args, deleteBeforeReplace = false }) => {
      // To the plugin the engine passes the options itself.
      if (program.providers[kind].import) return Promise.resolve({ inputs: args, deleteBeforeReplace });
      // As the class does it.
      const secrets = Object.keys(args).filter((key) => isMarked(args[key]));
      const __options = { ...passed, owner: this.urnSuffix, ...(secrets.length > 0 && { secrets }) };
      const inputs = { __options, ...revealed(args), __provider: codeOf(kind) };
      return Promise.resolve({ inputs, deleteBeforeReplace });
    });
  }

  /** Another resource of the same program. */
  beside(options: ResourceOptions = {}): ModelResource {
    return this.program.resource(this.kind, { ...this.options, name: undefined, ...options });
  }

  /** Another run of the program. */
  nextRun(changed?: Settings): void {
    this.program.nextRun(changed);
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
    const known = { id, inputs, outputs: { __provider: codeOf(this.kind), ...outputs }, hasInitErrors };
    this.engine.state = [entryOf(this, known)];
  }

  /** What tells it from others in its stack. */
  get urnSuffix(): string {
    return urnOf(this).split("::").slice(2).join("::");
  }

  /** What `pulumi preview` would say of the declared resource. */
  async preview(declared: Inputs): Promise<Plan | undefined> {
    if (this.program.restarts) this.nextRun();
    const { plans } = await this.run("up", declared, { isPreview: true });
    return [...plans.values()][0];
  }

  /** `pulumi up`: throws what the person would see, and keeps in state what the engine would keep. */
  async up(declared: Inputs): Promise<Plan | undefined> {
    const plan = await this.preview(declared);
    await this.run("up", declared);
    return plan;
  }

  /** An import by the option of that name. On the plugin the engine makes it, and state here stays as it is. */
  async import(id: string, declared: Inputs): Promise<unknown> {
    const imported = this.program.providers[this.kind].import?.(urnOf(this), id, declared);
    return imported ?? this.up({ ...declared, importId: id.replace(/^.*\//, "") });
  }

  /** `pulumi up --replace`. */
  async replace(declared: Inputs, { deleteBeforeReplace = true } = {}): Promise<void> {
    await this.run("up", declared, { isReplaced: true, deleteBeforeReplace });
  }

  /** `pulumi refresh`. */
  async refresh(): Promise<void> {
    if (this.program.restarts) this.nextRun();
    await this.run("refresh");
  }

  /** `pulumi destroy`, or what `pulumi up` does with a resource that the program no longer has. */
  async destroy(): Promise<void> {
    await this.run("destroy");
  }

  private async run(
    command: Command,
    args: Inputs = {},
    { isPreview = false, isReplaced = false, deleteBeforeReplace = false } = {},
  ): Promise<Outcome> {
    const { kind, name, parent } = this;
    const { ignoreChanges } = this.options;
    const { settings, providers } = this.program;
    const declared = { kind, name, parent, args, ignoreChanges, deleteBeforeReplace };
    const outcome = await this.engine.run(
      { provider: () => providers[kind] },
      { command, settings, program: [declared], isPreview, replace: isReplaced ? [urnOf(this)] : undefined },
    );
    const [error] = outcome.errors;
    if (error) throw error;
    return outcome;
  }
}
