import { createHmac } from "node:crypto";
import { appendFileSync } from "node:fs";

import * as z from "zod/mini";

import { unwrapSecrets, type Properties } from "../common/marks";
import { isObject } from "../common/values";

/**
 * The environment variables with which a preview also tells the values of secrets apart. The provider appends a hash of each
 * resource's inputs to the file, keyed so that nobody who reads a hash can try values. `pulumi-uptime comment` reads the file.
 */
export const reviewVariables = { file: "UPTIME_REVIEW_FILE", key: "UPTIME_REVIEW_KEY" } as const;

/** A line of the file. */
export const checkedValues = z.object({
  /** The end of the resource's URN, after stack and project. */
  name: z.string(),
  hash: z.string(),
});

/** Notes the inputs of a resource. */
export type RecordValues = (name: string, inputs: Properties) => void;

/** Undefined if the environment does not ask for it. */
export function valueRecorder(env: NodeJS.ProcessEnv): RecordValues | undefined {
  const { [reviewVariables.file]: file, [reviewVariables.key]: key } = env;
  if (!file || !key) return undefined;
  return (name, inputs) => {
    const text = JSON.stringify([name, inOrder(unwrapSecrets(inputs))]);
    const hash = createHmac("sha256", key).update(text).digest("base64");
    appendFileSync(file, `${JSON.stringify({ name, hash })}\n`, { mode: 0o600 });
  };
}

/** The same value with the keys of its objects in one order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}
