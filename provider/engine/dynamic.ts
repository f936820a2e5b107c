import { isDeepStrictEqual } from "node:util";

import { PartialFailureError } from "../lifecycle/resource";
import type { dynamic } from "@pulumi/pulumi";

import { message, GoneError } from "../api/errors";
import { readLogLevel, readSettings } from "../api/settings";
import type { Config, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { isEmpty } from "../definitions/kinds";
import type { Account } from "../lifecycle/account";
import { check } from "../lifecycle/check";
import { create } from "../lifecycle/create";
import { remove } from "../lifecycle/delete";
import { diff } from "../lifecycle/diff";
import { get, read } from "../lifecycle/read";
import type { Options, Outputs } from "../lifecycle/resource";
import { Session } from "../lifecycle/session";
import { update } from "../lifecycle/update";
import { cleanAttributes, secretsIn, told, toldMessage } from "./clean";
import { secretOf } from "../definitions/marks";
import { Collector, collecting, collectVariable } from "./collect";
import {
  decodeDeclaration,
  encodeInputs,
  decodeInputs,
  isManaged,
  decodeOptions,
  encodeOutputs,
  decodeOutputs,
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

  /** Properties as the engine encrypts them, which it else does only where the program, or state, has marked them. */
  const withMarks = (properties: Properties): Properties => {
    const isSecret = ([key, value]: [string, unknown]): boolean =>
      definition.fields[key]?.secret === true && !isEmpty(value);
    const secrets = Object.entries(properties).filter(isSecret);
    return {
      ...properties,
      ...Object.fromEntries(secrets.map(([key, value]) => [key, secretOf(value)])),
    };
  };

  const secretsOf = (...properties: Properties[]): string[] => [
    ...session.keys,
    ...secretsIn(definition, ...properties),
  ];

  /** Outputs without what no state may hold. */
  const encoded = (outputs: Outputs, from: Properties): Properties => {
    const attributes = cleanAttributes(definition, outputs.attributes, secretsOf(from, outputs.values));
    return encodeOutputs({ ...outputs, attributes }, from);
  };

  /** Runs an operation; what it throws is an error as the host needs it. */
  const guarded = async <T>(run: () => T | Promise<T>, ...properties: Properties[]): Promise<T> => {
    try {
      return await session.run(run);
    } catch (error) {
      const text = told(error, secretsOf(...properties));
      // The host prints the name, the message and then the stack: the message is to be read once.
      const failure = Object.assign(new Error(text), { stack: "" });
      if (!(error instanceof PartialFailureError)) throw failure;
      const [from = {}] = properties;
      // Only an error with these three keeps the resource in state; `reasons` is what the person reads.
      throw Object.assign(failure, {
        id: error.id,
        // State keeps the inputs that were asked for, so that the next read finds the difference.
        properties: { ...withMarks(encoded(error.outputs, from)), __provider: from.__provider },
        reasons: [text],
      });
    }
  };

  const optionsOf = (properties: Properties, operation?: "create" | "update" | "delete"): Options => ({
    ...decodeOptions(properties, operation),
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
        const { inputs, problems, notes } = await check(definition, connect, decodeDeclaration(olds, news));
        const secrets = secretsOf(news);
        // The engine shows what its plugins print.
        for (const note of notes) console.warn(toldMessage(note, secrets));
        // With a property's name, the engine would print the value beside it: a password, or one under a mistyped name.
        const failures = problems.map(({ property, reason }) => ({
          property: "",
          reason: toldMessage(message`${property} ${reason}`, secrets),
        }));
        return { inputs: withMarks(encodeInputs(inputs, news)), failures };
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
        const { id, outputs } = await create(
          connect(inputs.account),
          inputs,
          optionsOf(properties, "create"),
        );
        return { id, outs: withMarks(encoded(outputs, properties)) };
      }, properties),
    read: (id, properties: Properties) =>
      guarded(async () => {
        const outputs = decodeOutputs(definition, properties);
        const account = connect(outputs.account);
        if (!isManaged(properties)) return readOnly(account, id, outputs);
        engineCalls.noteRead(id, outputs);
        const state = await read(account, id, outputs, optionsOf(properties));
        if (!state) return {};
        const plain = encoded(state.outputs, properties);
        const props = withMarks(plain);
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
          return { outs: withMarks(encoded(updated.outputs, news)) };
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
  const toldOf = (error: unknown, ...properties: Properties[]): string =>
    told(error, secretsOf(...properties));
  return collecting(provider, new Collector(file, definition, connect, toldOf));

  async function readOnly(account: Account, id: string, outputs: Outputs): Promise<dynamic.ReadResult> {
    try {
      const found = await get(account, id, outputs.account, { interruption: session.interruption });
      // The program declares nothing else, and the next preview compares with that.
      const inputs = outputs.account === undefined ? {} : { account: outputs.account };
      return { id, props: withMarks(encoded(found.outputs, {})), inputs };
    } catch (error) {
      // Of a record that state has, "gone" takes it out of state; a program that asks for one that is not there is wrong.
      if (error instanceof GoneError && outputs.isReadOnly) return {};
      throw error;
    }
  }
}

/**
 * Counts what the engine asks about each resource. A refresh compares each resource that it has read once, whether or not
 * the program has it; another comparison comes from the program.
 */
class EngineCalls {
  private readonly reads = new Map<string, number>();
  private readonly diffs = new Map<string, number>();

  noteRead(id: string, outputs: Outputs): void {
    add(this.reads, keyOf(id, outputs));
  }

  diffIsDeclared(id: string, outputs: Outputs): boolean {
    const key = keyOf(id, outputs);
    return add(this.diffs, key) > (this.reads.get(key) ?? 0);
  }
}

function keyOf(id: string, { account, claim }: Outputs): string {
  return JSON.stringify([account, id, claim]);
}

function add(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/**
 * Whether state was made by the provider plugin. The host finds the provider for a refresh or a delete in old outputs only,
 * and an update puts it there.
 */
function isOfPlugin(olds: Properties, news: Properties): boolean {
  return olds.__provider === undefined && news.__provider !== undefined;
}
