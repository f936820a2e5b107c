import { keyHash, readSettings } from "../api/settings";
import type { Config } from "../api/settings";
import { secretOf, unknownValue } from "../definitions/marks";
import { unknownSettings } from "../definitions/setting-warnings";
import { settingNames, settingOf } from "../definitions/settings";
import { isDefaultProvider, parseUrn } from "../definitions/urn";
import type { Properties } from "./request";

/** The setting by which a provider's state tells its name; all default providers are one. */
const nameKey = "__name";

/** Settings of a provider that the engine reads itself. */
const isEngines = (key: string): boolean =>
  key.startsWith("__") || key === "version" || key === "pluginDownloadURL";

/** The settings as state keeps them: keys are secret whether or not a person has said so. */
export function checkedSettings(
  urn: string,
  given: Properties,
): { settings: Properties; warnings: string[] } {
  const name = isDefaultProvider(urn) ? "default" : parseUrn(urn).name;
  const settings: Record<string, unknown> = { ...given, [nameKey]: name };
  for (const key of settingNames)
    if (settingOf(key).secret && settings[key] !== undefined) settings[key] = secretOf(settings[key]);
  const own = Object.keys(given).filter((key) => !isEngines(key));
  return { settings, warnings: unknownSettings(own, parseUrn(urn).project) };
}

/** Names of the settings that differ. */
export function changedSettings(old: Properties, present: Properties): string[] {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(present)])];
  return keys.filter((key) => !isEngines(key) && stringOf(old[key]) !== stringOf(present[key]));
}

/**
 * Whether a resource that gets another provider must be replaced: one of another name, whose address or key differs. A
 * provider that stays and gets another key replaces nothing. What is not known yet replaces nothing either.
 */
export function isAnotherAccount(old: Properties, present: Properties, env: NodeJS.ProcessEnv): boolean {
  if (old[nameKey] === undefined || old[nameKey] === present[nameKey]) return false;
  if ([...Object.values(old), ...Object.values(present)].includes(unknownValue)) return false;
  try {
    const [before, after] = [old, present].map((settings) => readSettings(configOf(settings), env));
    if (!before || !after || after.sameAccount) return false;
    return (["baseUrl", "monitorsBaseUrl"] as const).some(
      (key) => keyHash(before[key], before.apiKey) !== keyHash(after[key], after.apiKey),
    );
  } catch {
    // What is missing or malformed is reported where it is needed.
    return false;
  }
}

/** The settings under the names of a stack's configuration, such as `uptime:apiKey`. */
export function configOf(settings: Properties): Config {
  return { get: (key) => stringOf(settings[key.replace(/^uptime:/, "")]) };
}

/** A setting as a stack's configuration holds it: always a string. SDKs send whatever is no string as JSON. */
function stringOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === unknownValue) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
