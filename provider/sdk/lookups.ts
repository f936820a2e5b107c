import type { Input, InvokeOptions, InvokeOutputOptions, Output } from "@pulumi/pulumi";

import type { Definition, IdentityKeys, ResultOf } from "../definitions/field";
import type { Binding } from "./binding";

/** The fields that the API's lists are searched and sorted by. With `Extract`, editors show their names. */
type Columns<Fields> = Extract<keyof Fields, IdentityKeys<Fields>>;

/** A field's whole value. Editors show this name beside the field. */
type Exact<Value> = Value | undefined;

/** Selects records of one kind, by the fields that identify them and by the API's own search and filters. */
type Selection<Fields, Filters> = {
  readonly [Key in keyof Pick<Fields, IdentityKeys<Fields>>]?: Exact<string>;
} & { readonly [Key in keyof Filters]?: number | string | undefined } & {
  /** The account to look in: a name in the setting `uptime:accounts`. Default: the account of `uptime:apiKey`. (docs/settings.md) */
  readonly account?: string | undefined;
  /** A string for the API's own search in the field `searchBy`. (docs/resources.md) */
  readonly search?: string | undefined;
  /** The field in which the API looks for `search`. Default: the name. (docs/resources.md) */
  readonly searchBy?: Columns<Fields> | undefined;
};

/** Selects one record: by `id` alone, or by any of the others. */
export type OneArgs<Fields, Filters = object> = Selection<Fields, Filters> & {
  /** The record's id in the API. Only `account` may be given with it. (docs/resources.md) */
  readonly id?: string | number | undefined;
};

/** Selects several records; all of them if nothing is given. */
export type AllArgs<Fields, Filters = object> = Selection<Fields, Filters> & {
  /**
   * The field that the result is sorted by: `id`, which is the order of creation, or a field that identifies the record.
   * Default `id`. (docs/resources.md)
   */
  readonly sortBy?: "id" | Columns<Fields> | undefined;
  /** `desc` (descending) or `asc` (ascending). Default `desc`. (docs/resources.md) */
  readonly sort?: "desc" | "asc" | undefined;
};

/** The arguments of a lookup, each of them possibly an output. */
export type OutputArgs<Args> = { readonly [K in keyof Args]?: Input<NonNullable<Args[K]>> | undefined };

/** A record that a lookup has found, without the fields that hold secrets, because a result is plain data. (docs/resources.md) */
export type LookupResult<Fields> = ResultOf<Fields> & {
  /** The record's id in the API. */
  readonly id: string;
  /** The account in which the record was found, if one was named. */
  readonly account: string | undefined;
  /** The record's other fields, under the API's own names. Null values are left out. */
  readonly attributes: Readonly<Record<string, unknown>>;
};

/** @internal How the lookups of one kind of record run, with the types of their arguments and results. */
export function lookups<One extends object, All extends object, Result>(
  definition: Definition,
  { find, findOutput }: Binding,
) {
  return {
    one: (args: One, opts?: InvokeOptions) => find(definition, "one", args, opts) as Promise<Result>,
    oneOutput: (args: OutputArgs<One>, opts?: InvokeOutputOptions) =>
      findOutput(definition, "one", args, opts) as Output<Result>,
    all: (args?: All, opts?: InvokeOptions) => find(definition, "all", args ?? {}, opts) as Promise<Result[]>,
    allOutput: (args?: OutputArgs<All>, opts?: InvokeOutputOptions) =>
      findOutput(definition, "all", args ?? {}, opts) as Output<Result[]>,
  };
}
