/** The type of a setting; `api/setting-schemas.ts` has a parser for each. */
type SettingType =
  | { readonly type: "url" | "key" | "accounts" | "pairs" | "boolean" }
  | { readonly type: "integer"; readonly range: readonly [least: number, most: number] }
  | { readonly type: "choice"; readonly allowed: readonly [string, ...string[]] };

/** One setting, from which parsing, the command line's options, the plugin's schema and the docs are made. */
export type Setting = SettingType & {
  /** What it does, in one sentence without its default and allowed values; then any warning. */
  readonly text: string;
  /** More sentences, for docs/settings.md only. */
  readonly details?: string;
  readonly required?: true;
  readonly default?: number | boolean | string | readonly [];
  /** The setting whose value it has if it is not set. */
  readonly defaultsTo?: string;
  /** The environment variable that is read if the configuration does not set it. */
  readonly environment?: string;
  /** What an account of `accounts` has if it does not set it. */
  readonly accountDefault?: string;
  /** It holds API keys. */
  readonly secret?: true;
  /** It says how the server is reached, so commands have an option for it. */
  readonly hasOption?: true;
};

/** All settings by the names that a stack's configuration has after `uptime:`. */
export const settingDeclarations = {
  baseUrl: {
    type: "url",
    required: true,
    environment: "UPTIME_BASE_URL",
    accountDefault: "the provider's `baseUrl`",
    hasOption: true,
    text: "Address of the server. Monitors use it too, unless `monitorsBaseUrl` is set.",
    details:
      "It may have a path. A trailing slash, a trailing `/api/v1` and the trailing path of a collection (`/api/v1/monitors`) or of a record are ignored.",
  },
  monitorsBaseUrl: {
    type: "url",
    defaultsTo: "baseUrl",
    environment: "UPTIME_MONITORS_BASE_URL",
    accountDefault: "the account's `baseUrl`, or else the provider's `monitorsBaseUrl`",
    hasOption: true,
    text: "Address for monitors, if it is a different one.",
  },
  apiKey: {
    type: "key",
    required: true,
    environment: "UPTIME_API_KEY",
    accountDefault: "the environment variable for the account's name, such as `UPTIME_API_KEY_EU` for `eu`",
    secret: true,
    text: "API key, without the word `Bearer`. It is sent as a Bearer token.",
    details:
      "You do not need it if every resource names an account. Set it with `--secret`: Pulumi copies the configuration into state, where a plain value is readable.",
  },
  accounts: {
    type: "accounts",
    secret: true,
    text: "Further accounts by name, each with its key and, if they differ, its addresses.",
    details: "See [Several accounts](#several-accounts).",
  },
  adoptExisting: {
    type: "boolean",
    default: false,
    text: "Whether a create first looks for an equal record and adopts it. If a record has the same name (and URL, for a monitor) but is not equal, nothing is created.",
    details: "See [Adopting](adopting.md#a-program-that-already-declares-them).",
  },
  sameAccount: {
    type: "pairs",
    default: [],
    text: "Pairs such as `3f9c=81d0`, from the error that asks for them: the address and key in state (`3f9c`) and the present ones (`81d0`) lead to the same account.",
    details:
      "See [Move to another address](#move-to-another-address). A pair of equal digits confirms that the account is really empty; remove it afterwards.",
  },
  refreshAttributes: {
    type: "boolean",
    default: false,
    text: "Whether a refresh also stores `attributes`, at one request per record.",
    details: "See [Drift](drift.md#current-values).",
  },
  requestsPerMinute: {
    type: "integer",
    range: [1, 100_000],
    environment: "UPTIME_REQUESTS_PER_MINUTE",
    hasOption: true,
    text: "Requests per minute that the server allows, if you know the limit. Without it, the provider slows down when the server tells it to.",
    details:
      "A minute's requests may be sent at once. A program's lookups and each explicit provider count separately, so give each its share.",
  },
  timeoutSeconds: {
    type: "integer",
    range: [1, 3600],
    default: 30,
    hasOption: true,
    text: "Seconds to wait for one response.",
  },
  maxRetries: {
    type: "integer",
    range: [0, 100],
    default: 5,
    hasOption: true,
    text: "How many times a failed request is sent again. A create is sent again only if it certainly had no effect, or if no record of it is found. After a 503 the count restarts if the server has served other requests meanwhile. A refused connection is retried for a minute, regardless of this setting.",
    details: "The command `pulumi-uptime` retries it for three seconds.",
  },
  maxConcurrency: {
    type: "integer",
    range: [1, 100],
    default: 8,
    hasOption: true,
    text: "The maximum number of concurrent requests to one address with one key.",
  },
  allowHttp: {
    type: "boolean",
    default: false,
    hasOption: true,
    text: "Whether `http://` is allowed for hosts other than this machine. It exposes the API key to anyone on the network path.",
  },
  logLevel: {
    type: "choice",
    allowed: ["off", "debug"],
    default: "off",
    environment: "UPTIME_LOG_LEVEL",
    text: "Whether to log one line per request.",
    details: "See [Request log](#request-log).",
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settingDeclarations;

/** The settings that an account of `accounts` may have; the others hold for all accounts. */
export const accountSettingNames = ["baseUrl", "monitorsBaseUrl", "apiKey"] as const satisfies SettingName[];

export const settingNames = Object.keys(settingDeclarations) as readonly SettingName[];

/** The declaration of a setting, as one of many. */
export const settingOf = (name: SettingName): Setting => settingDeclarations[name];

/** The text of a setting, with the values that it may have at the end of its first sentence, which is up to the first period. */
export function meaningOf(name: SettingName): string {
  const setting = settingOf(name);
  if (setting.type === "integer") return setting.text.replace(".", `, ${setting.range.join(" to ")}.`);
  if (setting.type !== "choice") return setting.text;
  return setting.text.replace(".", `: ${joinWithOr(setting.allowed.map((value) => `\`${value}\``))}.`);
}

export function joinWithOr(values: readonly string[]): string {
  return [values.slice(0, -1).join(", "), values.at(-1) ?? ""].filter((part) => part !== "").join(" or ");
}
