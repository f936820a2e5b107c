import type { dynamic } from "@pulumi/pulumi";
import * as pulumi from "@pulumi/pulumi";

import * as uptime from "../../../provider";
import type { Kind } from "./api";
import type { SimulatedProcess } from "./process";

export type Properties = Record<string, unknown>;

/** A resource as a program declares it. */
export interface Declared {
  readonly kind: Kind;
  readonly name: string;
  /** The type of the component that it is a child of; the component itself has one name for all types. */
  readonly parent?: string;
  readonly args: Properties;
  readonly import?: string;
  readonly ignoreChanges?: readonly string[];
  /** Aliases: what it was before. */
  readonly formerly?: readonly { readonly name: string; readonly parent?: string | undefined }[];
  /** Names of resources, each with its parent, that must be there before. */
  readonly after?: readonly string[];
}

/** What the engine is told of a resource: its inputs as they travel, and the options that are the engine's own. */
export interface Goal {
  readonly inputs: Properties;
  readonly deleteBeforeReplace: boolean;
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
  ): Promise<{ changes: boolean; replaces: boolean }>;
  create(urn: string, inputs: Properties): Promise<{ id: string; outputs: Properties }>;
  /** Undefined: gone. Inputs are undefined if they stay as they are. */
  read(
    urn: string,
    id: string,
    outputs: Properties,
    inputs: Properties,
  ): Promise<{ id: string; outputs: Properties; inputs: Properties | undefined } | undefined>;
  update(
    urn: string,
    id: string,
    oldOutputs: Properties,
    oldInputs: Properties,
    news: Properties,
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

/** One of the ways in which Pulumi drives the provider. */
export interface Front {
  readonly name: string;
  /** What a program's resource becomes on its way to the engine. */
  register(declared: Declared, settings: Readonly<Record<string, string>>): Promise<Goal>;
  /** The provider of one process, for resources of one kind. */
  provider(process: SimulatedProcess, kind: Kind, settings: Readonly<Record<string, string>>): Provider;
}

/** The value that stands for one that is not known yet. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const providerKey = "__provider";

/** Pulumi's host of dynamic providers, as `@pulumi/pulumi/cmd/dynamic-provider` does it. */
export const dynamicFront: Front = {
  name: "dynamic",

  register(declared, settings) {
    // Aliases and dependencies are the engine's own.
    const { formerly: _, after: __, ...told } = declared;
    const key = JSON.stringify([told, settings]);
    let goal = goals.get(key);
    if (!goal) goals.set(key, (goal = registered(declared, settings)));
    return goal;
  },

  provider(process, kind, settings) {
    // What the text in every resource's state asks for.
    const providers = process.load("provider/provider") as Record<Kind, dynamic.ResourceProvider>;
    const host = providers[kind] as Required<dynamic.ResourceProvider<Properties, Properties>>;
    void host.configure({
      config: { get: (name: string) => settings[name], require: (name: string) => settings[name] ?? "" },
    });
    const including = (result: unknown, properties: Properties): Properties =>
      revealed({ ...(wire(result ?? {}) as Properties), [providerKey]: properties[providerKey] });
    return {
      check: (_urn, olds, news) =>
        called(async () => {
          const { inputs, failures } = await host.check(wire(olds), wire(news));
          for (const { reason } of failures ?? []) assertText(reason);
          return {
            inputs: including(inputs, news),
            failures: (failures ?? []).map(({ property, reason }) => `${property} ${reason}`.trim()),
          };
        }),
      diff: (_urn, id, oldOutputs, _oldInputs, news) =>
        called(async () => {
          const { changes, replaces = [] } = await host.diff(id, wire(oldOutputs), wire(news));
          if (typeof changes !== "boolean") throw new Error("diff did not say whether there are changes");
          return { changes, replaces: replaces.length > 0 };
        }),
      create: (_urn, inputs) =>
        called(async () => {
          const { id, outs } = await host.create(wire(inputs));
          if (typeof id !== "string" || id === "")
            throw new Error("provider did not return an ID from Create");
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
  },
};

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

/** Whether a text holds no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** The host ends every message with `encodeURI`, which hangs the call on ill-formed text. */
function assertText(text: string): void {
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

const secretKey = "4dabf18193072939515e22adb298388d";

/** The engine marks secrets, and gives the provider nothing but the value. */
export function revealed(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      typeof value === "object" && value !== null && secretKey in value
        ? (value as unknown as { value: unknown }).value
        : value,
    ]),
  );
}

const goals = new Map<string, Promise<Goal>>();

interface Registration {
  getName(): string;
  getType(): string;
  getObject(): { toJavaScript(): Properties };
  getDeletebeforereplace(): boolean;
}

/** Runs a program of one resource on Pulumi's SDK, with an engine that only listens. */
async function registered(
  { kind, name, parent, args, ...options }: Declared,
  settings: Readonly<Record<string, string>>,
): Promise<Goal> {
  // Programs share the SDK's settings, so they run one after the other.
  const goal = running.then(async () => {
    await pulumi.runtime.setMocks(
      {
        newResource: ({ inputs, id, name: resource }) => ({
          id: id ?? resource,
          state: inputs as Properties,
        }),
        call: () => ({}),
      },
      "project",
      "stack",
    );
    pulumi.runtime.setAllConfig({ ...settings });
    const monitor = pulumi.runtime.getMonitor() as unknown as {
      registerResource(request: Registration, answer: unknown): Promise<void>;
    };
    const listen = monitor.registerResource.bind(monitor);
    const seen = new Promise<Registration>((resolve) => {
      monitor.registerResource = (request, answer) => {
        if (request.getName() === name && request.getType().includes("uptime")) resolve(request);
        return listen(request, answer);
      };
    });
    const component = parent === undefined ? undefined : new pulumi.ComponentResource(parent, "part");
    const Class = kind === "monitor" ? uptime.Monitor : uptime.Domain;
    const resource = new Class(name, args as never, {
      ...(component && { parent: component }),
      ...(options.import !== undefined && { import: options.import }),
      ...(options.ignoreChanges && { ignoreChanges: [...options.ignoreChanges] }),
    });
    const request = await seen;
    await new Promise((resolve) => resource.urn.apply(resolve));
    return {
      inputs: revealed(request.getObject().toJavaScript()),
      deleteBeforeReplace: request.getDeletebeforereplace(),
    };
  });
  running = goal.catch(() => undefined);
  return goal;
}

let running: Promise<unknown> = Promise.resolve();
