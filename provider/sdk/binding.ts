import { secret } from "@pulumi/pulumi";
import type { CustomResourceOptions, InvokeOptions, InvokeOutputOptions, Output } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import type { LookupMode } from "../common/pulumi";

/** How a program reaches its provider: as Pulumi's dynamic resources, or through the provider plugin. */
export interface Binding {
  /** What the SDK registers for a resource. Also warns about the program's settings and dependencies, once per run. */
  readonly prepare: (
    definition: Definition,
    name: string,
    args: object,
    options: CustomResourceOptions,
  ) => [type: string, name: string, props: Record<string, unknown>, options: CustomResourceOptions];
  /** Looks up one record, or all that the arguments select. */
  readonly find: Find<InvokeOptions, Promise<unknown>>;
  /** {@link Binding.find} with inputs. */
  readonly findOutput: Find<InvokeOutputOptions, Output<unknown>>;
}

type Find<Options, Result> = (
  definition: Definition,
  mode: LookupMode,
  args: object,
  opts?: Options,
) => Result;

/**
 * The inputs, with secrets marked, and a key for each output that the provider adds. The SDK makes an output for each key, which
 * costs time and memory. So only a read-only resource has keys for all fields.
 *
 * Defaults are added here because the engine compares the program's inputs with state before `check` adds them, and would
 * show them as removed after a refresh.
 */
export function declaredProps(
  { fields }: Definition,
  args: object,
  { id }: CustomResourceOptions,
): Record<string, unknown> {
  const declared = Object.entries(args).filter(([, value]) => value !== undefined);
  const added = Object.entries(fields).flatMap(([key, { default: defaultValue }]): [string, unknown][] => {
    if (id !== undefined) return [[key, undefined]];
    return defaultValue === undefined ? [] : [[key, defaultValue]];
  });
  return {
    attributes: undefined,
    ...Object.fromEntries(added),
    ...Object.fromEntries(declared.map(([key, value]) => [key, fields[key]?.secret ? secret(value) : value])),
  };
}
