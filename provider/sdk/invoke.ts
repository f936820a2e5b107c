import * as pulumi from "@pulumi/pulumi";
import type { Input, InvokeOptions, InvokeOutputOptions, Output, Resource, Unwrap } from "@pulumi/pulumi";

import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import type * as query from "./query";

/** The fields that the API's lists are searched and sorted by, as far as a resource has them. */
type Columns<Fields> = Extract<keyof Fields, "name" | "url">;

/** What selects records of one kind in the API's list. */
type Filter<Fields> = CommonFilter<Columns<Fields>> & (Fields extends { url: unknown } ? UrlFilter : object);

interface CommonFilter<Column> {
  /** The account to look in: a name in the setting `uptime:accounts`. Default: the account of `uptime:apiKey`. */
  readonly account?: string | undefined;
  /** The whole name. Letter case matters, except in the name of a domain. */
  readonly name?: string | undefined;
  /** Any string that the API searches for. (API reference, section 4) */
  readonly search?: string | undefined;
  /** The field in which the API looks for `search`. Default `name`. (API reference, section 4) */
  readonly searchBy?: Column | undefined;
}

interface UrlFilter {
  /** The whole URL. The letter case of the host and the slash of an empty path do not matter. */
  readonly url?: string | undefined;
  /** Only the monitors of the status page with this id. (API reference, section 4.2) */
  readonly statusPageId?: number | string | undefined;
}

/** Which one record to find: by `id` alone, or by any of the others. */
export type OneArgs<Fields> = Filter<Fields> & {
  /** The record's id in the API. */
  readonly id?: string | number | undefined;
};

/** Which records to find; all of them if nothing is given. */
export type AllArgs<Fields> = Filter<Fields> & {
  /** The field that the result is sorted by; `id` is the date of creation. Default `id`. (API reference, section 4) */
  readonly sortBy?: "id" | Columns<Fields> | undefined;
  /** `desc` (descending) or `asc` (ascending). Default `desc`. (API reference, section 4) */
  readonly sort?: "desc" | "asc" | undefined;
};

/** The same arguments, each of them possibly an output. */
export type OutputArgs<Args> = { readonly [K in keyof Args]?: Input<NonNullable<Args[K]>> | undefined };

/** The API may hold values that a program could not declare. */
type Widened<T> = T extends string ? string : T extends number ? number : T;

/** What a record shows of each argument; undefined if the API shows nothing, or something empty. */
type Shown<Args> = { readonly [K in keyof Args]-?: Widened<Unwrap<Args[K]>> | undefined };

/** What a lookup returns of a record, without the fields that hold secrets, because a result is plain text. */
export type LookupResult<Args> = Shown<Args> & {
  /** The record's id in the API. */
  readonly id: string;
  /** Everything else that the API shows of the record, under the API's own names. Null values are left out. */
  readonly attributes: Readonly<Record<string, unknown>>;
};

/** Finds the one record that the arguments select. The caller names the result's type, which follows from its definition. */
export async function one<Result>(
  definition: Definition,
  args: object,
  opts: InvokeOptions | undefined,
): Promise<Result> {
  const name = `get${definition.label}`;
  return readable(async () => {
    requireOptions(name, opts);
    return (await load().queryOne(definition, args)) as Result;
  });
}

/** {@link one} with inputs. */
export function oneOutput<Result>(
  definition: Definition,
  args: object,
  opts: InvokeOutputOptions | undefined,
): Output<Result> {
  return whenKnown(args, opts, (known) => one<Result>(definition, known, opts));
}

/** Finds all records that the arguments select. */
export async function all<Result>(
  definition: Definition,
  args: object,
  opts: InvokeOptions | undefined,
): Promise<Result[]> {
  const name = `get${definition.label}s`;
  return readable(async () => {
    requireOptions(name, opts);
    return (await load().queryAll(definition, args)) as Result[];
  });
}

/** {@link all} with inputs. */
export function allOutput<Result>(
  definition: Definition,
  args: object,
  opts: InvokeOutputOptions | undefined,
): Output<Result[]> {
  return whenKnown(args, opts, (known) => all<Result>(definition, known, opts));
}

/** Most programs have no lookup, so what a lookup needs is loaded by the first one. */
// eslint-disable-next-line @typescript-eslint/no-require-imports
const load = () => require("./query") as typeof query;

/** A lookup asks the API itself: there is no provider resource that could do it. The SDK's other options have no effect. */
function requireOptions(lookup: string, opts: InvokeOptions | undefined): void {
  if (opts === undefined) return;
  if (opts.provider !== undefined)
    throw new UptimeError(
      `${lookup} does not take the option provider: it uses the stack's uptime: settings. ` +
        "To look in another account, pass the argument account.",
    );
  if (opts.parent !== undefined && !pulumi.Resource.isInstance(opts.parent))
    throw new UptimeError(`${lookup} has an option parent that is not a resource.`);
}

/** Runs a lookup when its arguments are known and the resources in `dependsOn` are there. Unknown in a preview until then. */
function whenKnown<T>(
  args: object,
  opts: InvokeOutputOptions | undefined,
  find: (known: object) => Promise<T>,
): Output<T> {
  const dependencies = pulumi.output<object | undefined>(opts?.dependsOn).apply(idsOf);
  return pulumi.all([pulumi.output<object>(args), dependencies]).apply<T>(([known]) => find(known));
}

/** The ids of resources, and of the resources in components, which are known when these resources are there. */
async function idsOf(resources: unknown): Promise<Output<unknown>> {
  const ids: Output<unknown>[] = [];
  const seen = new Set<unknown>();
  const collect = async (resource: unknown): Promise<void> => {
    if (resource === undefined || seen.has(resource)) return;
    seen.add(resource);
    if (!pulumi.Resource.isInstance(resource))
      throw new pulumi.RunError("A lookup has an option dependsOn with a value that is not a resource.");
    ids.push(pulumi.CustomResource.isInstance(resource) ? resource.id : resource.urn);
    if (!pulumi.ComponentResource.isInstance(resource)) return;
    const { __data, __childResources } = resource as unknown as Component;
    await __data;
    await Promise.all(Array.from(__childResources ?? [], collect));
  };
  await Promise.all((Array.isArray(resources) ? resources : [resources]).map(collect));
  return pulumi.all(ids);
}

/** The SDK sets both on every component, and does not declare them: the end of its construction, and its children. */
interface Component {
  readonly __data?: Promise<unknown>;
  readonly __childResources?: ReadonlySet<Resource>;
}

/** Pulumi prints only the message of a RunError. Of any other error it prints a stack too, which is of no use here. */
async function readable<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    throw error instanceof UptimeError ? new pulumi.RunError(error.message) : error;
  }
}
