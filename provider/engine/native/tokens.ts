import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";

/** The type under which native programs know a resource, for ever. */
export function nativeType({ label }: Pick<Definition, "label">): string {
  return `uptime:index:${label}`;
}

/** The type of the dynamic front for the same resource. */
export function dynamicType({ label }: Pick<Definition, "label">): string {
  return `pulumi-nodejs:dynamic/uptime:${label}`;
}

/** A function of the plugin: `getMonitor` finds one record, `getMonitors` several. */
export interface NativeFunction {
  readonly token: string;
  readonly definition: Definition;
  readonly finds: "one" | "several";
}

export function functionsOf(definitions: readonly Definition[]): NativeFunction[] {
  return definitions.flatMap((definition) => [
    { token: `uptime:index:get${definition.label}`, definition, finds: "one" as const },
    { token: `uptime:index:get${definition.label}s`, definition, finds: "several" as const },
  ]);
}

/** The type of a resource, from its URN `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`. */
export function typeIn(urn: string): string {
  return urn.split("::")[2]?.split("$").at(-1) ?? "";
}

/** Throws when there is no such type. */
export function definitionOf(definitions: readonly Definition[], type: string): Definition {
  const definition = definitions.find((one) => nativeType(one) === type);
  if (definition) return definition;
  throw new UptimeError(
    `The plugin pulumi-resource-uptime has no resource type ${JSON.stringify(type)}; it has ${definitions.map(nativeType).join(" and ")}.`,
  );
}

/** Throws when there is no such function. */
export function functionOf(definitions: readonly Definition[], token: string): NativeFunction {
  const functions = functionsOf(definitions);
  const found = functions.find((one) => one.token === token);
  if (found) return found;
  const tokens = functions.map((one) => one.token).join(", ");
  throw new UptimeError(
    `The plugin pulumi-resource-uptime has no function ${JSON.stringify(token)}; it has ${tokens}.`,
  );
}
