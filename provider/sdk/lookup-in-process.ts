import * as pulumi from "@pulumi/pulumi";
import type { Output, Resource } from "@pulumi/pulumi";

import { UptimeError } from "../api/errors";
import { readSettings } from "../api/settings";
import { lookupName } from "../common/pulumi";
import { runLookup } from "../engine/lookup";
import type { RecordScope } from "../lifecycle/record-scope";
import { Session } from "../lifecycle/session";
import type { Binding } from "./binding";

// Pulumi's dynamic provider has no functions, so these lookups run in the program's own process. Most options have no effect.

/** The lookups of a program share their connections. */
const session = new Session();

const config = { get: (key: string): string | undefined => pulumi.runtime.getConfig(key) };

export const find: Binding["find"] = async (definition, count, args, opts) => {
  if (opts?.provider !== undefined)
    throw new pulumi.RunError(
      `${lookupName(definition, count)} does not take the option provider: it uses the stack's uptime: settings. ` +
        "To look in another account, pass the argument account.",
    );
  const connect = (account?: string): RecordScope =>
    session.connect(definition, readSettings(config, process.env, account));
  try {
    return await runLookup(session, definition, connect, count, args);
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    // Pulumi prints only the message of a RunError; once the program has ended, the stack too, which is of no use here.
    throw Object.assign(new pulumi.RunError(error.message), { stack: "" });
  }
};

/** Waits for the arguments and for the resources in `dependsOn`, so the result may be unknown in a preview. */
export const findOutput: Binding["findOutput"] = (definition, count, args, opts) => {
  const dependencies = pulumi.output<object | undefined>(opts?.dependsOn).apply(idsOf);
  return pulumi
    .all([pulumi.output<object>(args), dependencies])
    .apply(([known]) => find(definition, count, known, opts));
};

/** The ids of resources, and of those in components. They are known when the resources exist. */
async function idsOf(resources: unknown): Promise<Output<unknown>> {
  const ids: Output<unknown>[] = [];
  const seen = new Set<unknown>();
  const collect = async (resource: unknown): Promise<void> => {
    if (resource === undefined || seen.has(resource)) return;
    seen.add(resource);
    if (!pulumi.Resource.isInstance(resource))
      throw new pulumi.RunError("A lookup has an option dependsOn with a value that is not a resource.");
    ids.push(pulumi.CustomResource.isInstance(resource) ? resource.id : resource.urn);
    if (!pulumi.ComponentResource.isInstance(resource)) return;
    const { __data, __childResources } = resource as unknown as Component;
    await __data;
    await Promise.all(Array.from(__childResources ?? [], collect));
  };
  await Promise.all((Array.isArray(resources) ? resources : [resources]).map(collect));
  return pulumi.all(ids);
}

/** The SDK sets both on every component without declaring them: the end of its construction, and its children. */
interface Component {
  readonly __data?: Promise<unknown>;
  readonly __childResources?: ReadonlySet<Resource>;
}
