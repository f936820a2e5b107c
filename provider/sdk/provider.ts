import { output, ProviderResource, secret } from "@pulumi/pulumi";
import type { Input, ResourceOptions } from "@pulumi/pulumi";

import { withVersion } from "./plugin-binding";
import { isOf } from "./resource";

/** An account among the `accounts` of a {@link Provider}. */
export interface AccountSettings {
  /** API key of the account. Secret. */
  apiKey?: Input<string> | undefined;
  /** Address of the server, if it is another one. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is another one. */
  monitorsBaseUrl?: Input<string> | undefined;
}

/** The settings of a {@link Provider}. (docs/settings.md) */
export interface ProviderArgs {
  /** Address of the server, for domains. It may have a path. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is another one. Default: `baseUrl`. */
  monitorsBaseUrl?: Input<string> | undefined;
  /** API key, sent as a Bearer token. Secret. */
  apiKey?: Input<string> | undefined;
  /** Further accounts by name, each with its key and, if they differ, its addresses. Secret. */
  accounts?: Input<Readonly<Record<string, Input<AccountSettings>>>> | undefined;
  /** Seconds to wait for one answer, 1 to 3600. Default 30. */
  timeoutSeconds?: Input<number> | undefined;
  /** How often a failed request is sent again, 0 to 100. Default 5. */
  maxRetries?: Input<number> | undefined;
  /** Connections to one address at the same time, 1 to 100. Default 8. */
  maxConcurrency?: Input<number> | undefined;
  /** The rate limit of the server, if you know it, 1 to 100000. */
  requestsPerMinute?: Input<number> | undefined;
  /** Whether `http://` is allowed for other hosts than this machine. Default false. */
  allowHttp?: Input<boolean> | undefined;
  /** Status codes, besides 404 and 410, that may mean that a record does not exist. */
  goneStatuses?: Input<Input<number>[]> | undefined;
  /** Whether a create first looks for an equal record and adopts it. Default false. */
  adoptExisting?: Input<boolean> | undefined;
  /** Former addresses of the server. State that was made there stays valid. */
  movedFrom?: Input<Input<string>[]> | undefined;
  /** Whether a refresh reads `attributes` anew. Default false. */
  refreshAttributes?: Input<boolean> | undefined;
  /** What is logged of the requests: `off`, `summary`, `requests` or `json`. Default `off`. */
  logLevel?: Input<"off" | "summary" | "requests" | "json" | (string & {})> | undefined;
}

const secrets: readonly string[] = ["apiKey", "accounts"];

/**
 * A server and an account on it, for the resources and lookups that have it as their option `provider`. What it does not
 * set comes from the environment. (docs/native.md, docs/settings.md)
 *
 * @example
 * const eu = new Provider("eu", { baseUrl: "https://eu.uptime.example/", apiKey: config.requireSecret("euKey") });
 */
export class Provider extends ProviderResource {
  /** The package of the provider in Pulumi. */
  static readonly __pulumiType: string = "uptime";

  /**
   * @param name the name of the provider in Pulumi
   * @param args its settings
   * @param opts Pulumi's options
   */
  constructor(name: string, args: ProviderArgs = {}, opts: ResourceOptions = {}) {
    super("uptime", name, settingsOf(args), withVersion(opts));
  }

  /** Whether a value is such a provider, also one that another copy of this package has made. */
  static override isInstance(obj: unknown): obj is Provider {
    return isOf("pulumi:providers:uptime", obj);
  }
}

/** Settings travel as strings, as those of a stack do. */
function settingsOf(args: ProviderArgs): Record<string, unknown> {
  const text = (value: unknown): unknown => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(
    Object.entries(args as Readonly<Record<string, string>>).map(([key, value]) => {
      const setting = output(value).apply(text);
      return [key, secrets.includes(key) ? secret(setting) : setting];
    }),
  );
}
