import { isDeepStrictEqual } from "node:util";

import type { dynamic } from "@pulumi/pulumi";

import { readLogLevel, readSettings } from "../api/settings";
import type { Config } from "../api/settings";
import type { Definition } from "../definitions/field";
import { create } from "../lifecycle/create";
import { read } from "../lifecycle/read";
import type { Options, Outputs } from "../lifecycle/resource";
import { Session } from "../lifecycle/session";
import { update } from "../lifecycle/update";
import { frontOf } from "./collect";
import { OperationError } from "./operation-error";
import { decodeDeclaration, decodeOptions, decodeOutputs, isManaged } from "./request";
import type { Properties } from "./request";

/**
 * The front for the dynamic provider host of Pulumi's Node.js SDK. It keeps the host's habits away from the lifecycle: how
 * it says "gone", what an error must carry, and what it must not.
 *
 * @param session what the resources of all kinds share in this process
 */
export function dynamicProvider(definition: Definition, session = new Session()): dynamic.ResourceProvider {
  let config: Config = { get: () => undefined };
  const engineCalls = new EngineCalls();
  const front = frontOf(
    {
      definition,
      session,
      settingsOf: (account) => readSettings(config, process.env, account),
      show: (_severity, text) => {
        // The engine shows what its plugins print.
        console.warn(text);
      },
    },
    process.env,
  );

  const run = async <T>(operation: () => T | Promise<T>, ...properties: Properties[]): Promise<T> => {
    try {
      return await front.run(operation, ...properties);
    } catch (error) {
      throw error instanceof OperationError ? hostError(error, properties[0]?.__provider) : error;
    }
  };

  const optionsOf = (properties: Properties, operation?: "create" | "update" | "delete"): Options => ({
    ...decodeOptions(properties, operation),
    ...front.optionsOf(properties),
  });

  return {
    // The host may call other methods before this one has ended, and goes on without it after an error. So it only
    // remembers; what is missing is reported by the first call that needs it.
    // eslint-disable-next-line @typescript-eslint/require-await
    configure: async (request) => {
      config = request.config;
      // So that a run that sends nothing is summarized too.
      session.logOf(readLogLevel(config));
    },
    check: (olds: Properties, news: Properties) =>
      run(async () => {
        const declaration = decodeDeclaration(olds, news);
        const { inputs, problems } = await front.check({
          declaration,
          news,
          isInState: Object.keys(olds).length > 0,
          importId: typeof declaration.importId === "string" ? declaration.importId : undefined,
        });
        // With a property's name, the engine would print the value beside it: a password, or one under a mistyped name.
        return { inputs, failures: problems.map((reason) => ({ property: "", reason })) };
      }, news),
    diff: (id, olds: Properties, news: Properties) =>
      run(
        () => {
          const outputs = decodeOutputs(definition, olds);
          engineCalls.countDiff(id, outputs);
          const { changed, replaces, deleteBeforeReplace } = front.diff(id, outputs, news, {
            ...optionsOf(news),
            isDeclared: engineCalls.isDeclared(id, outputs),
          });
          return {
            changes: changed.length > 0 || isOfPlugin(olds, news),
            replaces: [...replaces],
            deleteBeforeReplace,
          };
        },
        olds,
        news,
      ),
    create: (properties: Properties) =>
      run(async () => {
        const { id, outputs } = await front.save(
          (scope, inputs) => create(scope, inputs, optionsOf(properties, "create")),
          properties,
        );
        return { id, outs: outputs };
      }, properties),
    read: (id, properties: Properties) =>
      run(async () => {
        if (!isManaged(properties)) {
          const found = await front.readOnly(id, properties, optionsOf(properties));
          return found ? { id, props: found.outputs, inputs: found.inputs } : {};
        }
        const outputs = decodeOutputs(definition, properties);
        engineCalls.countRead(id, outputs);
        const state = await read(front.connect(outputs.account), id, outputs, optionsOf(properties));
        if (!state) return {};
        const plain = front.encoder.outputs(state.outputs, properties);
        const props = front.encoder.markSecrets(plain);
        // Without inputs in the answer, the engine keeps its own and does not compare them.
        const isSame = (key: string): boolean =>
          key === "__key" || isDeepStrictEqual(plain[key], properties[key]);
        const keys = new Set([...Object.keys(plain), ...Object.keys(properties)]);
        keys.delete("__provider");
        if ([...keys].every(isSame)) return { id, props };
        const { attributes, __server, __key, __claim, __partial, ...inputs } = props;
        return { id, props, inputs };
      }, properties),
    update: (id, olds: Properties, news: Properties) =>
      run(
        async () => {
          const old = decodeOutputs(definition, olds);
          const { outputs } = await front.save(
            (scope, inputs) => update(scope, id, old, inputs, optionsOf(news, "update")),
            news,
            [olds],
          );
          return { outs: outputs };
        },
        news,
        olds,
      ),
    delete: (id, properties: Properties) =>
      run(
        () => front.delete(id, decodeOutputs(definition, properties), optionsOf(properties, "delete")),
        properties,
      ),
  };
}

function hostError({ message, kept }: OperationError, provider: unknown): Error {
  // The host prints the name, the message and then the stack: the message is to be read once.
  const error = Object.assign(new Error(message), { stack: "" });
  if (!kept) return error;
  // Only an error with these three keeps the resource in state; `reasons` is what the person reads.
  const properties = { ...kept.outputs, __provider: provider };
  return Object.assign(error, { id: kept.id, properties, reasons: [message] });
}

/**
 * Tells whether a program declares a resource. A refresh compares each resource once after it has read it, whether or not the
 * program has it; a further comparison comes from the program.
 */
class EngineCalls {
  /** The number of comparisons minus the number of reads. */
  private readonly surplus = new Map<string, number>();

  countRead(id: string, outputs: Outputs): void {
    this.add(id, outputs, -1);
  }

  countDiff(id: string, outputs: Outputs): void {
    this.add(id, outputs, 1);
  }

  isDeclared(id: string, outputs: Outputs): boolean {
    return (this.surplus.get(keyOf(id, outputs)) ?? 0) > 0;
  }

  private add(id: string, outputs: Outputs, step: number): void {
    const key = keyOf(id, outputs);
    this.surplus.set(key, (this.surplus.get(key) ?? 0) + step);
  }
}

function keyOf(id: string, { account, claim }: Outputs): string {
  return JSON.stringify([account, id, claim]);
}

/**
 * State that the provider plugin has left lacks the provider's code, and the host looks for it there at a refresh or a
 * delete. An update puts it there.
 */
function isOfPlugin(olds: Properties, news: Properties): boolean {
  return olds.__provider === undefined && news.__provider !== undefined;
}
