import type { InvokeOptions, InvokeOutputOptions, Output } from "@pulumi/pulumi";

import { domain } from "../definitions/domain";
import type { domainFields } from "../definitions/domain";
import { monitor } from "../definitions/monitor";
import type { monitorFields } from "../definitions/monitor";
import { all, allOutput, one, oneOutput } from "./invoke";
import type { AllArgs, LookupResult, OneArgs, OutputArgs } from "./invoke";
import type { DomainArgs, MonitorArgs } from "./resources";

/** Which domain {@link getDomain} is to find: by its `id` alone, or by any of the others. */
export interface GetDomainArgs extends OneArgs<typeof domainFields> {}
/** {@link GetDomainArgs} with inputs. */
export type GetDomainOutputArgs = OutputArgs<GetDomainArgs>;
/** Which domains {@link getDomains} is to find; all of them if nothing is given. */
export interface GetDomainsArgs extends AllArgs<typeof domainFields> {}
/** {@link GetDomainsArgs} with inputs. */
export type GetDomainsOutputArgs = OutputArgs<GetDomainsArgs>;

/** A domain as the API shows it. */
export interface GetDomainResult extends LookupResult<DomainArgs> {}

/** Which monitor {@link getMonitor} is to find: by its `id` alone, or by any of the others. */
export interface GetMonitorArgs extends OneArgs<typeof monitorFields> {}
/** {@link GetMonitorArgs} with inputs. */
export type GetMonitorOutputArgs = OutputArgs<GetMonitorArgs>;
/** Which monitors {@link getMonitors} is to find; all of them if nothing is given. */
export interface GetMonitorsArgs extends AllArgs<typeof monitorFields> {}
/** {@link GetMonitorsArgs} with inputs. */
export type GetMonitorsOutputArgs = OutputArgs<GetMonitorsArgs>;

/**
 * A monitor as the API shows it, without the fields that hold secrets, because a result is plain text. `Monitor.get` has
 * `requestHeaders`, as a secret.
 */
export interface GetMonitorResult extends LookupResult<
  Omit<MonitorArgs, "requestHeaders" | "requestAuthPassword">
> {}

/**
 * Finds one domain without managing it, by its id, its exact name or a search. It is an error if there is none, or more
 * than one.
 *
 * @param args what selects the domain
 * @param opts Pulumi's options
 * @example
 * const shop = await getDomain({ name: "shop.example" });
 */
export function getDomain(args: GetDomainArgs, opts?: InvokeOptions): Promise<GetDomainResult> {
  return one(domain, args, opts);
}

/**
 * {@link getDomain} with inputs. The result is unknown in a preview if an input is unknown, or if a resource in the
 * option `dependsOn` is still to be created.
 */
export function getDomainOutput(
  args: GetDomainOutputArgs,
  opts?: InvokeOutputOptions,
): Output<GetDomainResult> {
  return oneOutput(domain, args, opts);
}

/**
 * Finds all domains that the arguments select, without managing them. It reads every page of the list, or fails.
 *
 * @param args what selects the domains; all of them if nothing is given
 * @param opts Pulumi's options
 */
export function getDomains(args: GetDomainsArgs = {}, opts?: InvokeOptions): Promise<GetDomainResult[]> {
  return all(domain, args, opts);
}

/**
 * {@link getDomains} with inputs. The result is unknown in a preview if an input is unknown, or if a resource in the
 * option `dependsOn` is still to be created.
 */
export function getDomainsOutput(
  args: GetDomainsOutputArgs = {},
  opts?: InvokeOutputOptions,
): Output<GetDomainResult[]> {
  return allOutput(domain, args, opts);
}

/**
 * Finds one monitor without managing it, by its id, its exact name, its exact URL or a search. It is an error if there is
 * none, or more than one.
 *
 * @param args what selects the monitor
 * @param opts Pulumi's options
 * @example
 * const home = await getMonitor({ url: "https://shop.example/" });
 */
export function getMonitor(args: GetMonitorArgs, opts?: InvokeOptions): Promise<GetMonitorResult> {
  return one(monitor, args, opts);
}

/**
 * {@link getMonitor} with inputs. The result is unknown in a preview if an input is unknown, or if a resource in the
 * option `dependsOn` is still to be created.
 */
export function getMonitorOutput(
  args: GetMonitorOutputArgs,
  opts?: InvokeOutputOptions,
): Output<GetMonitorResult> {
  return oneOutput(monitor, args, opts);
}

/**
 * Finds all monitors that the arguments select, without managing them. It reads every page of the list, or fails.
 *
 * @param args what selects the monitors; all of them if nothing is given
 * @param opts Pulumi's options
 */
export function getMonitors(args: GetMonitorsArgs = {}, opts?: InvokeOptions): Promise<GetMonitorResult[]> {
  return all(monitor, args, opts);
}

/**
 * {@link getMonitors} with inputs. The result is unknown in a preview if an input is unknown, or if a resource in the
 * option `dependsOn` is still to be created.
 */
export function getMonitorsOutput(
  args: GetMonitorsOutputArgs = {},
  opts?: InvokeOutputOptions,
): Output<GetMonitorResult[]> {
  return allOutput(monitor, args, opts);
}
