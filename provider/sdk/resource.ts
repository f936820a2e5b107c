import { all, output, RunError, unsecret } from "@pulumi/pulumi";
import type { CustomResource, CustomResourceOptions, Input, Output } from "@pulumi/pulumi";

import type { AccountArgs, ArgsOf, Definition } from "../definitions/field";
import type { Binding } from "./binding";
import { isLater } from "./secret-inputs";

/** `get` takes it, as in every Pulumi SDK, and reads the API's value instead. Editors show this name beside the field. */
type NotUsed<Value> = Value | undefined;

/** The optional third argument of `get`. Only `account` is used. */
export type StateOf<Fields> = {
  [Key in keyof ArgsOf<Fields>]?: NotUsed<ArgsOf<Fields>[Key]>;
} & AccountArgs & {
    /** Not used. The record's fields that are not managed. (docs/resources.md) */
    attributes?: Input<Readonly<Record<string, unknown>>> | undefined;
  };

/** The shared output of properties that are neither declared nor read: one for each property would cost time and memory. */
const noValue = output(undefined);

/** The outputs that all resources have beside their fields. */
export interface RecordOutputs {
  /**
   * The account that the record belongs to: a name in `uptime:accounts`. Undefined for the account of `uptime:apiKey`.
   * (docs/settings.md)
   */
  readonly account: Output<string | undefined>;

  /**
   * The record's fields that are not managed, under the API's own names, as of the last write, import or adoption. Null
   * values are left out. (docs/resources.md)
   */
  readonly attributes: Output<Readonly<Record<string, unknown>>>;
}

/**
 * @internal The work of each resource's constructor before and after its call of `super`. It is not a base class, because the SDK
 * reports the caller of its direct subclass as the program's line.
 */
export class Registration {
  private readonly limit = Error.stackTraceLimit;
  private props: Record<string, unknown> = {};
  private ignoresChanges = false;

  constructor(
    private readonly definition: Definition,
    private readonly binding: Binding,
  ) {}

  /** What the SDK's constructor takes. */
  begin(
    name: string,
    args: object | null | undefined,
    { id, ...opts }: CustomResourceOptions = {},
  ): ReturnType<Binding["prepare"]> {
    // The SDK captures several stack traces for every property, to report where an output was made that nobody awaits.
    // Without them, a program of 1000 resources takes 4.8 s of CPU instead of 8.1 s.
    Error.stackTraceLimit = 0;
    // A program in JavaScript may pass no arguments, and `check` says what is missing.
    const given = args ?? {};
    // The SDK creates a resource whose id is empty.
    const options = id ? { ...opts, id: idToRead(id, given) } : opts;
    const registered = this.binding.prepare(this.definition, name, given, options);
    this.props = registered[2];
    this.ignoresChanges = opts.ignoreChanges !== undefined;
    return registered;
  }

  /** Makes "no value" undefined in the outputs of a resource that is registered. */
  complete(resource: CustomResource): void {
    this.end();
    const outputs = resource as unknown as Record<string, Output<unknown>>;
    for (const key of [...Object.keys(this.definition.fields), "account"]) {
      // State may have another value than the program for an ignored field, such as none.
      const declared = this.ignoresChanges ? undefined : this.props[key];
      outputs[key] = withoutNull(outputs[key], declared);
    }
  }

  /** Gives an error the stack trace that it lacks, from the line of the program that makes the resource. */
  withTrace(error: unknown, resource: new (...args: never) => unknown): unknown {
    this.end();
    if (error instanceof Error) Error.captureStackTrace(error, resource);
    return error;
  }

  private end(): void {
    Error.stackTraceLimit = this.limit;
  }
}

/**
 * An output in which "no value" is undefined. State has null for it, because in a preview the SDK takes an output that state lacks
 * for unknown. For example, `Monitor.get` reads a monitor without `alertTextLookup`: state has null, and the output is undefined.
 */
function withoutNull(shown: Output<unknown> | undefined, declared: unknown): Output<unknown> {
  if (shown === undefined) return noValue;
  // A program in JavaScript may also declare null.
  const mayBeNull = declared === undefined || declared === null || isLater(declared);
  return mayBeNull ? shown.apply((value) => value ?? undefined) : shown;
}

/** @internal Recognizes a resource by its type, because another copy of this package has other classes. */
export function hasPulumiType(type: string, value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && "__pulumiType" in value && value.__pulumiType === type
  );
}

/** @internal What `get` declares: of its state only the account, because the provider reads all fields from the API. */
export function argsToRead(
  { label, singular, fields }: Definition,
  name: string,
  id: Input<string> | undefined,
  given: object | null | undefined,
): AccountArgs {
  // A program in JavaScript may pass null.
  const state = given ?? {};
  // Without an id, the SDK would declare a new resource.
  if (!id) throw new RunError(`${label}.get(${JSON.stringify(name)}) needs the id of a ${singular}.`);
  const outputs = [...Object.keys(fields), "account", "attributes"];
  const others = Object.keys(state).filter((key) => !outputs.includes(key));
  if (others.length > 0)
    throw new RunError(
      `${label}.get(${JSON.stringify(name)}) has ${others.join(", ")} in its state, but ${label} has no such ` +
        "output; pass options as the fourth argument.",
    );
  const { account } = state as AccountArgs;
  return { account };
}

/**
 * The id that a resource reads: it is unknown as long as the account is. Pulumi leaves an unknown input out of what it sends, so a preview
 * would read the record of this id in the default account.
 */
function idToRead(id: Input<string>, { account }: AccountArgs): Input<string> {
  return isLater(account) ? unsecret(all([id, account]).apply(([known]) => known)) : id;
}
