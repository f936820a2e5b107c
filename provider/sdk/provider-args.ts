// Written by `npm run docs`.
import type { Input } from "@pulumi/pulumi";

/** A further account of the same server or of another one. */
export interface AccountSettings {
  /** Address of the server. Monitors use it too, unless `monitorsBaseUrl` is set. Default: the provider's `baseUrl`. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is a different one. Default: the account's `baseUrl`, or else the provider's `monitorsBaseUrl`. */
  monitorsBaseUrl?: Input<string> | undefined;
  /** API key, without the word `Bearer`. It is sent as a Bearer token. Default: the environment variable for the account's name, such as `UPTIME_API_KEY_EU` for `eu`. Secret. */
  apiKey?: Input<string> | undefined;
}

/** The settings of a provider. (docs/settings.md) */
export interface ProviderArgs {
  /** Address of the server. Monitors use it too, unless `monitorsBaseUrl` is set. Default: the environment variable `UPTIME_BASE_URL`. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is a different one. Default: the environment variable `UPTIME_MONITORS_BASE_URL` (not for an explicit provider with its own `baseUrl`), or `baseUrl`. */
  monitorsBaseUrl?: Input<string> | undefined;
  /** API key, without the word `Bearer`. It is sent as a Bearer token. Default: the environment variable `UPTIME_API_KEY`. Secret. */
  apiKey?: Input<string> | undefined;
  /** Further accounts by name, each with its key and, if they differ, its addresses. Secret. */
  accounts?: Input<Readonly<Record<string, Input<AccountSettings>>>> | undefined;
  /** Whether a create first looks for an equal record and adopts it. If a record has the same name (and URL, for a monitor) but is not equal, nothing is created. Default: `false`. */
  adoptExisting?: Input<boolean> | undefined;
  /** Pairs such as `3f9c=81d0`, from the error that asks for them: the address and key in state (`3f9c`) and the present ones (`81d0`) lead to the same account. */
  sameAccount?: Input<string | Input<string>[]> | undefined;
  /** Whether a refresh also stores `attributes`, at one request per record. Default: `false`. */
  refreshAttributes?: Input<boolean> | undefined;
  /** Requests per minute that the server allows, if you know the limit, 1 to 100000. Without it, the provider slows down when the server tells it to. Default: the environment variable `UPTIME_REQUESTS_PER_MINUTE`. */
  requestsPerMinute?: Input<number> | undefined;
  /** Seconds to wait for one response, 1 to 3600. Default: `30`. */
  timeoutSeconds?: Input<number> | undefined;
  /** How many times a failed request is sent again, 0 to 100. A create is sent again only if it certainly had no effect, or if no record of it is found. After a 503 the count restarts if the server has served other requests meanwhile. A refused connection is retried for a minute, regardless of this setting. Default: `5`. */
  maxRetries?: Input<number> | undefined;
  /** The maximum number of concurrent requests to one address with one key, 1 to 100. Default: `8`. */
  maxConcurrency?: Input<number> | undefined;
  /** Whether `http://` is allowed for hosts other than this machine. It exposes the API key to anyone on the network path. Default: `false`. */
  allowHttp?: Input<boolean> | undefined;
  /** Whether to log one line per request: `off` or `debug`. Default: the environment variable `UPTIME_LOG_LEVEL`, or `off`. */
  logLevel?: Input<"off" | "debug"> | undefined;
}
