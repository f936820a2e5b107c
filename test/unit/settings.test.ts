import { settingNames } from "../../provider/definitions/settings";
import { keyFingerprintOf, problemsOfSettings, readSettings } from "../../provider/api/settings";
import { safeName } from "../../provider/common/text";
import { unknownSettingWarnings } from "../../provider/definitions/setting-warnings";

const complete = { "uptime:baseUrl": "https://uptime.example.com", "uptime:apiKey": "key" };

function read(config: Record<string, string>, env: Record<string, string> = {}) {
  return readSettings({ get: (key) => config[key] }, env);
}

test.each([
  ["https://uptime.example.com/", "https://uptime.example.com"],
  ["https://Uptime.Example.com:443", "https://uptime.example.com"],
  ["https://uptime.example.com/api/v1", "https://uptime.example.com"],
  ["https://uptime.example.com/some/path/api/v1/", "https://uptime.example.com/some/path"],
  ["https://uptime.example.com/some/path/", "https://uptime.example.com/some/path"],
  ["  https://uptime.example.com  ", "https://uptime.example.com"],
  ["https://uptime.example.com/api/v1/monitors", "https://uptime.example.com"],
  ["https://uptime.example.com/api/v1/domains/", "https://uptime.example.com"],
  ["https://uptime.example.com/a/api/v1/monitors//", "https://uptime.example.com/a"],
  ["https://uptime.example.com/a/api/v1/monitors/7", "https://uptime.example.com/a"],
  ["https://uptime.example.com/monitors", "https://uptime.example.com/monitors"],
  ["http://localhost:8080", "http://localhost:8080"],
  ["http://127.0.0.1:8080/", "http://127.0.0.1:8080"],
  ["http://127.9.9.9", "http://127.9.9.9"],
  ["http://[::1]:8080", "http://[::1]:8080"],
])("the address %s is understood as %s", (given, address) => {
  expect(read({ ...complete, "uptime:baseUrl": given }).baseUrl.url).toBe(address);
});

test("an address has the same hash however it is written, and another address another hash", () => {
  const hash = (baseUrl: string): string => read({ ...complete, "uptime:baseUrl": baseUrl }).baseUrl.hash;
  expect(hash("https://UPTIME.example.com/api/v1/")).toBe(hash("https://uptime.example.com"));
  expect(hash("https://uptime.example.com/a")).not.toBe(hash("https://uptime.example.com"));
});

test("monitors have the address of domains unless they have one of their own", () => {
  const same = read(complete);
  expect(same.monitorsBaseUrl).toEqual({ ...same.baseUrl, otherSource: "uptime:monitorsBaseUrl" });
  const own = { ...complete, "uptime:monitorsBaseUrl": "https://m.example.com" };
  const { baseUrl, monitorsBaseUrl } = read(own);
  expect([baseUrl.url, monitorsBaseUrl.url]).toEqual(["https://uptime.example.com", "https://m.example.com"]);
});

test("an explicit provider with its own address does not use the environment's address for monitors", () => {
  const env = {
    UPTIME_BASE_URL: "https://us.example.com",
    UPTIME_MONITORS_BASE_URL: "https://us-m.example.com",
  };
  const monitorsAddress = (config: Record<string, string>): string =>
    readSettings({ get: (key) => config[key], providerName: "eu" }, env).monitorsBaseUrl.url;
  const own = { "uptime:baseUrl": "https://eu.example.com", "uptime:apiKey": "key" };
  expect(monitorsAddress(own)).toBe("https://eu.example.com");
  expect(monitorsAddress({ "uptime:apiKey": "key" })).toBe("https://us-m.example.com");
  expect(monitorsAddress({ ...own, "uptime:monitorsBaseUrl": "https://m.example.com" })).toBe(
    "https://m.example.com",
  );
});

test("the environment sets what configuration does not", () => {
  const env = {
    UPTIME_BASE_URL: "https://env.example.com",
    UPTIME_MONITORS_BASE_URL: "https://env-m.example.com",
    UPTIME_API_KEY: "env-key",
  };
  expect(read({}, env)).toMatchObject({
    baseUrl: { url: "https://env.example.com", source: "UPTIME_BASE_URL" },
    monitorsBaseUrl: { url: "https://env-m.example.com" },
    apiKey: "env-key",
    apiKeySource: "UPTIME_API_KEY",
  });
  expect(read(complete, env)).toMatchObject({ baseUrl: { source: "uptime:baseUrl" }, apiKey: "key" });
});

test.each(["adoptExisting", "refreshAttributes"] as const)("%s is true with spaces around it too", (name) => {
  const values = [" true", "true\n", " false ", ""].map((text) =>
    read({ ...complete, [`uptime:${name}`]: text }),
  );
  expect(values.map((settings) => settings[name])).toEqual([true, true, false, false]);
});

test("a key's fingerprint is four hex digits, which change with the key and the address", () => {
  const fingerprintOf = (config: Record<string, string>): string => {
    const { baseUrl, apiKey } = read({ ...complete, ...config });
    return keyFingerprintOf(baseUrl, apiKey);
  };
  expect(fingerprintOf({})).toMatch(/^[0-9a-f]{4}$/);
  expect(fingerprintOf({ "uptime:baseUrl": "https://UPTIME.example.com/api/v1" })).toBe(fingerprintOf({}));
  expect(fingerprintOf({ "uptime:apiKey": "other" })).not.toBe(fingerprintOf({}));
  expect(fingerprintOf({ "uptime:baseUrl": "https://other.example.com" })).not.toBe(fingerprintOf({}));
});

test.each(["off", "debug"])("the log level may be %s", (level) => {
  expect(read({ ...complete, "uptime:logLevel": level }).logLevel).toBe(level);
  expect(read(complete, { UPTIME_LOG_LEVEL: level }).logLevel).toBe(level);
  expect(read({ ...complete, "uptime:logLevel": level }, { UPTIME_LOG_LEVEL: "off" }).logLevel).toBe(level);
});

test("UPTIME_REQUESTS_PER_MINUTE is the rate limit that the configuration does not set", () => {
  const env = { UPTIME_REQUESTS_PER_MINUTE: "75" };
  expect(read(complete, env).requestsPerMinute).toBe(75);
  expect(read({ ...complete, "uptime:requestsPerMinute": "30" }, env).requestsPerMinute).toBe(30);
});

test.each([
  ["UPTIME_REQUESTS_PER_MINUTE", "0", "must be a whole number from 1"],
  ["UPTIME_LOG_LEVEL", "loud", "must be off or debug"],
])("an error about a variable of the environment names the variable: %s", (name, value, problem) => {
  expect(() => read(complete, { [name]: value })).toThrow(`${name} ${problem}`);
});

test("pairs of the same account may be separated by commas, or be JSON", () => {
  const both = ["3f9c=81d0", "0000=81d0"];
  for (const pairs of ["3f9c=81d0,0000=81d0", " 3f9c=81d0 , 0000=81d0,", '["3f9c=81d0", "0000=81d0"]'])
    expect(read({ ...complete, "uptime:sameAccount": pairs }).sameAccount).toEqual(both);
});

test.each([
  [{}, /uptime:baseUrl is not set: .*UPTIME_BASE_URL; uptime:apiKey is not set: .*--secret.*UPTIME_API_KEY/],
  [{ "uptime:baseUrl": "uptime.example.com" }, /uptime:baseUrl must be an absolute URL/],
  [{ "uptime:baseUrl": "ftp://uptime.example.com" }, /must begin with https:\/\//],
  [
    { "uptime:baseUrl": "http://uptime.example.com" },
    /exposes the API key to anyone on the network path; .* uptime:allowHttp/,
  ],
  [{ "uptime:baseUrl": "http://localhost.example.com" }, /exposes the API key to anyone/],
  [{ "uptime:baseUrl": "http://api.localhost" }, /exposes the API key to anyone/],
  [{ "uptime:baseUrl": "https://bob:pass@uptime.example.com" }, /must not contain a user name or password/],
  [{ "uptime:baseUrl": "https://uptime.example.com/?a=1" }, /without \? or #/],
  [{ "uptime:apiKey": "two words" }, /uptime:apiKey must be one word of printable ASCII/],
  [{ "uptime:timeoutSeconds": "soon" }, /uptime:timeoutSeconds must be a whole number from 1 to 3600/],
  [{ "uptime:maxConcurrency": "0" }, /uptime:maxConcurrency must be a whole number from 1 to/],
  [{ "uptime:maxRetries": "1.5" }, /uptime:maxRetries must be a whole number/],
  [{ "uptime:requestsPerMinute": "0" }, /uptime:requestsPerMinute must be a whole number from 1 to/],
  [{ "uptime:allowHttp": "yes" }, /uptime:allowHttp must be true or false/],
  [{ "uptime:sameAccount": "true" }, /uptime:sameAccount must be pairs of four hex digits such as 3f9c=81d0/],
  [{ "uptime:sameAccount": "3f9c=81d0,3f9c" }, /uptime:sameAccount must be pairs of four hex digits/],
  [{ "uptime:refreshAttributes": "yes" }, /uptime:refreshAttributes must be true or false/],
  [{ "uptime:apiKey": "Bearer key" }, /uptime:apiKey must be the key alone: leave out "Bearer "/],
  [{ "uptime:apiKey": "bearer  key" }, /leave out "Bearer "/],
  [{ "uptime:logLevel": "loud" }, /uptime:logLevel must be off or debug/],
])("%j is refused, by name", (config, message) => {
  expect(() => read(Object.keys(config).length > 0 ? { ...complete, ...config } : {})).toThrow(message);
});

const canaries = ["canary-key", "canary key", "Bearer canary-key", "[canary-key", '["canary-key"]'];
test.each(settingNames)("a refusal of %s is in the provider's own words", (name) => {
  const ours = new RegExp(`^The provider's settings cannot be used: uptime:${name}(\\.canary)? (must|has) `);
  for (const value of [...canaries, '{"canary": 5}', "Bearer -1e9", "5.5.5"]) {
    const result = attempted(() => read({ ...complete, [`uptime:${name}`]: value }));
    if (result !== undefined) expect(result).toMatch(ours);
    expect(result ?? "").not.toMatch(/canary-key|invalid|expected|input/i);
  }
});

function attempted(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test("http is allowed for another host with uptime:allowHttp", () => {
  const config = { ...complete, "uptime:baseUrl": "http://uptime.example.com", "uptime:allowHttp": "true" };
  expect(read(config).baseUrl.url).toBe("http://uptime.example.com");
});

describe("an account", () => {
  const withAccounts = (accounts: unknown, more: Record<string, string> = {}) => ({
    ...complete,
    "uptime:accounts": typeof accounts === "string" ? accounts : JSON.stringify(accounts),
    ...more,
  });
  const readAccount = (config: Record<string, string>, account: string, env: Record<string, string> = {}) =>
    readSettings({ get: (key) => config[key] }, env, account);

  test("has its own settings, and the stack's addresses if it sets none", () => {
    const config = withAccounts(
      { eu: { apiKey: " eu-key " }, us: { apiKey: "us-key", baseUrl: "https://us.example.com/api/v1" } },
      { "uptime:monitorsBaseUrl": "https://m.example.com", "uptime:maxRetries": "1" },
    );
    expect(readAccount(config, "eu")).toMatchObject({
      baseUrl: { url: "https://uptime.example.com", source: "uptime:baseUrl" },
      monitorsBaseUrl: { url: "https://m.example.com" },
      apiKey: "eu-key",
      apiKeySource: "uptime:accounts.eu.apiKey",
      maxRetries: 1,
    });
    // Its key is for its own server only.
    expect(readAccount(config, "us")).toMatchObject({
      baseUrl: { url: "https://us.example.com", source: "uptime:accounts.us.baseUrl" },
      monitorsBaseUrl: { url: "https://us.example.com" },
      apiKey: "us-key",
    });
    expect(read(config)).toMatchObject({ apiKey: "key" });
  });

  test("needs no other account, and may take its key from the environment", () => {
    const config = { "uptime:accounts": JSON.stringify({ "eu-1": { baseUrl: "https://eu.example.com" } }) };
    const env = { UPTIME_API_KEY_EU_1: "env-key\n", UPTIME_API_KEY: "other" };
    const { apiKey, apiKeySource } = readAccount(config, "eu-1", env);
    expect([apiKey, apiKeySource]).toEqual(["env-key", "UPTIME_API_KEY_EU_1"]);
    expect(() => readAccount(config, "eu-1", { UPTIME_API_KEY: "other" })).toThrow(
      "uptime:accounts.eu-1.apiKey is not set: add it to uptime:accounts, or set UPTIME_API_KEY_EU_1",
    );
  });

  test.each([
    ["uk", { eu: { apiKey: "k" }, us: {} }, /uptime:accounts has no account "uk"; it has eu, us\./],
    ["toString", { eu: { apiKey: "k" } }, /uptime:accounts has no account "toString"; it has eu\./],
    ["uk", {}, /uptime:accounts has no account "uk"; it has none\./],
    ["eu", "{", /uptime:accounts must be a JSON object such as .*, and is not JSON/],
    ["eu", ["eu"], /uptime:accounts must be a JSON object/],
    ["eu", { eu: { apiKey: 5 } }, /uptime:accounts\.eu\.apiKey must be a string/],
    [
      "eu",
      { eu: { apikey: "canary" } },
      /uptime:accounts must be .*; an account has no settings but baseUrl, monitorsBaseUrl, apiKey/,
    ],
    ["eu", { us: {}, eu: { canary: "x" } }, /an account has no settings but baseUrl, monitors/],
    ["eu", { canary: "eu" }, /uptime:accounts must be a JSON object .*; an account has/],
    ["eu", { eu: { apiKey: "canary key" } }, /accounts\.eu\.apiKey must be one word of printable ASCII/],
    ["eu", { eu: { apiKey: "k", baseUrl: "eu.ex" } }, /accounts\.eu\.baseUrl must be an absolute URL/],
    ["eu", { eu: { monitorsBaseUrl: "http://a.ex" } }, /accounts\.eu\.monitorsBaseUrl must begin with https/],
  ])("%s of %j is refused, by name", (account, accounts, message) => {
    const attempt = (): unknown => readAccount(withAccounts(accounts), account);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/canary/);
  });

  // As a key is: long, or with more digits than a name has.
  test.each(["canary-key-of-the-account", "canary12345", "u1234567-canary"])(
    "named %s is not named",
    (key) => {
      expect(safeName(key)).toBe("[not shown]");
      const env = { [`UPTIME_API_KEY_${key.toUpperCase().replaceAll("-", "_")}`]: "k" };
      const accounts = [{}, { apiKey: "k", baseUrl: "canary" }, { apiKey: "two words" }, { baseUrl: 5 }];
      const refusals = [
        attempted(() => readAccount(complete, key)),
        attempted(() => readAccount(withAccounts({ eu: { apiKey: "k" } }), key)),
        attempted(() => readAccount(withAccounts({ [key]: {} }), "eu")),
        ...accounts.flatMap((account) => {
          const config: Record<string, string> = withAccounts({ [key]: account });
          const problems = problemsOfSettings({ get: (name) => config[name] }, {});
          return [attempted(() => readAccount(config, key)), ...problems];
        }),
        attempted(() => readAccount(withAccounts({ [key]: {}, [key.toUpperCase()]: {} }), key, env)),
        ...unknownSettingWarnings([`uptime:${key}`], "shop", "uptime:"),
      ];
      expect(refusals).toHaveLength(12);
      for (const refusal of refusals) expect(refusal).not.toMatch(/canary|undefined/i);
      expect(refusals.slice(1, 3)).toEqual([
        'uptime:accounts has no account "[not shown]"; it has eu.',
        'uptime:accounts has no account "eu"; it has [not shown].',
      ]);
    },
  );

  test.each([
    "eu",
    "eu-1",
    "EU_2",
    "customer.production",
    "2024",
    " 20240131",
    "customer.production1",
    " eu",
  ])("named %j is", (name) => {
    expect(safeName(name)).toBe(name);
  });

  test("is refused if no accounts are set, or if two would read their keys from one variable", () => {
    expect(() => readAccount(complete, "eu")).toThrow(
      /^There are no accounts: set uptime:accounts, .*, with `pulumi config set --secret uptime:accounts`\.$/,
    );
    expect(() =>
      readSettings(
        { providerName: "eu", get: (key) => new Map(Object.entries(complete)).get(key) },
        {},
        "team",
      ),
    ).toThrow(/^There are no accounts: set accounts of the provider eu, an? [^`]*\}\}\.$/);
    const config = withAccounts({ "eu-1": {}, EU_1: {} });
    expect(() => readAccount(config, "eu-1", { UPTIME_API_KEY_EU_1: "k" })).toThrow(
      "The accounts eu-1, EU_1 would all take their key from UPTIME_API_KEY_EU_1",
    );
  });
});
