import * as pulumi from "@pulumi/pulumi";

import { plainApiKeyWarnings, unknownSettingWarnings } from "../definitions/setting-warnings";
import { missingDependency } from "./missing-dependency";

/** The runs that have been warned: the Automation API may run several in one process. */
const warnedOf = { project: new WeakSet<object>(), keys: new WeakSet<object>() };

/** Warns once a run about what dynamic resources cannot work with, and about settings. */
export function warnOfProject(): void {
  once(warnedOf.project, () => [
    ...missingDependency(),
    ...unknownSettingWarnings(Object.keys(pulumi.runtime.allConfig()), pulumi.getProject(), "uptime:"),
  ]);
  warnOfPlainKeys();
}

/** Warns once a run about API keys in plain text, which the plugin cannot see. It warns about other settings itself. */
export function warnOfPlainKeys(): void {
  once(warnedOf.keys, () => plainApiKeyWarnings((key) => pulumi.runtime.getConfig(key), isSecretSetting));
}

/** The run of a program: the resource that is its stack, or the process if there is none. */
export const currentRun = (): object => pulumi.runtime.getStackResource() ?? process;

function once(warned: WeakSet<object>, warnings: () => readonly string[]): void {
  const run = currentRun();
  if (warned.has(run)) return;
  warned.add(run);
  for (const message of warnings()) void pulumi.log.warn(message);
}

function isSecretSetting(key: string): boolean {
  // The SDK does not declare this function. Unlike the environment variable, it also has the settings of an inline program.
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (name: string) => boolean };
  // An SDK without it must not cause a false warning.
  return isConfigSecret?.(key) ?? true;
}
