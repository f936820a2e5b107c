import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { lookupFunction, pluginType } from "../../definitions/pulumi";
import type { LookupCount } from "../../definitions/pulumi";

/** The definition of a resource type. Throws if there is no such type. */
export function definitionOf(type: string): Definition {
  const found = definitions.find((definition) => pluginType(definition) === type);
  if (found) return found;
  throw unknownToken("resource type", type, definitions.map(pluginType));
}

/** The definition and number of the records that a function looks up. Throws if there is no such function. */
export function functionOf(token: string): { readonly definition: Definition; readonly count: LookupCount } {
  const functions = definitions.flatMap((definition) =>
    (["one", "all"] as const).map((count) => ({ definition, count })),
  );
  const tokenOf = (one: (typeof functions)[number]): string => lookupFunction(one.definition, one.count);
  const found = functions.find((one) => tokenOf(one) === token);
  if (found) return found;
  throw unknownToken("function", token, functions.map(tokenOf));
}

function unknownToken(what: string, token: string, known: readonly string[]): UptimeError {
  return new UptimeError(
    `The plugin pulumi-resource-uptime has no ${what} ${JSON.stringify(token)}; it has ${known.join(", ")}.`,
  );
}
