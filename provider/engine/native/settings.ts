import type { Config } from "../../api/settings";
import { isUnknown } from "../../definitions/unknown";
import { secretOf } from "../marks";
import type { Properties } from "./values";

/** Settings that hold an API key. */
const secrets = ["apiKey", "accounts"];

/** What the engine keeps among a provider's settings for itself. */
const isOwn = (key: string): boolean => !key.startsWith("__") && key !== "version" && key !== "pluginDownloadURL";

/** The settings as the engine keeps them: keys are secret whether or not a person has said so. */
export function checkedSettings(given: Properties): { settings: Properties; problems: string[] } {
  const problems: string[] = [];
  const settings: Record<string, unknown> = { ...given };
  for (const [key, value] of Object.entries(given)) {
    if (!isOwn(key) || value === null || value === undefined) continue;
    if (secrets.includes(key)) settings[key] = secretOf(value);
  }
  return { settings, problems };
}

/** Names of the settings that differ. */
export function changedSettings(old: Properties, present: Properties): string[] {
  const keys = new Set([...Object.keys(old), ...Object.keys(present)].filter(isOwn));
  return [...keys].filter((key) => textOf(old[key]) !== textOf(present[key]) || isUnknown(present[key]));
}

/** The settings as the rest of the provider reads them, under names such as `uptime:apiKey`. */
export function configOf(settings: Properties): Config {
  return { get: (key) => textOf(settings[key.replace(/^uptime:/, "")]) };
}

/** A setting as Pulumi's stack configuration would hold it: always a string. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || isUnknown(value)) return undefined;
  if (typeof value === "string") return lines(value);
  if (Array.isArray(value)) return value.map(String).join(",");
  return JSON.stringify(value);
}

/** Generated SDKs send a list as JSON. */
function lines(text: string): string {
  if (!text.startsWith("[")) return text;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String).join(",") : text;
  } catch {
    return text;
  }
}
