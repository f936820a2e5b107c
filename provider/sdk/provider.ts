import { output, ProviderResource, secret } from "@pulumi/pulumi";
import type { Input, ResourceOptions } from "@pulumi/pulumi";

import { providerType } from "../common/pulumi";
import { settingDeclarations } from "../definitions/settings";
import type { Setting } from "../definitions/settings";
import { withVersion } from "./plugin-binding";
import type { ProviderArgs } from "./provider-args";
import { hasPulumiType } from "./resource";

/**
 * A server and an account on it, for the resources and lookups whose option `provider` names it. Settings that you leave
 * out come from the environment (`UPTIME_BASE_URL`, `UPTIME_API_KEY`), except the address for monitors if it has a `baseUrl`. (docs/installation-configuration.md, docs/settings.md)
 *
 * @example
 * const eu = new Provider("eu", { baseUrl: "https://eu.uptime.example/", apiKey: config.requireSecret("euKey") });
 */
export class Provider extends ProviderResource {
  /** The package of the provider in Pulumi. */
  static readonly __pulumiType: string = "uptime";

  /**
   * Declares a provider. The preview refuses settings that are missing or malformed: see docs/errors.md
   *
   * @param name the name of the provider in Pulumi
   * @param args its settings
   * @param opts Pulumi's options
   */
  constructor(name: string, args: ProviderArgs = {}, opts: ResourceOptions = {}) {
    super("uptime", name, settingStrings(args), withVersion(opts));
  }

  /** Returns true for such a provider, including one from another copy of this package. */
  static override isInstance(obj: unknown): obj is Provider {
    return hasPulumiType(providerType, obj);
  }
}

/** The settings as strings, as a stack's configuration has them. */
function settingStrings(args: ProviderArgs): Record<string, unknown> {
  const declared: Readonly<Record<string, Setting>> = settingDeclarations;
  // Null is "not set", as in a resource.
  const text = (value: unknown): unknown =>
    value === null || typeof value === "string" ? (value ?? undefined) : JSON.stringify(value);
  return Object.fromEntries(
    Object.entries<Input<string | number | boolean | object> | undefined>({ ...args }).map(([key, value]) => {
      const setting = output(value).apply(text);
      return [key, declared[key]?.secret ? secret(setting) : setting];
    }),
  );
}
