/** The parts of `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`; `types` are those of the parents too. The name may contain `::`. */
export function parseUrn(urn: string) {
  const [stack = "", project = "", types = "", ...name] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { stack, project, types, type: types.split("$").at(-1) ?? "", name: name.join("::") };
}

/**
 * What identifies a resource in its stack: its URN without stack and project, because these may be renamed. For example,
 * `my:site:Front$pulumi-nodejs:dynamic/uptime:Monitor::web`.
 */
export function urnSuffixOf(urn: string): string {
  const { types, name } = parseUrn(urn);
  return `${types}::${name}`;
}

/** The URN in a resource's reference to its provider, which is the provider's URN and id. */
export function providerUrnOf(reference = ""): string {
  return reference.replace(/::[^:]*$/, "");
}

/** The URN of the explicit provider in a resource's reference to its provider; undefined for a default one. */
export function explicitProviderOf(reference: string | undefined): string | undefined {
  const urn = providerUrnOf(reference);
  return urn === "" || isDefaultProvider(urn) ? undefined : urn;
}

/**
 * Whether Pulumi has made the provider from the stack's configuration. It then has a name such as `default`, `default_1_2_3` or, with the
 * option `pluginDownloadURL`, `default_https_/example.com`.
 * An explicit provider of such a name counts as one too, because nothing that the engine sends tells them apart.
 */
export function isDefaultProvider(urn: string): boolean {
  return /^default(_\d+_\d+_\d+(_.*)?|_[a-z]+_\/.*)?$/.test(parseUrn(urn).name);
}
