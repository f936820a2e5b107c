export { Domain } from "./domain";
export type { DomainArgs } from "./domain";
export { Monitor } from "./monitor";
export type { MonitorArgs } from "./monitor";
export type { GetOptions, RequestHeader, RequestHeaderArgs } from "./fields";
