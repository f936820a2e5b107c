import * as pulumi from "@pulumi/pulumi";
import type { CustomResourceOptions, InvokeOptions, InvokeOutputOptions, Output } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import { nativeFunction, nativeType, typeToken } from "../definitions/identity";
import { ownPackage } from "../definitions/package";
import type { Front } from "./resource";
import { warnOfPlainKeys } from "./warnings";

/** By the provider plugin `pulumi-resource-uptime`, in the version of this package. */
export const nativeFront: Front = {
  type: nativeType,
  props: nativeProps,
  options: nativeOptions,
  warn: warnOfPlainKeys,
};

/** What the engine is told of a resource: the declared inputs, with secrets marked. */
function nativeProps(
  definition: Definition,
  _name: string,
  args: object,
  options: CustomResourceOptions = {},
): Record<string, unknown> {
  const declared: Record<string, unknown> = { ...args };
  // Each key that is registered becomes an output, and costs the program time and memory.
  const keys = options.id === undefined ? Object.keys(declared) : Object.keys(definition.fields);
  const props: Record<string, unknown> = { attributes: undefined };
  for (const key of [...keys, "account"]) {
    const value = declared[key];
    if (value === undefined && options.id === undefined) continue;
    props[key] = value !== undefined && definition.fields[key]?.secret ? pulumi.secret(value) : value;
  }
  // The provider fills in these defaults, so they are outputs even if they are not declared.
  for (const [key, field] of Object.entries(definition.fields))
    if (field.default !== undefined && !(key in props)) props[key] = undefined;
  return props;
}

/** With an alias, so that state that was made with the dynamic resource becomes state of this one. */
function nativeOptions(
  definition: Definition,
  _props: object,
  options: CustomResourceOptions = {},
): CustomResourceOptions {
  return {
    ...options,
    version: options.version ?? ownPackage().version,
    // What is only read has no state to take over, and without an engine the SDK cannot read with an alias.
    ...(options.id === undefined && {
      aliases: [...(options.aliases ?? []), { type: typeToken(definition) }],
    }),
  };
}

/** Finds the one record that the arguments select. The caller names the result's type, which follows from its definition. */
export async function invokeOne<Result>(
  definition: Definition,
  args: object,
  opts: InvokeOptions = {},
): Promise<Result> {
  const token = nativeFunction(definition, "one");
  return (await pulumi.runtime.invoke(token, { ...args }, withVersion(opts))) as Result;
}

/** {@link invokeOne} with inputs. */
export function invokeOneOutput<Result>(
  definition: Definition,
  args: object,
  opts: InvokeOutputOptions = {},
): Output<Result> {
  return pulumi.runtime.invokeOutput(nativeFunction(definition, "one"), { ...args }, withVersion(opts));
}

/** Finds all records that the arguments select. */
export async function invokeAll<Result>(
  definition: Definition,
  args: object = {},
  opts: InvokeOptions = {},
): Promise<Result[]> {
  const token = nativeFunction(definition, "several");
  const found = (await pulumi.runtime.invoke(token, { ...args }, withVersion(opts))) as Found<Result>;
  return found[definition.plural] ?? [];
}

/** {@link invokeAll} with inputs. */
export function invokeAllOutput<Result>(
  definition: Definition,
  args: object = {},
  opts: InvokeOutputOptions = {},
): Output<Result[]> {
  const token = nativeFunction(definition, "several");
  const found: Output<Found<Result>> = pulumi.runtime.invokeOutput(token, { ...args }, withVersion(opts));
  return found.apply((lists) => lists[definition.plural] ?? []);
}

/** Functions return objects, so a list is under the name of its kind. */
type Found<Result> = Readonly<Record<string, Result[]>>;

function withVersion<Options extends InvokeOptions>(opts: Options): Options {
  return { ...opts, version: opts.version ?? ownPackage().version };
}
