import * as z from "zod/mini";

/**
 * The environment variable with which `pulumi-uptime try` runs a preview. It names a socket. The provider tells there what the
 * program declares: the engine prints `[secret]` in place of secrets, and they must not be in a file.
 */
export const tellVariable = "PULUMI_UPTIME_TELL";

/** What is told on a connection: the checked inputs of a resource. */
export const toldInputs = z.object({
  /** The end of the resource's URN, after stack and project. */
  name: z.string(),
  inputs: z.record(z.string(), z.unknown()),
});

export type ToldInputs = z.infer<typeof toldInputs>;
