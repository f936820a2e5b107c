// Written by `npm run docs`.
import type { Input } from "@pulumi/pulumi";

/** A further account of the same server or of another one. */
export interface AccountSettings {
  /** Address of the server, for domains. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is a different one. */
  monitorsBaseUrl?: Input<string> | undefined;
  /** API key, sent as a Bearer token. Secret. */
  apiKey?: Input<string> | undefined;
}

/** The settings of a provider. (docs/settings.md) */
export interface ProviderArgs {
  /** Address of the server, for domains. */
  baseUrl?: Input<string> | undefined;
  /** Address for monitors, if it is a different one. Default: `baseUrl`. */
  monitorsBaseUrl?: Input<string> | undefined;
  /** API key, sent as a Bearer token. Secret. */
  apiKey?: Input<string> | undefined;
  /** Further accounts by name, each with its key and, if they differ, its addresses. Secret. */
  accounts?: Input<Readonly<Record<string, Input<AccountSettings>>>> | undefined;
  /** Whether a create first looks for an equal record and adopts it. Default: `false`. */
  adoptExisting?: Input<boolean> | undefined;
  /** Says that the account is the one that state means. Default: `false`. */
  sameAccount?: Input<boolean> | undefined;
  /** Whether a refresh also stores `attributes`, at one request per record. Default: `false`. */
  refreshAttributes?: Input<boolean> | undefined;
  /** Rate limit of the server, if you know it, 1 to 100000. */
  requestsPerMinute?: Input<number> | undefined;
  /** Seconds to wait for one response, 1 to 3600. Default: `30`. */
  timeoutSeconds?: Input<number> | undefined;
  /** How often a failed request is sent again, 0 to 100. Default: `5`. */
  maxRetries?: Input<number> | undefined;
  /** Requests to one address with one key at the same time, 1 to 100. Default: `8`. */
  maxConcurrency?: Input<number> | undefined;
  /** Whether `http://` is allowed for hosts other than this machine. Default: `false`. */
  allowHttp?: Input<boolean> | undefined;
  /** Status codes, besides 404 and 410, that may mean that a record does not exist. */
  goneStatuses?: Input<Input<number>[]> | undefined;
  /** Former addresses of the server; state that was made there stays valid. */
  movedFrom?: Input<Input<string>[]> | undefined;
  /** What is printed about requests: `off`, `summary`, `requests` or `json`. Default: `off`. */
  logLevel?: Input<"off" | "summary" | "requests" | "json" | (string & {})> | undefined;
}
