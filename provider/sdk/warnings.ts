import * as pulumi from "@pulumi/pulumi";

import { settingNames } from "../definitions/setting-names";
import { nearest } from "../definitions/nearest";
import { warnOfMissingDependency } from "./missing-dependency";

/** The runs that have been warned: the Automation API may run several in one process. */
const warned = new WeakSet<object>();

/** Warns of what is wrong with the program's surroundings, once a run. */
export function warnOnce(): void {
  once(() => {
    warnOfMissingDependency();
    return settingsWarnings(pulumi.runtime.allConfig(), isSecretSetting);
  });
}

/** The same for a program that uses the plugin, which warns of the other settings itself. */
export function warnOfPlainKeys(): void {
  once(() => plainKeyWarnings(pulumi.runtime.allConfig(), isSecretSetting));
}

function once(warnings: () => readonly string[]): void {
  const run = pulumi.runtime.getStackResource() ?? process;
  if (warned.has(run)) return;
  warned.add(run);
  for (const message of warnings()) void pulumi.log.warn(message);
}

function isSecretSetting(key: string): boolean {
  // The SDK does not declare this function. It also knows the settings of an inline program, which no variable holds.
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (name: string) => boolean };
  return isConfigSecret?.(key) ?? true;
}

/** What is wrong with the settings of a stack and can be told without the provider. */
export function settingsWarnings(
  config: Readonly<Record<string, string>>,
  isSecret: (key: string) => boolean,
  project = pulumi.getProject(),
): string[] {
  const warnings: string[] = [];
  // The settings of a project named uptime have the same prefix, and may have any name.
  const unknown = project === "uptime" ? [] : unknownSettings(config);
  if (unknown.length > 0)
    warnings.push(
      `pulumi-uptime does not know these settings: ${unknown.join(", ")}. It has ` +
        `${settingNames.map((name) => `uptime:${name}`).join(", ")}.`,
    );
  return [...warnings, ...plainKeyWarnings(config, isSecret)];
}

function plainKeyWarnings(
  config: Readonly<Record<string, string>>,
  isSecret: (key: string) => boolean,
): string[] {
  const warnings: string[] = [];
  const isPlain = (key: string): boolean => config[key] !== undefined && !isSecret(key);
  if (isPlain("uptime:apiKey"))
    warnings.push(
      "uptime:apiKey is set in plain text, so anyone who can read the stack's settings file or state can read the key. " +
        "Set it again with `pulumi config set --secret uptime:apiKey`, or use the environment variable UPTIME_API_KEY.",
    );
  if (isPlain("uptime:accounts") && config["uptime:accounts"]?.includes('"apiKey"'))
    warnings.push(
      "uptime:accounts holds API keys in plain text, so anyone who can read the stack's settings file or state can read " +
        "them. Set it again with `pulumi config set --secret uptime:accounts`, or use environment variables: " +
        "UPTIME_API_KEY_NAME is the key of the account NAME.",
    );
  return warnings;
}

function unknownSettings(config: Readonly<Record<string, string>>): string[] {
  const names: readonly string[] = settingNames;
  return Object.keys(config)
    .filter((key) => key.startsWith("uptime:") && !names.includes(key.slice("uptime:".length)))
    .map((key) => {
      const near = nearest(key.slice("uptime:".length), names);
      return near === undefined ? key : `${key} (did you mean uptime:${near}?)`;
    });
}
