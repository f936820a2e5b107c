import { createHash } from "node:crypto";

import { isObject } from "../definitions/kinds";
import { parseUrl } from "../definitions/url";
import { UptimeError } from "./errors";
import { logLevels } from "./log";
import type { LogLevel } from "./log";

/** Everything that a person can set, read and checked. */
export interface Settings {
  readonly baseUrl: Address;
  readonly monitorsBaseUrl: Address;
  readonly apiKey: string;
  /** Where the key came from, for messages: the name of the setting. */
  readonly apiKeySource: string;
  readonly timeoutSeconds: number;
  readonly maxRetries: number;
  readonly maxConcurrency: number;
  readonly requestsPerMinute: number | undefined;
  readonly goneStatuses: readonly number[];
  /** Whether a create adopts the one record that is equal in everything that is declared. */
  readonly adoptExisting: boolean;
  /** Former addresses of the server, as hashes. */
  readonly movedFrom: readonly string[];
  /** What is said of the requests that are sent. */
  readonly logLevel: LogLevel;
  /** Whether a refresh takes everything that a record shows into state, not only the managed fields. */
  readonly refreshAttributes: boolean;
}

/** The address of a server, without a slash at its end. */
export interface Address {
  readonly url: string;
  /** The short text by which state remembers the address. */
  readonly hash: string;
  /** The setting it came from. */
  readonly source: string;
}

/** Reads stack configuration, under its full key such as `uptime:apiKey`. */
export interface Config {
  get(key: string): string | undefined;
}

/** The environment variables for settings that the configuration does not set. */
const environment: Readonly<Record<string, string>> = {
  baseUrl: "UPTIME_BASE_URL",
  monitorsBaseUrl: "UPTIME_MONITORS_BASE_URL",
  apiKey: "UPTIME_API_KEY",
  logLevel: "UPTIME_LOG_LEVEL",
};

/** What makes a setting's value of its string, or of undefined if it is not set. Throws {@link Malformed}. */
type Parser<T> = (given: string | undefined) => T;

/** Why a setting cannot be used; the message follows its name, and never repeats the value: it may be a misplaced key. */
class Malformed extends Error {}

const options = {
  timeoutSeconds: integer(1, 3600, 30),
  maxRetries: integer(0, 100, 5),
  maxConcurrency: integer(1, 100, 8),
  requestsPerMinute: integer(1, 100_000, undefined),
  allowHttp: flag,
  adoptExisting: flag,
  refreshAttributes: flag,
  goneStatuses,
  logLevel: parseLogLevel,
} as const satisfies Record<string, Parser<unknown>>;

type Options = { readonly [Name in keyof typeof options]: ReturnType<(typeof options)[Name]> };

/** The names of the environment variables that are read; those of accounts follow `UPTIME_API_KEY_`. */
export const environmentNames: readonly string[] = Object.values(environment);

function integer<Default extends number | undefined>(
  least: number,
  most: number,
  byDefault: Default,
): Parser<number | Default> {
  return (given) => {
    if (given === undefined) return byDefault;
    const value = /^\d+$/.test(given) ? Number(given) : NaN;
    if (!(value >= least && value <= most))
      throw new Malformed(`must be a whole number from ${least} to ${most}`);
    return value;
  };
}

function flag(given = "false"): boolean {
  if (given !== "true" && given !== "false") throw new Malformed("must be true or false");
  return given === "true";
}

function goneStatuses(given = ""): readonly number[] {
  const codes = listOf(given.replace(/^\[(.*)\]$/s, "$1"));
  if (!codes.every((code) => /^4\d\d$/.test(code)))
    throw new Malformed("must be a list of status codes from 400 to 499, such as 403,451");
  const refused = codes.find((code) => Object.hasOwn(neverGone, code));
  if (refused !== undefined)
    throw new Malformed(
      `must not contain ${refused}, which means ${neverGone[refused]}, not that the record is gone`,
    );
  return codes.map(Number);
}

/** Statuses that the provider handles in another way, so that no server can mean "gone" by them. */
const neverGone: Readonly<Record<string, string>> = {
  "400": "that the request is invalid",
  "401": "that the API key is not accepted",
  "405": "that the method is not allowed",
  "407": "that a proxy wants a login",
  "408": "that the server has timed out",
  "409": "that the request is in conflict with another",
  "415": "that the request's format is not accepted",
  "422": "that a value is invalid",
  "425": "that the request came too early",
  "429": "that there were too many requests",
};

function parseLogLevel(given = "off"): LogLevel {
  const level = logLevels.find((one) => one === given);
  if (level === undefined)
    throw new Malformed(`must be ${logLevels.slice(0, -1).join(", ")} or ${logLevels.at(-1) ?? ""}`);
  return level;
}

const listOf = (given: string): string[] => given.split(/[\s,]+/).filter((part) => part !== "");

/** A setting that is set, without the white space around it. */
interface SetValue {
  readonly value: string;
  /** The setting or the variable that it comes from. */
  readonly source: string;
}

function findIn(config: Config, env: NodeJS.ProcessEnv, name: string): SetValue | undefined {
  const key = `uptime:${name}`;
  const set = config.get(key)?.trim();
  if (set) return { value: set, source: key };
  const variable = environment[name];
  const given = variable === undefined ? undefined : env[variable]?.trim();
  return variable !== undefined && given ? { value: given, source: variable } : undefined;
}

/** The level alone, for a log that begins before anything else is needed. One that cannot be read is "off" until then. */
export function readLogLevel(config: Config, env: NodeJS.ProcessEnv = process.env): LogLevel {
  const given = findIn(config, env, "logLevel")?.value;
  return logLevels.find((level) => level === given) ?? "off";
}

/** Whether a setting such as `adoptExisting` is `true`, for those who need nothing else; others find what is malformed. */
export function readFlag(config: Config, name: "adoptExisting" | "refreshAttributes"): boolean {
  return findIn(config, {}, name)?.value === "true";
}

/**
 * Reads the settings from the stack's configuration, and from the environment what is not set there: those of the account
 * without a name, or of one that `uptime:accounts` names.
 */
export function readSettings(
  config: Config,
  env: NodeJS.ProcessEnv = process.env,
  account?: string,
): Settings {
  const problems: string[] = [];
  const find = (name: string): SetValue | undefined => findIn(config, env, name);
  /** The value, or undefined after a problem was noted. */
  const parse = <T>(parser: Parser<T>, found: SetValue | undefined): T | undefined => {
    try {
      return parser(found?.value);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      problems.push(`${found?.source ?? ""} ${error.message}`);
      return undefined;
    }
  };

  const parsed = Object.fromEntries(
    Object.entries(options).map(([name, parser]) => [name, parse<unknown>(parser, find(name))]),
  ) as unknown as Options;
  const address = (found: SetValue | undefined): Address | undefined => {
    const result = found && parse((given = "") => addressOf(given, parsed.allowHttp), found);
    return result && { ...result, source: found.source };
  };
  const own = account === undefined ? undefined : accountIn(find("accounts"), account, env);
  const first = own?.("baseUrl") ?? find("baseUrl");
  const baseUrl = address(first);
  // An account with an address of its own keeps its key to itself.
  const second = own?.("monitorsBaseUrl") ?? (own?.("baseUrl") ? undefined : find("monitorsBaseUrl"));
  const monitorsBaseUrl = second ? address(second) : baseUrl;
  if (!first)
    problems.push(
      "uptime:baseUrl is not set: run `pulumi config set uptime:baseUrl https://…` or set UPTIME_BASE_URL",
    );
  const key = own ? own("apiKey") : find("apiKey");
  const apiKey = key && parse(parseKey, key);
  if (!key)
    problems.push(
      account === undefined
        ? "uptime:apiKey is not set: run `pulumi config set --secret uptime:apiKey` or set UPTIME_API_KEY"
        : `uptime:accounts.${account}.apiKey is not set: add it to uptime:accounts, or set ${keyVariable(account)}`,
    );
  const moved = find("movedFrom");
  const movedFrom = listOf(moved?.value ?? "").map((old) => parse(() => addressOf(old, true).hash, moved));

  if (problems.length > 0 || !baseUrl || !monitorsBaseUrl || !key || apiKey === undefined)
    throw new UptimeError(`The provider's settings cannot be used: ${problems.join("; ")}.`);
  return {
    ...parsed,
    baseUrl,
    monitorsBaseUrl,
    apiKey,
    apiKeySource: key.source,
    movedFrom: movedFrom.filter((hash) => hash !== undefined),
  };
}

function parseKey(given = ""): string {
  if (/^bearer\s/i.test(given))
    throw new Malformed('must be the key alone: leave out "Bearer ", which the provider adds itself');
  if (!/^[\x21-\x7e]+$/.test(given)) throw new Malformed("must be one word of printable ASCII characters");
  return given;
}

/** Four hex digits that change with the address or the key; too few to guess a key by. */
export function keyHash(address: Address, apiKey: string): string {
  return createHash("sha256").update(`${address.url}\0${apiKey}`).digest("hex").slice(0, 4);
}

const accountSettings = ["baseUrl", "monitorsBaseUrl", "apiKey"];

/** What `uptime:accounts` sets, by account and setting. */
function parseAccounts(given: string): Map<string, ReadonlyMap<string, string>> {
  const form = 'a JSON object such as {"NAME": {"apiKey": "…", "baseUrl": "https://…"}}';
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    throw new UptimeError(`uptime:accounts must be ${form}, and is not JSON.`);
  }
  if (!isObject(value)) throw new UptimeError(`uptime:accounts must be ${form}.`);
  const problems: string[] = [];
  const accounts = new Map<string, ReadonlyMap<string, string>>();
  for (const [account, entry] of Object.entries(value)) {
    const path = `uptime:accounts.${account}`;
    const settings = new Map<string, string>();
    if (!isObject(entry)) problems.push(`${path} must be an object`);
    else
      for (const [name, setting] of Object.entries(entry)) {
        if (!accountSettings.includes(name))
          problems.push(`${path} has no setting ${JSON.stringify(name)}, only ${accountSettings.join(", ")}`);
        else if (typeof setting !== "string") problems.push(`${path}.${name} must be a string`);
        else settings.set(name, setting.trim());
      }
    accounts.set(account, settings);
  }
  if (problems.length > 0) throw new UptimeError(`uptime:accounts must be ${form}: ${problems.join("; ")}.`);
  return accounts;
}

/** What one account of `uptime:accounts` sets, and where; a key that it leaves out is read from the environment. */
function accountIn(
  setting: SetValue | undefined,
  account: string,
  env: NodeJS.ProcessEnv,
): (name: string) => SetValue | undefined {
  if (!setting)
    throw new UptimeError(
      'There are no accounts: set uptime:accounts, a JSON object such as {"NAME": {"apiKey": "…", "baseUrl": "https://…"}}, ' +
        "with `pulumi config set --secret uptime:accounts`.",
    );
  const accounts = parseAccounts(setting.value);
  const all = [...accounts.keys()];
  const entry = accounts.get(account);
  if (!entry)
    throw new UptimeError(
      `uptime:accounts has no account ${JSON.stringify(account)}; it has ${all.length > 0 ? all.join(", ") : "none"}.`,
    );
  const variable = keyVariable(account);
  const shared = all.filter((name) => keyVariable(name) === variable && !accounts.get(name)?.get("apiKey"));
  return (name) => {
    const value = entry.get(name);
    if (value) return { value, source: `uptime:accounts.${account}.${name}` };
    const key = name === "apiKey" ? env[variable]?.trim() : undefined;
    if (!key) return undefined;
    if (shared.length > 1)
      throw new UptimeError(
        `The accounts ${shared.join(", ")} would all take their key from ${variable}: rename all but one.`,
      );
    return { value: key, source: variable };
  };
}

/** The environment variable for the key of an account. */
const keyVariable = (account: string): string =>
  `UPTIME_API_KEY_${account.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;

function addressOf(given: string, allowHttp: boolean): Omit<Address, "source"> {
  const url = parseUrl(given);
  if (!url) throw new Malformed("must be an absolute URL such as https://uptime.example.com");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new Malformed("must begin with https://");
  if (url.username !== "" || url.password !== "")
    throw new Malformed("must not contain a user name or password; the key belongs in uptime:apiKey");
  if (url.search !== "" || url.hash !== "") throw new Malformed("must end with its path, without ? or #");
  const isLoopback = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !isLoopback && !allowHttp)
    throw new Malformed(
      "must begin with https://, because plain http exposes the API key to anyone on the network path; if that is what you " +
        "want, set uptime:allowHttp to true",
    );
  // People copy it from the API's documentation.
  const path = url.pathname.replace(/\/+$/, "").replace(/\/api\/v1(?:\/+(?:monitors|domains))?$/, "");
  const clean = url.origin + path.replace(/\/+$/, "");
  return { url: clean, hash: createHash("sha256").update(clean).digest("hex").slice(0, 8) };
}
