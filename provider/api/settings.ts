import { createHash } from "node:crypto";

import { z } from "zod";

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
  /** Whether a create takes over the one record that is equal in everything that is declared. */
  readonly adoptExisting: boolean;
  /** Whether a refresh takes over what the API shows beside the managed fields. */
  readonly refreshAttributes: boolean;
  /** Addresses, as hashes, whose state may be taken over by the present ones. */
  readonly movedFrom: readonly string[];
  /** What is said of the requests that are sent. */
  readonly logLevel: LogLevel;
}

/** The address of an install, without a slash at its end. */
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

const environment: Readonly<Record<string, string>> = {
  baseUrl: "UPTIME_BASE_URL",
  monitorsBaseUrl: "UPTIME_MONITORS_BASE_URL",
  apiKey: "UPTIME_API_KEY",
  logLevel: "UPTIME_LOG_LEVEL",
};

const integer = (least: number, most: number) =>
  z.coerce
    .number({ error: `must be a whole number from ${least} to ${most}` })
    .int(`must be a whole number from ${least} to ${most}`)
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`);

const flag = z
  .enum(["true", "false"], { error: "must be true or false" })
  .default("false")
  .transform((value) => value === "true");

const logLevel = z
  .enum(logLevels, { error: `must be ${logLevels.slice(0, -1).join(", ")} or ${logLevels.at(-1) ?? ""}` })
  .default("off");

const options = z.object({
  timeoutSeconds: integer(1, 3600).default(30),
  maxRetries: integer(0, 100).default(5),
  maxConcurrency: integer(1, 100).default(8),
  requestsPerMinute: integer(1, 100_000).optional(),
  allowHttp: flag,
  adoptExisting: flag,
  refreshAttributes: flag,
  goneStatuses: z
    .string()
    .default("")
    .transform((value) => value.split(/[\s,[\]]+/).filter((part) => part !== ""))
    .refine(
      (codes) => codes.every((code) => /^4\d\d$/.test(code)),
      "must be a list of status codes such as 403,451",
    )
    .transform((codes) => codes.map(Number)),
  logLevel,
});

interface Found {
  readonly value: string;
  /** The setting or the variable that it comes from. */
  readonly source: string;
}

function findIn(config: Config, env: NodeJS.ProcessEnv, name: string): Found | undefined {
  const key = `uptime:${name}`;
  const set = config.get(key)?.trim();
  if (set) return { value: set, source: key };
  const variable = environment[name];
  const given = variable === undefined ? undefined : env[variable]?.trim();
  return variable !== undefined && given ? { value: given, source: variable } : undefined;
}

/** The level alone, for a log that begins before anything else is needed. One that cannot be read is "off" until then. */
export function readLogLevel(config: Config, env: NodeJS.ProcessEnv = process.env): LogLevel {
  return logLevel.safeParse(findIn(config, env, "logLevel")?.value).data ?? "off";
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
  const find = (name: string): Found | undefined => findIn(config, env, name);

  const parsed = options.safeParse(
    Object.fromEntries(Object.keys(options.shape).map((name) => [name, find(name)?.value])),
  );
  for (const { path, message } of parsed.error?.issues ?? []) {
    const name = String(path[0]);
    problems.push(`${find(name)?.source ?? `uptime:${name}`} ${message}`);
  }

  const address = (found: Found | undefined): Address | undefined => {
    if (!found) return undefined;
    const result = addressOf(found.value, parsed.data?.allowHttp ?? false);
    if ("url" in result) return { ...result, source: found.source };
    problems.push(`${found.source} ${result.problem}`);
    return undefined;
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
  const apiKey = own ? own("apiKey") : find("apiKey");
  if (!apiKey)
    problems.push(
      account === undefined
        ? "uptime:apiKey is not set: run `pulumi config set --secret uptime:apiKey` or set UPTIME_API_KEY"
        : `uptime:accounts.${account}.apiKey is not set: add it to uptime:accounts, or set ${keyVariable(account)}`,
    );
  else if (!/^[\x21-\x7e]+$/.test(apiKey.value))
    problems.push(`${apiKey.source} must be one word of printable ASCII characters`);

  const movedFrom: string[] = [];
  for (const old of (find("movedFrom")?.value ?? "").split(/[\s,]+/).filter((part) => part !== "")) {
    const result = addressOf(old, true);
    if ("url" in result) movedFrom.push(result.hash);
    else problems.push(`uptime:movedFrom ${result.problem}`);
  }

  if (problems.length > 0 || !baseUrl || !monitorsBaseUrl || !apiKey || !parsed.data)
    throw new UptimeError(`The provider's settings are not complete: ${problems.join("; ")}.`);
  return {
    baseUrl,
    monitorsBaseUrl,
    apiKey: apiKey.value,
    apiKeySource: apiKey.source,
    ...parsed.data,
    requestsPerMinute: parsed.data.requestsPerMinute,
    movedFrom,
  };
}

const accounts = z.record(
  z.string(),
  z.strictObject(
    Object.fromEntries(
      ["baseUrl", "monitorsBaseUrl", "apiKey"].map((name) => [
        name,
        z.string({ error: "must be a text" }).trim().optional(),
      ]),
    ),
  ),
);

/** What one account of `uptime:accounts` sets, and where; the environment is asked for a key that it leaves out. */
function accountIn(
  setting: Found | undefined,
  account: string,
  env: NodeJS.ProcessEnv,
): (name: string) => Found | undefined {
  const form = 'a JSON object such as {"NAME": {"apiKey": "…", "baseUrl": "https://…"}}';
  if (!setting)
    throw new UptimeError(
      `There are no accounts: set uptime:accounts, ${form}, with \`pulumi config set --secret uptime:accounts\`.`,
    );
  let given: unknown;
  try {
    given = JSON.parse(setting.value);
  } catch {
    throw new UptimeError(`uptime:accounts must be ${form}, and is not JSON.`);
  }
  const parsed = accounts.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${["uptime:accounts", ...path.map(String)].join(".")}: ${message}`,
    );
    throw new UptimeError(`uptime:accounts must be ${form}: ${problems.join("; ")}.`);
  }
  const all = Object.keys(parsed.data);
  const entry = Object.hasOwn(parsed.data, account) ? parsed.data[account] : undefined;
  if (!entry)
    throw new UptimeError(
      `uptime:accounts has no account ${JSON.stringify(account)}; it has ${all.length > 0 ? all.join(", ") : "none"}.`,
    );
  const variable = keyVariable(account);
  const shared = all.filter((name) => keyVariable(name) === variable && !parsed.data[name]?.apiKey);
  return (name) => {
    const value = entry[name];
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

function addressOf(given: string, allowHttp: boolean): Omit<Address, "source"> | { problem: string } {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    return { problem: "must be an absolute URL such as https://uptime.example.com" };
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return { problem: "must begin with https://" };
  if (url.username !== "" || url.password !== "")
    return { problem: "must not hold a user name or password; the key belongs into uptime:apiKey" };
  if (url.search !== "" || url.hash !== "") return { problem: "must end with its path, without ? or #" };
  const loopback = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !loopback && !allowHttp)
    return {
      problem:
        "must begin with https://, because http shows the API key to everybody on the way; " +
        "set uptime:allowHttp to true if that is what you want",
    };
  const path = url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
  const clean = url.origin + path.replace(/\/+$/, "");
  return { url: clean, hash: createHash("sha256").update(clean).digest("hex").slice(0, 8) };
}
