import { isDeepStrictEqual } from "node:util";

import type { dynamic } from "@pulumi/pulumi";

import type { Message } from "../api/errors";
import { readLogLevel, readSettings } from "../api/settings";
import type { Config, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { check } from "../lifecycle/check";
import { create } from "../lifecycle/create";
import { remove } from "../lifecycle/delete";
import { diff } from "../lifecycle/diff";
import { read, readOnly } from "../lifecycle/read";
import { PartialFailureError } from "../lifecycle/resource";
import type { Options, Outputs } from "../lifecycle/resource";
import { Session } from "../lifecycle/session";
import { update } from "../lifecycle/update";
import { Collector, collecting, collectVariable } from "./collect";
import {
  decodeDeclaration,
  decodeInputs,
  decodeOptions,
  decodeOutputs,
  encodeInputs,
  Encoder,
  isInState,
  isManaged,
} from "./request";
import type { Properties } from "./request";

/**
 * Puts a lifecycle into the dynamic provider host of Pulumi's Node.js SDK, and keeps the host's habits away from it: how
 * it says "gone", what an error must carry, and what it must not.
 *
 * @param session what the resources of all kinds share in this process
 */
export function dynamicProvider(definition: Definition, session = new Session()): dynamic.ResourceProvider {
  let config: Config = { get: () => undefined };
  const settingsOf = (account: string | undefined): Settings => readSettings(config, process.env, account);
  const connect = session.connector(definition, settingsOf);
  const engineCalls = new EngineCalls();
  const encoder = new Encoder(definition, session.keys);

  const stateOf = (outputs: Outputs, from: Properties): Properties =>
    encoder.marked(encoder.outputs(outputs, from));

  /** Runs an operation; what it throws is an error as the host needs it. */
  const guarded = async <T>(run: () => T | Promise<T>, ...properties: Properties[]): Promise<T> => {
    try {
      return await session.run(run);
    } catch (error) {
      const text = encoder.error(error, ...properties);
      // The host prints the name, the message and then the stack: the message is to be read once.
      const failure = Object.assign(new Error(text), { stack: "" });
      if (!(error instanceof PartialFailureError)) throw failure;
      const [from = {}] = properties;
      // Only an error with these three keeps the resource in state; `reasons` is what the person reads.
      throw Object.assign(failure, {
        id: error.id,
        // State keeps the inputs that were asked for, so that the next read finds the difference.
        properties: { ...stateOf(error.outputs, from), __provider: from.__provider },
        reasons: [text],
      });
    }
  };

  const announce = (announcement: Message | undefined, from: Properties): void => {
    if (announcement === undefined) return;
    session.announce(() => {
      // The engine shows what its plugins print.
      console.warn(encoder.message(announcement, from));
    });
  };

  const optionsOf = (properties: Properties, operation?: "create" | "update" | "delete"): Options => ({
    ...decodeOptions(properties, operation),
    mayHaveOldSettings: isInState(properties) && !session.hasProgram,
    interruption: session.interruption,
  });

  const provider: dynamic.ResourceProvider = {
    // The host may call other methods before this one has ended, and goes on without it after an error. So it only
    // remembers; what is missing is reported by the first call that needs it.
    // eslint-disable-next-line @typescript-eslint/require-await
    configure: async (request) => {
      config = request.config;
      // So that a run that sends nothing is summarized too.
      session.logOf(readLogLevel(config));
    },
    check: (olds: Properties, news: Properties) =>
      guarded(async () => {
        session.hasProgram = true;
        const { inputs, problems, announcement, notes } = await check(
          definition,
          connect,
          decodeDeclaration(olds, news),
        );
        announce(announcement, news);
        for (const note of notes) console.warn(encoder.message(note, news));
        if (problems.length > 0) session.noteRefusal();
        // With a property's name, the engine would print the value beside it: a password, or one under a mistyped name.
        const failures = encoder.problems(problems, news).map((reason) => ({ property: "", reason }));
        return { inputs: encoder.marked(encodeInputs(inputs, news)), failures };
      }, news),
    diff: (id, olds: Properties, news: Properties) =>
      guarded(
        () => {
          const outputs = decodeOutputs(definition, olds);
          const options = { ...optionsOf(news), isDeclared: engineCalls.diffIsDeclared(id, outputs) };
          const { changed, replaces, deleteBeforeReplace } = diff(
            connect(outputs.account),
            id,
            outputs,
            decodeInputs(news),
            options,
          );
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
      guarded(async () => {
        const inputs = decodeInputs(properties);
        const { id, outputs, announcement } = await create(
          connect(inputs.account),
          inputs,
          optionsOf(properties, "create"),
        );
        announce(announcement, properties);
        return { id, outs: stateOf(outputs, properties) };
      }, properties),
    read: (id, properties: Properties) =>
      guarded(async () => {
        const outputs = decodeOutputs(definition, properties);
        const account = connect(outputs.account);
        if (!isManaged(properties)) {
          const found = await readOnly(account, id, outputs, optionsOf(properties));
          // The program declares nothing else, and the next preview compares with that.
          const inputs = outputs.account === undefined ? {} : { account: outputs.account };
          return found ? { id, props: stateOf(found.outputs, {}), inputs } : {};
        }
        engineCalls.noteRead(id, outputs);
        const state = await read(account, id, outputs, optionsOf(properties));
        if (!state) return {};
        const plain = encoder.outputs(state.outputs, properties);
        const props = encoder.marked(plain);
        // The engine keeps the inputs that it has, which is cheaper than to compare them with the same ones.
        const isSame = (key: string): boolean =>
          key === "__key" || isDeepStrictEqual(plain[key], properties[key]);
        const keys = new Set([...Object.keys(plain), ...Object.keys(properties)]);
        keys.delete("__provider");
        if ([...keys].every(isSame)) return { id, props };
        const { attributes, __server, __key, __claim, __partial, ...inputs } = props;
        return { id, props, inputs };
      }, properties),
    update: (id, olds: Properties, news: Properties) =>
      guarded(
        async () => {
          const inputs = decodeInputs(news);
          const options = optionsOf(news, "update");
          const outputs = decodeOutputs(definition, olds);
          const updated = await update(connect(inputs.account), id, outputs, inputs, options);
          return { outs: stateOf(updated.outputs, news) };
        },
        news,
        olds,
      ),
    delete: (id, properties: Properties) =>
      guarded(async () => {
        const outputs = decodeOutputs(definition, properties);
        await remove(connect(outputs.account), id, outputs, optionsOf(properties, "delete"));
      }, properties),
  };
  const file = process.env[collectVariable];
  if (!file) return provider;
  return collecting(provider, new Collector(file, encoder, connect));
}

/**
 * Counts what the engine asks about each resource. A refresh compares each resource that it has read once, whether or not
 * the program has it; another comparison comes from the program.
 */
class EngineCalls {
  /** How many comparisons there were more than reads. */
  private readonly surplus = new Map<string, number>();

  noteRead(id: string, outputs: Outputs): void {
    this.add(id, outputs, -1);
  }

  diffIsDeclared(id: string, outputs: Outputs): boolean {
    return this.add(id, outputs, 1) > 0;
  }

  private add(id: string, { account, claim }: Outputs, step: number): number {
    const key = JSON.stringify([account, id, claim]);
    const surplus = (this.surplus.get(key) ?? 0) + step;
    this.surplus.set(key, surplus);
    return surplus;
  }
}

/**
 * Whether state was made by the provider plugin. The host finds the provider for a refresh or a delete in old outputs only,
 * and an update puts it there.
 */
function isOfPlugin(olds: Properties, news: Properties): boolean {
  return olds.__provider === undefined && news.__provider !== undefined;
}
