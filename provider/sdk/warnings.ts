import { createRequire } from "node:module";
import { join } from "node:path";

import * as pulumi from "@pulumi/pulumi";

import { plainApiKeyWarnings, unknownSettingWarnings } from "../definitions/setting-warnings";

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

/**
 * Pulumi loads the provider from the program's folder, in another process. If only a library of the program depends on this
 * package, a package manager such as pnpm does not link it there, and Pulumi's own error does not say what to do.
 */
function missingDependency(): string[] {
  // Only if Pulumi's language host runs the program is the provider loaded from this working directory.
  if (process.env.PULUMI_NODEJS_MONITOR === undefined) return [];
  const folder = process.cwd();
  try {
    createRequire(join(folder, "program.js")).resolve("pulumi-uptime/provider");
    return [];
  } catch {
    return [
      `pulumi-uptime is not found from ${folder}, and Pulumi loads the provider from there. Add it to the dependencies ` +
        "in the program's own package.json, even if only a library uses it: `npm install pulumi-uptime`, " +
        "`pnpm add pulumi-uptime` or `yarn add pulumi-uptime`.",
    ];
  }
}
