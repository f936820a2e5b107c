import { UptimeError } from "../../api/errors";
import { unwrapSecrets } from "../../common/marks";
import { ownPackage } from "../../common/package";
import { hiddenNames, providerCode, providerType } from "../../common/pulumi";
import { groupBy, isEmpty, isObject } from "../../common/values";
import { parseUrn, providerUrnOf } from "../../common/urn";
import { reviewHash } from "../../common/hash";
import type { DriftReport } from "./drift-report";
import { findDefinition, titleOf } from "./resource-types";
import type { StackState, StateResource } from "./state";

// Pulumi runs what state holds: the provider's code of each dynamic resource, and plugins from the addresses of providers.

/** The type of the provider of all dynamic resources of programs for Node.js. */
const dynamicProviderType = "pulumi:providers:pulumi-nodejs";

/** The resources for which Pulumi would run other code than this package: those of its types, and those whose type is not sure. */
export function codeProblems(state: readonly StateResource[]): DriftReport["errors"] {
  return state.flatMap((resource) => {
    const { urn, id } = resource;
    const found = problemOfResource(resource);
    if (found === undefined) return [];
    const message =
      `${found}. Pulumi would run it, so nothing is compared or previewed. Find out who can write the state, and go back to an earlier one: ` +
      "`pulumi stack export --version NUMBER` (Pulumi Cloud) or a backup, and `pulumi stack import`.";
    return [{ urn, id, message }];
  });
}

/** Throws if a preview would run other code than this package. */
export function assertOwnCode({ deployment }: StackState): void {
  const [foreign] = codeProblems(deployment.resources ?? []);
  if (foreign) throw new UptimeError(`${titleOf(foreign.urn)}: ${foreign.message}`);
}

function problemOfResource(resource: StateResource): string | undefined {
  const { urn, provider, inputs, outputs } = resource;
  // The engine goes by the URN's type.
  const { type, name } = parseUrn(urn);
  if (resource.type !== type)
    return `In state the resource has the type ${JSON.stringify(resource.type)}, but its URN has the type ${JSON.stringify(type)}`;
  if (!isEmpty(resource.extensionRef)) return "In state the resource names an extension of its provider";
  const definition = findDefinition(type);
  if (definition) {
    const code = providerCode(definition);
    const found = [codeIn(inputs), codeIn(outputs)];
    if (!found.every((one) => one === undefined || one === code))
      return "The provider code in state is not this package's";
    const expected = type.startsWith("pulumi-nodejs:") ? dynamicProviderType : providerType;
    const owner = parseUrn(providerUrnOf(provider)).type;
    if (provider !== undefined && owner !== expected)
      return `In state the resource belongs to a provider of another package, ${owner}`;
  }
  if (type !== providerType) return undefined;
  const { url, base } = pluginOf({ inputs });
  if (base !== undefined) return "In state the provider belongs to another plugin";
  if (url === undefined || url === ownPluginAddress()) return undefined;
  return `In state the plugin of ${name} has ${typeof url === "string" ? `the address ${JSON.stringify(url)}` : "an address that is not a plain string"}, and this package's is ${ownPluginAddress()}`;
}

/** The code of a dynamic resource; undefined if there is none. Encrypted code counts too. */
function codeIn(properties: StateResource["inputs"]): unknown {
  const value = properties?.[hiddenNames.providerCode];
  return value === undefined ? undefined : (unwrapSecrets(value) ?? value);
}

/** How Pulumi loads a provider's plugin: from which address, and what makes it another plugin or changes its environment. */
function pluginOf({ inputs = {} }: Pick<StateResource, "inputs">): { url?: unknown; base?: unknown } {
  const { pluginDownloadURL, name, parameterization, envVarMappings } = isObject(inputs.__internal)
    ? inputs.__internal
    : inputs;
  const base = [name, parameterization, envVarMappings];
  return {
    url: pluginDownloadURL,
    base: base.every((value) => value === undefined) ? undefined : base,
  };
}

/** The address in this package's schema. */
function ownPluginAddress(): string {
  const [, host = "", path = ""] = /^git\+https:\/\/([^/]+)(\/.+)\.git$/.exec(ownPackage().repository) ?? [];
  return `github://api.${host}${path}`;
}

/** What Pulumi would run for resources of other packages: code, and plugins from addresses of their own. Each piece once. */
export function foreignCode(
  resources: readonly (Pick<StateResource, "urn"> & Partial<StateResource>)[],
): DriftReport["code"] {
  const pieces = resources.flatMap(({ urn, inputs, outputs }) => {
    const { type } = parseUrn(urn);
    if (findDefinition(type) || type === providerType) return [];
    const { url, base } = type.startsWith("pulumi:providers:") ? pluginOf({ inputs }) : {};
    const plugin = url === undefined && base === undefined ? undefined : [type, url, base];
    const address = typeof url === "string" ? url : undefined;
    return [codeIn(inputs), codeIn(outputs), plugin]
      .filter((piece) => piece !== undefined)
      .map((piece) => ({ hash: reviewHash(["code", piece]), address, title: titleOf(urn) }));
  });
  return [...groupBy(pieces, ({ hash }) => hash)].map(([hash, found]) => ({
    hash,
    address: found.at(-1)?.address,
    resources: [...new Set(found.map(({ title }) => title))],
  }));
}
