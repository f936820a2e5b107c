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
   * The field that the result is sorted by: `id`, which is the date of creation, or one that identifies the record. Default
   * `id`. (docs/resources.md)
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
  /** Everything else that the API shows of the record, under the API's own names. Null values are left out. */
  readonly attributes: Readonly<Record<string, unknown>>;
};

/* eslint-disable @typescript-eslint/prefer-function-type -- editors show the comment of a call signature, not of a function type */

/** A lookup of one record. */
export interface GetOne<Args, Result> {
  /**
   * Finds one record without managing it, by its id, the exact value of a field, or a search. (docs/resources.md)
   *
   * @param args what selects the record
   * @param opts Pulumi's options
   * @throws if no record matches, or more than one: see docs/errors.md
   */
  (args: Args, opts?: InvokeOptions): Promise<Result>;
}

/** A lookup of one record that takes inputs. */
export interface GetOneOutput<Args, Result> {
  /**
   * Finds one record without managing it, and takes inputs. The result is unknown in a preview if an input is unknown, or
   * if a resource in the option `dependsOn` is still to be created. (docs/resources.md)
   *
   * @param args what selects the record
   * @param opts Pulumi's options
   * @throws if no record matches, or more than one: see docs/errors.md
   */
  (args: OutputArgs<Args>, opts?: InvokeOutputOptions): Output<Result>;
}

/** A lookup of several records. */
export interface GetAll<Args, Result> {
  /**
   * Finds all records that the arguments select, without managing them. It reads every page of the list, or fails.
   * (docs/resources.md)
   *
   * @param args what selects the records; all of them if nothing is given
   * @param opts Pulumi's options
   * @throws if a page cannot be read: see docs/errors.md
   */
  (args?: Args, opts?: InvokeOptions): Promise<Result[]>;
}

/** A lookup of several records that takes inputs. */
export interface GetAllOutput<Args, Result> {
  /**
   * Finds all records that the arguments select, without managing them, and takes inputs. The result is unknown in a
   * preview if an input is unknown, or if a resource in the option `dependsOn` is still to be created. (docs/resources.md)
   *
   * @param args what selects the records; all of them if nothing is given
   * @param opts Pulumi's options
   * @throws if a page cannot be read: see docs/errors.md
   */
  (args?: OutputArgs<Args>, opts?: InvokeOutputOptions): Output<Result[]>;
}

/* eslint-enable @typescript-eslint/prefer-function-type */

/** @internal The functions that find records of one kind. */
export interface Lookups<One, All, Result> {
  readonly getOne: GetOne<One, Result>;
  readonly getOneOutput: GetOneOutput<One, Result>;
  readonly getAll: GetAll<All, Result>;
  readonly getAllOutput: GetAllOutput<All, Result>;
}

/** @internal Makes the lookups of one kind of record. Their types, which are the caller's, follow from the same definition. */
export function lookups<One extends object, All extends object, Result>(
  definition: Definition,
  { find, findOutput }: Binding,
): Lookups<One, All, Result> {
  return {
    getOne: (args, opts) => find(definition, "one", args, opts) as Promise<Result>,
    getOneOutput: (args, opts) => findOutput(definition, "one", args, opts) as Output<Result>,
    getAll: (args, opts) => find(definition, "all", args ?? {}, opts) as Promise<Result[]>,
    getAllOutput: (args, opts) => findOutput(definition, "all", args ?? {}, opts) as Output<Result[]>,
  };
}
