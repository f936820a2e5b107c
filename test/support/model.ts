import type { dynamic } from "@pulumi/pulumi";

import { systemClock } from "../../provider/api/clock";
import type { Clock } from "../../provider/api/clock";
import { domain } from "../../provider/definitions/domain";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { monitor } from "../../provider/definitions/monitor";
import { Session } from "../../provider/lifecycle/connection";

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

type Provider = Required<dynamic.ResourceProvider<Inputs, Inputs>>;

const definitions = { monitor, domain };
const text = 'exports.handler=()=>require("pulumi-uptime/provider")';

/**
 * One resource under an engine that does in memory what Pulumi's does: which provider methods are called, in which
 * order, with what. It lets thousands of cases run on the real provider code; samples of them run on the real engine.
 */
export class ModelStack {
  state: State | undefined;

  constructor(
    private readonly kind: keyof typeof definitions,
    private readonly config: Readonly<Record<string, string>>,
    private readonly options: Options = {},
    private readonly clock: Clock = systemClock,
    private provider = processOf(kind, clock),
  ) {
    this.configure();
  }

  /** Another resource of the same program: it shares this one's provider. */
  beside(options = this.options): ModelStack {
    return new ModelStack(this.kind, this.config, options, this.clock, this.provider);
  }

  /** Another run of Pulumi, which has a provider process of its own for this resource and those beside it. */
  nextRun(...beside: ModelStack[]): void {
    this.provider = processOf(this.kind, this.clock);
    for (const other of beside) other.provider = this.provider;
    this.configure();
  }

  private configure(): void {
    const { config } = this;
    void this.provider.configure({
      config: { get: (key: string) => config[key], require: (key: string) => config[key] ?? "" },
    });
  }

  /** What `pulumi preview` would say of the declared resource. */
  async preview(declared: Inputs): Promise<"same" | "create" | "update" | "replace"> {
    const { state } = this;
    const inputs = await this.check(declared);
    if (!state) return "create";
    const { changes, replaces } = wire(await this.provider.diff(state.id, wire(state.outputs), wire(inputs)));
    if (!changes) return state.unfinished ? "update" : "same";
    return (replaces ?? []).length > 0 ? "replace" : "update";
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
        const { outs } = await this.provider.update(old.id, wire(old.outputs), wire(inputs));
        return { id: old.id, outs };
      });
    else {
      const fresh = plan === "replace" ? await this.check(declared, {}) : inputs;
      await this.keeping(fresh, () => this.provider.create(wire(fresh)));
      if (old) await this.provider.delete(old.id, wire(old.outputs));
    }
    return plan;
  }

  /** What `pulumi up --replace` does, with the option `deleteBeforeReplace`: no diff, and no old inputs. */
  async replace(declared: Inputs): Promise<"replace"> {
    const inputs = await this.check(declared, {});
    await this.destroy();
    await this.keeping(inputs, () => this.provider.create(wire(inputs)));
    return "replace";
  }

  /** `pulumi refresh`. */
  async refresh(): Promise<void> {
    const { state } = this;
    if (!state) return;
    const { id, props, inputs } = wire(await this.provider.read(state.id, wire(state.outputs)));
    this.state =
      id === undefined
        ? undefined
        : {
            id,
            outputs: withProvider(props),
            inputs: withProvider(inputs ?? state.inputs),
            unfinished: false,
          };
  }

  async destroy(): Promise<void> {
    if (this.state) await this.provider.delete(this.state.id, wire(this.state.outputs));
    this.state = undefined;
  }

  private async check(declared: Inputs, olds = this.state?.inputs ?? {}): Promise<Inputs> {
    const news: Inputs = withProvider(declared);
    if (Object.keys(this.options).length > 0) news.__options = this.options;
    for (const key of this.options.ignoreChanges ?? [])
      if (this.state && key in olds) news[key] = olds[key];
      else if (this.state) Reflect.deleteProperty(news, key);
    const { inputs, failures } = wire(await this.provider.check(wire(olds), wire(news)));
    if (failures && failures.length > 0)
      throw new Error(failures.map(({ property, reason }) => `${property}: ${reason}`).join("\n"));
    return withProvider(inputs);
  }

  private async keeping(
    inputs: Inputs,
    operation: () => Promise<{ id: string; outs?: Inputs | undefined }>,
  ): Promise<void> {
    try {
      const { id, outs } = await operation();
      this.state = { id, inputs, outputs: withProvider(wire(outs)), unfinished: false };
    } catch (error) {
      if (error instanceof Error && "id" in error && "properties" in error)
        this.state = {
          id: String(error.id),
          inputs,
          outputs: revealed(wire(error.properties) as Inputs),
          unfinished: true,
        };
      throw error;
    }
  }
}

/** The provider in a process of its own. */
function processOf(kind: keyof typeof definitions, clock: Clock): Provider {
  return dynamicProvider(definitions[kind], new Session(clock)) as Provider;
}

const withProvider = (properties: Inputs | undefined): Inputs => ({
  ...revealed(properties),
  __provider: text,
});

/** The engine knows a secret by this key, and gives the provider nothing but the value. */
export const revealed = (properties: Inputs | undefined): Inputs =>
  Object.fromEntries(
    Object.entries(properties ?? {}).map(([key, value]) => [
      key,
      typeof value === "object" && value !== null && "4dabf18193072939515e22adb298388d" in value
        ? (value as unknown as { value: unknown }).value
        : value,
    ]),
  );

/** As through the engine: plain data only. The host never answers when a value is undefined, so that is an error. */
function wire<T>(value: T): T {
  const copy = structuredClone(value);
  assertPlain(copy);
  return copy;
}

function assertPlain(value: unknown, path = "", top = true): void {
  if (value === undefined && !top) throw new Error(`undefined at ${path}`);
  if (typeof value === "bigint") throw new Error(`bigint at ${path}`);
  if (typeof value !== "object" || value === null) return;
  for (const [key, entry] of Object.entries(value)) assertPlain(entry, `${path}.${key}`, false);
}
