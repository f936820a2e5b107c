import { isDeepStrictEqual } from "node:util";

import type { dynamic } from "@pulumi/pulumi";

import { Gone, UptimeError } from "../api/errors";
import { Redactor } from "../api/redact";
import { readLogLevel, readSettings } from "../api/settings";
import type { Config, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { isEmpty } from "../definitions/kinds";
import { secretsIn } from "../lifecycle/attributes";
import { Session } from "../lifecycle/connection";
import { Lifecycle, PartialFailure } from "../lifecycle/lifecycle";
import { secretOf } from "../definitions/marks";
import { Collector, collecting, collectVariable } from "./collect";
import {
  declarationIn,
  inputProperties,
  inputsIn,
  isManaged,
  optionsIn,
  outputProperties,
  outputsIn,
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
  const lifecycle = new Lifecycle(definition, connect);

  /** A message that names neither a key nor the secrets of a resource. */
  const clean = (text: string, ...properties: Properties[]): string =>
    new Redactor().with(secretsIn(definition, ...properties)).text(session.withoutKeys(text));

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

  /** Runs an operation; whatever it throws names the resource's secrets nowhere. */
  const guarded = async <T>(run: () => T | Promise<T>, ...properties: Properties[]): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      const message = clean(error instanceof Error ? error.message : String(error), ...properties);
      const failure = new UptimeError(message);
      // Only an error with these three keeps the resource in state; `reasons` is what the person reads.
      if (error instanceof PartialFailure) {
        const [from = {}] = properties;
        Object.assign(failure, {
          id: error.id,
          // State keeps the inputs that were asked for, so that the next read finds the difference.
          properties: { ...withMarks(outputProperties(error.outputs, from)), __provider: from.__provider },
          reasons: [message],
        });
      }
      throw failure;
    }
  };

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
        const { inputs, problems, notes } = await lifecycle.check(declarationIn(olds, news));
        // The engine shows what its plugins print.
        for (const note of notes) console.warn(clean(note, news));
        // With a property's name, the engine would print the value beside it: a password, or one under a mistyped name.
        const failures = problems.map(({ property, reason }) => ({
          property: "",
          reason: clean(`${property} ${reason}`, news),
        }));
        return { inputs: withMarks(inputProperties(inputs, news)), failures };
      }, news),
    diff: (id, olds: Properties, news: Properties) =>
      guarded(
        () => {
          const outputs = outputsIn(definition, olds);
          const { changed, replaces } = lifecycle.diff(id, outputs, inputsIn(news), optionsIn(news));
          return { changes: changed.length > 0 || isOfPlugin(olds, news), replaces };
        },
        olds,
        news,
      ),
    create: (inputs: Properties) =>
      guarded(async () => {
        const { id, outputs } = await lifecycle.create(inputsIn(inputs), optionsIn(inputs, "create"));
        return { id, outs: withMarks(outputProperties(outputs, inputs)) };
      }, inputs),
    read: (id, properties: Properties) =>
      guarded(async () => {
        const outputs = outputsIn(definition, properties);
        if (!isManaged(properties)) {
          const read = lifecycle.get(id, outputs.account, {});
          // Of a record that state has, "gone" takes it out of state; a program that asks for one that is not there is wrong.
          const found = outputs.isReadOnly === true ? await ifNotGone(read) : await read;
          if (!found) return {};
          const { account } = outputs;
          const props = withMarks(outputProperties(found.outputs, {}));
          // The program declares nothing else, and the next preview compares with that.
          return { id, props, inputs: account === undefined ? {} : { account } };
        }
        const state = await lifecycle.read(id, outputs, optionsIn(properties));
        if (!state) return {};
        const plain = outputProperties(state.outputs, properties);
        const props = withMarks(plain);
        // The engine keeps the inputs that it has, which is cheaper than to compare them with the same ones.
        const isSame = (key: string): boolean =>
          key === "__key" || isDeepStrictEqual(plain[key], properties[key]);
        const keys = new Set([...Object.keys(plain), ...Object.keys(properties)]);
        keys.delete("__provider");
        if ([...keys].every(isSame)) return { id, props };
        const { attributes, __server, __key, __claim, __partial, ...inputs } = plain;
        return { id, props, inputs: withMarks(inputs) };
      }, properties),
    update: (id, olds: Properties, news: Properties) =>
      guarded(
        async () => {
          const outputs = outputsIn(definition, olds);
          const { outputs: updated } = await lifecycle.update(
            id,
            outputs,
            inputsIn(news),
            optionsIn(news, "update"),
          );
          return { outs: withMarks(outputProperties(updated, news)) };
        },
        news,
        olds,
      ),
    delete: (id, properties: Properties) =>
      guarded(
        () => lifecycle.delete(id, outputsIn(definition, properties), optionsIn(properties, "delete")),
        properties,
      ),
  };
  const file = process.env[collectVariable];
  if (!file) return provider;
  const told = (error: unknown, ...properties: Properties[]): string =>
    clean(error instanceof Error ? error.message : String(error), ...properties);
  return collecting(provider, new Collector(file, definition, connect, told));
}

/**
 * Whether state was made by the provider plugin. The host finds the provider for a refresh or a delete in old outputs only,
 * and an update puts it there.
 */
function isOfPlugin(olds: Properties, news: Properties): boolean {
  return olds.__provider === undefined && news.__provider !== undefined;
}

async function ifNotGone<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Gone) return undefined;
    throw error;
  }
}
