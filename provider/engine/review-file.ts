import { createHmac } from "node:crypto";
import { appendFileSync } from "node:fs";

import * as z from "zod/mini";

import { message, messageOf, UptimeError } from "../api/errors";
import { unwrapSecrets, type Properties } from "../common/marks";
import { isObject } from "../common/values";

/**
 * The environment variables that make a preview write a file for `pulumi-uptime comment`. With `file`, the provider appends which
 * properties of each resource change, because Pulumi does not say this of a dynamic resource. With `key`, it also appends a keyed hash
 * of each resource's inputs; the key keeps readers from guessing values.
 */
export const reviewVariables = { file: "UPTIME_REVIEW_FILE", key: "UPTIME_REVIEW_KEY" } as const;

export const reviewLine = z.object({
  urnSuffix: z.string(),
  /** Of its inputs. */
  hash: z.optional(z.string()),
  /** The properties in which its inputs differ from state. */
  changed: z.optional(z.array(z.string())),
});

/** Writes what a review needs to know of a resource. */
export type ReviewFile = ReturnType<typeof openReviewFile>;

/** Undefined if the environment does not ask for it. */
export function openReviewFile(env: NodeJS.ProcessEnv) {
  const { [reviewVariables.file]: file, [reviewVariables.key]: key } = env;
  if (!file) return undefined;
  const add = (line: z.infer<typeof reviewLine>): void => {
    try {
      appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch (error) {
      throw new UptimeError(
        message`${reviewVariables.file} names ${file}, which cannot be written: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  };
  return {
    addInputs: (urnSuffix: string, inputs: Properties): void => {
      if (!key) return;
      const text = JSON.stringify([urnSuffix, unwrapSecrets(inputs)], inOrder);
      add({ urnSuffix, hash: createHmac("sha256", key).update(text).digest("base64") });
    },
    addChanges: (urnSuffix: string, changed: readonly string[]): void => {
      add({ urnSuffix, changed: [...changed] });
    },
  };
}

/** Tells JSON to have the keys of objects in one order. */
function inOrder(_: string, value: unknown): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
