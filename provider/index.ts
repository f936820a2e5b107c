export { Domain, Monitor } from "./sdk/resources";
export type { DomainArgs, DomainState, MonitorArgs, MonitorState } from "./sdk/resources";
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
} from "./sdk/lookups";
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
} from "./sdk/lookups";
