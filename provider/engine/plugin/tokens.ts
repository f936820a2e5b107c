import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { lookupFunction, pluginType } from "../../definitions/pulumi";
import type { Finds } from "../../definitions/pulumi";

interface NativeFunction {
  readonly token: string;
  readonly definition: Definition;
  readonly finds: Finds;
}

/** Throws if there is no such type. */
export function definitionOf(definitions: readonly Definition[], type: string): Definition {
  return named(definitions, pluginType, type, "resource type", " and ");
}

/** Throws if there is no such function. */
export function functionOf(definitions: readonly Definition[], token: string): NativeFunction {
  const kinds = ["one", "several"] as const;
  const functions = definitions.flatMap((definition) =>
    kinds.map((finds) => ({ token: lookupFunction(definition, finds), definition, finds })),
  );
  return named(functions, (one) => one.token, token, "function", ", ");
}

function named<T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  name: string,
  what: string,
  separator: string,
): T {
  const found = all.find((one) => nameOf(one) === name);
  if (found) return found;
  throw new UptimeError(
    `The plugin pulumi-resource-uptime has no ${what} ${JSON.stringify(name)}; it has ${all.map(nameOf).join(separator)}.`,
  );
}
