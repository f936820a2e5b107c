import { createHash } from "node:crypto";

import { keyFingerprintOf, readSettings } from "../../provider/api/settings";
import { asSecret, engineUnknown, unwrapSecrets, type Properties } from "../../provider/common/marks";
import type { EngineLog } from "../../provider/engine/engine-log";
import type { ResourceRequest } from "../../provider/engine/plugin/resource-request";
import { PluginRun } from "../../provider/engine/plugin/run";
import {
  checkProviderSettings,
  configOf,
  pairsOfOtherAccounts,
} from "../../provider/engine/provider-settings";
import { noNote } from "../../provider/lifecycle/run-note";
import { home } from "../support/monitors";
import { failureOf } from "../support/server";

const urnOf = (name: string): string => `urn:pulumi:test::shop::pulumi:providers:uptime::${name}`;
/** As the engine sends them after they were checked. */
const checked = (name: string, settings: Properties, parent = ""): Properties => {
  const urn = urnOf(name).replace("::pulumi:", `::${parent}pulumi:`);
  const given = { baseUrl: "https://a.example", ...settings };
  return unwrapSecrets(checkProviderSettings(urn, given, {}).settings) as Properties;
};

/** Whether a resource that moves from one provider to another one is replaced, without a key in the environment. */
const isReplaced = (
  from: Properties,
  to: Properties,
  [before, after]: readonly [string, string] = ["first", "second"],
  parents: readonly string[] = [],
): boolean =>
  pairsOfOtherAccounts(checked(before, from, parents[0]), checked(after, to, parents[1]), {}).length > 0;

const key = (apiKey: string): Properties => ({ apiKey });
const one = key("one");
/** Says that the keys "one" and "two" are of the same account. */
const pair = ["one", "two"].map((text) => keyFingerprintOf({ url: "https://a.example" }, text)).join("=");
const eu = (apiKey: unknown): Properties => ({ accounts: { eu: { apiKey } } });
/** The SDKs for C# and Java write JSON also if a value in it is secret, or not known yet. */
const asJson = (settings: Properties): Properties =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]));

test("in a project that is named uptime, unknown settings of an explicit provider are a warning", () => {
  const warningsOf = (name: string): readonly string[] =>
    checkProviderSettings(urnOf(name).replace("shop", "uptime"), { maxRetry: 3 }, {}).warnings;
  expect(warningsOf("first")).toEqual([expect.stringContaining("did you mean maxRetries?")]);
  // They may be the project's own.
  expect(warningsOf("default_1_0_0")).toEqual([]);
});

describe("a resource that moves to another provider is replaced if an account differs", () => {
  test.each<[string, boolean, Properties, Properties]>([
    ["the same", false, key("one"), key("one")],
    ["another key", true, key("one"), key("two")],
    ["another address", true, key("one"), { ...key("one"), baseUrl: "https://b.example" }],
    ["another monitors' address", true, key("one"), { ...key("one"), monitorsBaseUrl: "https://b.example" }],
    ["the same account, as it says", false, key("one"), { ...key("two"), sameAccount: pair }],
    ["a key that is not known yet", false, key("one"), key(engineUnknown)],
    ["other settings", false, key("one"), { ...key("one"), maxRetries: 7 }],
    ["only accounts, the same", false, eu("one"), eu("one")],
    ["only accounts, as JSON", false, eu("one"), asJson(eu("one"))],
    ["only accounts, another key", true, eu("one"), eu("two")],
    ["only accounts, the same, as it says", false, eu("one"), { ...eu("two"), sameAccount: [pair] }],
    ["only accounts, a key that is not known yet", false, eu("one"), eu(engineUnknown)],
    ["only accounts, a key in JSON that is not known yet", false, eu("one"), asJson(eu(engineUnknown))],
    ["only accounts, a secret key in JSON", false, eu("one"), asJson(eu(asSecret("one")))],
    ["only accounts, another secret key in JSON", true, eu("one"), asJson(eu(asSecret("two")))],
    ["a key, and accounts with another key", true, { ...one, ...eu("one") }, { ...one, ...eu("two") }],
    ["another version of the plugin", false, { ...one, version: "1.0.0" }, { ...one, version: "2.0.0" }],
    ["an account more", false, key("one"), { ...key("one"), ...eu("one") }],
  ])("%s: %j", (_, expected, from, to) => {
    expect(isReplaced(from, to)).toBe(expected);
  });

  test("but not if the provider stays, and all default providers are one", () => {
    expect(isReplaced(key("one"), key("two"), ["first", "first"])).toBe(false);
    for (const name of ["default_1_0_0", "default_1_0_0_github_/owner/name", "default_github_/owner/name"])
      expect(isReplaced(key("one"), key("two"), ["default", name])).toBe(false);
    expect(isReplaced(key("one"), key("two"), ["default", "first"])).toBe(true);
    expect(isReplaced(key("one"), key("two"), ["default", "default_eu"])).toBe(true);
    expect(isReplaced(key("one"), key("two"), ["default", "default_team/eu"])).toBe(true);
  });

  test("with the pairs that say that the account is the same, beside those that are set", () => {
    const before = checked("first", one);
    const pairsOf = (after: Properties) => pairsOfOtherAccounts(before, checked("second", after), {});
    expect(pairsOf(key("two"))).toEqual([pair]);
    expect(pairsOf({ ...key("two"), sameAccount: "3f9c=81d0" })).toEqual(["3f9c=81d0", pair]);
    expect(pairsOf({ ...key("two"), sameAccount: pair })).toEqual([]);
  });

  test("also if its address differs only by a variable of the environment", () => {
    const engine = { address: undefined, log: () => undefined } as unknown as EngineLog;
    const env = { UPTIME_MONITORS_BASE_URL: "https://b.example" };
    const run = new PluginRun(engine, env, { runNote: noNote });
    const move = run.diffSettings(checked("default", one), checked("first", one));
    expect(move).toEqual({ changed: ["monitorsBaseUrl"], replaces: true });
  });

  test("and if two providers of one name have different parents", () => {
    const parents = ["my:site:Front$", "my:site:Back$"] as const;
    expect(isReplaced(key("one"), key("two"), ["first", "first"], parents)).toBe(true);
  });
});

describe("a dynamic resource that moves to an explicit provider is replaced if its account differs", () => {
  const otherAddress = { baseUrl: "https://b.example" };

  let told: string[];
  beforeEach(() => {
    told = [];
  });

  /** The properties that replace the resource. The stack's key, if it is not in the configuration, is "two" by now. */
  async function replacing(
    inState: Properties,
    former: Properties,
    explicit: Properties,
    more: Properties = { __provider: "code" },
  ): Promise<(string | undefined)[]> {
    const settingsIn = (given: Properties) => configOf({ baseUrl: "https://a.example", ...given });
    const engine = { address: undefined, log: (_: string, text: string) => told.push(text) };
    const env = { UPTIME_API_KEY: "two" };
    const run = new PluginRun(engine as unknown as EngineLog, env, { runNote: noNote });
    const ofDynamic = Object.fromEntries(
      ["uptime:baseUrl", "uptime:apiKey"].map((name) => [name, settingsIn(former).get(name)]),
    );
    run.diffSettings(ofDynamic, checked("first", explicit));
    run.configure(checked("first", explicit));
    const { baseUrl, apiKey } = readSettings(settingsIn(inState), {});
    const digits = { __server: baseUrl.hash, __key: keyFingerprintOf(baseUrl, apiKey) };
    const request: ResourceRequest = {
      urn: "urn:pulumi:test::shop::uptime:index:Monitor::home",
      id: "1",
      oldInputs: { ...home, ...more },
      oldOutputs: { ...home, attributes: {}, ...digits },
      inputs: home,
      ignoreChanges: [],
      timeout: undefined,
      isPreview: true,
      isImport: false,
    };
    const { changes, ...others } = await run.run(request, (resources) => resources.diff(request));
    expect(others).toEqual({ deleteBeforeReplace: false });
    return changes.flatMap((change) => (change.replaces ? [change.key] : []));
  }

  test.each<[string, boolean, inState: Properties, former: Properties, Properties]>([
    ["the same", false, key("one"), key("one"), key("one")],
    ["another key", true, key("one"), key("one"), key("two")],
    ["another address", true, key("one"), key("one"), { ...key("one"), ...otherAddress }],
    ["another key, of the same account", false, key("one"), key("one"), { ...key("two"), sameAccount: pair }],
    ["a key that the former one has got since", false, key("one"), key("two"), key("two")],
    ["the key in state, and the former one has another", false, key("two"), key("one"), key("two")],
    ["another key, and that of the former one is not known", true, key("one"), {}, key("two")],
    ["the key in state, and that of the former one is not known", false, key("two"), {}, key("two")],
  ])("%s: %j", async (_, isReplaced, inState, former, explicit) => {
    expect(await replacing(inState, former, explicit)).toEqual(isReplaced ? ["provider"] : []);
    const [old, present] = [inState, explicit].map((given) => {
      const { baseUrl, apiKey } = readSettings(configOf({ baseUrl: "https://a.example", ...given }), {});
      return keyFingerprintOf(baseUrl, apiKey);
    });
    const advice = expect.stringContaining(
      `sameAccount of the provider first to "${old}=${present}"`,
    ) as string;
    expect(told).toEqual(isReplaced ? [advice] : []);
  });

  test("but is an error if the former one has got that address since, as without a move", async () => {
    const present = { ...key("one"), ...otherAddress };
    expect(await failureOf(replacing(key("one"), present, present))).toContain("made with another address");
  });

  test("but not one that is in the plugin's state already, beside those that move", async () => {
    expect(await replacing(key("one"), key("one"), key("two"), {})).toEqual([]);
  });
});

test("a provider's addresses get a proof each, as a secret, unless the key or the provider is not its own", () => {
  const proofsOf = (settings: Properties, env = {}, name = "first"): unknown =>
    checkProviderSettings(urnOf(name), settings, env).settings.__addresses;
  const [a, b] = ["https://a.example", "https://b.example"];
  const accounts = { eu: { apiKey: "two" }, us: {} };
  const env = { UPTIME_API_KEY_US: "three" };
  const proofs = [
    [a, "one"],
    [b, "one"],
    [a, "two"],
    [b, "two"],
  ].map((pair) => createHash("sha256").update(pair.join("\0")).digest("hex"));
  const settings = { baseUrl: a, monitorsBaseUrl: b, apiKey: "one", accounts };
  expect(proofsOf(settings, env)).toEqual(asSecret(proofs));
  expect(proofsOf({ apiKey: "one" }, { UPTIME_BASE_URL: a })).toEqual(asSecret(proofs.slice(0, 1)));
  expect(proofsOf({ baseUrl: a }, { UPTIME_API_KEY: "one" })).toBeUndefined();
  expect(proofsOf({ baseUrl: a, apiKey: engineUnknown })).toBeUndefined();
  expect(proofsOf(settings, env, "default_1_0_0")).toBeUndefined();
});

test("messages name a setting as a property of the provider that has it", () => {
  const sourceOf = (name: string): string =>
    readSettings(configOf(checked(name, { apiKey: "one" })), {}).apiKeySource;
  expect(sourceOf("default_1_0_0")).toBe("uptime:apiKey");
  expect(sourceOf("first")).toBe("apiKey of the provider first");
  expect(readSettings(configOf(checked("first", eu("one"))), {}, "eu").apiKeySource).toBe(
    "accounts.eu.apiKey of the provider first",
  );
  expect(() => readSettings(configOf(checked("first", {})), {})).toThrow(
    "apiKey of the provider first is not set: give it in the program or set UPTIME_API_KEY",
  );
});

test("whole numbers may be numbers, strings, or as Pulumi's SDK for Java sends them; other strings stay as they are", () => {
  const given = { timeoutSeconds: "20.0", maxRetries: 0, maxConcurrency: "4", apiKey: "12.0" };
  const settings = readSettings(configOf(checked("first", given)), {});
  expect(settings).toMatchObject({ timeoutSeconds: 20, maxRetries: 0, maxConcurrency: 4, apiKey: "12.0" });
  for (const timeoutSeconds of ["20.5", "20.00", "2.0e1"])
    expect(() => readSettings(configOf(checked("first", { ...given, timeoutSeconds })), {})).toThrow(
      "timeoutSeconds of the provider first must be a whole number from 1 to 3600",
    );
});

test("null, which SDKs send as JSON, is no setting", () => {
  const given = { apiKey: "one", accounts: "null", sameAccount: "null", maxRetries: "null", allowHttp: null };
  expect(
    checkProviderSettings(urnOf("first"), given, { UPTIME_BASE_URL: "https://a.example" }).problems,
  ).toEqual([]);
  // It may be a key.
  expect(configOf({ apiKey: "null" }).get("uptime:apiKey")).toBe("null");
  expect(configOf({ apiKey: null }).get("uptime:apiKey")).toBeUndefined();
});

describe("a provider is refused because of its settings", () => {
  const problemsOf = (settings: Properties, env = {}, name = "first") =>
    checkProviderSettings(urnOf(name), settings, env).problems;

  test("all of them at once", () => {
    const numbers = { timeoutSeconds: "abc", maxRetries: -1 };
    const wrong = { baseUrl: 42, apiKey: "two words", ...numbers, allowHttp: "yes" };
    const of = "of the provider first must be";
    expect(problemsOf(wrong)).toEqual([
      `baseUrl ${of} an absolute URL such as https://uptime.example.com`,
      `apiKey ${of} one word of printable ASCII characters`,
      `timeoutSeconds ${of} a whole number from 1 to 3600`,
      `maxRetries ${of} a whole number from 0 to 100`,
      `allowHttp ${of} true or false`,
    ]);
    expect(problemsOf({ timeoutSeconds: "abc" }, {}, "default")).toEqual([
      "uptime:timeoutSeconds must be a whole number from 1 to 3600",
    ]);
  });

  test("with the argument that allows plain http, because the stack's own setting does not count", () => {
    const settings = { baseUrl: "http://uptime.example", apiKey: "key" };
    expect(problemsOf(settings)).toEqual([
      expect.stringMatching(/, set allowHttp of the provider first to true$/),
    ]);
    expect(problemsOf(settings, {}, "default")).toEqual([
      expect.stringMatching(/, set uptime:allowHttp to true$/),
    ]);
    expect(problemsOf({ ...settings, allowHttp: true })).toEqual([]);
  });

  test("also those of its accounts, and of the environment", () => {
    const accounts = { eu: { baseUrl: "eu.example", apiKey: "key" }, us: { key: "one" } };
    expect(problemsOf({ accounts })).toEqual([
      'accounts of the provider first must be a JSON object such as {"NAME": {"apiKey": "…", "baseUrl": "https://…"}}; an account has no settings but baseUrl, monitorsBaseUrl, apiKey',
    ]);
    expect(problemsOf({ accounts: JSON.stringify({ eu: accounts.eu }) })).toEqual([
      "accounts.eu.baseUrl of the provider first must be an absolute URL such as https://uptime.example.com",
    ]);
    const twins = { "eu-1": {}, "eu.1": {} };
    expect(problemsOf({ accounts: twins }, { UPTIME_API_KEY_EU_1: "key" })).toEqual([
      expect.stringContaining("UPTIME_API_KEY_EU_1"),
    ]);
    expect(problemsOf({}, { UPTIME_LOG_LEVEL: "all" })).toEqual(["UPTIME_LOG_LEVEL must be off or debug"]);
  });

  test("but not for what is missing, or not known yet", () => {
    const unknown = { baseUrl: engineUnknown };
    const lists = { accounts: { eu: unknown }, sameAccount: [engineUnknown] };
    const unknowns = { ...unknown, timeoutSeconds: engineUnknown, ...lists };
    const http = { baseUrl: "http://a.example", allowHttp: engineUnknown };
    const inJson = [asJson({ ...lists, timeoutSeconds: engineUnknown }), asJson(eu(asSecret("key")))];
    for (const settings of [{}, unknowns, http, { apiKey: asSecret("key") }, ...inJson])
      expect(problemsOf(settings)).toEqual([]);
  });
});
