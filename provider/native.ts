// The same classes, types and lookups as in `index.ts`, on the provider plugin: `import { Monitor } from "pulumi-uptime/native"`.
import * as pulumi from "@pulumi/pulumi";

import { pluginType } from "./common/pulumi";
import { domain } from "./definitions/domain";
import { monitor } from "./definitions/monitor";
import type * as dynamic from "./index";
import { lookups } from "./sdk/lookups";
import { pluginBinding } from "./sdk/plugin-binding";
import { argsToRead, isOf, Registration } from "./sdk/resource";

export * from "./index";
export { Provider } from "./sdk/provider";
export type { AccountSettings, ProviderArgs } from "./sdk/provider-args";

export interface Domain extends dynamic.Domain {}

/**
 * A domain, on the provider plugin. Fields that you do not declare keep the value that they have in the API, and are shown in
 * `attributes`. See docs/domain.md, docs/languages.md and, for what may go wrong, docs/errors.md.
 */
export class Domain extends pulumi.CustomResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = pluginType(domain);

  /**
   * Declares a domain. With the option `import`, the id of an existing domain, nothing is created: the resource manages
   * that domain as it is. The preview tells what is wrong with the arguments: see docs/errors.md (docs/adopting.md)
   */
  constructor(name: string, args: dynamic.DomainArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(domain, pluginBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    } finally {
      registration.end();
    }
  }

  /**
   * Reads an existing domain by its id, without managing it. A field without a value is an output of undefined. Of `state`,
   * only `account` is used. (docs/domain.md)
   *
   * @throws if `state` has a key that is no output. The run tells if the domain does not exist: see docs/errors.md
   */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: dynamic.DomainState,
    opts?: pulumi.CustomResourceOptions,
  ): Domain {
    return new Domain(name, argsToRead(domain, name, state) as dynamic.DomainArgs, { ...opts, id });
  }

  /** Returns true for a domain of this type, also for one that another copy of this package has made. */
  static override isInstance(obj: unknown): obj is Domain {
    return isOf(Domain.__pulumiType, obj);
  }
}

const domains = lookups<dynamic.GetDomainArgs, dynamic.GetDomainsArgs, dynamic.GetDomainResult>(
  domain,
  pluginBinding,
);

/**
 * Finds one domain without managing it, by its id, the exact value of a field, or a search. (docs/domain.md)
 *
 * @throws if no domain matches, or more than one: see docs/errors.md
 */
export function getDomain(
  args: dynamic.GetDomainArgs,
  opts?: pulumi.InvokeOptions,
): Promise<dynamic.GetDomainResult> {
  return domains.one(args, opts);
}

/**
 * Finds one domain as {@link getDomain} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/domain.md)
 *
 * @throws if no domain matches, or more than one: see docs/errors.md
 */
export function getDomainOutput(
  args: dynamic.GetDomainOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<dynamic.GetDomainResult> {
  return domains.oneOutput(args, opts);
}

/**
 * Finds all domains that the arguments select, without managing them. It reads every page of the list, or fails.
 * (docs/domain.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getDomains(
  args?: dynamic.GetDomainsArgs,
  opts?: pulumi.InvokeOptions,
): Promise<dynamic.GetDomainResult[]> {
  return domains.all(args, opts);
}

/**
 * Finds all domains as {@link getDomains} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/domain.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getDomainsOutput(
  args?: dynamic.GetDomainsOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<dynamic.GetDomainResult[]> {
  return domains.allOutput(args, opts);
}

export interface Monitor extends dynamic.Monitor {}

/**
 * An uptime monitor, on the provider plugin. Fields that you do not declare keep the value that they have in the API, and are
 * shown in `attributes`. See docs/monitor.md, docs/languages.md and, for what may go wrong, docs/errors.md.
 */
export class Monitor extends pulumi.CustomResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = pluginType(monitor);

  /**
   * Declares a monitor. With the option `import`, the id of an existing monitor, nothing is created: the resource manages
   * that monitor as it is. The preview tells what is wrong with the arguments: see docs/errors.md (docs/adopting.md)
   */
  constructor(name: string, args: dynamic.MonitorArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(monitor, pluginBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    } finally {
      registration.end();
    }
  }

  /**
   * Reads an existing monitor by its id, without managing it. A field without a value is an output of undefined. Of `state`,
   * only `account` is used. (docs/monitor.md)
   *
   * @throws if `state` has a key that is no output. The run tells if the monitor does not exist: see docs/errors.md
   */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: dynamic.MonitorState,
    opts?: pulumi.CustomResourceOptions,
  ): Monitor {
    return new Monitor(name, argsToRead(monitor, name, state) as dynamic.MonitorArgs, { ...opts, id });
  }

  /** Returns true for a monitor of this type, also for one that another copy of this package has made. */
  static override isInstance(obj: unknown): obj is Monitor {
    return isOf(Monitor.__pulumiType, obj);
  }
}

const monitors = lookups<dynamic.GetMonitorArgs, dynamic.GetMonitorsArgs, dynamic.GetMonitorResult>(
  monitor,
  pluginBinding,
);

/**
 * Finds one monitor without managing it, by its id, the exact value of a field, or a search. (docs/monitor.md)
 *
 * @throws if no monitor matches, or more than one: see docs/errors.md
 */
export function getMonitor(
  args: dynamic.GetMonitorArgs,
  opts?: pulumi.InvokeOptions,
): Promise<dynamic.GetMonitorResult> {
  return monitors.one(args, opts);
}

/**
 * Finds one monitor as {@link getMonitor} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/monitor.md)
 *
 * @throws if no monitor matches, or more than one: see docs/errors.md
 */
export function getMonitorOutput(
  args: dynamic.GetMonitorOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<dynamic.GetMonitorResult> {
  return monitors.oneOutput(args, opts);
}

/**
 * Finds all monitors that the arguments select, without managing them. It reads every page of the list, or fails.
 * (docs/monitor.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getMonitors(
  args?: dynamic.GetMonitorsArgs,
  opts?: pulumi.InvokeOptions,
): Promise<dynamic.GetMonitorResult[]> {
  return monitors.all(args, opts);
}

/**
 * Finds all monitors as {@link getMonitors} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/monitor.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getMonitorsOutput(
  args?: dynamic.GetMonitorsOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<dynamic.GetMonitorResult[]> {
  return monitors.allOutput(args, opts);
}
