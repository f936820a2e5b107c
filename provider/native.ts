// The same classes, types and lookups as in `index.ts`, on the provider plugin: `import { Monitor } from "pulumi-uptime/native"`.
import { domain } from "./definitions/domain";
import { monitor } from "./definitions/monitor";
import { nativeType } from "./definitions/identity";
import { invokeAll, invokeAllOutput, invokeOne, invokeOneOutput, nativeFront } from "./sdk/native-binding";
import type * as lookups from "./sdk/lookups";
import * as resources from "./sdk/resources";

export type * from "./index";

/** A domain, as the `Domain` of `pulumi-uptime`, on the provider plugin. */
export class Domain extends resources.Domain {
  /** The resource's type in Pulumi. */
  static override readonly __pulumiType: string = nativeType(domain);
  protected static override readonly front = nativeFront;
}

/** An uptime monitor, as the `Monitor` of `pulumi-uptime`, on the provider plugin. */
export class Monitor extends resources.Monitor {
  /** The resource's type in Pulumi. */
  static override readonly __pulumiType: string = nativeType(monitor);
  protected static override readonly front = nativeFront;
}

/** {@inheritDoc lookups.getDomain} */
export const getDomain: typeof lookups.getDomain = (args, opts) => invokeOne(domain, args, opts);

/** {@inheritDoc lookups.getDomainOutput} */
export const getDomainOutput: typeof lookups.getDomainOutput = (args, opts) =>
  invokeOneOutput(domain, args, opts);

/** {@inheritDoc lookups.getDomains} */
export const getDomains: typeof lookups.getDomains = (args, opts) => invokeAll(domain, args, opts);

/** {@inheritDoc lookups.getDomainsOutput} */
export const getDomainsOutput: typeof lookups.getDomainsOutput = (args, opts) =>
  invokeAllOutput(domain, args, opts);

/** {@inheritDoc lookups.getMonitor} */
export const getMonitor: typeof lookups.getMonitor = (args, opts) => invokeOne(monitor, args, opts);

/** {@inheritDoc lookups.getMonitorOutput} */
export const getMonitorOutput: typeof lookups.getMonitorOutput = (args, opts) =>
  invokeOneOutput(monitor, args, opts);

/** {@inheritDoc lookups.getMonitors} */
export const getMonitors: typeof lookups.getMonitors = (args, opts) => invokeAll(monitor, args, opts);

/** {@inheritDoc lookups.getMonitorsOutput} */
export const getMonitorsOutput: typeof lookups.getMonitorsOutput = (args, opts) =>
  invokeAllOutput(monitor, args, opts);
