import * as pulumi from "@pulumi/pulumi";

import { dynamicType } from "../common/pulumi";
import type { AccountArgs, ArgsOf, OutputsOf } from "../definitions/field";
import { monitor } from "../definitions/monitor";
import type { monitorFields, monitorFilters } from "../definitions/monitor";
import { dynamicBinding } from "./dynamic-binding";
import { lookups } from "./lookups";
import type { AllArgs, LookupResult, OneArgs, OutputArgs } from "./lookups";
import { argsToRead, hasPulumiType, Registration } from "./resource";
import type { RecordOutputs, StateOf } from "./resource";

/** The inputs of a {@link Monitor}. */
export interface MonitorArgs extends ArgsOf<typeof monitorFields>, AccountArgs {}

/** The optional third argument of `Monitor.get`. Only `account` is used. */
export interface MonitorState extends StateOf<typeof monitorFields> {}

export interface Monitor extends OutputsOf<typeof monitorFields>, RecordOutputs {}

/**
 * An uptime monitor: it checks a URL at a fixed interval. Fields that you do not declare keep their value in the API,
 * and are shown in `attributes`. See docs/monitor.md; docs/api.md describes the API, and docs/errors.md the errors.
 *
 * @example
 * const home = new Monitor("home", { name: "Home page", url: "https://example.com/", interval: 300 });
 */
export class Monitor extends pulumi.CustomResource {
  /** The resource's type in Pulumi. */
  static readonly __pulumiType: string = dynamicType(monitor);

  /**
   * Declares a monitor. If the option `import` names an existing monitor's id, nothing is created: the resource manages
   * that monitor, and the preview refuses inputs that differ from it. (docs/adopting.md)
   *
   * @throws if both the options `id` and `import` are set, if `providers` is, or if `parent` has a provider of
   * pulumi-uptime/native. The preview reports wrong arguments, and the option `provider`, which also needs that: see
   * docs/errors.md
   */
  constructor(name: string, args: MonitorArgs, opts?: pulumi.CustomResourceOptions) {
    const registration = new Registration(monitor, dynamicBinding);
    try {
      super(...registration.begin(name, args, opts));
      registration.complete(this);
    } catch (error) {
      throw registration.withTrace(error, new.target);
    }
  }

  /**
   * Reads an existing monitor by its id, without managing it. A field that the record does not show is an output of undefined,
   * even if the field is required. Of `state`, only `account` is used. (docs/monitor.md)
   *
   * @throws if `id` is empty or `state` has a key that is not an output. The run fails if the monitor does not exist:
   * see docs/errors.md
   */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    state?: MonitorState,
    opts?: pulumi.CustomResourceOptions,
  ): Monitor {
    return new Monitor(name, argsToRead(monitor, name, id, state) as MonitorArgs, { ...opts, id });
  }

  /** Returns true for a monitor of this type, including one from another copy of this package; false for one of pulumi-uptime/native. */
  static override isInstance(obj: unknown): obj is Monitor {
    return hasPulumiType(Monitor.__pulumiType, obj);
  }
}

/** Selects the monitor for {@link getMonitor}: by its `id` alone, or by any of the others. */
export interface GetMonitorArgs extends OneArgs<typeof monitorFields, typeof monitorFilters> {}
/** {@link GetMonitorArgs} with inputs. */
export type GetMonitorOutputArgs = OutputArgs<GetMonitorArgs>;
/** Selects the monitors for {@link getMonitors}; all of them if nothing is given. */
export interface GetMonitorsArgs extends AllArgs<typeof monitorFields, typeof monitorFilters> {}
/** {@link GetMonitorsArgs} with inputs. */
export type GetMonitorsOutputArgs = OutputArgs<GetMonitorsArgs>;
/** A monitor as the API shows it, without its secret fields. `Monitor.get` has `requestHeaders`, as a secret. */
export interface GetMonitorResult extends LookupResult<typeof monitorFields> {}

const monitors = lookups<GetMonitorArgs, GetMonitorsArgs, GetMonitorResult>(monitor, dynamicBinding);

/**
 * Finds one monitor without managing it, by its id, the exact value of a field, or a search. (docs/monitor.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and the
 * others have no effect
 * @throws if no argument says which monitor, if none matches, or if more than one does: see docs/errors.md
 */
export function getMonitor(args: GetMonitorArgs, opts?: pulumi.InvokeOptions): Promise<GetMonitorResult> {
  return monitors.one(args, opts);
}

/**
 * Finds one monitor as {@link getMonitor} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/monitor.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and only
 * `dependsOn` has an effect
 * @throws if no monitor matches, or more than one: see docs/errors.md
 */
export function getMonitorOutput(
  args: GetMonitorOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<GetMonitorResult> {
  return monitors.oneOutput(args, opts);
}

/**
 * Finds all monitors that the arguments select, without managing them. It reads every page of the list, or fails.
 * (docs/monitor.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and the
 * others have no effect
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getMonitors(
  args?: GetMonitorsArgs,
  opts?: pulumi.InvokeOptions,
): Promise<GetMonitorResult[]> {
  return monitors.all(args, opts);
}

/**
 * Finds all monitors as {@link getMonitors} does, and takes inputs. The result is unknown in a preview if an input is unknown, or
 * if a resource in the option `dependsOn` is still to be created. (docs/monitor.md)
 *
 * @param opts without the provider plugin (pulumi-uptime/native), `provider`, also of `parent`, is an error and only
 * `dependsOn` has an effect
 * @throws if a page cannot be read: see docs/errors.md
 */
export function getMonitorsOutput(
  args?: GetMonitorsOutputArgs,
  opts?: pulumi.InvokeOutputOptions,
): pulumi.Output<GetMonitorResult[]> {
  return monitors.allOutput(args, opts);
}
