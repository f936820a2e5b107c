export type { RequestHeader, RequestHeaderArgs } from "./definitions/field";
export * from "./sdk/domain";
export * from "./sdk/monitor";
