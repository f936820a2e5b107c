import { CustomResource, output, RunError } from "@pulumi/pulumi";
import type { CustomResourceOptions, ID, Input, Output } from "@pulumi/pulumi";

import type { AccountArgs, ArgsOf, Definition, OutputsOf } from "../definitions/field";
import type { Binding } from "./binding";

/** The class of a resource. */
export interface ResourceClass<Resource, Args, State> {
  /**
   * Declares a record, which Pulumi then creates, updates and deletes.
   *
   * @param name the name of the resource in Pulumi
   * @param args the fields that the resource manages
   * @param opts Pulumi's options. With `import`, the id of an existing record, nothing is created: the resource manages
   * that record as it is, and the preview refuses inputs that differ from it.
   * (docs/resources.md)
   * @throws if it has both the options `id` and `import`. The preview tells what is wrong with the arguments: see
   * docs/errors.md
   */
  new (name: string, args: Args, opts?: CustomResourceOptions): Resource;
  readonly prototype: Resource;
  /** The resource's type in Pulumi. */
  readonly __pulumiType: string;
  /**
   * Reads an existing record by its id, without managing it. Every field is an output; one without a value is
   * null. (docs/resources.md)
   *
   * @param name the name of the resource in Pulumi
   * @param id the record's id in the API
   * @param state `account` for a record of another account; other outputs may be given, and are not used
   * @param opts Pulumi's options
   * @throws if `state` has a key that is no output. The run tells if the record does not exist: see docs/errors.md
   */
  get(name: string, id: Input<ID>, state?: State, opts?: CustomResourceOptions): Resource;
  /** Returns true for a resource of this type, also for one that another copy of this package has made. */
  isInstance(obj: unknown): obj is Resource;
}

/** A resource with certain fields. */
export type ResourceOf<Fields> = CustomResource &
  OutputsOf<Fields> & {
    /**
     * The account that the record belongs to: a name in `uptime:accounts`. Undefined for the account of `uptime:apiKey`.
     * (docs/settings.md)
     */
    readonly account: Output<string | undefined>;
    /**
     * Everything else that the API shows of the record, under the API's own names. Null values are left out. It is as of the
     * last write, import or adoption. (docs/resources.md)
     */
    readonly attributes: Output<Readonly<Record<string, unknown>>>;
  };

/** `get` takes it, as in every Pulumi SDK, and reads the API's value instead. Editors show this name beside the field. */
type NotUsed<Value> = Value | undefined;

/** The optional third argument of `get`. Only `account` is used. */
export type StateOf<Fields> = {
  [Key in keyof ArgsOf<Fields>]?: NotUsed<ArgsOf<Fields>[Key]>;
} & AccountArgs & {
    /** Not used. Everything else that the API shows of the record. (docs/resources.md) */
    attributes?: Input<Readonly<Record<string, unknown>>> | undefined;
  };

/** @internal Recognizes a resource by its type, because another copy of this package has other classes. */
export function isOf(type: string, value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && "__pulumiType" in value && value.__pulumiType === type
  );
}

/** @internal Makes the class of a resource. Its types, which are the caller's, follow from the same definition. */
export function resourceClass<Resource, Args extends object, State extends object>(
  definition: Definition,
  binding: Binding,
): ResourceClass<Resource, Args, State> {
  const { label } = definition;
  const type = binding.type(definition);
  const outputs = [...Object.keys(definition.fields), "account", "attributes"];

  class UptimeResource extends CustomResource {
    static readonly __pulumiType = type;

    constructor(name: string, args: object, opts: CustomResourceOptions = {}) {
      binding.warn();
      // The SDK captures several stack traces for every property, to report where an output was made that nobody awaits.
      // Without them, a program of 1000 resources takes 4.8 s of CPU instead of 8.1 s.
      const limit = Error.stackTraceLimit;
      Error.stackTraceLimit = 0;
      try {
        const props = binding.props(definition, name, args, opts);
        super(type, name, props, binding.options(definition, props, opts));
      } catch (error) {
        Error.stackTraceLimit = limit;
        // The trace that it lacks: from the line of the program that makes the resource.
        if (error instanceof Error) Error.captureStackTrace(error, new.target);
        throw error;
      } finally {
        Error.stackTraceLimit = limit;
      }
    }

    static get(
      name: string,
      id: Input<ID>,
      state: object = {},
      opts?: CustomResourceOptions,
    ): UptimeResource {
      const others = Object.keys(state).filter((key) => !outputs.includes(key));
      if (others.length > 0)
        throw new RunError(
          `${label}.get(${JSON.stringify(name)}) has ${others.join(", ")} in its state, but ${label} has no such ` +
            "output; pass options as the fourth argument.",
        );
      // The provider reads all fields from the API, so of the state only the account is of use.
      const { account } = state as AccountArgs;
      return new this(name, { account }, { ...opts, id });
    }

    static override isInstance(obj: unknown): obj is never {
      return isOf(type, obj);
    }
  }

  Object.defineProperty(UptimeResource, "name", { value: label });
  // Fields that a resource does not declare are outputs of undefined, which cost nothing if they are not registered.
  for (const key of outputs)
    Object.defineProperty(UptimeResource.prototype, key, { value: output(undefined), writable: true });
  return UptimeResource as unknown as ResourceClass<Resource, Args, State>;
}
