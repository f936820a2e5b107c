// The same classes, types and lookups as in `index.ts`, on the provider plugin: `import { Monitor } from "pulumi-uptime/native"`.
import type {
  CustomResourceOptions,
  ID,
  Input,
  InvokeOptions,
  InvokeOutputOptions,
  Output,
} from "@pulumi/pulumi";

import { domain } from "./definitions/domain";
import type { domainFields } from "./definitions/domain";
import type { OutputsOf } from "./definitions/field";
import { monitor } from "./definitions/monitor";
import type { monitorFields } from "./definitions/monitor";
import { nativeType } from "./engine/identity";
import { invokeAll, invokeAllOutput, invokeOne, invokeOneOutput, nativeFront } from "./engine/native-front";
import { argsToRead, isOf, UptimeResource } from "./engine/resource";
import type {
  GetDomainArgs,
  GetDomainOutputArgs,
  GetDomainResult,
  GetDomainsArgs,
  GetDomainsOutputArgs,
  GetMonitorArgs,
  GetMonitorOutputArgs,
  GetMonitorResult,
  GetMonitorsArgs,
  GetMonitorsOutputArgs,
} from "./lookups";
import type { DomainArgs, DomainState, MonitorArgs, MonitorState } from "./resources";

export type { RequestHeader, RequestHeaderArgs } from "./definitions/field";
export type { DomainArgs, DomainState, MonitorArgs, MonitorState } from "./resources";
export type {
  GetDomainArgs,
  GetDomainOutputArgs,
  GetDomainResult,
  GetDomainsArgs,
  GetDomainsOutputArgs,
  GetMonitorArgs,
  GetMonitorOutputArgs,
  GetMonitorResult,
  GetMonitorsArgs,
  GetMonitorsOutputArgs,
} from "./lookups";

export interface Domain extends OutputsOf<typeof domainFields> {}

/**
 * A domain. Fields that you do not declare keep the value that they have in the API, and are shown in `attributes`.
 *
 * @example
 * const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/home" });
 */
export class Domain extends UptimeResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = nativeType(domain);

  /**
   * @param name the name of the resource in Pulumi
   * @param args the domain's fields
   * @param opts Pulumi's options. With `import`, the id of an existing domain, nothing is created: the resource manages
   * that domain as it is, and the preview refuses inputs that differ from it.
   */
  constructor(name: string, args: DomainArgs, opts?: CustomResourceOptions) {
    super(domain, name, args, opts, nativeFront);
  }

  /**
   * Reads an existing domain by its id, without managing it. Every field is an output.
   *
   * @param name the name of the resource in Pulumi
   * @param id the domain's id in the API
   * @param state `account` for a domain of another account; other outputs may be given, and are not used
   * @param opts Pulumi's options
   */
  static get(name: string, id: Input<ID>, state?: DomainState, opts?: CustomResourceOptions): Domain {
    return new Domain(name, argsToRead(domain, name, id, state) as DomainArgs, { ...opts, id });
  }

  /** Whether a value is a Domain, also one that another copy of this package has made. */
  static override isInstance(obj: unknown): obj is Domain {
    return isOf(domain, obj, nativeType(domain));
  }
}

export interface Monitor extends OutputsOf<typeof monitorFields> {}

/**
 * An uptime monitor: a check of a URL that runs at a fixed interval. Fields that you do not declare keep the value that
 * they have in the API, and are shown in `attributes`.
 *
 * @example
 * const home = new Monitor("home", { name: "Home page", url: "https://example.com/", interval: 300 });
 */
export class Monitor extends UptimeResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = nativeType(monitor);

  /**
   * @param name the name of the resource in Pulumi
   * @param args the monitor's fields
   * @param opts Pulumi's options. With `import`, the id of an existing monitor, nothing is created: the resource manages
   * that monitor as it is, and the preview refuses inputs that differ from it.
   */
  constructor(name: string, args: MonitorArgs, opts?: CustomResourceOptions) {
    super(monitor, name, args, opts, nativeFront);
  }

  /**
   * Reads an existing monitor by its id, without managing it. Every field is an output.
   *
   * @param name the name of the resource in Pulumi
   * @param id the monitor's id in the API
   * @param state `account` for a monitor of another account; other outputs may be given, and are not used
   * @param opts Pulumi's options
   */
  static get(name: string, id: Input<ID>, state?: MonitorState, opts?: CustomResourceOptions): Monitor {
    return new Monitor(name, argsToRead(monitor, name, id, state) as MonitorArgs, { ...opts, id });
  }

  /** Whether a value is a Monitor, also one that another copy of this package has made. */
  static override isInstance(obj: unknown): obj is Monitor {
    return isOf(monitor, obj, nativeType(monitor));
  }
}

/** Finds one domain without managing it, by its id, its exact name or a search. It is an error if there is none, or more than one. */
export function getDomain(args: GetDomainArgs, opts?: InvokeOptions): Promise<GetDomainResult> {
  return invokeOne(domain, args, opts);
}

/** {@link getDomain} with inputs. The result is unknown in a preview if an input is unknown. */
export function getDomainOutput(
  args: GetDomainOutputArgs,
  opts?: InvokeOutputOptions,
): Output<GetDomainResult> {
  return invokeOneOutput(domain, args, opts);
}

/** Finds all domains that the arguments select, without managing them; all of them if nothing is given. */
export function getDomains(args: GetDomainsArgs = {}, opts?: InvokeOptions): Promise<GetDomainResult[]> {
  return invokeAll(domain, args, opts);
}

/** {@link getDomains} with inputs. The result is unknown in a preview if an input is unknown. */
export function getDomainsOutput(
  args: GetDomainsOutputArgs = {},
  opts?: InvokeOutputOptions,
): Output<GetDomainResult[]> {
  return invokeAllOutput(domain, args, opts);
}

/** Finds one monitor without managing it, by its id, its exact name, its exact URL or a search. It is an error if there is none, or more than one. */
export function getMonitor(args: GetMonitorArgs, opts?: InvokeOptions): Promise<GetMonitorResult> {
  return invokeOne(monitor, args, opts);
}

/** {@link getMonitor} with inputs. The result is unknown in a preview if an input is unknown. */
export function getMonitorOutput(
  args: GetMonitorOutputArgs,
  opts?: InvokeOutputOptions,
): Output<GetMonitorResult> {
  return invokeOneOutput(monitor, args, opts);
}

/** Finds all monitors that the arguments select, without managing them; all of them if nothing is given. */
export function getMonitors(args: GetMonitorsArgs = {}, opts?: InvokeOptions): Promise<GetMonitorResult[]> {
  return invokeAll(monitor, args, opts);
}

/** {@link getMonitors} with inputs. The result is unknown in a preview if an input is unknown. */
export function getMonitorsOutput(
  args: GetMonitorsOutputArgs = {},
  opts?: InvokeOutputOptions,
): Output<GetMonitorResult[]> {
  return invokeAllOutput(monitor, args, opts);
}
