import * as z from "zod/mini";

/**
 * The environment variable with which `pulumi-uptime doctor --program` and `try` run a preview. It names a socket to which the
 * provider sends each checked resource, with its secrets: the engine prints those as `[secret]`, also with `--show-secrets`, and they
 * must not be in a file. With it, checks refuse nothing, because the engine stops at the first refusal, and the provider creates,
 * updates and deletes nothing.
 */
export const collectVariable = "PULUMI_UPTIME_COLLECT";

/** What one connection carries: a resource that was checked, or whose diff was refused. */
export const collectedResource = z.object({
  urnSuffix: z.string(),
  /** The id in the option `import`, if the provider gets it. */
  importId: z.optional(z.string()),
  /** The inputs, with their secrets. */
  inputs: z.record(z.string(), z.unknown()),
  /** Why it would be refused; each begins with the property. */
  problems: z.array(z.string()),
});

export type CollectedResource = z.infer<typeof collectedResource>;
