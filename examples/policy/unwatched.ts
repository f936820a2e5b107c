import type { PolicyResource, StackValidation } from "@pulumi/policy";

import { addressSources, dnsRecords, valuesAt, type AddressSource } from "./addresses";

const monitorTypes = ["pulumi-nodejs:dynamic/uptime:Monitor", "uptime:index:Monitor"];

/** Reports the public addresses in a stack that no monitor's URL covers. */
export const reportUnwatched: StackValidation = ({ resources }, report) => {
  // A URL that is not known yet may cover the address; the policy runs again in `pulumi up`.
  const watched = resources
    .filter(({ type }) => monitorTypes.includes(type))
    .flatMap(({ props }) => valuesAt(props, "url").flatMap(hostOf));
  const aliases = resources.flatMap((resource) => ifKnown(() => aliasesIn(resource)));
  for (const resource of resources) {
    const source = addressSources[withoutVersion(resource.type)];
    for (const names of source ? ifKnown(() => sitesOf(resource, source)) : []) {
      // One of a record's names may be the target of another record.
      const all = new Set(names);
      for (const name of all)
        for (const alias of aliases) if (alias.targets.includes(name)) all.add(alias.name);
      if (![...all].some((name) => watched.some((host) => covers(name, host))))
        report(`No monitor has a URL of ${[...all].join(" or ")}.`, resource.urn);
    }
  }
};

/** Nothing if a part of it is not known yet in a preview: `pulumi up` runs the policy again. */
function ifKnown<T>(find: () => T[]): T[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof Error && error.constructor.name === "UnknownValueError") return [];
    throw error;
  }
}

/** The public sites of a resource, each with its names. */
function sitesOf({ props }: PolicyResource, source: AddressSource): string[][] {
  const { paths, unless = {}, onlyIf = {}, areSites = false } = source;
  const has = ([path, values]: [string, unknown[]]) =>
    valuesAt(props, path).some((value) => values.includes(value));
  if (Object.entries(unless).some(has) || !Object.entries(onlyIf).every(has)) return [];
  const names = paths.flatMap((path) => valuesAt(props, path).flatMap(hostOf));
  if (areSites) return [...new Set(names)].map((name) => [name]);
  return names.length > 0 ? [names] : [];
}

/** A name that a DNS record gives to its target. */
function aliasesIn({ type, props }: PolicyResource): { name: string; targets: string[] }[] {
  const record = dnsRecords[withoutVersion(type)];
  if (!record) return [];
  const targets = record.targets.flatMap((path) => valuesAt(props, path).flatMap(hostOf));
  return valuesAt(props, record.name)
    .flatMap(hostOf)
    .map((name) => ({ name, targets }));
}

const withoutVersion = (type: string) => type.replace(/^(azure-native:\w+)\/v\w+:/, "$1:");

/** The host of a URL, of a pattern such as `shop.example/*`, or of a DNS name that ends with a dot. */
function hostOf(address: unknown): string[] {
  const text = String(address);
  try {
    const { hostname } = new URL(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
    return [hostname.replace(/\.$/, "")];
  } catch {
    return [];
  }
}

/** Whether a monitored host matches a name, which may begin with `*`. */
function covers(name: string, host: string): boolean {
  return name.startsWith("*") ? host.endsWith(name.slice(1)) : host === name;
}
