// Written by `npm run docs`.
import type { Input } from "@pulumi/pulumi";

/** A further account of the same server or of another one. */
export interface AccountSettings {
  /** Address of the server, for domains. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is a different one. */
  monitorsBaseUrl?: Input<string> | undefined;
  /** API key, without the word `Bearer`. It is sent as a Bearer token. Secret. */
  apiKey?: Input<string> | undefined;
}

/** The settings of a provider. (docs/settings.md) */
export interface ProviderArgs {
  /** Address of the server, for domains. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is a different one. Default: `baseUrl`. */
  monitorsBaseUrl?: Input<string> | undefined;
  /** API key, without the word `Bearer`. It is sent as a Bearer token. Secret. */
  apiKey?: Input<string> | undefined;
  /** Further accounts by name, each with its key and, if they differ, its addresses. Secret. */
  accounts?: Input<Readonly<Record<string, Input<AccountSettings>>>> | undefined;
  /** Whether a create first looks for an equal record and adopts it. If one has the same name (a monitor: and URL) and is not equal, nothing is created. Default: `false`. */
  adoptExisting?: Input<boolean> | undefined;
  /** Treats the present key as that of the stack's account. Set it for one run if an error asks for it and the key does belong to that account. Default: `false`. */
  sameAccount?: Input<boolean> | undefined;
  /** Whether a refresh also stores `attributes`, at one request per record. Default: `false`. */
  refreshAttributes?: Input<boolean> | undefined;
  /** Rate limit of the server, if you know it, 1 to 100000. Without it, the provider slows down when the server tells it to. */
  requestsPerMinute?: Input<number> | undefined;
  /** Seconds to wait for one response, 1 to 3600. Default: `30`. */
  timeoutSeconds?: Input<number> | undefined;
  /** How often a failed request is sent again, 0 to 100. A create is sent again only if it cannot have had an effect. Default: `5`. */
  maxRetries?: Input<number> | undefined;
  /** Requests to one address with one key at the same time, 1 to 100. Default: `8`. */
  maxConcurrency?: Input<number> | undefined;
  /** Whether `http://` is allowed for hosts other than this machine. It exposes the API key to anyone on the network path. Default: `false`. */
  allowHttp?: Input<boolean> | undefined;
  /** Status codes, besides 404 and 410, that may mean that a record does not exist. They are checked like a 404. */
  goneStatuses?: Input<Input<number>[]> | undefined;
  /** Former addresses of the server. State remembers its address, and another one is an error unless the old one is named here. After `pulumi up --refresh --run-program`, it is no longer needed. */
  movedFrom?: Input<Input<string>[]> | undefined;
  /** What is printed about requests: `off`, `summary`, `requests` or `json`. Default: `off`. */
  logLevel?: Input<"off" | "summary" | "requests" | "json" | (string & {})> | undefined;
}
