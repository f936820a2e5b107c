// The same classes, types and lookups as in `index.ts`, on the provider plugin: `import { Monitor } from "pulumi-uptime/native"`.
import { domain } from "./definitions/domain";
import { monitor } from "./definitions/monitor";
import type * as dynamic from "./index";
import { lookups } from "./sdk/lookups";
import { pluginBinding } from "./sdk/plugin-binding";
import { resourceClass } from "./sdk/resource";

export * from "./index";
export { Provider } from "./sdk/provider";
export type { AccountSettings, ProviderArgs } from "./sdk/provider-args";

/** A domain, as the `Domain` of `pulumi-uptime`, on the provider plugin. See docs/domain.md and docs/languages.md. */
export const Domain: typeof dynamic.Domain = resourceClass(domain, pluginBinding);
export type Domain = dynamic.Domain;

export const {
  getOne: getDomain,
  getOneOutput: getDomainOutput,
  getAll: getDomains,
  getAllOutput: getDomainsOutput,
} = lookups<dynamic.GetDomainArgs, dynamic.GetDomainsArgs, dynamic.GetDomainResult>(domain, pluginBinding);

/** An uptime monitor, as the `Monitor` of `pulumi-uptime`, on the provider plugin. See docs/monitor.md and docs/languages.md. */
export const Monitor: typeof dynamic.Monitor = resourceClass(monitor, pluginBinding);
export type Monitor = dynamic.Monitor;

export const {
  getOne: getMonitor,
  getOneOutput: getMonitorOutput,
  getAll: getMonitors,
  getAllOutput: getMonitorsOutput,
} = lookups<dynamic.GetMonitorArgs, dynamic.GetMonitorsArgs, dynamic.GetMonitorResult>(
  monitor,
  pluginBinding,
);
