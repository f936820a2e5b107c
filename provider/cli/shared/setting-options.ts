import type { Command } from "commander";

import { readSettings } from "../../api/settings";
import type { Settings } from "../../api/settings";
import { configOf } from "../../engine/plugin/provider-settings";
import type { Properties } from "../../engine/request";
import { stackConfig } from "./pulumi-cli";
import type { StackLocation } from "./pulumi-cli";
import type { CommandContext } from "./terminal";

/** The options of a command that set how it reaches the server. There is none for the key: process lists show options. */
export interface SettingOptions {
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
] as const satisfies readonly (keyof SettingOptions)[];

/** Adds them to a command. */
export function addSettingOptions(command: Command): Command {
  return command
    .option("--base-url <url>", "address of the server; environment: UPTIME_BASE_URL")
    .option("--monitors-base-url <url>", "address for monitors; environment: UPTIME_MONITORS_BASE_URL")
    .option("--allow-http", "allow http:// for hosts other than this machine")
    .option("--timeout-seconds <number>", "seconds to wait for one response (default: 30)")
    .option("--max-retries <number>", "how often a failed request is sent again (default: 5)")
    .option("--max-concurrency <number>", "connections at the same time (default: 8)")
    .option("--requests-per-minute <number>", "the server's rate limit, if you know it")
    .option("--gone-statuses <list>", "more status codes that may mean that a record does not exist");
}

/** The settings of a command. */
export interface CommandSettings {
  /** What is set by options and by the stack's configuration, by full key. */
  readonly config: ReadonlyMap<string, string>;
  /** Which keys of the stack's configuration are kept as secrets. */
  readonly secretKeys: ReadonlySet<string>;
  /** The environment fills in what is not set. */
  readonly forAccount: AccountSettings;
  /** The same of an explicit provider, from its own settings. */
  readonly forProvider: (given: Properties) => AccountSettings;
}

/** The settings of an account, undefined for the one without a name. Throws if they cannot be used. */
export type AccountSettings = (account?: string) => Settings;

/** A provider's settings say where its server is; options that say so are about the provider without a name. */
const addresses: readonly string[] = ["uptime:baseUrl", "uptime:monitorsBaseUrl"];

/** Settings come from options, then from the configuration of a stack if there is one, then from the environment. */
export async function commandSettings(
  options: SettingOptions,
  { env }: Pick<CommandContext, "env">,
  stack?: StackLocation,
): Promise<CommandSettings> {
  const configured = stack ? await stackConfig(stack) : new Map<string, never>();
  const set = names.flatMap((name) => {
    const value = options[name];
    return value === undefined || value === false ? [] : [[`uptime:${name}`, String(value)] as const];
  });
  const config = new Map([...[...configured].map(([key, { text }]) => [key, text] as const), ...set]);
  return {
    config,
    secretKeys: new Set([...configured].flatMap(([key, { isSecret }]) => (isSecret ? [key] : []))),
    forAccount: (account) => readSettings({ get: (key) => config.get(key) }, env, account),
    forProvider: (given) => {
      const own = configOf(given);
      const options = new Map<string, string>(set.filter(([key]) => !addresses.includes(key)));
      return (account) => readSettings({ get: (key) => options.get(key) ?? own.get(key) }, env, account);
    },
  };
}
