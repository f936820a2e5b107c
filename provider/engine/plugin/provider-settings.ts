import { settingNames } from "../../definitions/setting-names";
import type { Config } from "../../api/settings";
import { nearest } from "../../definitions/nearest";
import { parseUrn } from "../../definitions/urn";
import { secretOf, unknownValue } from "../../definitions/marks";
import type { Properties } from "../request";

/** Settings that hold API keys. */
const secrets = ["apiKey", "accounts"];

/** Settings of a provider that the engine reads itself. */
const isEngines = (key: string): boolean =>
  key.startsWith("__") || key === "version" || key === "pluginDownloadURL";

/** The settings as state keeps them: keys are secret whether or not a person has said so. */
export function checkedSettings(
  urn: string,
  given: Properties,
): { settings: Properties; warnings: string[] } {
  const settings: Record<string, unknown> = { ...given };
  for (const key of secrets) if (settings[key] !== undefined) settings[key] = secretOf(settings[key]);
  // The settings of a project named uptime have the same prefix, and may have any name.
  const isProjects = parseUrn(urn).project === "uptime";
  const names: readonly string[] = settingNames;
  const unknown = Object.keys(given).filter((key) => !names.includes(key) && !isEngines(key));
  if (isProjects || unknown.length === 0) return { settings, warnings: [] };
  const described = unknown.map((key) => {
    const near = nearest(key, names);
    return near === undefined ? key : `${key} (did you mean ${near}?)`;
  });
  return {
    settings,
    warnings: [
      `The provider uptime does not know these settings: ${described.join(", ")}. It has ${names.join(", ")}.`,
    ],
  };
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

/** A setting as a stack's configuration holds it: always a string. */
function stringOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === unknownValue) return undefined;
  if (Array.isArray(value)) return value.map(String).join(",");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // SDKs send whatever is no string as JSON.
  const list = text.startsWith("[") ? listIn(text) : undefined;
  return list ? list.map(String).join(",") : text;
}

function listIn(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}
