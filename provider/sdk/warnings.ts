import * as pulumi from "@pulumi/pulumi";

import { plainTextKeys, unknownSettings } from "../definitions/setting-warnings";
import { missingDependency } from "./missing-dependency";

/** The runs that have been warned: the Automation API may run several in one process. */
const warned = new WeakSet<object>();

export function warnOnce(): void {
  once(() => [...missingDependency(), ...settingsWarnings(pulumi.runtime.allConfig(), isSecretSetting)]);
}

/** Warns once a run about API keys in plain text, which the plugin cannot see. It warns about other settings itself. */
export function warnOfPlainKeys(): void {
  once(() => plainTextKeys((key) => pulumi.runtime.getConfig(key), isSecretSetting));
}

/** The run of a program: the resource that is its stack, or the process if there is none. */
export const currentRun = (): object => pulumi.runtime.getStackResource() ?? process;

function once(warnings: () => readonly string[]): void {
  const run = currentRun();
  if (warned.has(run)) return;
  warned.add(run);
  for (const message of warnings()) void pulumi.log.warn(message);
}

function isSecretSetting(key: string): boolean {
  // The SDK does not declare this function. Unlike the environment variable, it also has the settings of an inline program.
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (name: string) => boolean };
  return isConfigSecret?.(key) ?? true;
}

/** Warnings about a stack's settings that need no provider. */
export function settingsWarnings(
  config: Readonly<Record<string, string>>,
  isSecret: (key: string) => boolean,
  project = pulumi.getProject(),
): string[] {
  return [
    ...unknownSettings(Object.keys(config), project, "uptime:"),
    ...plainTextKeys((key) => config[key], isSecret),
  ];
}
