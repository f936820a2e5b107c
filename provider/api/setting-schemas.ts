import * as z from "zod/mini";

import { definitions } from "../definitions";
import { accountSettingNames, joinWithOr } from "../definitions/settings";
import type { Setting, SettingName, settingDeclarations } from "../definitions/settings";
import { isLoopback, parseUrl } from "../common/url";
import { unwrapSecrets } from "../common/marks";
import { tryParseJson } from "../common/values";
import { hexHash } from "../common/hash";

/** The address of a server, without a slash at its end, and the short hash of it that state keeps. */
export interface ParsedAddress {
  readonly url: string;
  readonly hash: string;
}

/** The settings of one account. */
export type AccountValues = Readonly<Partial<Record<(typeof accountSettingNames)[number], string>>>;

interface ValueOfType {
  readonly url: ParsedAddress;
  readonly key: string;
  readonly accounts: Readonly<Record<string, AccountValues>>;
  readonly boolean: boolean;
  readonly pairs: readonly string[];
  readonly integer: number;
  readonly choice: string;
}

type ValueOf<S extends Setting> =
  | (S extends { readonly allowed: readonly (infer Allowed)[] } ? Allowed : ValueOfType[S["type"]])
  | (S extends { readonly required: true } | { readonly default: unknown } ? never : undefined);

export type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof settingDeclarations)[Name]> };

/**
 * What a setting must be, for messages, and the schema that parses it.
 *
 * @param allowHttp as it is set, and what messages call it
 */
export function settingParser(
  setting: Setting,
  allowHttp: AllowHttp,
): { expected: string; schema: z.ZodMiniType } {
  switch (setting.type) {
    case "integer": {
      const [least, most] = setting.range;
      const integer = z.number().check(z.gte(least), z.lte(most));
      return { expected: `a whole number from ${least} to ${most}`, schema: z.pipe(digitsSchema, integer) };
    }
    case "boolean":
      return { expected: "true or false", schema: booleanSchema };
    case "choice":
      return { expected: joinWithOr(setting.allowed), schema: z.enum(setting.allowed) };
    case "pairs":
      return {
        expected: "pairs of four hex digits such as 3f9c=81d0, with commas between them",
        schema: pairsSchema,
      };
    case "key":
      return { expected: "one word of printable ASCII characters", schema: keySchema };
    case "url":
      return { expected: expectedAddress, schema: addressSchema(allowHttp) };
    case "accounts":
      return { expected: expectedAccounts, schema: accountsSchema };
  }
}

/** Refuses a value without repeating it, because it may be a misplaced key. */
const refuse = <T>(isWrong: (value: T) => boolean, error: string): z.core.$ZodCheck<T> =>
  z.refine<T>((value) => !isWrong(value), { error, abort: true });

const digitsSchema = z.pipe(z.string().check(z.regex(/^\d+$/)), z.transform(Number));

const booleanSchema = z.stringbool({ truthy: ["true"], falsy: ["false"], case: "sensitive" });

/** Strings with commas between them, or in JSON. */
const listSchema = z.pipe(
  z.string(),
  z.transform((text) => {
    const values = tryParseJson(text);
    if (Array.isArray(values)) return values.map(String);
    return text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }),
);

const pairsSchema = z.pipe(listSchema, z.array(z.string().check(z.regex(/^[0-9a-f]{4}=[0-9a-f]{4}$/))));

const keySchema = z.string().check(
  refuse(
    (given) => /^bearer\s/i.test(given),
    'must be the key alone: leave out "Bearer ", which the provider adds itself',
  ),
  z.regex(/^[\x21-\x7e]+$/),
);

const expectedAddress = "an absolute URL such as https://uptime.example.com";

interface AllowHttp {
  readonly value: string | undefined;
  readonly source: string;
}

const addressSchema = (allowHttp: AllowHttp) => {
  const checked = z.instanceof(URL).check(
    refuse(({ protocol }) => !/^https?:$/.test(protocol), "must begin with https://"),
    refuse(
      ({ username, password }) => username !== "" || password !== "",
      "must not contain a user name or password; the key is a setting of its own",
    ),
    refuse(({ search, hash }) => search !== "" || hash !== "", "must end with its path, without ? or #"),
    refuse(
      ({ protocol, hostname }) => protocol === "http:" && !isLoopback(hostname) && allowHttp.value !== "true",
      "must begin with https://, because plain http exposes the API key to anyone on the network path; if that is what you " +
        `want, set ${allowHttp.source} to true`,
    ),
  );
  const url = z.pipe(
    z.string(),
    z.transform((text) => parseUrl(text)),
  );
  return z.pipe(url, z.pipe(checked, z.transform(parseAddress)));
};

const endOfApi = new RegExp(
  `/api/v1(?:/+(?:${definitions.map(({ plural }) => plural).join("|")})(?:/+\\d+)?)?$`,
);

function parseAddress({ origin, pathname }: URL): ParsedAddress {
  // People copy the path from the documentation of the API, or from the error of a redirect.
  const path = pathname.replace(/\/+$/, "").replace(endOfApi, "");
  const url = origin + path.replace(/\/+$/, "");
  return { url, hash: hexHash(url, 8) };
}

export const expectedAccounts = 'a JSON object such as {"NAME": {"apiKey": "…", "baseUrl": "https://…"}}';

const accountSchema = z.strictObject(
  Object.fromEntries(
    accountSettingNames.map((name) => [name, z.optional(z.string("must be a string").check(z.trim()))]),
  ),
  // It names neither the account nor the unknown setting, because a key may be in the place of one.
  `must be ${expectedAccounts}; an account has no settings but ${accountSettingNames.join(", ")}`,
);

const accountsSchema = z.pipe(
  z.pipe(
    z
      .string()
      .check(
        refuse((text) => tryParseJson(text) === undefined, `must be ${expectedAccounts}, and is not JSON`),
      ),
    // Pulumi's SDKs for C# and Java mark the keys in it as secret.
    z.transform((text) => unwrapSecrets(tryParseJson(text))),
  ),
  z.record(z.string(), accountSchema),
);
