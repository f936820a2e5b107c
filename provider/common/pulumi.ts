// Names that the program and the provider's processes share. The types, the provider's code and the hidden names are in state, so none
// of these may ever change.

/** The names of one kind of record. */
export interface KindNames {
  /** Name of the resource class. */
  readonly label: string;
  /** Name of a single record in the API, under which some servers wrap it. */
  readonly singular: string;
  /** Last part of the collection's path. */
  readonly plural: string;
}

export function dynamicType({ label }: KindNames): string {
  return `pulumi-nodejs:dynamic/uptime:${label}`;
}

/**
 * The code with which Pulumi's dynamic host loads the provider. It only requires the package, so that old state runs the
 * version that is installed now. It is short, because state has it twice for each resource.
 */
export function providerCode({ singular }: KindNames): string {
  return `exports.handler=()=>require("pulumi-uptime/provider").${singular}`;
}

export const providerType = "pulumi:providers:uptime";

/** The type of the resource that is the stack itself. */
export const stackType = "pulumi:pulumi:Stack";

/** The properties that Pulumi does not show, because their names begin with two underscores. */
export const hiddenNames = {
  // Inputs of a dynamic resource: options that Pulumi does not pass to its provider, and the provider's code.
  options: "__options",
  providerCode: "__provider",
  // Outputs: what state knows besides the record's values.
  addressHash: "__server",
  keyFingerprint: "__key",
  claim: "__claim",
  isPartial: "__partial",
  isIdUnconfirmed: "__idAlone",
  tookExisting: "__adopted",
  isReadOnly: "__readOnly",
  /**
   * An input of an imported resource of the plugin. It marks the other inputs as the record's values, not the program's, and stays
   * until the resource is updated.
   */
  isImported: "__imported",
  /** A setting that holds the name of a provider of the plugin and the types of its parents. All default providers have one name. */
  providerName: "__name",
  /** A setting of an explicit provider: hashes of its addresses, each with the key that is sent there. State has it encrypted. */
  addressProofs: "__addresses",
} as const;

/** What the class tells a dynamic provider besides the inputs. Options are here because Pulumi does not forward them. */
export interface HiddenOptions {
  readonly ignoreChanges?: readonly string[] | undefined;
  readonly replaceOnChanges?: readonly string[] | undefined;
  readonly customTimeouts?:
    Readonly<Partial<Record<"create" | "read" | "update" | "delete", string | undefined>>> | undefined;
  /** The URN suffix when the program sends it, and in state its hash: an `Owner`. The name is in state, so it cannot change. */
  readonly owner?: string | undefined;
  /** The inputs that the program has marked as secret, without the fields that always are. */
  readonly secrets?: readonly string[] | undefined;
}

/** The type of the same resource in the provider plugin, in every language. */
export function pluginType({ label }: KindNames): string {
  return `uptime:index:${label}`;
}

/** What a lookup finds: `getMonitor` one record, `getMonitors` all that it selects. */
export type LookupMode = "one" | "all";

export function lookupName({ label, plural }: KindNames, mode: LookupMode): string {
  const name =
    mode === "one" ? label : plural.replace(/(?:^|[-_])(.)/g, (_, letter: string) => letter.toUpperCase());
  return `get${name}`;
}

export function lookupFunction(definition: KindNames, mode: LookupMode): string {
  return `uptime:index:${lookupName(definition, mode)}`;
}
