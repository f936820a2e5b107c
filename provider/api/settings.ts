import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { accountSettings, formOf, settingNames, settingOf, settings } from "../definitions/settings";
import type { Setting, SettingName } from "../definitions/settings";
import { parseUrl } from "../definitions/url";
import { UptimeError } from "./errors";
import type { LogLevel } from "./log";

/** Everything that a person can set, read and checked. */
export interface Settings extends Omit<Values, "accounts" | "allowHttp"> {
  readonly baseUrl: Address;
  readonly monitorsBaseUrl: Address;
  /** Where the key came from, for messages: the name of the setting. */
  readonly apiKeySource: string;
}

/** A server, as people write it down and as state remembers it. */
interface Server {
  /** Its address, without a slash at its end. */
  readonly url: string;
  /** The short text by which state remembers the address. */
  readonly hash: string;
}

/** The address of a server. */
export interface Address extends Server {
  /** The setting it came from. */
  readonly source: string;
}

/** Reads stack configuration, under its full key such as `uptime:apiKey`. */
export interface Config {
  get(key: string): string | undefined;
}

/** What each type of setting is read as. */
interface Types {
  readonly url: Server;
  readonly urls: readonly Server[];
  readonly key: string;
  readonly accounts: Readonly<Record<string, Account>>;
  readonly boolean: boolean;
  readonly statuses: readonly number[];
  readonly integer: number;
  readonly choice: string;
}
type Account = Readonly<Partial<Record<(typeof accountSettings)[number], string>>>;

type ValueOf<S extends Setting> =
  | (S extends { readonly allowed: readonly (infer Allowed)[] } ? Allowed : Types[S["type"]])
  | (S extends { readonly required: true } | { readonly default: unknown } ? never : undefined);
type Values = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };

/** What makes the value of a setting of its string. Messages never repeat the string, because it may be a misplaced key. */
function schemaOf(setting: Setting, allowHttp: boolean): z.ZodMiniType {
  switch (setting.type) {
    case "integer": {
      const [least, most] = setting.range;
      return z.pipe(digits, z.number().check(z.gte(least), z.lte(most)));
    }
    case "boolean":
      return z.stringbool({ truthy: ["true"], falsy: ["false"], case: "sensitive" });
    case "choice":
      return z.enum(setting.allowed);
    case "statuses":
      return z.pipe(listOfStrings, z.array(goneStatus));
    case "key":
      return key;
    case "url":
      return server(allowHttp);
    case "urls":
      return z.pipe(listOfStrings, z.array(server(true)));
    case "accounts":
      return accounts;
  }
}

/** Refuses what is wrong with a value; what is refused first is enough. */
const refuse = <T>(isWrong: (value: T) => boolean, error: string): z.core.$ZodCheck<T> =>
  z.refine<T>((value) => !isWrong(value), { error, abort: true });

const digits = z.pipe(z.string().check(z.regex(/^\d+$/)), z.transform(Number));

const listOfStrings = z.pipe(
  z.string(),
  z.transform((given) =>
    given
      .replace(/^\[(.*)\]$/s, "$1")
      .split(/[\s,]+/)
      .filter((part) => part !== ""),
  ),
);

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

const goneStatus = z.pipe(
  z
    .string()
    .check(
      z.regex(/^4\d\d$/),
      ...Object.entries(neverGone).map(([status, meaning]) =>
        refuse(
          (given: string) => given === status,
          `must not contain ${status}, which means ${meaning}, not that the record is gone`,
        ),
      ),
    ),
  z.transform(Number),
);

const key = z.string().check(
  refuse(
    (given) => /^bearer\s/i.test(given),
    'must be the key alone: leave out "Bearer ", which the provider adds itself',
  ),
  z.regex(/^[\x21-\x7e]+$/),
);

const loopback = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

const server = (allowHttp: boolean) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((given) => parseUrl(given)),
    ),
    z.pipe(
      z.instanceof(URL).check(
        refuse(({ protocol }) => !/^https?:$/.test(protocol), "must begin with https://"),
        refuse(
          ({ username, password }) => username !== "" || password !== "",
          "must not contain a user name or password; the key belongs in uptime:apiKey",
        ),
        refuse(({ search, hash }) => search !== "" || hash !== "", "must end with its path, without ? or #"),
        refuse(
          ({ protocol, hostname }) => protocol === "http:" && !allowHttp && !loopback.test(hostname),
          "must begin with https://, because plain http exposes the API key to anyone on the network path; if that is what you " +
            "want, set uptime:allowHttp to true",
        ),
      ),
      z.transform(({ origin, pathname }) => {
        // People copy the path from the API's documentation.
        const path = pathname.replace(/\/+$/, "").replace(/\/api\/v1(?:\/+(?:monitors|domains))?$/, "");
        const url = origin + path.replace(/\/+$/, "");
        return { url, hash: createHash("sha256").update(url).digest("hex").slice(0, 8) };
      }),
    ),
  );

const ownSetting = z.optional(
  z.pipe(
    z.string("must be a string"),
    z.transform((value) => value.trim() || undefined),
  ),
);
const accounts = z.pipe(
  z.pipe(
    z
      .string()
      .check(
        refuse((text) => json(text) === undefined, `must be ${formOf(settings.accounts)}, and is not JSON`),
      ),
    z.transform(json),
  ),
  z.record(
    z.string(),
    z.strictObject(Object.fromEntries(accountSettings.map((name) => [name, ownSetting])), {
      error: (issue) =>
        issue.code === "unrecognized_keys"
          ? `has no setting ${issue.keys.map((name) => JSON.stringify(name)).join(", ")}, only ${accountSettings.join(", ")}`
          : "must be an object",
    }),
  ),
);

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What is set for a setting, without the white space around it. */
interface SetValue {
  readonly value: string | undefined;
  /** The setting or the variable that it comes from. */
  readonly source: string;
  /** What to do if it is not set. */
  readonly todo: string;
}
type SetValues = Readonly<Record<SettingName, SetValue>>;

function find(config: Config, env: NodeJS.ProcessEnv, name: SettingName): SetValue {
  const { environment = "", secret, type } = settingOf(name);
  const source = `uptime:${name}`;
  const todo = `run \`pulumi config set ${secret ? "--secret " : ""}${source}${type === "url" ? " https://…" : ""}\` or set ${environment}`;
  const value = config.get(source)?.trim();
  const variable = env[environment]?.trim();
  if (!value && variable) return { value: variable, source: environment, todo };
  return { value: value || undefined, source, todo };
}

/** Reads some of the settings. Throws an error that names all that cannot be used. */
function parse<Name extends SettingName>(names: readonly Name[], set: SetValues): Pick<Values, Name> {
  const schemas = names.map((name) => {
    const schema = schemaOf(settingOf(name), set.allowHttp.value === "true");
    const { required, default: byDefault } = settingOf(name);
    if (byDefault !== undefined) return [name, z._default(schema, byDefault)];
    return [name, required ? schema : z.optional(schema)];
  });
  const values = Object.fromEntries(names.map((name) => [name, set[name].value]));
  const { data, error } = z.object(Object.fromEntries(schemas)).safeParse(values, {
    error: ({ path: [name] = [] }) => {
      const { value, todo } = set[name as Name];
      return value === undefined ? `is not set: ${todo}` : `must be ${formOf(settingOf(name as Name))}`;
    },
  });
  // The compiler does not follow the names through the list of entries.
  if (data) return data as Pick<Values, Name>;
  const problems = error.issues.map(({ path: [name, ...parts], message }) => {
    const { source } = set[name as Name];
    return `${[source, ...parts.filter((part) => typeof part === "string")].join(".")} ${message}`;
  });
  throw new UptimeError(`The provider's settings cannot be used: ${[...new Set(problems)].join("; ")}.`);
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
  const all = Object.fromEntries(settingNames.map((name) => [name, find(config, env, name)])) as SetValues;
  const { accounts } = parse(["accounts"], all);
  const set = account === undefined ? all : { ...all, ...settingsOf(account, accounts, env) };
  const { allowHttp, baseUrl, monitorsBaseUrl, ...rest } = parse(
    settingNames.filter((name) => name !== "accounts"),
    set,
  );
  const first = { ...baseUrl, source: set.baseUrl.source };
  return {
    ...rest,
    baseUrl: first,
    monitorsBaseUrl: monitorsBaseUrl ? { ...monitorsBaseUrl, source: set.monitorsBaseUrl.source } : first,
    apiKeySource: set.apiKey.source,
  };
}

/** What one account of `uptime:accounts` sets; a key that it leaves out is read from the environment. */
function settingsOf(
  account: string,
  accounts: Types["accounts"] | undefined,
  env: NodeJS.ProcessEnv,
): Partial<SetValues> {
  if (!accounts)
    throw new UptimeError(
      `There are no accounts: set uptime:accounts, ${formOf(settings.accounts)}, ` +
        "with `pulumi config set --secret uptime:accounts`.",
    );
  const own = Object.hasOwn(accounts, account) ? accounts[account] : undefined;
  if (!own)
    throw new UptimeError(
      `uptime:accounts has no account ${JSON.stringify(account)}; it has ${Object.keys(accounts).join(", ") || "none"}.`,
    );
  const variable = keyVariable(account);
  const isWithoutKey = (name: string): boolean => !accounts[name]?.apiKey;
  const fromEnvironment = isWithoutKey(account) ? env[variable]?.trim() : undefined;
  const shared = Object.keys(accounts).filter((name) => isWithoutKey(name) && keyVariable(name) === variable);
  if (fromEnvironment && shared.length > 1)
    throw new UptimeError(
      `The accounts ${shared.join(", ")} would all take their key from ${variable}: rename all but one.`,
    );
  const todo = `add it to uptime:accounts, or set ${variable}`;
  const setValue = (name: keyof Account): SetValue => ({
    value: own[name],
    source: `uptime:accounts.${account}.${name}`,
    todo,
  });
  return {
    ...(own.baseUrl && { baseUrl: setValue("baseUrl") }),
    // An account with an address of its own keeps its key to itself.
    ...((own.baseUrl ?? own.monitorsBaseUrl) && { monitorsBaseUrl: setValue("monitorsBaseUrl") }),
    apiKey: fromEnvironment ? { value: fromEnvironment, source: variable, todo } : setValue("apiKey"),
  };
}

/** The environment variable for the key of an account. */
const keyVariable = (account: string): string =>
  `${settings.apiKey.environment}_${account.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;

/**
 * The level alone, for a log that begins before anything else is needed: "off" for one that is malformed, which an error
 * names later.
 */
export function readLogLevel(config: Config, env: NodeJS.ProcessEnv = process.env): LogLevel {
  return z.catch(z.enum(settings.logLevel.allowed), "off").parse(find(config, env, "logLevel").value);
}

/** Four hex digits that change with the address or the key; too few to guess a key by. */
export function keyHash(address: Address, apiKey: string): string {
  return createHash("sha256").update(`${address.url}\0${apiKey}`).digest("hex").slice(0, 4);
}
