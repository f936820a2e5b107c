import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { hasSecret, unwrapSecrets } from "../../common/marks";
import { parseAs } from "./json";
import { findDefinition } from "./resource-types";

const stateResource = z.looseObject({
  urn: z.string(),
  type: z.string(),
  custom: z.optional(z.boolean()),
  id: z.optional(z.string()),
  inputs: z.optional(z.record(z.string(), z.unknown())),
  outputs: z.optional(z.record(z.string(), z.unknown())),
  additionalSecretOutputs: z.nullish(z.array(z.string())),
  /** It was replaced, and is still to be deleted. */
  delete: z.optional(z.boolean()),
  /** Only read, not managed. */
  external: z.optional(z.boolean()),
  /** The provider's URN and id. */
  provider: z.optional(z.string()),
  /** The program's option, if the engine keeps it in state. */
  ignoreChanges: z.optional(z.array(z.string())),
});

const deployment = z.looseObject({
  version: z.number(),
  deployment: z.looseObject({
    resources: z.nullish(z.array(stateResource)),
    /** What a run had begun when it was killed; `creating`, for example. */
    pending_operations: z.nullish(z.array(z.looseObject({ type: z.string(), resource: stateResource }))),
  }),
});

export type StateResource = z.infer<typeof stateResource>;
/** A stack's state as `pulumi stack export` prints and `pulumi stack import` reads it. */
export type Deployment = z.infer<typeof deployment>;

/** The deployment in the text of a file or an output. */
export function parseDeployment(text: string, source: string): Deployment {
  const parsed = parseAs(deployment, text);
  if (parsed) return parsed;
  throw new UptimeError(`${source} is not a deployment in the form that \`pulumi stack export\` writes.`);
}

/** A resource that manages a record. */
export interface ManagedResource {
  readonly definition: Definition;
  readonly resource: StateResource;
}

/** The resources of this package in a state that are neither only read nor about to be deleted. */
export function managedResources({ deployment }: Deployment): ManagedResource[] {
  return (deployment.resources ?? []).flatMap((resource) => {
    const definition = findDefinition(resource.type);
    const { id, external, delete: isLeaving } = resource;
    return definition && id !== undefined && !external && !isLeaving ? [{ definition, resource }] : [];
  });
}

/** The resources of this package whose create was cut off: the record may exist. Pulumi keeps them until somebody clears them. */
export function pendingCreates({ deployment }: Deployment): StateResource[] {
  return (deployment.pending_operations ?? []).flatMap(({ type, resource }) =>
    type === "creating" && findDefinition(resource.type) ? [resource] : [],
  );
}

/** The properties of a resource that state keeps secret, as a whole or in part. */
export function secretPropertiesOf({
  inputs,
  outputs,
  additionalSecretOutputs,
}: StateResource): ReadonlySet<string> {
  const marked = [inputs, outputs].flatMap((properties = {}) =>
    Object.keys(properties).filter((key) => hasSecret(properties[key])),
  );
  return new Set([...marked, ...(additionalSecretOutputs ?? [])]);
}

/** Properties of state with their secrets in the clear. Throws if some are encrypted. */
export function clearProperties(properties: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const entries = Object.entries(properties).map(([key, value]) => [key, unwrapSecrets(value)] as const);
  const encrypted = entries.flatMap(([key, value]) => (value === undefined ? [key] : []));
  if (encrypted.length === 0) return Object.fromEntries(entries);
  throw new UptimeError(
    `The state has ${encrypted.join(", ")} encrypted, so there is nothing to compare. ` +
      "`pulumi stack export --show-secrets` writes a state that can be compared.",
  );
}
