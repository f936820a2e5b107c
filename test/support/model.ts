import type { dynamic } from "@pulumi/pulumi";

import { systemClock } from "../../provider/api/clock";
import type { Clock } from "../../provider/api/clock";
import { domain } from "../../provider/definitions/domain";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { monitor } from "../../provider/definitions/monitor";
import { Session } from "../../provider/lifecycle/session";
import { dynamicCalls, OperationFailed } from "./calls";
import type { Provider } from "./calls";

export type Inputs = Record<string, unknown>;

interface State {
  id: string;
  inputs: Inputs;
  outputs: Inputs;
  /** The last operation failed half-way: the next `up` updates whatever diff says. */
  unfinished: boolean;
}

interface Options {
  ignoreChanges?: string[];
  replaceOnChanges?: string[];
  /** With the input `importId`, as the class hands over the option `import`. */
  importer?: string;
}

/** The provider of one process, with the settings of a stack. */
export type ProviderOf = (
  kind: keyof typeof definitions,
  config: Readonly<Record<string, string>>,
  clock: Clock,
) => Provider;

const definitions = { monitor, domain };
let stacks = 0;
const text = 'exports.handler=()=>require("pulumi-uptime/provider")';

/**
 * One resource under an engine that does in memory what Pulumi's does: which provider methods are called, in which
 * order, with what. It lets thousands of cases run on the real provider code; samples of them run on the real engine.
 */
export class ModelStack {
  state: State | undefined;
  private readonly urn: string;

  /** @param providerOf how a process begins: with dynamic resources if it is not given */
  constructor(
    private readonly kind: keyof typeof definitions,
    private readonly config: Readonly<Record<string, string>>,
    private readonly options: Options = {},
    private readonly clock: Clock = systemClock,
    private readonly providerOf: ProviderOf = dynamicProcess(),
    private provider = providerOf(kind, config, clock),
  ) {
    this.urn = `urn:pulumi:stack::project::x::resource-${++stacks}`;
  }

  /** Another resource of the same program: it shares this one's provider. */
  beside(options = this.options): ModelStack {
    return new ModelStack(this.kind, this.config, options, this.clock, this.providerOf, this.provider);
  }

  /** Another run of Pulumi, which has a provider process of its own for this resource and those beside it. */
  nextRun(...beside: ModelStack[]): void {
    this.provider = this.providerOf(this.kind, this.config, this.clock);
    for (const other of beside) other.provider = this.provider;
  }

  /** What `pulumi preview` would say of the declared resource. */
  async preview(declared: Inputs): Promise<"same" | "create" | "update" | "replace"> {
    const { state } = this;
    const inputs = await this.check(declared);
    if (!state) {
      await this.provider.expected?.(this.urn, undefined, inputs);
      return "create";
    }
    const { changes, replaces } = await this.provider.diff(
      this.urn,
      state.id,
      state.outputs,
      state.inputs,
      inputs,
      this.options,
    );
    if (!changes && !state.unfinished) return "same";
    await this.provider.expected?.(this.urn, replaces ? undefined : state, inputs);
    return changes && replaces ? "replace" : "update";
  }

  /** `pulumi up`: throws what the person would see, and keeps in state what the engine would keep. */
  async up(declared: Inputs): Promise<"same" | "create" | "update" | "replace"> {
    const plan = await this.preview(declared);
    const old = this.state;
    if (plan === "replace" && "importId" in declared) return this.replace(declared);
    const inputs = await this.check(declared);
    if (plan === "same" && old) this.state = { ...old, inputs };
    else if (plan === "update" && old)
      await this.keeping(inputs, async () => {
        const { id, outputs, inputs: olds } = old;
        return { id, ...(await this.provider.update(this.urn, id, outputs, olds, inputs, this.options)) };
      });
    else {
      const fresh = plan === "replace" ? await this.check(declared, {}) : inputs;
      await this.keeping(fresh, () => this.provider.create(this.urn, fresh));
      if (old) await this.provider.delete(this.urn, old.id, old.outputs, old.inputs);
    }
    return plan;
  }

  /** What `pulumi up --replace` does, with the option `deleteBeforeReplace`: no diff, and no old inputs. */
  async replace(declared: Inputs): Promise<"replace"> {
    const inputs = await this.check(declared, {});
    await this.drop();
    await this.keeping(inputs, () => this.provider.create(this.urn, inputs));
    return "replace";
  }

  /** `pulumi refresh`. */
  async refresh(): Promise<void> {
    const { state } = this;
    if (!state) return;
    const read = await this.provider.read(this.urn, state.id, state.outputs, state.inputs);
    this.state = read && { ...read, inputs: read.inputs ?? state.inputs, unfinished: false };
  }

  /** `pulumi destroy`, in a process of its own. */
  async destroy(): Promise<void> {
    this.nextRun();
    await this.drop();
  }

  /** What `pulumi up` does with a resource that the program no longer has. */
  async drop(): Promise<void> {
    const { state } = this;
    if (state) await this.provider.delete(this.urn, state.id, state.outputs, state.inputs);
    this.state = undefined;
  }

  private async check(declared: Inputs, olds = this.state?.inputs ?? {}): Promise<Inputs> {
    const news: Inputs = { ...declared, __provider: text };
    if (Object.keys(this.options).length > 0) news.__options = this.options;
    for (const key of this.options.ignoreChanges ?? [])
      if (this.state && key in olds) news[key] = olds[key];
      else if (this.state) Reflect.deleteProperty(news, key);
    const { inputs, failures } = await this.provider.check(this.urn, olds, news);
    if (failures.length > 0) throw new Error(failures.join("\n"));
    return inputs;
  }

  private async keeping(
    inputs: Inputs,
    operation: () => Promise<{ id: string; outputs: Inputs }>,
  ): Promise<void> {
    try {
      this.state = { ...(await operation()), inputs, unfinished: false };
    } catch (error) {
      if (error instanceof OperationFailed && error.id !== undefined)
        this.state = { id: error.id, inputs, outputs: error.outputs ?? {}, unfinished: true };
      throw error;
    }
  }
}

/**
 * Dynamic resources in a process of their own.
 *
 * @param shared what this process shares with others, in place of a session of its own
 */
export function dynamicProcess(shared?: Session): ProviderOf {
  return (kind, config, clock) => {
    const provider = dynamicProvider(definitions[kind], shared ?? new Session({ clock }));
    const host = provider as Required<dynamic.ResourceProvider<Inputs, Inputs>>;
    void host.configure({
      config: { get: (key: string) => config[key], require: (key: string) => config[key] ?? "" },
    });
    return dynamicCalls(host);
  };
}
