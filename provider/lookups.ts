import * as pulumi from "@pulumi/pulumi";
import type { Input, Output, Unwrap } from "@pulumi/pulumi";

import { domain } from "./definitions/domain";
import type { Definition } from "./definitions/field";
import type * as lookup from "./lifecycle/lookup";
import { monitor } from "./definitions/monitor";
import type { DomainArgs, MonitorArgs } from "./resources";

interface AccountFilter {
  /** The account to look in: a name in the setting `uptime:accounts`. Default: the account of `uptime:apiKey`. */
  readonly account?: string | undefined;
}

/** What selects domains in the API's list. */
interface DomainFilter extends AccountFilter {
  /** The whole name; letter case means nothing. */
  readonly name?: string | undefined;
  /** Free text that the API searches for. (API reference, section 4.1) */
  readonly search?: string | undefined;
  /** The field that `search` is looked for in: `name`, which is the default. (API reference, section 4.1) */
  readonly searchBy?: "name" | undefined;
}

/** What selects monitors in the API's list. */
interface MonitorFilter extends AccountFilter {
  /** The whole name. */
  readonly name?: string | undefined;
  /** The whole URL; letter case of the host, and the slash of an empty path, mean nothing. */
  readonly url?: string | undefined;
  /** Free text that the API searches for. (API reference, section 4.2) */
  readonly search?: string | undefined;
  /** The field that `search` is looked for in: `name` or `url`. Default `name`. (API reference, section 4.2) */
  readonly searchBy?: "name" | "url" | undefined;
  /** Only the monitors of the status page with this id. (API reference, section 4.2) */
  readonly statusPageId?: number | string | undefined;
}

/** Which domain {@link getDomain} is to find: by its `id`, or by any of the others. */
export interface GetDomainArgs extends DomainFilter {
  /** The domain's id at the API. */
  readonly id?: string | number | undefined;
}

/** Which domains {@link getDomains} is to find; without any, all of them. */
export interface GetDomainsArgs extends DomainFilter {
  /** What the result is sorted by: `id` (date created) or `name`. Default `id`. (API reference, section 4.1) */
  readonly sortBy?: "id" | "name" | undefined;
  /** `desc` (descending) or `asc` (ascending). Default `desc`. (API reference, section 4.1) */
  readonly sort?: "desc" | "asc" | undefined;
}

/** Which monitor {@link getMonitor} is to find: by its `id` alone, or by any of the others. */
export interface GetMonitorArgs extends MonitorFilter {
  /** The monitor's id at the API. */
  readonly id?: string | number | undefined;
}

/** Which monitors {@link getMonitors} is to find; without any, all of them. */
export interface GetMonitorsArgs extends MonitorFilter {
  /** What the result is sorted by: `id` (date created), `name` or `url`. Default `id`. (API reference, section 4.2) */
  readonly sortBy?: "id" | "name" | "url" | undefined;
  /** `desc` (descending) or `asc` (ascending). Default `desc`. (API reference, section 4.2) */
  readonly sort?: "desc" | "asc" | undefined;
}

/** The same arguments, each of them possibly an output. */
type Inputs<T> = { readonly [K in keyof T]?: Input<NonNullable<T[K]>> | undefined };

/** {@link GetDomainArgs} with inputs. */
export type GetDomainOutputArgs = Inputs<GetDomainArgs>;
/** {@link GetDomainsArgs} with inputs. */
export type GetDomainsOutputArgs = Inputs<GetDomainsArgs>;
/** {@link GetMonitorArgs} with inputs. */
export type GetMonitorOutputArgs = Inputs<GetMonitorArgs>;
/** {@link GetMonitorsArgs} with inputs. */
export type GetMonitorsOutputArgs = Inputs<GetMonitorsArgs>;

/** An install may hold values that a program could not declare. */
type Widened<T> = T extends string ? string : T extends number ? number : T;

/** What a record holds of its fields; undefined where the API shows nothing, or something empty. */
type Shown<Args> = { readonly [K in keyof Args]-?: Widened<Unwrap<Args[K]>> | undefined };

interface Found {
  /** The record's id at the API. */
  readonly id: string;
  /** What else the API shows of the record, under the API's own names; nothing of it is null. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A domain as the API shows it. */
export interface GetDomainResult extends Found, Shown<DomainArgs> {}

/**
 * A monitor as the API shows it, without the fields that hold secrets: a result is plain text. `Monitor.get` has
 * `requestHeaders`, as a secret.
 */
export interface GetMonitorResult
  extends Found, Shown<Omit<MonitorArgs, "requestHeaders" | "requestAuthPassword">> {}

/**
 * Finds one domain without managing it, by its id, or by exact name or a search. None and several are errors.
 *
 * @example
 * const shop = await getDomain({ name: "shop.example" });
 */
export function getDomain(args: GetDomainArgs): Promise<GetDomainResult> {
  return one<GetDomainResult>(domain, args);
}

/** {@link getDomain} with inputs; unknown in a preview as long as one of them is. */
export function getDomainOutput(args: GetDomainOutputArgs): Output<GetDomainResult> {
  return whenKnown(args, (known) => one<GetDomainResult>(domain, known));
}

/** Finds all domains that the arguments select, without managing them. Reads every page, or fails. */
export function getDomains(args: GetDomainsArgs = {}): Promise<GetDomainResult[]> {
  return several<GetDomainResult>(domain, args);
}

/** {@link getDomains} with inputs; unknown in a preview as long as one of them is. */
export function getDomainsOutput(args: GetDomainsOutputArgs = {}): Output<GetDomainResult[]> {
  return whenKnown(args, (known) => several<GetDomainResult>(domain, known));
}

/**
 * Finds one monitor without managing it, by its id, or by exact name, exact URL or a search. None and several are
 * errors.
 *
 * @example
 * const home = await getMonitor({ url: "https://shop.example/" });
 */
export function getMonitor(args: GetMonitorArgs): Promise<GetMonitorResult> {
  return one<GetMonitorResult>(monitor, args);
}

/** {@link getMonitor} with inputs; unknown in a preview as long as one of them is. */
export function getMonitorOutput(args: GetMonitorOutputArgs): Output<GetMonitorResult> {
  return whenKnown(args, (known) => one<GetMonitorResult>(monitor, known));
}

/** Finds all monitors that the arguments select, without managing them. Reads every page, or fails. */
export function getMonitors(args: GetMonitorsArgs = {}): Promise<GetMonitorResult[]> {
  return several<GetMonitorResult>(monitor, args);
}

/** {@link getMonitors} with inputs; unknown in a preview as long as one of them is. */
export function getMonitorsOutput(args: GetMonitorsOutputArgs = {}): Output<GetMonitorResult[]> {
  return whenKnown(args, (known) => several<GetMonitorResult>(monitor, known));
}

function whenKnown<T>(args: object, find: (known: object) => Promise<T>): Output<T> {
  return pulumi.output<object>(args).apply<T>((known) => find(known));
}

/** The fields' types follow from the definition, which is not known here. */
async function one<T>(definition: Definition, args: object): Promise<T> {
  return explained(async () => (await load().lookUpOne(definition, config, args)) as T);
}

async function several<T>(definition: Definition, args: object): Promise<T[]> {
  return explained(async () => (await load().lookUpAll(definition, config, args)) as T[]);
}

/** HTTP and validation are loaded by the first lookup: most programs have none. */
// eslint-disable-next-line @typescript-eslint/no-require-imports
const load = () => require("./lifecycle/lookup") as typeof lookup;

const config = { get: (key: string): string | undefined => pulumi.runtime.getConfig(key) };

/** Pulumi prints a RunError as its message, and of any other error a stack that says nothing to a person. */
async function explained<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    throw error instanceof Error && error.stack === "" ? new pulumi.RunError(error.message) : error;
  }
}
