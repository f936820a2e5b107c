import { CustomResource, Output, output, RunError } from "@pulumi/pulumi";
import type { CustomResourceOptions, Input } from "@pulumi/pulumi";

import type { Definition } from "../definitions/field";
import { typeToken } from "../definitions/identity";
import { optionsOf, propsOf } from "./props";
import { LimitedTraces } from "./traces";
import { warnOnce } from "./warnings";

/** How a program reaches the provider of its resources. */
export interface Front {
  /** The type under which Pulumi knows a resource. */
  readonly type: (definition: Definition) => string;
  /** What the engine is told of a resource. */
  readonly props: typeof propsOf;
  /** The options for Pulumi itself. */
  readonly options: typeof optionsOf;
  /** Warns of what is wrong with the program's surroundings, once a run. */
  readonly warn: () => void;
}

/** As Pulumi's dynamic resources, which need nothing but this package. */
const dynamicFront: Front = { type: typeToken, props: propsOf, options: optionsOf, warn: warnOnce };

/** What all resources of this package have in common. */
export abstract class UptimeResource extends CustomResource {
  /** The account that the record belongs to: a name in `uptime:accounts`. Undefined for the account of `uptime:apiKey`. */
  declare readonly account: Output<string | undefined>;
  /** Everything else that the API shows of the record, under the API's own names. Null values are left out. */
  declare readonly attributes: Output<Readonly<Record<string, unknown>>>;

  /** @internal How a program reaches the provider of this class. */
  protected static readonly front: Front = dynamicFront;

  protected constructor(definition: Definition, name: string, args: object, opts?: CustomResourceOptions) {
    const { label } = definition;
    const { front } = new.target;
    requireName(label, name);
    if (opts !== undefined && !isPlain(opts))
      throw new RunError(`${label} ${name} has ${describe(opts)} as its options, which must be an object.`);
    const declared = argsOf(definition, name, args, opts);
    front.warn();
    defineOutputs(new.target, definition);
    const traces = new LimitedTraces();
    try {
      const props = front.props(definition, name, declared, opts);
      super(front.type(definition), name, props, front.options(definition, props, opts));
    } catch (error) {
      throw traces.completed(error, new.target);
    } finally {
      traces.restore();
    }
  }
}

/** What a resource that is looked up by its state may be given beside its fields. */
export interface AttributesState {
  /** Everything else that the API shows of the record, under the API's own names. */
  attributes?: Input<Readonly<Record<string, unknown>>> | undefined;
}

/**
 * The arguments of a resource that is only read. The provider reads all its fields from the API, so of `state` only the
 * account is of use.
 */
export function argsToRead(
  definition: Definition,
  name: string,
  id: unknown,
  state: object = {},
): { account?: string } {
  const { label, singular, fields } = definition;
  const call = `${label}.get(${JSON.stringify(name)})`;
  requireName(label, name);
  if (!((typeof id === "string" && id.trim() !== "") || Output.isInstance(id) || id instanceof Promise))
    throw new RunError(`${call} needs the id of a ${singular} as a string, not ${describe(id)}.`);
  if (!isPlain(state))
    throw new RunError(`${call} has ${describe(state)} as its state, which must be an object.`);
  const outputs = [...Object.keys(fields), "account", "attributes"];
  const others = Object.keys(state).filter((key) => !outputs.includes(key));
  if (others.length > 0)
    throw new RunError(
      `${call} has ${others.join(", ")} in its state, but ${label} has no such output; ` +
        "pass options as the fourth argument.",
    );
  return "account" in state && state.account !== undefined ? { account: state.account as string } : {};
}

/** Whether a value is a resource of that type, also one that another copy of this package has made. */
export function isOf(type: string, value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && "__pulumiType" in value && value.__pulumiType === type
  );
}

function requireName(label: string, name: unknown): asserts name is string {
  if (typeof name !== "string" || name === "")
    throw new RunError(
      `${label} needs a name as its first argument: a string that is not empty, not ${describe(name)}.`,
    );
}

function argsOf(definition: Definition, name: string, args: unknown, opts?: CustomResourceOptions): object {
  if (isPlain(args)) return args;
  // A resource that is there already needs no arguments.
  if (args === undefined && (opts?.id !== undefined || opts?.urn !== undefined)) return {};
  const required = Object.entries(definition.fields).filter(([, field]) => field.required);
  throw new RunError(
    `${definition.label} ${name} needs its arguments as an object with ${required.map(([key]) => key).join(", ")}, ` +
      `not ${describe(args)}.`,
  );
}

function isPlain(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Promise) &&
    !Output.isInstance(value)
  );
}

function describe(value: unknown): string {
  if (Output.isInstance(value)) return "an output";
  if (value instanceof Promise) return "a promise";
  return value === undefined ? "undefined" : JSON.stringify(value);
}

/**
 * Gives a class an Output of undefined for each field, for resources that do not declare the field. To register it with
 * the SDK would cost the program time and memory for each resource.
 */
function defineOutputs(resource: { readonly prototype: object }, definition: Definition): void {
  const { prototype } = resource;
  if (Object.hasOwn(prototype, "account")) return;
  for (const key of [...Object.keys(definition.fields), "account"]) {
    Object.defineProperty(prototype, key, {
      configurable: true,
      get: () => output(undefined),
      set(this: object, value: unknown) {
        Object.defineProperty(this, key, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }
}
