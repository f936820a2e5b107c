import { isSecret, Output, output } from "@pulumi/pulumi";

/**
 * The names of the inputs that are secret or have a secret part. Undefined if none can be, because none is an output or has
 * one; the result is undefined if none is.
 */
export function secretInputs(args: object): Promise<readonly string[] | undefined> | undefined {
  const possible = Object.entries(args).filter(([, value]) => hasOutput(value));
  if (possible.length === 0) return undefined;
  const find = async (): Promise<readonly string[] | undefined> => {
    const names = await Promise.all(
      possible.map(async ([name, value]) => {
        // An output that fails does so where its value is used.
        const isMarked = await isSecret(output<unknown>(value)).catch(() => false);
        return isMarked ? [name] : [];
      }),
    );
    const secrets = names.flat();
    return secrets.length > 0 ? secrets : undefined;
  };
  return find();
}

function hasOutput(value: unknown): boolean {
  if (Output.isInstance(value) || value instanceof Promise) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasOutput);
}
