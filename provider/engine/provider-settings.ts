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
import { asSecret, engineUnknown, unwrapSecrets, type Properties } from "../common/marks";
import { hiddenNames, providerType } from "../common/pulumi";
import { unknownSettingWarnings } from "../definitions/setting-warnings";
import { settingNames, settingOf } from "../definitions/settings";
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
  // What is not known yet may allow an address.
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
  const proofs = (tryRead(() => accountNames(config, env)) ?? []).flatMap((account) => {
    const settings = tryRead(() => readSettings(config, env, account));
    if (!settings || isKeyOfEnvironment(settings)) return [];
    const { apiKey, baseUrl, monitorsBaseUrl } = settings;
    return [baseUrl, monitorsBaseUrl].map((address) => addressProofOf(address, apiKey));
  });
  return [...new Set(proofs)];
}

export function changedSettings(old: Properties, current: Properties): string[] {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(current)])];
  return keys.filter((key) => !isOfEngine(key) && stringOf(old[key]) !== stringOf(current[key]));
}

/**
 * Whether resources must be replaced because they get a provider of another name, and the address or key of an account
 * differs. A provider of the same name may get another key. A setting that is not known yet replaces nothing.
 */
export function isAnotherAccount(old: Properties, current: Properties, env: NodeJS.ProcessEnv): boolean {
  if (providerNameIn(old) === undefined || providerNameIn(old) === providerNameIn(current)) return false;
  if (hasEngineUnknown([old, current])) return false;
  const [before, after] = [configOf(old), configOf(current)];
  // The engine does not say which account the resource belongs to.
  return (tryRead(() => accountNames(before, env)) ?? []).some((account) => {
    const [was, is] = [before, after].map((config) => tryRead(() => readSettings(config, env, account)));
    return was !== undefined && is !== undefined && differsInAccount(was, is);
  });
}

const hasEngineUnknown = (value: unknown): boolean => JSON.stringify([value]).includes(engineUnknown);

function providerNameIn(settings: Properties): string | undefined {
  return stringOf(settings[hiddenNames.providerName]);
}

/** Whether an address or the key differs, and `sameAccount` does not say that it is the same account. */
function differsInAccount(one: Settings, other: Settings): boolean {
  return (["baseUrl", "monitorsBaseUrl"] as const).some((address) => {
    const [was, is] = [one, other].map((settings) => keyFingerprintOf(settings[address], settings.apiKey));
    return was !== is && !other.sameAccount.includes(`${was}=${is}`);
  });
}

/** Reads settings; undefined if they are missing or malformed, which is reported where they are needed. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const wholeNumbers: readonly string[] = settingNames.filter((name) => settingOf(name).type === "integer");

/** The settings under the names of a stack's configuration, such as `uptime:apiKey`. */
export function configOf(settings: Properties): Config {
  return {
    get: (key) => {
      const name = key.replace(/^uptime:/, "");
      const text = stringOf(settings[name]);
      // SDKs send null as JSON too, but of these settings, which are strings, nothing as JSON.
      const isString = ["baseUrl", "monitorsBaseUrl", "apiKey", "logLevel"].includes(name);
      if (text === "null" && !isString) return undefined;
      // Pulumi's SDK for Java sends 20 as "20.0".
      return wholeNumbers.includes(name) ? text?.replace(/\.0$/, "") : text;
    },
    providerName: providerNameIn(settings)?.replace(new RegExp(`^.*?${providerType}::`, "s"), ""),
  };
}

/** A setting as a string, as a stack's configuration has it. SDKs send other types as JSON. */
function stringOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === engineUnknown) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
