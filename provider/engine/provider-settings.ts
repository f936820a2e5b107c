import type { Config } from "../api/settings";
import { secretOf, unknownValue } from "../definitions/marks";
import { unknownSettings } from "../definitions/setting-warnings";
import { settingNames, settingOf } from "../definitions/settings";
import { parseUrn } from "../definitions/urn";
import type { Properties } from "./request";

/** Settings of a provider that the engine reads itself. */
const isEngines = (key: string): boolean =>
  key.startsWith("__") || key === "version" || key === "pluginDownloadURL";

/** The settings as state keeps them: keys are secret whether or not a person has said so. */
export function checkedSettings(
  urn: string,
  given: Properties,
): { settings: Properties; warnings: string[] } {
  const settings: Record<string, unknown> = { ...given };
  for (const name of settingNames)
    if (settingOf(name).secret && settings[name] !== undefined) settings[name] = secretOf(settings[name]);
  const own = Object.keys(given).filter((key) => !isEngines(key));
  return { settings, warnings: unknownSettings(own, parseUrn(urn).project) };
}

/** Names of the settings that differ. */
export function changedSettings(old: Properties, present: Properties): string[] {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(present)])];
  return keys.filter((key) => !isEngines(key) && stringOf(old[key]) !== stringOf(present[key]));
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
