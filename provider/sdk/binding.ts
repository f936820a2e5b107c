import { secret } from "@pulumi/pulumi";
import type { CustomResourceOptions, InvokeOptions, InvokeOutputOptions, Output } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import type { Finds } from "../definitions/pulumi";

/** How a program reaches the provider. */
export interface Binding {
  /** The type of a resource in Pulumi. */
  readonly type: (definition: Definition) => string;
  /** What the engine is told of a resource. */
  readonly props: (
    definition: Definition,
    name: string,
    args: object,
    options: CustomResourceOptions,
  ) => Record<string, unknown>;
  /** The options for Pulumi itself. */
  readonly options: (
    definition: Definition,
    props: object,
    options: CustomResourceOptions,
  ) => CustomResourceOptions;
  /** Warns of what is wrong with the program's surroundings, once a run. */
  readonly warn: () => void;
  /** Looks up one record, or a list of several. */
  readonly find: (
    definition: Definition,
    finds: Finds,
    args: object,
    opts?: InvokeOptions,
  ) => Promise<unknown>;
  /** The same with inputs. */
  readonly findOutput: (
    definition: Definition,
    finds: Finds,
    args: object,
    opts?: InvokeOutputOptions,
  ) => Output<unknown>;
}

/**
 * The inputs, with secrets marked, and the outputs that the provider adds. The SDK makes an output of each key, at a cost of
 * time and memory, so a key that is neither is left out. A resource that is only read has all of them, and no default.
 *
 * Defaults are inputs because the engine compares those with state before `check` adds them: it would show each refreshed
 * resource as one whose fields were removed.
 */
export function declaredProps(
  { fields }: Definition,
  // A program in JavaScript may pass none, and `check` says what is missing.
  args: object = {},
  { id }: CustomResourceOptions,
): Record<string, unknown> {
  const declared = Object.entries(args).filter(([, value]) => value !== undefined);
  const filled =
    id === undefined
      ? Object.keys(fields).filter((key) => fields[key]?.default !== undefined)
      : [...Object.keys(fields), "account"];
  const fill = (key: string): unknown => (id === undefined ? fields[key]?.default : undefined);
  return {
    attributes: undefined,
    ...Object.fromEntries(filled.map((key) => [key, fill(key)])),
    ...Object.fromEntries(declared.map(([key, value]) => [key, fields[key]?.secret ? secret(value) : value])),
  };
}
