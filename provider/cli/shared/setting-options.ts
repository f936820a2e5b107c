import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import {
  accountNames,
  addressProofOf,
  isKeyOfEnvironment,
  namedAddresses,
  readSettings,
} from "../../api/settings";
import type { Address, Config, Settings } from "../../api/settings";
import { hasSecret, isSecret, type Properties } from "../../common/marks";
import { hiddenNames } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";
import { meaningOf, settingNames, settingOf } from "../../definitions/settings";
import type { SettingName } from "../../definitions/settings";
import { configOf } from "../../engine/provider-settings";
import { isProject } from "./project";
import { stackConfig, type StackLocation } from "./pulumi-cli";
import { clearProperties, type StateResource } from "./state";
import type { CommandContext } from "./terminal";

/** The options of a command that say how it reaches the server. There is none for the key: process lists show options. */
export type SettingOptions = Readonly<Partial<Record<SettingName, string | boolean>>>;

const optionNames = settingNames.filter((name) => settingOf(name).hasOption);

export function addSettingOptions(command: Command): Command {
  for (const name of optionNames) {
    const { type, default: preset, environment } = settingOf(name);
    const meaning = meaningOf(name).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    const help = [
      // The first sentence, without its period.
      meaning.replace(/\.( .*)?$/, "").replaceAll("`", ""),
      ...(environment === undefined ? [] : [`environment: ${environment}`]),
      ...(typeof preset === "number" ? [`default: ${preset}`] : []),
    ];
    const value = type === "boolean" ? "" : ` <${type === "integer" ? "number" : type}>`;
    command.option(flagOf(name) + value, help.join("; "));
  }
  return command;
}

const flagOf = (name: SettingName): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The options that are given, such as `--base-url`. */
export const givenFlags = (options: SettingOptions): string[] =>
  optionNames.filter((name) => options[name] !== undefined).map(flagOf);

export type CommandSettings = Awaited<ReturnType<typeof commandSettings>> & {
  /** Why the settings of the project's stack are not among them. */
  readonly unreadStack?: string;
};

/** An explicit provider has its own addresses, so options for them apply only to the stack's own provider. */
const addresses: readonly string[] = ["uptime:baseUrl", "uptime:monitorsBaseUrl"];

/** Settings come from options, then from the configuration of a stack if there is one, then from the environment. */
export async function commandSettings(
  options: SettingOptions,
  { env, session }: Pick<CommandContext, "env" | "session">,
  stack?: StackLocation,
) {
  const configured = Object.entries(stack ? await stackConfig(stack) : {});
  /** An address that is secret is not printed. */
  const hideAddress = (name: string, value: unknown): void => {
    if (!addresses.includes(name) || typeof value !== "string") return;
    const given = new Map([[name, value]]).set("uptime:allowHttp", "true");
    for (const address of namedAddresses(given, {})) session.secrets.add(address);
  };
  for (const [name, { value, secret }] of configured) if (secret) hideAddress(name, value);
  const givenOptions = optionNames.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [[`uptime:${name}`, String(value)] as const];
  });
  const inStack = configured.flatMap(([key, { value }]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  const config = new Map([...inStack, ...givenOptions]);
  const merged = (own: Config, overrides: ReadonlyMap<string, string>): Config => ({
    ...own,
    get: (key) => overrides.get(key) ?? own.get(key),
    optionOf: (name) => (overrides.has(`uptime:${name}`) ? flagOf(name) : undefined),
  });
  const whole = merged(config, new Map(givenOptions));
  return {
    /** The values of options and of the stack's configuration, by full key. */
    config,
    /** The keys of the stack's configuration whose values are secrets. */
    secretSettings: new Set(configured.flatMap(([key, { secret }]) => (secret ? [key] : []))),
    /** The accounts of `uptime:accounts`, and the default account if it has a key, or if there is no other. */
    accountNames: () => {
      const all = accountNames(whole, env);
      const { environment = "" } = settingOf("apiKey");
      const hasKey = [config.get("uptime:apiKey"), env[environment]].some((key) => Boolean(key?.trim()));
      return all.filter((name) => name !== undefined || hasKey || all.length === 1);
    },
    /** The settings of an account, undefined for the default account. The environment fills in what is not set. */
    forAccount: (account?: string) => readSettings(whole, env, account),
    /** The settings of an explicit provider in state. */
    forProvider:
      ({ urn, inputs = {} }: StateResource) =>
      (account?: string): Settings =>
        explainWith(`The provider ${parseUrn(urn).name}: `, "", () => {
          assertEncrypted(inputs);
          const given = clearProperties(inputs);
          for (const [name, value] of Object.entries(given))
            if (hasSecret(inputs[name])) hideAddress(`uptime:${name}`, value);
          const own = configOf(given);
          const overrides = new Map(givenOptions.filter(([key]) => !addresses.includes(key)));
          const settings = readSettings(merged(own, overrides), env, account);
          assertKeyIsFor(settings, given[hiddenNames.addressProofs], () => namedAddresses(whole, env));
          if (isKeyOfEnvironment(settings)) return settings;
          // A person who has already changed the key in the program would look for the mistake there.
          return {
            ...settings,
            apiKeySource: `${settings.apiKeySource}, as the last \`pulumi up\` stored it`,
          };
        }),
  };
}

/** Reads settings. If that fails, says where they are. */
function explainWith<T>(before: string, after: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    throw new UptimeError([before, ...error.parts, after]);
  }
}

/**
 * Throws if a key would go to an address that only state names, where anybody who can write state may have put it. A provider's
 * own key goes only to an address for which state has a proof: it cannot be made without the key.
 */
function assertKeyIsFor(settings: Settings, proofs: unknown, named: () => readonly string[]): void {
  const { apiKey, apiKeySource, baseUrl, monitorsBaseUrl } = settings;
  const isOwnKey = !isKeyOfEnvironment(settings);
  const isProved = (address: Address): boolean =>
    Array.isArray(proofs) && proofs.includes(addressProofOf(address, apiKey));
  const isNamed = ({ source, url }: Address): boolean =>
    source.startsWith("UPTIME_") || named().includes(url);
  const foreign = [baseUrl, monitorsBaseUrl].find((address) => !(isOwnKey ? isProved : isNamed)(address));
  if (foreign === undefined) return;
  throw new UptimeError(
    isOwnKey
      ? `Its address is ${foreign.url}, and nothing in state shows that the program has given it this address with this key, so the key is not sent there. Find out whether somebody has changed the state; \`pulumi up\` stores the program's address again.`
      : `In state its address is ${foreign.url}, which neither the options, the stack's configuration nor the environment have, so the key in ${apiKeySource} is not sent there. If the address is right, set UPTIME_BASE_URL to it, or give the provider a key of its own.`,
  );
}

/** Throws if state has a setting in the clear that the provider always marks as secret, so that somebody else has written it. */
function assertEncrypted(inputs: Properties): void {
  const clear = [...settingNames.filter((name) => settingOf(name).secret), hiddenNames.addressProofs].filter(
    (name) => inputs[name] !== undefined && !isSecret(inputs[name]),
  );
  if (clear.length === 0) return;
  throw new UptimeError(
    `In state its ${clear.join(" and ")} is not marked as secret, as the provider always marks it, so it is not used. Find out whether somebody has changed the state. \`pulumi up\` writes it again.`,
  );
}

/**
 * The settings of a command that works without a stack too: in a project, also those of its stack.
 *
 * @param isAsked whether the options need the stack; if so, a stack that cannot be read is an error and not a warning
 */
export async function settingsInFolder(
  options: SettingOptions,
  context: Pick<CommandContext, "env" | "session">,
  location: StackLocation,
  isAsked: boolean,
): Promise<CommandSettings> {
  if (!isAsked && !isProject(location.cwd)) {
    const settings = await commandSettings(options, context);
    const where = ` ${location.cwd} has no Pulumi.yaml, so settings come only from options and the environment.`;
    return {
      ...settings,
      forAccount: (account?: string) => explainWith("", where, () => settings.forAccount(account)),
    };
  }
  try {
    return await commandSettings(options, context, location);
  } catch (error) {
    if (isAsked || !(error instanceof UptimeError)) throw error;
    const unreadStack = `The project's stack cannot be read, so settings come only from options and the environment. ${error.message.replace(/\.?$/, ".")}`;
    return { ...(await commandSettings(options, context)), unreadStack };
  }
}
