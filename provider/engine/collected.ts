import * as z from "zod/mini";

/**
 * The environment variable with which `pulumi-uptime doctor --program` runs a preview. It names a file. The provider writes
 * there what it would refuse, and lets the preview go on, because the engine stops at the first refusal. With it, the provider
 * creates, updates and deletes nothing.
 */
export const collectVariable = "PULUMI_UPTIME_COLLECT";

/** A line of the file: a resource that a preview would refuse. */
export const collectedRefusal = z.object({
  /** The class: `Monitor`, for example. */
  label: z.string(),
  /** The resource's URN or, if its provider does not know it, what its inputs hold under `hiddenNames.refused`. */
  resource: z.optional(z.string()),
  /** The id of its record, if it is in state. */
  id: z.optional(z.string()),
  /** The id in the option `import`. */
  importId: z.optional(z.string()),
  /** Why it is refused; each begins with the property. */
  problems: z.array(z.string()),
});

export type CollectedRefusal = z.infer<typeof collectedRefusal>;
