import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { lookupFunction, pluginType, type LookupMode } from "../../common/pulumi";

export function definitionOfType(type: string): Definition {
  return findToken("resource type", type, definitions, pluginType);
}

export function functionOf(token: string): { readonly definition: Definition; readonly mode: LookupMode } {
  const functions = definitions.flatMap((definition) =>
    (["one", "all"] as const).map((mode) => ({ definition, mode })),
  );
  return findToken("function", token, functions, ({ definition, mode }) => lookupFunction(definition, mode));
}

function findToken<T>(what: string, token: string, all: readonly T[], tokenOf: (one: T) => string): T {
  const found = all.find((one) => tokenOf(one) === token);
  if (found !== undefined) return found;
  const advice = token.startsWith("pulumi-nodejs:dynamic/")
    ? ' A resource with the option provider must come from "pulumi-uptime/native".'
    : "";
  throw new UptimeError(
    `The plugin pulumi-resource-uptime has no ${what} ${JSON.stringify(token)}; it has ${all.map(tokenOf).join(", ")}.${advice}`,
  );
}
