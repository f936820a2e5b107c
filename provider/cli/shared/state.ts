import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import type { ApiRecord } from "../../api/record";
import { fieldOf, identityKeys } from "../../definitions/keys";
import { decodeOptions, decodeOutputs } from "../../engine/properties";
import { compare, managedValue } from "../../lifecycle/difference";
import type { RecordScope } from "../../lifecycle/record-scope";
import { isAccountOfState, isAddressOfState } from "../../lifecycle/state-account";
import { hasSecret, unwrapSecrets, type Properties } from "../../common/marks";
import { groupBy, isEmpty, isObject } from "../../common/values";
import { parseAs } from "./json";
import { listOf } from "./quoting";
import { findDefinition } from "./resource-types";

/** A resource as Pulumi writes it, in state and in a preview. */
export const resourceState = z.looseObject({
  urn: z.string(),
  type: z.string(),
  id: z.optional(z.string()),
  inputs: z.optional(z.record(z.string(), z.unknown())),
  outputs: z.optional(z.record(z.string(), z.unknown())),
  additionalSecretOutputs: z.nullish(z.array(z.string())),
  /** It was replaced, and is still to be deleted. */
  delete: z.optional(z.boolean()),
  /** Its record is deleted already, and the replacement is not made yet. */
  pendingReplacement: z.optional(z.boolean()),
  /** Only read, not managed. */
  external: z.optional(z.boolean()),
  /** The provider's URN and id. */
  provider: z.optional(z.string()),
  /** The program's options, if the engine keeps them in state. */
  ignoreChanges: z.optional(z.array(z.string())),
  replaceOnChanges: z.optional(z.array(z.string())),
  protect: z.optional(z.boolean()),
  retainOnDelete: z.optional(z.boolean()),
  /** `pulumi state taint` has set it, so the next `up` replaces the resource. */
  taint: z.optional(z.boolean()),
  /** The URN of a resource with which Pulumi forgets this one, without a delete. */
  deletedWith: z.optional(z.string()),
  /** The option `import` of a resource of a plugin. */
  importID: z.optional(z.string()),
  /** An extension of the provider, from the deployment. */
  extensionRef: z.optional(z.unknown()),
});

const deployment = z.looseObject({
  version: z.number(),
  features: z.nullish(z.array(z.string())),
  deployment: z.looseObject({
    resources: z.nullish(z.array(resourceState)),
    /** What a run had begun when it was killed; `creating`, for example. */
    pending_operations: z.nullish(z.array(z.looseObject({ type: z.string(), resource: resourceState }))),
  }),
});

export type StateResource = z.infer<typeof resourceState>;
/** A stack's state as `pulumi stack export` prints and `pulumi stack import` reads it. */
export type StackState = z.infer<typeof deployment>;

/** The parts of state that Pulumi 3.250 writes, except those that make it run code or load plugins: snippets and extensions. */
const knownParts: readonly string[] = [
  "manifest",
  "secrets_providers",
  "resources",
  "pending_operations",
  "metadata",
];
const knownFeatures: readonly string[] = ["refreshBeforeUpdate", "views", "hooks", "taint", "replaceWith"];

/** The deployment in the text of a file or an output. Throws if Pulumi may run something in it that no command looks at. */
export function parseDeployment(text: string, source: string): StackState {
  const parsed = parseAs(deployment, text);
  if (!parsed)
    throw new UptimeError(`${source} is not a deployment in the form that \`pulumi stack export\` writes.`);
  const unknown = [
    ...unknownIn(parsed, ["version", "features", "deployment"]),
    ...unknownIn(parsed.deployment, knownParts),
    ...(parsed.deployment.resources ?? []).flatMap(misspeltIn),
    ...(parsed.features ?? []).filter((feature) => !knownFeatures.includes(feature)),
  ];
  if (unknown.length === 0) return parsed;
  throw new UptimeError(
    `${source} has ${listOf(unknown.map((name) => JSON.stringify(name)))}, and this version of pulumi-uptime does not know what Pulumi does with that. ` +
      "It may run code, so nothing is read. If you do not use it, find out who can write the state; if you do, use a version of this package that knows it.",
  );
}

function unknownIn(value: object, known: readonly string[]): string[] {
  return Object.entries(value).flatMap(([key, part]) => {
    const isPartEmpty = isEmpty(part) || (isObject(part) && Object.keys(part).length === 0);
    return known.includes(key) || isPartEmpty ? [] : [key];
  });
}

const spellings = new Map(Object.keys(resourceState.shape).map((name) => [name.toLowerCase(), name]));

/** The names of a resource's properties that Pulumi, which reads names in any letter case, takes for those that are looked at. */
function misspeltIn(resource: StateResource): string[] {
  return Object.keys(resource).filter((key) => (spellings.get(key.toLowerCase()) ?? key) !== key);
}

export type ManagedResource = ReturnType<typeof managedResources>[number];

/** The resources of this package in a state that have a record and manage it. One that is to be deleted does not. */
export function managedResources({ deployment }: StackState) {
  return (deployment.resources ?? []).flatMap((resource) => {
    const definition = findDefinition(resource.type);
    const { id, external, delete: isLeaving, pendingReplacement: isDeleted } = resource;
    const isManaged = definition && id !== undefined && !external && !isLeaving && !isDeleted;
    return isManaged ? [{ definition, resource: { ...resource, id } }] : [];
  });
}

/** The names of one account in `uptime:accounts`; undefined is the default account. */
type AccountNames = ReadonlySet<string | undefined>;

/** Returns a function that finds the resource that manages a record of an account. */
export function managersIn(managed: readonly ManagedResource[]) {
  const byId = groupBy(managed, ({ resource }) => resource.id);
  return (scope: RecordScope, names: AccountNames, record: ApiRecord): ManagedResource | undefined =>
    byId.get(record.id)?.find((one) => managesRecord(one, scope, names, record));
}

/**
 * Whether a resource with a record's id manages it. If state was made with another key, which may be of the same account, name (and URL)
 * decide, as for the provider itself.
 */
function managesRecord(
  { definition, resource }: ManagedResource,
  scope: RecordScope,
  names: AccountNames,
  record: ApiRecord,
): boolean {
  if (definition !== scope.definition) return false;
  const outputs = decodeOutputs(definition, resource.outputs ?? {});
  // State of older versions does not say the key.
  if (outputs.keyFingerprint === undefined)
    return isAccountOfState(scope, outputs) && names.has(outputs.account);
  if (isAccountOfState(scope, outputs)) return true;
  const isSame = (key: string): boolean =>
    // A value that is encrypted in this state may be the same.
    hasSecret(resource.outputs?.[key]) ||
    compare(fieldOf(definition, key), managedValue(outputs.values, key), record).outcome === "same";
  return isAddressOfState(scope, outputs) && identityKeys(definition).every(isSame);
}

/** The resources of this package whose create was cut off: the record may exist. Pulumi keeps them until somebody clears them. */
export function pendingCreates({ deployment }: StackState): StateResource[] {
  return (deployment.pending_operations ?? []).flatMap(({ type, resource }) =>
    type === "creating" && findDefinition(resource.type) ? [resource] : [],
  );
}

/** The program's options of a resource, which the engine keeps for one of the plugin, and a dynamic one in hidden inputs. */
export function optionsOf({
  inputs = {},
  ...resource
}: Pick<StateResource, "inputs" | "ignoreChanges" | "replaceOnChanges">) {
  const hidden = decodeOptions(inputs);
  const { ignoreChanges = hidden.ignoreChanges, replaceOnChanges = hidden.replaceOnChanges } = resource;
  return { ignoreChanges, replaceOnChanges };
}

/** The properties of a resource that state keeps secret, as a whole or in part. */
export function secretPropertiesInState(resource: StateResource): ReadonlySet<string> {
  const { inputs, outputs, additionalSecretOutputs } = resource;
  const marked = [inputs, outputs].flatMap((properties = {}) =>
    Object.keys(properties).filter((key) => hasSecret(properties[key])),
  );
  return new Set([...marked, ...(additionalSecretOutputs ?? [])]);
}

/** Properties of state with their secrets in the clear, undefined for encrypted ones; and the names of these. */
export function decryptedProperties(properties: Properties = {}) {
  const entries = Object.entries(properties).map(([key, value]) => [key, unwrapSecrets(value)] as const);
  const encrypted = entries.flatMap(([key, value]) => (value === undefined ? [key] : []));
  return { values: Object.fromEntries(entries), encrypted };
}

/** Properties of state with their secrets in the clear. Throws if some are encrypted. */
export function clearProperties(properties?: Properties): Record<string, unknown> {
  const { values, encrypted } = decryptedProperties(properties);
  if (encrypted.length === 0) return values;
  throw new UptimeError(
    `The state has ${encrypted.join(", ")} encrypted, so there is nothing to compare. ` +
      "`pulumi stack export --show-secrets` writes a state that can be compared.",
  );
}
