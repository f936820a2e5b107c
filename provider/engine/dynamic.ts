import { isDeepStrictEqual } from "node:util";

import type { dynamic } from "@pulumi/pulumi";

import { secretsIn } from "../lifecycle/attributes";
import { isEmpty } from "../definitions/kinds";
import { connect } from "../lifecycle/connection";
import type { Connection } from "../lifecycle/connection";
import { PartialFailure, UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { isManaged, Lifecycle } from "../lifecycle/lifecycle";
import type { Properties } from "../lifecycle/lifecycle";
import { logOf } from "../api/log";
import { Redactor } from "../api/redact";
import { secretOf } from "./marks";
import { readLogLevel, readSettings } from "../api/settings";
import type { Config } from "../api/settings";

/**
 * Puts a lifecycle into the dynamic provider host of Pulumi's Node.js SDK, and keeps the host's habits away from it: how
 * it says "gone", what an error must carry, and what it must not. The pause is the one of {@link Writer}.
 */
export function dynamicProvider(definition: Definition, lookPause?: number): dynamic.ResourceProvider {
  let config: Config = { get: () => undefined };
  /** By account; the one without a name is undefined. */
  const connections = new Map<string | undefined, Connection>();
  const lifecycle = new Lifecycle(definition, (account) => {
    let connection = connections.get(account);
    if (!connection) {
      connection = connect(definition, readSettings(config, process.env, account), lookPause);
      connections.set(account, connection);
    }
    return connection;
  });

  /** A message that names neither a key nor the secrets of a resource. */
  const clean = (text: string, ...properties: Properties[]): string => {
    const keys = [...connections.values()].map(({ collection }) => collection.client.redactor);
    return keys.reduce(
      (message, redactor) => redactor.text(message),
      new Redactor().with(secretsIn(definition, ...properties)).text(text),
    );
  };

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
      if (error instanceof PartialFailure)
        Object.assign(failure, {
          id: error.id,
          // Inputs hold what was asked for, so the next read must find a difference, and say what there is.
          properties: { ...withMarks(error.outputs), __provider: properties[0]?.__provider, __partial: true },
          reasons: [message],
        });
      throw failure;
    }
  };

  return {
    // The host may call other methods before this one has ended, and goes on without it after an error. So it only
    // remembers; what is missing is reported by the first call that needs it.
    // eslint-disable-next-line @typescript-eslint/require-await
    configure: async (request) => {
      config = request.config;
      // So that a run that sends nothing says so.
      logOf(readLogLevel(config));
    },
    check: (olds: Properties, news: Properties) =>
      guarded(async () => {
        const checked = lifecycle.check(olds, news);
        // The engine shows what its plugins print.
        for (const note of await lifecycle.checkImport(olds, news, checked)) console.warn(clean(note, news));
        // With a property's name, the engine would print the value beside it: a password, or one under a mistyped name.
        const failures = checked.problems.map(({ property, reason }) => ({
          property: "",
          reason: clean(`${property} ${reason}`, news),
        }));
        return { inputs: withMarks(checked.inputs), failures };
      }, news),
    diff: (id, olds: Properties, news: Properties) =>
      guarded(
        () => {
          const { changed, replaces } = lifecycle.diff(id, olds, news);
          return { changes: changed.length > 0, replaces };
        },
        olds,
        news,
      ),
    create: (inputs: Properties) =>
      guarded(async () => {
        const { id, outputs } = await lifecycle.create(inputs);
        return { id, outs: withMarks(outputs) };
      }, inputs),
    read: (id, properties: Properties) =>
      guarded(async () => {
        const state = await lifecycle.read(id, properties);
        if (!state) return {};
        const props = withMarks(state.outputs);
        const { attributes, __server, __readOnly, ...inputs } = state.outputs;
        // Of a resource that is only read, the program declares nothing else, and the next preview compares with that.
        if (!isManaged(state.outputs)) {
          const { account } = inputs;
          return { id, props, inputs: account === undefined ? {} : { account } };
        }
        // The engine keeps the inputs that it has, which is cheaper than to compare them with the same ones.
        const { __provider } = properties;
        if (isDeepStrictEqual({ ...state.outputs, __provider }, properties)) return { id, props };
        return { id, props, inputs: withMarks(inputs) };
      }, properties),
    update: (id, olds: Properties, news: Properties) =>
      guarded(
        async () => {
          const { outputs } = await lifecycle.update(id, olds, news);
          return { outs: withMarks(outputs) };
        },
        news,
        olds,
      ),
    delete: (id, properties: Properties) => guarded(() => lifecycle.delete(id, properties), properties),
  };
}
