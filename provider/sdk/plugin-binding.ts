import { RunError, runtime } from "@pulumi/pulumi";
import type { CustomResourceOptions, Output } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import { ownPackage } from "../common/package";
import { dynamicType, hiddenNames, lookupFunction, pluginType } from "../common/pulumi";
import type { LookupCount } from "../common/pulumi";
import { declaredProps } from "./binding";
import type { Binding } from "./binding";
import { secretInputs } from "./secret-inputs";
import { warnOfPlainKeys } from "./warnings";

/** By the provider plugin `pulumi-resource-uptime`, in the version of this package. */
export const pluginBinding: Binding = {
  prepare: (definition, name, args, options) => {
    warnOfPlainKeys();
    assertImportIsKnown(definition, name, options);
    const props = declaredProps(definition, args, options);
    return [pluginType(definition), name, props, pluginOptions(definition, options)];
  },
  find: async (definition, count, args, opts = {}) =>
    lookupResult(
      definition,
      count,
      await runtime.invoke(lookupFunction(definition, count), { ...args }, withVersion(opts)),
    ),
  findOutput: (definition, count, args, opts = {}) => {
    // The SDK takes the marks of secrets off.
    const secrets = secretInputs({ ...args })?.then((names) => names && { secrets: names });
    const found: Output<unknown> = runtime.invokeOutput(
      lookupFunction(definition, count),
      { ...args, ...(secrets && { [hiddenNames.options]: secrets }) },
      withVersion(opts),
    );
    return found.apply((result) => lookupResult(definition, count, result));
  },
};

/** Throws if a program in JavaScript gives an output, such as another resource's id: the SDK would create a second record. */
function assertImportIsKnown(
  { label, singular }: Definition,
  name: string,
  options: { readonly import?: unknown },
): void {
  if (options.import === undefined || options.import === null || typeof options.import === "string") return;
  throw new RunError(
    `${label} ${name}: the option import must be the id of a ${singular}, as a string. The id of another resource is an output, not a string.`,
  );
}

/** Adds an alias, so that a dynamic resource in state becomes one of the plugin. */
function pluginOptions(definition: Definition, options: CustomResourceOptions): CustomResourceOptions {
  // A resource that only reads needs no alias, and without an engine the SDK cannot read one that has an alias.
  if (options.id !== undefined) return withVersion(options);
  return withVersion({
    ...options,
    aliases: [...(options.aliases ?? []), { type: dynamicType(definition) }],
  });
}

/** Functions return objects, so a list is under the name of its kind. */
function lookupResult({ plural }: Definition, count: LookupCount, result: unknown): unknown {
  return count === "one" ? result : ((result as Readonly<Record<string, unknown>>)[plural] ?? []);
}

/** Options that ask for the plugin of this package's version. */
export function withVersion<Options extends { version?: string }>(options: Options): Options {
  return { ...options, version: options.version ?? ownPackage().version };
}
