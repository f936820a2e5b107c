import type { dynamic } from "@pulumi/pulumi";
import * as pulumi from "@pulumi/pulumi";

import * as uptime from "../../../provider";
import { dynamicCalls, revealed } from "../calls";
import type { Properties, Provider } from "../calls";
import type { Kind } from "./api";
import type { SimulatedProcess } from "./process";

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
  /** The record that the engine itself is to import. */
  readonly importId?: string;
}

/** One of the ways in which Pulumi drives the provider. */
export interface Front {
  readonly name: string;
  /** What a program's resource becomes on its way to the engine. */
  register(declared: Declared, settings: Readonly<Record<string, string>>): Promise<Goal>;
  /** The provider of one process, for resources of one kind. */
  provider(process: SimulatedProcess, kind: Kind, settings: Readonly<Record<string, string>>): Provider;
}

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
    return dynamicCalls(host);
  },
};

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
