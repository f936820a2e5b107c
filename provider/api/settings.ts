import { safeName } from "../common/text";
import { settingNames, settingOf, settingDeclarations, type SettingName } from "../definitions/settings";
import { hexHash } from "../common/hash";
import { UptimeError } from "./errors";
import { expectedAccounts, settingParser } from "./setting-schemas";
import type { AccountValues, ParsedAddress, SettingValues } from "./setting-schemas";

/** The settings of one account, read and checked. */
export interface Settings extends Omit<SettingValues, "accounts"> {
  readonly baseUrl: Address;
  readonly monitorsBaseUrl: Address;
  /** Where the key came from, for messages: the name of the setting. */
  readonly apiKeySource: string;
  /** The plugin's provider: see {@link Config.providerName}. */
  readonly providerName: string | undefined;
}

/** The address of a server, and the setting it came from. */
export interface Address extends ParsedAddress {
  readonly source: string;
  /** The setting that would give monitors another address than domains; undefined if it is set, and for domains. */
  readonly otherSource?: string;
}

/** Reads stack configuration, under its full key such as `uptime:apiKey`. */
export interface Config {
  get(key: string): string | undefined;
  /**
   * The plugin's provider that has these settings: its name in the program, or {@link defaultProvider}. Undefined for dynamic resources,
   * commands and lookups in a program, which have no such provider.
   */
  readonly providerName?: string | undefined;
  /** The option of a command that gives a setting, such as `--base-url`; undefined if none does. */
  optionOf?(name: SettingName): string | undefined;
}

/** The provider of the plugin that has the stack's configuration; a program does not make it. */
export const defaultProvider = "default";

/** A setting's value before it is parsed, trimmed. */
interface RawSetting {
  readonly value: string | undefined;
  /** The setting or the variable that it comes from. */
  readonly source: string;
  /** The name of one of its parts, in messages; undefined if it has no named parts. */
  readonly partSource?: (part: string) => string;
  /** Advice if it is not set. */
  readonly advice: string;
}
type RawSettings = Readonly<Record<SettingName, RawSetting>>;

/**
 * Reads the settings from the stack's configuration, and from the environment what is not set there: those of the default
 * account, or of one that `uptime:accounts` names.
 */
export function readSettings(config: Config, env: NodeJS.ProcessEnv, account?: string): Settings {
  const raw = rawSettings(config, env);
  const { accounts } = parseSettings(["accounts"], raw);
  const rawOfAccount =
    account === undefined ? raw : { ...raw, ...accountSettingsOf(account, accounts, config, env) };
  const { baseUrl, monitorsBaseUrl, ...others } = parseSettings(
    settingNames.filter((name) => name !== "accounts"),
    rawOfAccount,
  );
  const domainsAddress = { ...baseUrl, source: rawOfAccount.baseUrl.source };
  return {
    ...others,
    baseUrl: domainsAddress,
    monitorsBaseUrl: monitorsBaseUrl
      ? { ...monitorsBaseUrl, source: rawOfAccount.monitorsBaseUrl.source }
      : { ...domainsAddress, otherSource: rawOfAccount.monitorsBaseUrl.source },
    apiKeySource: rawOfAccount.apiKey.source,
    providerName: config.providerName,
  };
}

/** The names of the accounts; undefined is the default account. */
export function accountNames(config: Config, env: NodeJS.ProcessEnv): (string | undefined)[] {
  const { accounts } = parseSettings(["accounts"], rawSettings(config, env));
  return [undefined, ...Object.keys(accounts ?? {})];
}

/**
 * Everything that is wrong with what is set, without requests: each names the setting as a person gave it, and does not repeat its
 * value. A missing setting may not be needed, so the first operation that needs it reports it.
 */
export function problemsOfSettings(config: Config, env: NodeJS.ProcessEnv): string[] {
  const raw = rawSettings(config, env);
  const problemsIn = (some: Partial<RawSettings>): string[] =>
    settingNames.flatMap((name) => {
      const given = some[name];
      return given?.value === undefined ? [] : parseSetting(name, given, raw).problems;
    });
  const problems = problemsIn(raw);
  if (problemsIn({ accounts: raw.accounts }).length > 0) return problems;
  const { accounts } = parseSettings(["accounts"], raw);
  const ofAccounts = Object.keys(accounts ?? {}).flatMap((account) => {
    try {
      return problemsIn(accountSettingsOf(account, accounts, config, env));
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      return [error.message];
    }
  });
  // Two accounts may have the same problem with a variable.
  return [...new Set([...problems, ...ofAccounts])];
}

function rawSettings(config: Config, env: NodeJS.ProcessEnv): RawSettings {
  const raw = Object.fromEntries(
    settingNames.map((name) => [name, rawSettingOf(config, env, name)]),
  ) as RawSettings;
  // The key of an explicit provider with its own address must not be sent to the other address of the environment.
  const { providerName = defaultProvider } = config;
  if (providerName === defaultProvider || !config.get("uptime:baseUrl")?.trim()) return raw;
  return { ...raw, monitorsBaseUrl: rawSettingOf(config, {}, "monitorsBaseUrl") };
}

function rawSettingOf(config: Config, env: NodeJS.ProcessEnv, name: SettingName): RawSetting {
  const { environment, type } = settingOf(name);
  const key = `uptime:${name}`;
  const source = sourceOf(config, name);
  const value = config.get(key)?.trim();
  const given = environment === undefined ? undefined : env[environment]?.trim();
  const command = configCommand(config, name, type === "url" ? "https://…" : undefined);
  const way = command === undefined ? "give it in the program" : `run ${command}`;
  const advice = environment === undefined ? way : `${way} or set ${environment}`;
  if (!value && environment !== undefined && given) return { value: given, source: environment, advice };
  const partSource = (part: string): string => sourceOf(config, `${name}.${part}`);
  return {
    value: value === "" ? undefined : value,
    source: config.optionOf?.(name) ?? source,
    partSource,
    advice,
  };
}

/** Names a setting, or a part of one, as people set it: for the stack, or as an argument of an explicit provider. */
export function sourceOf(
  { providerName = defaultProvider }: Pick<Config, "providerName">,
  path: string,
): string {
  return providerName === defaultProvider ? `uptime:${path}` : `${path} of the provider ${providerName}`;
}

/**
 * The command that sets a setting, as messages quote it; undefined for an argument of an explicit provider, which stands in the
 * program.
 *
 * @param value without it, the command asks for the value
 */
export function configCommand(
  { providerName = defaultProvider }: Pick<Config, "providerName">,
  name: SettingName,
  value?: string,
): string | undefined {
  if (providerName !== defaultProvider) return undefined;
  const secret = settingOf(name).secret ? ["--secret"] : [];
  return `\`${["pulumi config set", ...secret, `uptime:${name}`, ...(value === undefined ? [] : [value])].join(" ")}\``;
}

/** Parses some settings, with their defaults. Throws one error that names everything that cannot be used. */
function parseSettings<Name extends SettingName>(
  names: readonly Name[],
  raw: RawSettings,
): Pick<SettingValues, Name> {
  const problems = new Set<string>();
  const values = names.map((name) => {
    const setting = settingOf(name);
    const { value, source, advice } = raw[name];
    if (value === undefined) {
      if (setting.required) problems.add(`${source} is not set: ${advice}`);
      return [name, setting.default] as const;
    }
    const parsed = parseSetting(name, raw[name], raw);
    for (const problem of parsed.problems) problems.add(problem);
    return [name, parsed.value] as const;
  });
  if (problems.size > 0)
    throw new UptimeError(`The provider's settings cannot be used: ${[...problems].join("; ")}.`);
  return Object.fromEntries(values) as Pick<SettingValues, Name>;
}

/** Parses a setting that is set. */
function parseSetting(
  name: SettingName,
  { value, source, partSource = () => source }: RawSetting,
  { allowHttp }: Pick<RawSettings, "allowHttp">,
): { readonly value: unknown; readonly problems: readonly string[] } {
  const { expected, schema } = settingParser(settingOf(name), allowHttp);
  const { data, error } = schema.safeParse(value, { error: () => `must be ${expected}` });
  const problems = (error?.issues ?? []).map(({ path, message }) => {
    // A setting of an account.
    const part = path.map((name) => safeName(String(name))).join(".");
    return `${path.length === 2 ? partSource(part) : source} ${message}`;
  });
  return { value: data, problems };
}

/** The settings of one account of `uptime:accounts`; a key that it leaves out is read from the environment. */
function accountSettingsOf(
  account: string,
  accounts: SettingValues["accounts"],
  config: Config,
  env: NodeJS.ProcessEnv,
): Partial<RawSettings> {
  const source = sourceOf(config, "accounts");
  if (!accounts) {
    const command = configCommand(config, "accounts");
    throw new NoAccountError(
      `There are no accounts: set ${source}, ${expectedAccounts}${command === undefined ? "" : `, with ${command}`}.`,
    );
  }
  const own = Object.hasOwn(accounts, account) ? accounts[account] : undefined;
  if (!own)
    throw new NoAccountError(
      `${source} has no account ${JSON.stringify(safeName(account))}; it has ${namesOf(Object.keys(accounts)) || "none"}.`,
    );
  const variable = keyVariable(account);
  const shown = safeName(account);
  const shownVariable = shown === account ? variable : keyVariable("NAME");
  const advice = `add it to ${source}, or set ${shownVariable}`;
  const has = (name: keyof AccountValues): boolean => (own[name] ?? "") !== "";
  const setting = (name: keyof AccountValues): RawSetting => ({
    value: has(name) ? own[name] : undefined,
    source: sourceOf(config, `accounts.${shown}.${name}`),
    advice,
  });
  const keyInEnvironment = has("apiKey") ? undefined : env[variable]?.trim();
  const shared = Object.keys(accounts).filter(
    (name) => keyVariable(name) === variable && !accounts[name]?.apiKey,
  );
  if (keyInEnvironment && shared.length > 1)
    throw new UptimeError(
      `The accounts ${namesOf(shared)} would all take their key from ${shownVariable}: rename all but one.`,
    );
  return {
    ...(has("baseUrl") && { baseUrl: setting("baseUrl") }),
    // The key of an account with its own address must not be sent to the other address.
    ...((has("baseUrl") || has("monitorsBaseUrl")) && { monitorsBaseUrl: setting("monitorsBaseUrl") }),
    apiKey: keyInEnvironment ? { value: keyInEnvironment, source: shownVariable, advice } : setting("apiKey"),
  };
}

/** `uptime:accounts` is not set, or does not have an account of this name. */
export class NoAccountError extends UptimeError {}

const namesOf = (accounts: readonly string[]): string => accounts.map(safeName).join(", ");

/** The environment variable for the key of an account. */
const keyVariable = (account: string): string =>
  `${settingDeclarations.apiKey.environment}_${account.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;

/** Four hex digits that change with the address or the key; too few to guess a key by. */
export function keyFingerprintOf(address: Pick<Address, "url">, apiKey: string): string {
  return addressProofOf(address, apiKey).slice(0, 4);
}

/** A hash of an address and a key. Nobody can make it for another address without the key. */
export function addressProofOf({ url }: Pick<Address, "url">, apiKey: string): string {
  return hexHash(`${url}\0${apiKey}`);
}

export function isKeyOfEnvironment({ apiKeySource }: Pick<Settings, "apiKeySource">): boolean {
  return apiKeySource.startsWith(settingDeclarations.apiKey.environment);
}

/** The addresses that configuration and environment name, whether or not there is a key for them. */
export function namedAddresses(config: Config, env: NodeJS.ProcessEnv): string[] {
  const raw = rawSettings(config, env);
  const { accounts = {} } = parseSettings(["accounts"], raw);
  const given = (["baseUrl", "monitorsBaseUrl"] as const).flatMap((name) => [
    raw[name].value,
    env[settingDeclarations[name].environment],
    ...Object.values(accounts).map((account) => account[name]),
  ]);
  return given.flatMap((value) => {
    const parsed = value === undefined ? undefined : parseSetting("baseUrl", { ...raw.baseUrl, value }, raw);
    return parsed?.problems.length === 0 ? [(parsed.value as ParsedAddress).url] : [];
  });
}
