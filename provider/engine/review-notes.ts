import { createHmac } from "node:crypto";
import { appendFileSync } from "node:fs";

import * as z from "zod/mini";

import { unwrapSecrets, type Properties } from "../common/marks";
import { isObject } from "../common/values";

/**
 * The environment variables with which a preview says more about secrets. The provider appends to the file which properties of each
 * resource change, because Pulumi does not say that of a dynamic resource. With a key it also appends a hash of each resource's
 * inputs, keyed so that nobody who reads a hash can try values. `pulumi-uptime comment` reads the file.
 */
export const reviewVariables = { file: "UPTIME_REVIEW_FILE", key: "UPTIME_REVIEW_KEY" } as const;

/** A line of the file. */
export const reviewNote = z.object({
  /** The end of the resource's URN, after stack and project. */
  name: z.string(),
  /** Of its inputs. */
  hash: z.optional(z.string()),
  /** The properties in which its inputs differ from state. */
  changed: z.optional(z.array(z.string())),
});

/** Notes what a review needs to know of the resource with a name. */
export interface ReviewNotes {
  readonly inputs: (name: string, inputs: Properties) => void;
  readonly changes: (name: string, changed: readonly string[]) => void;
}

/** Undefined if the environment does not ask for it. */
export function reviewNotes(env: NodeJS.ProcessEnv): ReviewNotes | undefined {
  const { [reviewVariables.file]: file, [reviewVariables.key]: key } = env;
  if (!file) return undefined;
  const add = (note: object): void => {
    appendFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  };
  return {
    inputs: (name, inputs) => {
      if (!key) return;
      const text = JSON.stringify([name, inOrder(unwrapSecrets(inputs))]);
      add({ name, hash: createHmac("sha256", key).update(text).digest("base64") });
    },
    changes: (name, changed) => {
      add({ name, changed });
    },
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
