import type { Command } from "commander";

import { readSettings } from "../api/settings";
import type { Settings } from "../api/settings";
import { stackConfig } from "./pulumi";
import type { Surroundings } from "./terminal";

/** The options of a command that say which install it speaks to. There is none for the key: process lists show options. */
export interface SettingFlags {
  readonly baseUrl?: string;
  readonly monitorsBaseUrl?: string;
  readonly allowHttp?: boolean;
  readonly timeoutSeconds?: string;
  readonly maxRetries?: string;
  readonly maxConcurrency?: string;
  readonly requestsPerMinute?: string;
  readonly goneStatuses?: string;
}

const names = [
  "baseUrl",
  "monitorsBaseUrl",
  "allowHttp",
  "timeoutSeconds",
  "maxRetries",
  "maxConcurrency",
  "requestsPerMinute",
  "goneStatuses",
] as const satisfies readonly (keyof SettingFlags)[];

/** Adds them to a command. */
export function withSettingFlags(command: Command): Command {
  return command
    .option("--base-url <url>", "address of the install; environment: UPTIME_BASE_URL")
    .option("--monitors-base-url <url>", "address for monitors; environment: UPTIME_MONITORS_BASE_URL")
    .option("--allow-http", "allow http:// for other hosts than this machine")
    .option("--timeout-seconds <number>", "seconds to wait for one answer (default: 30)")
    .option("--max-retries <number>", "how often a failed request is sent again (default: 5)")
    .option("--max-concurrency <number>", "connections at the same time (default: 8)")
    .option("--requests-per-minute <number>", "what the install allows, where you know it")
    .option("--gone-statuses <list>", 'more status codes that may mean "there is no such record"');
}

/** The settings of an account; without a name those of the one that has none. */
export type SettingsOf = (account?: string) => Settings;

/** What is set: by options, and by a stack's configuration if one is given. The environment comes after both. */
export interface Given {
  readonly entries: ReadonlyMap<string, string>;
  readonly settings: SettingsOf;
}

/** The settings from options, then from a stack's configuration if one is given, then from the environment. */
export async function settingsOf(
  flags: SettingFlags,
  { env }: Pick<Surroundings, "env">,
  stack?: { readonly cwd: string; readonly stack?: string | undefined },
): Promise<Given> {
  const configured = stack ? await stackConfig({ ...stack, env }) : new Map<string, string>();
  const given = names.flatMap((name) => {
    const value = flags[name];
    return value === undefined || value === false ? [] : [[`uptime:${name}`, String(value)] as const];
  });
  const entries = new Map([...configured, ...given]);
  return {
    entries,
    settings: (account) => readSettings({ get: (key) => entries.get(key) }, env, account),
  };
}
