import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { lookupFunction, pluginType } from "../../definitions/pulumi";

interface NativeFunction {
  readonly token: string;
  readonly definition: Definition;
  readonly finds: "one" | "several";
}

function functionsOf(definitions: readonly Definition[]): NativeFunction[] {
  const kinds = ["one", "several"] as const;
  return definitions.flatMap((definition) =>
    kinds.map((finds) => ({ token: lookupFunction(definition, finds), definition, finds })),
  );
}

/** Throws when there is no such type. */
export function definitionOf(definitions: readonly Definition[], type: string): Definition {
  const definition = definitions.find((one) => pluginType(one) === type);
  if (definition) return definition;
  throw new UptimeError(
    `The plugin pulumi-resource-uptime has no resource type ${JSON.stringify(type)}; it has ${definitions.map(pluginType).join(" and ")}.`,
  );
}

/** Throws when there is no such function. */
export function functionOf(definitions: readonly Definition[], token: string): NativeFunction {
  const functions = functionsOf(definitions);
  const found = functions.find((one) => one.token === token);
  if (found) return found;
  const tokens = functions.map((one) => one.token).join(", ");
  throw new UptimeError(
    `The plugin pulumi-resource-uptime has no function ${JSON.stringify(token)}; it has ${tokens}.`,
  );
}
