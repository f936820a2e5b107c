import type { dynamic } from "@pulumi/pulumi";

import { domain } from "../../provider/definitions/domain";
import type { Definition } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { FrontSession } from "../../provider/engine/front-session";
import type { SessionDependencies } from "../../provider/lifecycle/session";
import { isMarked } from "./marks";

export type Properties = Record<string, unknown>;
export const kinds = ["domain", "monitor"] as const;
export type Kind = (typeof kinds)[number];
export type HostedProvider = Required<dynamic.ResourceProvider<Properties, Properties>>;
/** A stack's configuration, with the names that the program uses. */
export type Settings = Readonly<Record<string, string>>;
/** Starts a process of the provider, which serves resources of all kinds. */
export type StartProcess = (settings: Settings, surroundings: SessionDependencies) => ProviderProcess;

/** What two providers are called. */
export type ProviderNames = Readonly<Record<"old" | "present", string | undefined>>;

/** A resource as the engine knows it. */
type Known = Readonly<{ id: string } & Record<"inputs" | "outputs", Properties>>;

/** A process of the provider. */
export interface ProviderProcess extends Readonly<Record<Kind, Provider>> {
  /** What the engine sends at the first Ctrl-C, and at the end of every run. */
  cancel(): Promise<void>;
  /** SIGTERM: nothing more is begun. Resolves when the process is about to end. */
  finish(): Promise<void>;
  /** Whether resources that get this provider in place of another are replaced, where the engine asks that. */
  isAnotherAccount?(old: Settings, present: Settings, names: ProviderNames): Promise<boolean>;
}

/** Options of a resource that the engine passes on, where it does. */
export interface CallOptions {
  readonly ignoreChanges?: readonly string[] | undefined;
  /** The option customTimeouts for a read in seconds, which the engine passes to a plugin. */
  readonly timeout?: number;
}

/** The calls of the engine to a provider. What they throw is an {@link OperationFailed}. */
export interface Provider {
  check(urn: string, olds: Properties, news: Properties): Promise<{ inputs: Properties; failures: string[] }>;
  diff(
    urn: string,
    id: string,
    oldOutputs: Properties,
    oldInputs: Properties,
    news: Properties,
    options?: CallOptions,
  ): Promise<{
    changes: boolean;
    replaces: boolean;
    deleteBeforeReplace?: boolean;
    /** Of the plugin: the paths of what differs. */
    parts?: readonly string[];
  }>;
  /**
   * What a record is that a program imports, where the engine does that: with the inputs as they are checked.
   *
   * @param news undefined if `--target` leaves the resource out: nothing checks it
   * @param isOlderEngine before 3.274
   */
  import?(urn: string, id: string, news: Properties | undefined, isOlderEngine?: boolean): Promise<Known>;
  /** What a preview of a create or an update asks for, where the engine does that. */
  previewOutputs?(urn: string, old: Known | undefined, news: Properties): Promise<Properties>;
  create(urn: string, inputs: Properties): Promise<{ id: string; outputs: Properties }>;
  /** Undefined: gone. Inputs are undefined if they stay as they are. */
  read(
    urn: string,
    id: string,
    outputs: Properties,
    inputs: Properties,
    options?: CallOptions,
  ): Promise<{ id: string; outputs: Properties; inputs: Properties | undefined } | undefined>;
  update(
    urn: string,
    id: string,
    oldOutputs: Properties,
    oldInputs: Properties,
    news: Properties,
    options?: CallOptions,
  ): Promise<{ outputs: Properties }>;
  delete(urn: string, id: string, outputs: Properties, inputs: Properties): Promise<void>;
}

/** An operation failed; with an id the engine keeps the resource. */
export class OperationFailed extends Error {
  constructor(
    message: string,
    readonly id?: string,
    readonly outputs?: Properties,
    readonly reasons?: readonly string[],
  ) {
    super(message);
  }
}

const providerKey = "__provider";

/** Keeps out of the tests' own log what Pulumi's host would show. A test that reads it spies on `console.warn` itself. */
export function silenceHost(): void {
  beforeEach(() => void jest.spyOn(console, "warn").mockImplementation(() => undefined));
}

/** Pulumi's host of dynamic providers, in a process of its own. */
export function startDynamic(
  settings: Settings,
  surroundings: SessionDependencies,
  // The host shows waits in the engine's rows; without one they would be in the tests' own log.
  session = new FrontSession({ showWait: () => undefined, ...surroundings }),
): ProviderProcess {
  return {
    domain: dynamicCalls(hosted(domain, settings, session)),
    monitor: dynamicCalls(hosted(monitor, settings, session)),
    // Pulumi's host passes nothing on.
    cancel: () => Promise.resolve(),
    finish: () => finish(session),
  };
}

/** As `endAtSignal` does it. */
export function finish(session: FrontSession): Promise<void> {
  session.interrupt();
  return session.idle();
}

/** The provider of one kind as the host has it, which gives it the settings first. */
export function hosted(definition: Definition, settings: Settings, session: FrontSession): HostedProvider {
  const provider = dynamicProvider(definition, session) as HostedProvider;
  void provider.configure({
    config: { get: (key: string) => settings[key], require: (key: string) => settings[key] ?? "" },
  });
  return provider;
}

/** Calls through Pulumi's host of dynamic providers, as `@pulumi/pulumi/cmd/dynamic-provider` makes them. */
function dynamicCalls(host: HostedProvider): Provider {
  const including = (result: unknown, properties: Properties): Properties =>
    revealed({ ...(wire(result ?? {}) as Properties), [providerKey]: properties[providerKey] });
  return {
    check: (_urn, olds, news) =>
      called(async () => {
        const { inputs, failures } = await host.check(wire(olds), wire(news));
        for (const { reason } of failures ?? []) assertText(reason);
        return {
          inputs: including(inputs, news),
          failures: (failures ?? []).map(({ property, reason }) => `${property}: ${reason}`),
        };
      }),
    diff: (_urn, id, oldOutputs, _oldInputs, news) =>
      called(async () => {
        const {
          changes,
          replaces = [],
          deleteBeforeReplace,
        } = await host.diff(id, wire(oldOutputs), wire(news));
        if (typeof changes !== "boolean") throw new Error("diff did not say whether there are changes");
        return { changes, replaces: replaces.length > 0, deleteBeforeReplace: deleteBeforeReplace === true };
      }),
    create: (_urn, inputs) =>
      called(async () => {
        const { id, outs } = await host.create(wire(inputs));
        if (typeof id !== "string" || id === "") throw new Error("provider did not return an ID from Create");
        return { id, outputs: including(outs, inputs) };
      }),
    read: (_urn, id, outputs) =>
      called(async () => {
        const result = await host.read(id, wire(outputs));
        if (typeof result !== "object") throw new Error("read returned nothing");
        if (result.id === undefined || result.id === "") return undefined;
        return {
          id: result.id,
          outputs: including(result.props, outputs),
          inputs: result.inputs && including(result.inputs, outputs),
        };
      }),
    update: (_urn, id, oldOutputs, _oldInputs, news) =>
      called(async () => {
        const { outs } = await host.update(id, wire(oldOutputs), wire(news));
        return { outputs: including(outs, news) };
      }),
    delete: (_urn, id, outputs) => called(() => host.delete(id, wire(outputs))),
  };
}

/** What the host of the SDK makes of an error: the call fails, or the resource is kept. */
async function called<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const { message, id, properties, reasons } = error as Error & {
      id?: string;
      properties?: Properties;
      reasons?: string[];
    };
    assertText(message);
    if (!id) throw new OperationFailed(message);
    const kept = wire(properties ?? {});
    if (!(providerKey in kept)) throw new OperationFailed(`${message} [kept without ${providerKey}]`);
    for (const reason of reasons ?? []) assertText(reason);
    throw new OperationFailed(message, id, revealed(kept), reasons ?? []);
  }
}

/** Whether a message tells of what must never happen: a bug, or something that the host of the provider cannot deal with. */
export const isInternal = (message: string): boolean =>
  /ILL-FORMED|UNDEFINED at|BIGINT|TypeError|is not (?:a function|defined)|Cannot read|not iterable/.test(
    message,
  );

/** Whether a text holds no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** The host ends every message with `encodeURI`, which hangs the call on ill-formed text. */
export function assertText(text: string): void {
  if (!isWellFormed(text)) throw new OperationFailed(`ILL-FORMED: ${JSON.stringify(text)}`);
}

/** As through gRPC: plain data only, and well-formed; the host never answers otherwise. */
export function wire<T>(value: T): T {
  assertPlain(value, "");
  return JSON.parse(JSON.stringify(value)) as T;
}

function assertPlain(value: unknown, path: string): void {
  if (typeof value === "string" && !isWellFormed(value))
    throw new OperationFailed(`ILL-FORMED at ${path}: ${JSON.stringify(value)}`);
  if (value === undefined && path !== "") throw new OperationFailed(`UNDEFINED at ${path}`);
  if (typeof value === "bigint") throw new OperationFailed(`BIGINT at ${path}`);
  if (typeof value !== "object" || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    if (!isWellFormed(key)) throw new OperationFailed(`ILL-FORMED key at ${path}: ${JSON.stringify(key)}`);
    assertPlain(entry, `${path}.${key}`);
  }
}

/** The engine marks secrets, and gives the provider nothing but the value. */
export function revealed(properties: Properties = {}): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, isMarked(value) ? value.value : value]),
  );
}
