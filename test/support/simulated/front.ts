import * as pulumi from "@pulumi/pulumi";

import * as uptime from "../../../provider";
import { revealed, startDynamic, type Properties, type Settings, type StartProcess } from "../calls";
import { startPlugin } from "../plugin-calls";
import type { Declared, Goal, Register } from "./engine";

/** One of the ways in which Pulumi drives the provider. */
export interface Front {
  readonly name: string;
  readonly register: Register;
  readonly start: StartProcess;
}

/** Pulumi's host of dynamic providers, as `@pulumi/pulumi/cmd/dynamic-provider` does it. */
export const dynamicFront: Front = {
  name: "dynamic",
  register: (declared, settings) => {
    // Aliases and dependencies are the engine's own.
    const { formerly: _, after: __, uses: ___, ...told } = declared;
    const key = JSON.stringify([told, settings]);
    let goal = goals.get(key);
    if (!goal) goals.set(key, (goal = registered(declared, settings)));
    return goal;
  },
  start: startDynamic,
};

/** The provider plugin, as a program in YAML uses it. */
export const pluginFront: Front = {
  name: "plugin",
  register: ({ args, import: id, deleteBeforeReplace = false }) =>
    Promise.resolve({ inputs: args, deleteBeforeReplace, ...(id !== undefined && { importId: id }) }),
  start: startPlugin,
};

export const simulatedFronts = [dynamicFront, pluginFront] as const;

const goals = new Map<string, Promise<Goal>>();

interface Registration {
  getName(): string;
  getType(): string;
  getObject(): { toJavaScript(): Properties };
  getDeletebeforereplace(): boolean;
}

/** Runs a program of one resource on Pulumi's SDK, with an engine that only listens. */
async function registered({ kind, name, parent, args, ...options }: Declared, settings: Settings) {
  // Programs share the SDK's settings, so they run one after the other.
  const goal = running.then(async () => {
    await pulumi.runtime.setMocks(
      {
        newResource: ({ inputs, id, name }) => ({ id: id ?? name, state: inputs as Properties }),
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
      ...(options.deleteBeforeReplace && { deleteBeforeReplace: true }),
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
