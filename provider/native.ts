// The same classes, types and lookups as in `index.ts`, on the provider plugin: `import { Monitor } from "pulumi-uptime/native"`.
// The full comments are in `sdk/domain.ts` and `sdk/monitor.ts`.
import * as pulumi from "@pulumi/pulumi";

import { pluginType } from "./common/pulumi";
import { domain } from "./definitions/domain";
import { monitor } from "./definitions/monitor";
import type * as dynamic from "./index";
import { lookups } from "./sdk/lookups";
import { pluginBinding } from "./sdk/plugin-binding";
import { argsToRead, hasPulumiType, Registration } from "./sdk/resource";

export * from "./index";
export { Provider } from "./sdk/provider";
export type { AccountSettings, ProviderArgs } from "./sdk/provider-args";

export interface Domain extends dynamic.Domain {}

/** A domain, as in pulumi-uptime, on the provider plugin. See docs/domain.md, docs/languages.md and docs/errors.md. */
export class Domain extends pulumi.CustomResource implements dynamic.Domain {
  static readonly __pulumiType: string = pluginType(domain);

  /**
   * Declares a domain. If the option `import` names an existing domain's id, nothing is created: the resource manages
   * that domain. The preview reports wrong arguments. (docs/adopting.md, docs/errors.md)
   */
  constructor(name: string, args: dynamic.DomainArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(domain, pluginBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    }
  }

  /** Reads an existing domain by its id, without managing it. Of `state`, only `account` is used. (docs/domain.md) */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: dynamic.DomainState,
    opts?: pulumi.CustomResourceOptions,
  ): Domain {
    return new Domain(name, argsToRead(domain, name, id, state) as dynamic.DomainArgs, { ...opts, id });
  }

  /** Returns true for a domain of this type, including one from another copy of this package; false for a dynamic resource. */
  static override isInstance(obj: unknown): obj is Domain {
    return hasPulumiType(Domain.__pulumiType, obj);
  }
}

const domains = lookups<dynamic.GetDomainArgs, dynamic.GetDomainsArgs, dynamic.GetDomainResult>(
  domain,
  pluginBinding,
);

/**
 * Finds one domain without managing it, by its id, the exact value of a field, or a search. (docs/domain.md)
 *
 * @throws if no argument says which domain, if none matches, or if more than one does: see docs/errors.md
 */
export const getDomain: typeof dynamic.getDomain = domains.one;
/**
 * Finds one domain as {@link getDomain} does, and takes inputs. The result is unknown in a preview if an input is. (docs/domain.md)
 *
 * @throws if no domain matches, or more than one: see docs/errors.md
 */
export const getDomainOutput: typeof dynamic.getDomainOutput = domains.oneOutput;
/**
 * Finds all domains that the arguments select, without managing them. It reads every page of the list, or fails.
 * (docs/domain.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export const getDomains: typeof dynamic.getDomains = domains.all;
/**
 * Finds all domains as {@link getDomains} does, and takes inputs. The result is unknown in a preview if an input is.
 * (docs/domain.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export const getDomainsOutput: typeof dynamic.getDomainsOutput = domains.allOutput;

export interface Monitor extends dynamic.Monitor {}

/** An uptime monitor, as in pulumi-uptime, on the provider plugin. See docs/monitor.md, docs/languages.md and docs/errors.md. */
export class Monitor extends pulumi.CustomResource implements dynamic.Monitor {
  static readonly __pulumiType: string = pluginType(monitor);

  /**
   * Declares a monitor. If the option `import` names an existing monitor's id, nothing is created: the resource manages
   * that monitor. The preview reports wrong arguments. (docs/adopting.md, docs/errors.md)
   */
  constructor(name: string, args: dynamic.MonitorArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(monitor, pluginBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    }
  }

  /** Reads an existing monitor by its id, without managing it. Of `state`, only `account` is used. (docs/monitor.md) */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: dynamic.MonitorState,
    opts?: pulumi.CustomResourceOptions,
  ): Monitor {
    return new Monitor(name, argsToRead(monitor, name, id, state) as dynamic.MonitorArgs, { ...opts, id });
  }

  /** Returns true for a monitor of this type, including one from another copy of this package; false for a dynamic resource. */
  static override isInstance(obj: unknown): obj is Monitor {
    return hasPulumiType(Monitor.__pulumiType, obj);
  }
}

const monitors = lookups<dynamic.GetMonitorArgs, dynamic.GetMonitorsArgs, dynamic.GetMonitorResult>(
  monitor,
  pluginBinding,
);

/**
 * Finds one monitor without managing it, by its id, the exact value of a field, or a search. (docs/monitor.md)
 *
 * @throws if no argument says which monitor, if none matches, or if more than one does: see docs/errors.md
 */
export const getMonitor: typeof dynamic.getMonitor = monitors.one;
/**
 * Finds one monitor as {@link getMonitor} does, and takes inputs. The result is unknown in a preview if an input is. (docs/monitor.md)
 *
 * @throws if no monitor matches, or more than one: see docs/errors.md
 */
export const getMonitorOutput: typeof dynamic.getMonitorOutput = monitors.oneOutput;
/**
 * Finds all monitors that the arguments select, without managing them. It reads every page of the list, or fails.
 * (docs/monitor.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export const getMonitors: typeof dynamic.getMonitors = monitors.all;
/**
 * Finds all monitors as {@link getMonitors} does, and takes inputs. The result is unknown in a preview if an input is.
 * (docs/monitor.md)
 *
 * @throws if a page cannot be read: see docs/errors.md
 */
export const getMonitorsOutput: typeof dynamic.getMonitorsOutput = monitors.allOutput;
