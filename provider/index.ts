export { Domain } from "./domain";
export type { DomainArgs } from "./domain";
export { Monitor } from "./monitor";
export type { MonitorArgs } from "./monitor";
export type { GetOptions, RequestHeader, RequestHeaderArgs } from "./fields";
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
