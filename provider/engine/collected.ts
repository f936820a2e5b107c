import * as z from "zod/mini";

/**
 * The environment variable with which `pulumi-uptime doctor --program` runs a preview. It names a file. `check` then writes
 * there what it would refuse, and lets the preview go on, because the engine stops at the first refusal.
 */
export const collectVariable = "PULUMI_UPTIME_COLLECT";

/** A record of the same name (a monitor: and URL). */
const namesakeLine = z.object({
  id: z.string(),
  /** The properties that differ from what the program declares. */
  differs: z.array(z.string()),
});

const collectedResource = z.object({
  /** The resource's URN, or what its inputs hold under `hiddenNames.stepId`. Undefined if neither is known. */
  stepId: z.optional(z.string()),
  /** The class: `Monitor`, for example. */
  label: z.string(),
  isInState: z.boolean(),
  /** The name of an explicit provider. */
  provider: z.optional(z.string()),
  /** A fingerprint of the account, as state has it under `__key`; undefined if its settings cannot be used. */
  keyFingerprint: z.optional(z.string()),
  /** Fingerprints of its address and of those that it has moved from, as state has them under `__server`. */
  servers: z.optional(z.array(z.string())),
  /** The id in the option `import`. */
  importId: z.optional(z.string()),
  /** Why a preview would refuse it; each begins with the property. */
  problems: z.array(z.string()),
  /** Of a new resource: the records that agree in what identifies them. */
  namesakes: z.optional(z.array(namesakeLine)),
  /** Its create may adopt one of them. */
  mayAdopt: z.optional(z.boolean()),
});

const collectedProvider = z.object({
  provider: z.string(),
  address: z.string(),
  /** Why its server cannot be used. */
  problem: z.optional(z.string()),
});

/** A line of the file. */
export const collectedLine = z.union([collectedResource, collectedProvider]);
export type CollectedLine = z.infer<typeof collectedLine>;
/** A resource that was checked. */
export type CollectedResource = z.infer<typeof collectedResource>;
export type NamesakeLine = z.infer<typeof namesakeLine>;
/** An explicit provider. */
export type CollectedProvider = z.infer<typeof collectedProvider>;
