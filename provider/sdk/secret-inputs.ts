import { isSecret, Output, Resource } from "@pulumi/pulumi";

/**
 * The names of the inputs that are secret or have a secret part. Undefined at once if none is or contains an output or a promise;
 * otherwise a promise, which resolves to undefined if none is secret.
 */
export function secretInputs(args: object): Promise<readonly string[] | undefined> | undefined {
  const possible = Object.entries(args).filter(([, value]) => hasOutput(value));
  return possible.length > 0 ? namesOfSecrets(possible) : undefined;
}

async function namesOfSecrets(
  inputs: readonly (readonly [string, unknown])[],
): Promise<readonly string[] | undefined> {
  // If an output fails, it also fails where its value is used.
  const find = ([, value]: readonly [string, unknown]): Promise<boolean> =>
    hasSecretOutput(value).catch(() => false);
  const found = await Promise.all(inputs.map(find));
  const names = inputs.flatMap(([name], index) => (found[index] ? [name] : []));
  return names.length > 0 ? names : undefined;
}

function hasOutput(value: unknown): boolean {
  return isLater(value) || elementsOf(value).some(hasOutput);
}

async function hasSecretOutput(value: unknown): Promise<boolean> {
  if (Output.isInstance(value)) return isSecret(value);
  if (isLater(value)) return hasSecretOutput(await value);
  return (await Promise.all(elementsOf(value).map(hasSecretOutput))).includes(true);
}

/** Whether a value is an output or a promise. */
export const isLater = (value: unknown): boolean => Output.isInstance(value) || value instanceof Promise;

/** A program in JavaScript may pass a resource instead of one of its outputs, and a resource refers to itself. */
const elementsOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null && !Resource.isInstance(value) ? Object.values(value) : [];
