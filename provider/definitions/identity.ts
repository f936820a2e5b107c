import type { Definition } from "./field";

// State of every stack holds these for ever, so none may change.

/** The type under which Pulumi knows a resource. */
export function typeToken(definition: Definition): string {
  return `pulumi-nodejs:dynamic/uptime:${definition.label}`;
}

/**
 * The code by which Pulumi's dynamic host finds the provider of a resource. It loads the package, so old state runs the
 * version that is installed now; and it is short, because state holds it twice for each resource.
 */
export function providerCode(definition: Definition): string {
  return `exports.handler=()=>require("pulumi-uptime/provider").${definition.singular}`;
}

/** The type under which Pulumi knows the same resource of the provider plugin, in every language. */
export function nativeType({ label }: Pick<Definition, "label">): string {
  return `uptime:index:${label}`;
}

/** A function of the provider plugin: `getMonitor` finds one record, `getMonitors` several. */
export function nativeFunction({ label }: Pick<Definition, "label">, finds: "one" | "several"): string {
  return `uptime:index:get${label}${finds === "one" ? "" : "s"}`;
}
