import type { Definition } from "./field";

// Names that the program and the provider's processes share. Every stack's state holds them, so none may ever change.

/** The type of a dynamic resource in Pulumi. */
export function typeToken({ label }: Pick<Definition, "label">): string {
  return `pulumi-nodejs:dynamic/uptime:${label}`;
}

/**
 * The code with which Pulumi's dynamic host loads the provider. It only requires the package, so that old state runs the
 * version that is installed now. It is short, because state has it twice for each resource.
 */
export function providerCode({ singular }: Definition): string {
  return `exports.handler=()=>require("pulumi-uptime/provider").${singular}`;
}

/** Options of a resource that Pulumi does not forward to a dynamic provider; the hidden input `__options` holds them. */
export interface PassedOptions {
  readonly ignoreChanges?: readonly string[] | undefined;
  readonly replaceOnChanges?: readonly string[] | undefined;
  readonly customTimeouts?:
    Readonly<Partial<Record<"create" | "update" | "delete", string | undefined>>> | undefined;
  /** Identifies the resource in its stack, if it imports or may adopt a record. */
  readonly resource?: string | undefined;
  /** In state of version 0.1.0: the name of an imported resource. */
  readonly importer?: string | undefined;
}

/** The type of the same resource in the provider plugin, in every language. */
export function pluginType({ label }: Pick<Definition, "label">): string {
  return `uptime:index:${label}`;
}

/** The number of records that a lookup finds: `getMonitor` one, `getMonitors` all that it selects. */
export type LookupCount = "one" | "all";

/** The name of a lookup, in every language. */
export function lookupName(
  { label, plural }: Pick<Definition, "label" | "plural">,
  count: LookupCount,
): string {
  const name =
    count === "one" ? label : plural.replace(/(?:^|[-_])(.)/g, (_, letter: string) => letter.toUpperCase());
  return `get${name}`;
}

export function lookupFunction(definition: Pick<Definition, "label" | "plural">, count: LookupCount): string {
  return `uptime:index:${lookupName(definition, count)}`;
}
