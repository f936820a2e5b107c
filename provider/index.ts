export type { RequestHeader } from "./common/values";
export type { RequestHeaderArgs } from "./definitions/field";
export type { AlertCondition, AlertDays, MonitorInterval, RequestMethod } from "./definitions/monitor";
export * from "./sdk/domain";
export * from "./sdk/monitor";
