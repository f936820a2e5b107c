import { nearest, safeName } from "../common/text";
import { settingNames } from "./settings";

/**
 * A warning about unknown settings; none if all are known. In a project that is itself named uptime, the project's own settings
 * have the prefix `uptime:` too, so there is no warning.
 *
 * @param project the project whose configuration holds the settings; undefined for those of an explicit provider
 */
export function unknownSettingWarnings(
  keys: readonly string[],
  project: string | undefined,
  prefix = "",
): string[] {
  const names: readonly string[] = settingNames;
  const given = keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  const unknown = given.filter((name) => !names.includes(name));
  if (project === "uptime" || unknown.length === 0) return [];
  const found = unknown.map((name) => ({ name, near: nearest(name, names) }));
  const described = found.map(({ name, near }) =>
    near === undefined ? `${prefix}${safeName(name)}` : `${prefix}${name} (did you mean ${prefix}${near}?)`,
  );
  const all = `It has ${names.map((name) => `${prefix}${name}`).join(", ")}.`;
  const text = `pulumi-uptime does not know these settings: ${described.join(", ")}.`;
  return [found.every(({ near }) => near) ? text : `${text} ${all}`];
}

/** Warnings about API keys that a stack's configuration has in plain text. */
export function plainApiKeyWarnings(
  valueOf: (key: string) => string | undefined,
  isSecret: (key: string) => boolean,
): string[] {
  const isPlain = (key: string): boolean => valueOf(key) !== undefined && !isSecret(key);
  const warnings: string[] = [];
  if (isPlain("uptime:apiKey"))
    warnings.push(
      "uptime:apiKey is set in plain text, so anyone who can read the stack's settings file or state can read the key. " +
        "Set it again with `pulumi config set --secret uptime:apiKey`, or use the environment variable UPTIME_API_KEY.",
    );
  if (isPlain("uptime:accounts") && valueOf("uptime:accounts")?.includes('"apiKey"'))
    warnings.push(
      "uptime:accounts holds API keys in plain text, so anyone who can read the stack's settings file or state can read " +
        "them. Set it again with `pulumi config set --secret uptime:accounts`, or use environment variables: " +
        "UPTIME_API_KEY_NAME is the key of the account NAME.",
    );
  return warnings;
}
