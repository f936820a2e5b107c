import type { AccountArgs, ArgsOf } from "../definitions/field";
import { monitor } from "../definitions/monitor";
import type { monitorFields, monitorFilters } from "../definitions/monitor";
import { dynamicBinding } from "./dynamic-binding";
import { lookups } from "./lookups";
import type { AllArgs, LookupResult, OneArgs, OutputArgs } from "./lookups";
import { resourceClass } from "./resource";
import type { ResourceOf, StateOf } from "./resource";

/** The inputs of a {@link Monitor}. */
export interface MonitorArgs extends ArgsOf<typeof monitorFields>, AccountArgs {}

/** The optional third argument of `Monitor.get`. Only `account` is used. */
export interface MonitorState extends StateOf<typeof monitorFields> {}

export type Monitor = ResourceOf<typeof monitorFields>;

/**
 * An uptime monitor: a check of a URL that runs at a fixed interval. Fields that you do not declare keep the value that
 * they have in the API, and are shown in `attributes`. See docs/monitor.md, docs/api.md for what the API has, and docs/errors.md
 * for what may go wrong.
 *
 * @class
 * @example
 * const home = new Monitor("home", { name: "Home page", url: "https://example.com/", interval: 300 });
 */
export const Monitor = resourceClass<Monitor, MonitorArgs, MonitorState>(monitor, dynamicBinding);

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

const found = lookups<GetMonitorArgs, GetMonitorsArgs, GetMonitorResult>(monitor, dynamicBinding);
/** @function */
export const getMonitor = found.getOne;
/** @function */
export const getMonitorOutput = found.getOneOutput;
/** @function */
export const getMonitors = found.getAll;
/** @function */
export const getMonitorsOutput = found.getAllOutput;
