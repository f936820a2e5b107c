import { isDeepStrictEqual } from "node:util";

import type { dynamic } from "@pulumi/pulumi";

import { readSettings, type Config } from "../api/settings";
import type { Definition } from "../definitions/field";
import { unwrapSecrets, type Properties } from "../common/marks";
import { hiddenNames } from "../common/pulumi";
import { read } from "../lifecycle/read";
import { newFront } from "./front";
import type { SharedFront } from "./shared-front";
import { FrontSession } from "./front-session";
import { OperationError } from "./operation-error";
import {
  decodeDeclaration,
  decodeOptions,
  decodeOutputs,
  isManaged,
  secretInputNames,
  urnSuffixOrOwnerIn,
  pick,
  withoutHidden,
} from "./properties";

/**
 * The front for the dynamic provider host of Pulumi's Node.js SDK. It translates what is special about this host: the response
 * for a record that is gone, and the form of errors.
 *
 * @param session what the resources of all kinds share in this process
 */
export function dynamicProvider(
  definition: Definition,
  session = new FrontSession(),
): dynamic.ResourceProvider {
  let config: Config = { get: () => undefined };
  const front = newFront(
    {
      definition,
      session,
      settingsOf: (account) => readSettings(config, process.env, account),
      print: (_severity, text) => {
        // The engine shows what its plugins print.
        console.warn(text);
      },
    },
    process.env,
  );

  const run: SharedFront["run"] = async (properties, operation) => {
    try {
      return await front.run(properties, operation);
    } catch (error) {
      const [current] = properties;
      throw error instanceof OperationError ? hostError(error, current[hiddenNames.providerCode]) : error;
    }
  };

  const readManaged = async (id: string, properties: Properties): Promise<dynamic.ReadResult> => {
    const outputs = decodeOutputs(definition, properties);
    const scope = front.begin(outputs.account, decodeOptions(properties, "read"), properties);
    const result = await read(scope, id, outputs);
    if (!result) return {};
    const props = front.encodeState(result.outputs, properties);
    // If nothing has changed, the response has no inputs, so that the engine keeps its own and does not compare them.
    if (isSameState(props, properties)) return { id, props };
    const { attributes, ...inputs } = withoutHidden(props);
    return { id, props, inputs: { ...inputs, ...pick(props, hiddenNames.options) } };
  };

  return {
    // The host may call other methods before this one has ended, and continues if it fails. So it only keeps the
    // configuration; the first call that needs a missing setting reports it.
    // eslint-disable-next-line @typescript-eslint/require-await
    configure: async (request) => {
      config = request.config;
    },
    check: (oldInputs: Properties, news: Properties) =>
      run([news], async () => {
        const declaration = decodeDeclaration(definition, oldInputs, news);
        const { inputs, problems } = await front.check({
          declaration,
          urnSuffix: urnSuffixOrOwnerIn(news),
          news,
        });
        // If a failure named its property, the engine would print the property's value, which may be a secret.
        return { inputs, failures: problems.map((reason) => ({ property: "", reason })) };
      }),
    diff: (id, oldOutputs: Properties, news: Properties) =>
      run([news, oldOutputs], async () => {
        const outputs = decodeOutputs(definition, oldOutputs);
        // State of older versions does not name its secret inputs, so they are not known.
        const secretNames =
          urnSuffixOrOwnerIn(oldOutputs) === undefined ? undefined : secretInputNames(oldOutputs);
        const { changed, replaces, ...others } = await front.diff({
          id,
          outputs,
          oldOutputs,
          news,
          options: decodeOptions(news),
          secretNames,
        });
        const changes = changed.length > 0 || isOfPlugin(oldOutputs, news);
        return { changes, replaces: [...replaces], ...others };
      }),
    create: (properties: Properties) =>
      run([properties], async () => {
        const { id, outputs } = await front.save([properties], decodeOptions(properties, "create"));
        return { id, outs: outputs };
      }),
    read: (id, properties: Properties) =>
      run([properties], async () => {
        if (isManaged(properties)) return readManaged(id, properties);
        const found = await front.readForGet(id, properties, decodeOptions(properties, "read"));
        return found ? { id, props: found.outputs, inputs: found.inputs } : {};
      }),
    update: (id, oldOutputs: Properties, news: Properties) =>
      run([news, oldOutputs], async () => {
        const old = { id, outputs: decodeOutputs(definition, oldOutputs) };
        const { outputs } = await front.save([news, oldOutputs], decodeOptions(news, "update"), old);
        return { outs: outputs };
      }),
    delete: (id, properties: Properties) =>
      run([properties], async () => {
        const outputs = decodeOutputs(definition, properties);
        await front.delete(id, outputs, [properties], decodeOptions(properties, "delete"));
      }),
  };
}

function hostError({ message, kept }: OperationError, provider: unknown): Error {
  // The host prints the stack after the message, and the stack would repeat it.
  const error = Object.assign(new Error(message), { stack: "" });
  if (!kept) return error;
  // The host keeps the resource in state only if the error has these three; it prints `reasons`.
  const properties = { ...kept.outputs, [hiddenNames.providerCode]: provider };
  return Object.assign(error, { id: kept.id, properties, reasons: [message] });
}

/** Whether two states are equal, apart from what a refresh renews after a rotation of the key or a move of the server. */
function isSameState(current: Properties, old: Properties): boolean {
  const { addressHash, keyFingerprint, providerCode } = hiddenNames;
  return Object.keys({ ...current, ...old }).every(
    (key) =>
      [addressHash, keyFingerprint, providerCode].some((renewed) => renewed === key) ||
      current[key] === old[key] ||
      isDeepStrictEqual(unwrapSecrets(current[key]), unwrapSecrets(old[key])),
  );
}

/**
 * Whether state was made by the provider plugin. It then lacks the provider's code, which the host needs for a refresh or a
 * delete, and which an update adds.
 */
function isOfPlugin(oldOutputs: Properties, news: Properties): boolean {
  return oldOutputs[hiddenNames.providerCode] === undefined && news[hiddenNames.providerCode] !== undefined;
}
