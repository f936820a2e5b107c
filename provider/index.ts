export { Domain, Monitor } from "./resources";
export type { DomainArgs, DomainState, MonitorArgs, MonitorState } from "./resources";
export type { RequestHeader, RequestHeaderArgs } from "./definitions/field";
export {
  getDomain,
  getDomainOutput,
  getDomains,
  getDomainsOutput,
  getMonitor,
  getMonitorOutput,
  getMonitors,
  getMonitorsOutput,
} from "./lookups";
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
