import { output, RunError, runtime, unknown } from "@pulumi/pulumi";
import type { CustomResourceOptions, Output } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import { isObject } from "../common/values";
import { dynamicType, hiddenNames, lookupFunction, lookupName, pluginType } from "../common/pulumi";
import type { LookupMode } from "../common/pulumi";
import { declaredProps } from "./binding";
import type { Binding } from "./binding";
import { secretInputs } from "./secret-inputs";
import { warnOfPlainKeys } from "./warnings";

/** As resources and functions of the provider plugin `pulumi-resource-uptime`, in the version of this package. */
export const pluginBinding: Binding = {
  prepare: (definition, name, args, options) => {
    warnOfPlainKeys();
    assertImportIsId(definition, name, options);
    const props = declaredProps(definition, args, options);
    return [pluginType(definition), name, props, pluginOptions(definition, options)];
  },
  find: async (definition, mode, args, opts = {}) => {
    const token = lookupFunction(definition, mode);
    const response: unknown = await runtime.invoke(token, { ...args }, withVersion(opts));
    const result = lookupResult(definition, mode, response);
    if (result !== unknown) return result;
    const name = lookupName(definition, mode);
    throw new RunError(
      `${name} finds nothing in this preview, because the settings of its provider are not known yet. Use ${name}Output, whose result is then unknown too.`,
    );
  },
  findOutput: (definition, mode, args, opts = {}) => {
    // The SDK removes the marks of secrets.
    const secrets = secretInputs({ ...args })?.then((names) => names && { secrets: names });
    const found: Output<unknown> = runtime.invokeOutput(
      lookupFunction(definition, mode),
      { ...args, ...(secrets && { [hiddenNames.options]: secrets }) },
      withVersion(opts),
    );
    return found.apply((result) => lookupResult(definition, mode, result));
  },
};

/** Throws if the id is empty, or in JavaScript an output, such as another resource's id: the SDK would create a second record. */
function assertImportIsId(
  { label, singular }: Definition,
  name: string,
  options: { readonly import?: unknown },
): void {
  const { import: id } = options;
  if (id === undefined || id === null || (typeof id === "string" && id !== "")) return;
  throw new RunError(
    `${label} ${name}: the option import must be the id of a ${singular}, as a string; leave it out to create one. The id of another resource is an output, not a string.`,
  );
}

/** Adds aliases, so that a dynamic resource in state becomes the plugin's, also under what its other aliases name. */
function pluginOptions(definition: Definition, options: CustomResourceOptions): CustomResourceOptions {
  // A read-only resource needs no alias, and without an engine the SDK cannot read a resource that has an alias.
  if (options.id !== undefined) return withVersion(options);
  const { aliases = [] } = options;
  const type = dynamicType(definition);
  // Pulumi does not combine two aliases.
  const former = aliases.map((alias) =>
    output(alias).apply((known) => (typeof known === "string" ? known : { type, ...known })),
  );
  return withVersion({ ...options, aliases: [...aliases, { type }, ...former] });
}

/**
 * Functions return objects, so a list is under the name of its kind. In a preview, the engine answers with an empty object if the
 * provider's settings are not known yet.
 */
function lookupResult({ plural }: Definition, mode: LookupMode, result: unknown): unknown {
  if (!isObject(result) || Object.keys(result).length === 0) return unknown;
  return mode === "one" ? result : result[plural];
}

/** Options that ask for the plugin of this package's version. */
export function withVersion<Options extends { version?: string }>(options: Options): Options {
  return { ...options, version: options.version ?? ownVersion() };
}

/** The version in package.json, which a bundler copies into the file that it makes of a program. */
function ownVersion(): string {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return (require("pulumi-uptime/package.json") as { version: string }).version;
}
