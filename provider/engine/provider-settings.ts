import { UptimeError } from "../api/errors";
import {
  accountNames,
  addressProofOf,
  defaultProvider,
  isKeyOfEnvironment,
  keyFingerprintOf,
  problemsOfSettings,
  readSettings,
} from "../api/settings";
import type { Config, Settings } from "../api/settings";
import { asSecret, hasEngineUnknown, isEngineUnknown, unwrapSecrets, type Properties } from "../common/marks";
import { hiddenNames, providerType } from "../common/pulumi";
import { unknownSettingWarnings } from "../definitions/setting-warnings";
import { settingNames, settingOf, type Setting, type SettingName } from "../definitions/settings";
import { isDefaultProvider, parseUrn } from "../common/urn";

/** Whether the engine itself uses a setting of a provider. */
const isOfEngine = (key: string): boolean =>
  key.startsWith("__") || key === "version" || key === "pluginDownloadURL";

export interface CheckedSettings {
  /** For state, with API keys always marked as secret. */
  readonly settings: Properties;
  readonly warnings: readonly string[];
  /** Each names the setting. */
  readonly problems: readonly string[];
}

export function checkProviderSettings(
  urn: string,
  given: Properties,
  env: NodeJS.ProcessEnv,
): CheckedSettings {
  const { project, types, name } = parseUrn(urn);
  const isDefault = isDefaultProvider(urn);
  const prefix = isDefault ? "uptime:" : "";
  const fullName = isDefault ? defaultProvider : `${types}::${name}`;
  const settings: Record<string, unknown> = { ...given, [hiddenNames.providerName]: fullName };
  for (const key of settingNames)
    if (settingOf(key).secret && settings[key] !== undefined) settings[key] = asSecret(settings[key]);
  const own = Object.keys(given).filter((key) => !isOfEngine(key));
  const known = Object.entries(settings).filter(([, value]) => !hasEngineUnknown(value));
  // As long as allowHttp is not known, it may become true.
  if (hasEngineUnknown(settings.allowHttp)) known.push(["allowHttp", true]);
  const config = configOf(unwrapSecrets(Object.fromEntries(known)) as Properties);
  // Commands take the settings of a default provider from the stack, not from state.
  const proofs = isDefault ? [] : addressProofsOf(config, env);
  if (proofs.length > 0) settings[hiddenNames.addressProofs] = asSecret(proofs);
  return {
    settings,
    warnings: unknownSettingWarnings(
      own.map((key) => prefix + key),
      isDefault ? project : undefined,
      prefix,
    ),
    problems: problemsOfSettings(config, env),
  };
}

/** The hashes of a provider's addresses, each with the key that is sent there; none with a key of the environment. */
function addressProofsOf(config: Config, env: NodeJS.ProcessEnv): string[] {
  const proofs = settingsByAccount(config, env).flatMap(([, settings]) => {
    if (isKeyOfEnvironment(settings)) return [];
    const { apiKey, baseUrl, monitorsBaseUrl } = settings;
    return [baseUrl, monitorsBaseUrl].map((address) => addressProofOf(address, apiKey));
  });
  return [...new Set(proofs)];
}

export function changedSettings(old: Properties, current: Properties): string[] {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(current)])];
  return keys.filter((key) => !isOfEngine(key) && stringOf(old[key]) !== stringOf(current[key]));
}

/** The settings of each account, as far as they are set. */
function settingsByAccount(
  config: Config,
  env: NodeJS.ProcessEnv,
): [account: string | undefined, settings: Settings][] {
  return (tryRead(() => accountNames(config, env)) ?? []).flatMap((account) => {
    const settings = tryRead(() => readSettings(config, env, account));
    return settings ? [[account, settings]] : [];
  });
}

const fingerprintsOf = ({ apiKey, baseUrl, monitorsBaseUrl }: Settings): string[] =>
  [baseUrl, monitorsBaseUrl].map((address) => keyFingerprintOf(address, apiKey));

/**
 * The pairs that the new provider's `sameAccount` would need, so that its resources are not replaced.
 *
 * | the new provider                                 | needs                                              |
 * | ------------------------------------------------ | -------------------------------------------------- |
 * | has the same name                                | none: its key may be a new one of the same account |
 * | has another name, and a setting is not known yet | none: what is not known replaces nothing           |
 * | has another name, and another address or key     | a pair for each that differs                       |
 *
 * A key from the environment is not in state, so the present one counts for both.
 */
export function pairsOfOtherAccounts(
  old: Properties,
  current: Properties,
  env: NodeJS.ProcessEnv,
): readonly string[] {
  // Each dynamic resource has the digits of its own account, so its diff decides.
  if (providerNameIn(old) === undefined || providerNameIn(old) === providerNameIn(current)) return [];
  if (hasEngineUnknown([old, current])) return [];
  const before = new Map(settingsByAccount(configOf(old), env));
  // The engine does not say which account the resource belongs to.
  const pairs = settingsByAccount(configOf(current), env).flatMap(([account, settings]) => {
    const former = before.get(account);
    if (!former) return [];
    const formerFingerprints = fingerprintsOf(former);
    const missing = fingerprintsOf(settings).flatMap((fingerprint, index) => {
      const pair = `${String(formerFingerprints[index])}=${fingerprint}`;
      return formerFingerprints[index] === fingerprint || settings.sameAccount.includes(pair) ? [] : [pair];
    });
    return missing.length === 0 ? [] : [...settings.sameAccount, ...missing];
  });
  return [...new Set(pairs)];
}

function providerNameIn(settings: Properties): string | undefined {
  return stringOf(settings[hiddenNames.providerName]);
}

/**
 * The settings that dynamic resources have, from the inputs of their provider in state, which are the stack's configuration. Undefined if
 * the key came from the environment, which may have another one now.
 */
export function settingsOfDynamic(
  provider: Properties,
  env: NodeJS.ProcessEnv,
  account: string | undefined,
): Settings | undefined {
  const config: Config = { get: (key) => stringOf(provider[key]) };
  const settings = tryRead(() => readSettings(config, env, account));
  return settings && isKeyOfEnvironment(settings) ? undefined : settings;
}

/** Reads settings; undefined if they are missing or malformed, which is reported where they are needed. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    return undefined;
  }
}

const typeOf = (name: string): Setting["type"] | undefined =>
  settingNames.includes(name as SettingName) ? settingOf(name as SettingName).type : undefined;

/** The settings under the names of a stack's configuration, such as `uptime:apiKey`. */
export function configOf(settings: Properties): Config {
  return {
    get: (key) => {
      const name = key.replace(/^uptime:/, "");
      const text = stringOf(settings[name]);
      // SDKs send null as the JSON text `null`. In a setting that is a string, it is the value.
      const isString = ["url", "key", "choice"].includes(typeOf(name) ?? "");
      if (text === "null" && !isString) return undefined;
      // Pulumi's SDK for Java sends 20 as "20.0".
      return typeOf(name) === "integer" ? text?.replace(/\.0$/, "") : text;
    },
    providerName: providerNameIn(settings)?.replace(new RegExp(`^.*?${providerType}::`, "s"), ""),
  };
}

/** A setting as a string, as a stack's configuration has it. SDKs send other types as JSON. */
function stringOf(value: unknown): string | undefined {
  if (value === undefined || value === null || isEngineUnknown(value)) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
