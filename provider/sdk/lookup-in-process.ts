import * as pulumi from "@pulumi/pulumi";
import type { InvokeOptions, Output, Resource } from "@pulumi/pulumi";

import { UptimeError } from "../api/errors";
import { readSettings } from "../api/settings";
import { lookupFunction, lookupName, type LookupMode } from "../common/pulumi";
import type { Definition } from "../definitions/field";
import { runLookup } from "../engine/lookup";
import type { RecordScope } from "../lifecycle/record-scope";
import { Session } from "../lifecycle/session";
import { getOrMake } from "../common/values";
import type { Binding } from "./binding";
import { secretInputs } from "./secret-inputs";
import { currentRun } from "./warnings";

// Pulumi's dynamic provider has no functions, so these lookups run in the program's own process. Of their options, only `dependsOn` has
// an effect.

/** The lookups of a run share their connections. The Automation API may run several programs in one process. */
const sessions = new WeakMap<object, Session>();

const sessionOfRun = (): Session => getOrMake(sessions, currentRun(), () => new Session());

const config = { get: (key: string): string | undefined => pulumi.runtime.getConfig(key) };

/** Waits for the arguments and for the resources in `dependsOn`, so the result may be unknown in a preview. */
export const findOutput: Binding["findOutput"] = (definition, mode, args, opts) => {
  const dependencies = pulumi.output<object | undefined>(opts?.dependsOn).apply(idsOf);
  return pulumi
    .all([pulumi.output<object>(args), dependencies])
    .apply(async ([known]) => find(definition, mode, known, opts, await secretInputs({ ...args })));
};

/** @param secretArgs the arguments whose values no message may show */
export async function find(
  definition: Definition,
  mode: LookupMode,
  args: object,
  opts?: InvokeOptions,
  secretArgs: readonly string[] = [],
): Promise<unknown> {
  const token = lookupFunction(definition, mode);
  if (opts?.provider !== undefined || opts?.parent?.getProvider(token) !== undefined)
    throw new pulumi.RunError(
      `${lookupName(definition, mode)} takes no provider, neither as an option nor from its parent: it uses the stack's uptime: settings. ` +
        "To look in another account, pass the argument account.",
    );
  const session = sessionOfRun();
  const connect = (account?: string): RecordScope =>
    session.connect(definition, readSettings(config, process.env, account));
  try {
    return await runLookup(session, definition, connect, mode, args, secretArgs);
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    // Of a RunError, Pulumi prints only the message. Once the program has ended, it also prints the stack trace, which is useless here.
    throw Object.assign(new pulumi.RunError(error.message), { stack: "" });
  }
}

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
