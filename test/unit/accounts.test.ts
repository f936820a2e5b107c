import type { Emulator } from "../../provider/emulator";
import { silenceHost, type Kind } from "../support/calls";
import { startEmulator } from "../support/emulator";
import { engineUnknown } from "../support/marks";
import type { ModelResource } from "../support/model";
import { home } from "../support/monitors";
import { fronts, Program, type Front } from "../support/program";
import { failureOf } from "../support/server";

silenceHost();
let first: Emulator;
let second: Emulator;
beforeEach(async () => {
  first = await startEmulator({ apiKey: "first-key" });
  second = await startEmulator({ apiKey: "second-key", firstId: 100 });
});

const configOf = (accounts: object = { other: { apiKey: "second-key", baseUrl: second.url } }) => ({
  "uptime:baseUrl": first.url,
  "uptime:apiKey": "first-key",
  "uptime:accounts": JSON.stringify(accounts),
});

function resource(accounts?: object): ModelResource {
  return new Program("dynamic", configOf(accounts)).resource();
}

function declaredIn({ state }: ModelResource): object {
  const { __provider: _, ...inputs } = state?.inputs ?? {};
  return inputs;
}

test.each(fronts)("a resource is in its account, of which state has only the name (%s)", async (front) => {
  const one = new Program(front, configOf()).resource();
  const declared = { ...home, account: "other" };
  expect(await one.up(declared)).toBe("create");
  expect(one.state).toMatchObject({ id: "100", inputs: { account: "other" }, outputs: { account: "other" } });
  expect(JSON.stringify(one.state)).not.toMatch(/second-key|127\.0\.0\.1/);
  one.nextRun();
  await one.refresh();
  expect(await one.up(declared)).toBe("same");
  expect(await one.up({ ...declared, interval: 300 })).toBe("update");
  expect(second.monitors.get(100)).toMatchObject({ interval: 300 });
  second.monitors.edit(100, { interval: 600 });
  one.nextRun();
  const inputs = declaredIn(one);
  await one.refresh();
  expect(declaredIn(one)).toEqual({ ...inputs, interval: 600 });
  await one.destroy();
  expect(second.monitors.size).toBe(0);
  expect(first.requests).toEqual([]);
});

test.each<[Kind, object, Record<string, string>]>([
  ["monitor", home, {}],
  ["monitor", home, { "uptime:adoptExisting": "true" }],
  ["domain", { name: "a.example" }, {}],
])("another account replaces a %s, the new one first: %j %j", async (kind, declared, settings) => {
  const one = new Program("dynamic", { ...configOf(), ...settings }).resource(kind);
  await one.up({ ...declared });
  one.nextRun();
  first.fault = ({ method }) => {
    if (method === "DELETE") expect(second[`${kind}s`].size).toBe(1);
    return undefined;
  };
  expect(await one.up({ ...declared, account: "other" })).toBe("replace");
  expect([first[`${kind}s`].size, second[`${kind}s`].size]).toEqual([0, 1]);
  expect(one.state?.id).toBe("100");
  first.fault = undefined;
  one.nextRun();
  expect(await one.up({ ...declared })).toBe("replace");
  expect([first[`${kind}s`].size, second[`${kind}s`].size]).toEqual([1, 0]);
});

test("another account replaces a resource also if state is old and has no digits of the key", async () => {
  const one = resource();
  await one.up(home);
  const { __server, __key, ...outputs } = one.state?.outputs ?? {};
  if (one.state) one.state = { ...one.state, outputs };
  one.nextRun();
  expect(await one.up({ ...home, account: "other" })).toBe("replace");
  expect([first.monitors.size, second.monitors.size]).toEqual([0, 1]);
});

test.each(fronts)("another name of the same account replaces nothing (%s)", async (front) => {
  const same = { apiKey: "second-key", baseUrl: second.url };
  const [one, other] = new Program(front, configOf()).resources();
  await one.up({ ...home, account: "other" });
  await other.up({ ...home, name: "Other" });
  // The former name need not be set any more.
  const renamed = { "uptime:accounts": JSON.stringify({ eu: same, unnamed: { apiKey: "first-key" } }) };
  one.nextRun(renamed);
  expect(await one.up({ ...home, account: "eu" })).toBe("update");
  expect(await other.up({ ...home, name: "Other", account: "unnamed" })).toBe("update");
  expect(one.state).toMatchObject({ id: "100", inputs: { account: "eu" }, outputs: { account: "eu" } });
  one.nextRun();
  await one.refresh();
  expect(await one.up({ ...home, account: "eu" })).toBe("same");
  // Also to the account without a name, and back.
  expect(await other.up({ ...home, name: "Other" })).toBe("update");
  const moved = { ...configOf(), "uptime:apiKey": "second-key", "uptime:baseUrl": second.url };
  one.nextRun(moved);
  expect(await one.up(home)).toBe("update");
  expect([first.monitors.size, second.monitors.size]).toEqual([1, 1]);
  await one.destroy();
  expect(second.monitors.size).toBe(0);
});

test.each(fronts)("an account that is not known yet replaces nothing (%s)", async (front) => {
  const program = new Program(front, configOf());
  const one = program.resource();
  await one.up({ ...home, account: "other" });
  const { id = "", inputs = {}, outputs = {} } = one.state ?? {};
  // So the engine asks about what depends on a resource that is to be deleted first.
  const news = { ...inputs, account: engineUnknown };
  const urn = `urn:pulumi:stack::project::${one.urnSuffix}`;
  const { changes, replaces } = await program.providers.monitor.diff(urn, id, outputs, inputs, news);
  expect([changes, replaces]).toEqual([false, false]);
});

test("accounts at one address each send their own key, at the same time too", async () => {
  const keys = new Map<string, Set<string | undefined>>();
  first.fault = ({ headers, body }) => {
    const name = body.find(([key]) => key === "name")?.[1];
    if (name !== undefined) keys.set(name, (keys.get(name) ?? new Set()).add(headers.authorization));
    // As a server with three accounts accepts all their keys.
    first.apiKey = headers.authorization?.replace("Bearer ", "") ?? "";
    return undefined;
  };
  const one = resource({ a: { apiKey: "key-a" }, b: { apiKey: "key-b" } });
  const declared = [{ name: "none" }, ...["a", "b"].map((account) => ({ name: account, account }))];
  await Promise.all(declared.map((more) => one.beside().up({ ...home, ...more })));
  const sent = Object.entries({ none: "first-key", a: "key-a", b: "key-b" });
  expect(keys).toEqual(new Map(sent.map(([name, key]) => [name, new Set([`Bearer ${key}`])])));
});

test.each([
  ["typo", /account cannot be "typo": uptime:accounts has no account "typo"; it has other\.$/m],
  ["", /account must be the name of an account in uptime:accounts/],
  [5, /account must be the name of an account in uptime:accounts/],
  [engineUnknown, /account must be known in the preview/],
])("the account %j is refused in the preview, together with everything else", async (account, message) => {
  const preview = resource().preview({ ...home, interval: 61, account });
  await expect(preview).rejects.toThrow(message);
  await expect(preview).rejects.toThrow(/interval must be one of/);
});

test.each(
  fronts.flatMap((front) =>
    [
      ["if it has others", JSON.stringify({ third: { apiKey: "k" } }), /no account "other"; it has third\./],
      ["if it is not set", "", /There are no accounts: set uptime:accounts, .*\./],
    ].map((row) => [...row, front] as [string, string, RegExp, Front]),
  ),
)(
  "deleting a resource of an account that uptime:accounts no longer has is an error that says how, %s (%#)",
  async (_, accounts, fact, front) => {
    const one = new Program(front, configOf()).resource();
    await one.up({ ...home, account: "other" });
    one.nextRun({ "uptime:accounts": accounts });
    const failure = await failureOf(one.destroy());
    expect(failure).toMatch(fact);
    expect(failure).toContain(
      " To delete others, first set the former name again; or run `pulumi state delete URN`, which leaves the record in the API.",
    );
    expect(second.monitors.size).toBe(1);
    // The account without a name may be another one.
    expect(await failureOf(one.up(home))).toMatch(
      /^State has the account "other", which uptime:accounts does not have now\. If it is .*, run `pulumi config set uptime:sameAccount \S+`; otherwise set it again\.$/,
    );
    one.nextRun(configOf());
    await one.destroy();
    expect(second.monitors.size).toBe(0);
  },
);

test("an account that has lost its key is an error that takes it for no other name", async () => {
  const one = resource();
  await one.up({ ...home, account: "other" });
  one.nextRun(configOf({ other: { baseUrl: second.url } }));
  const failure = await failureOf(one.destroy());
  expect(failure).toContain("uptime:accounts.other.apiKey");
  expect(failure).not.toContain("renamed");
});

test("an account that has moved to another address is refused, by its own setting", async () => {
  const one = resource();
  await one.up({ ...home, account: "other" });
  const later = resource({ other: { apiKey: "first-key", baseUrl: first.url } });
  later.state = one.state;
  await expect(later.refresh()).rejects.toThrow(
    /State was made with another address, not \S+ \(uptime:accounts\.other\.baseUrl\), .* \(uptime:accounts\.other\.baseUrl or uptime:accounts\.other\.monitorsBaseUrl\)\./,
  );
});

test("an import reads its account, where the same id is another record", async () => {
  const [one, two] = [resource(), resource()];
  first.monitors.add(home);
  second.monitors.add({ ...home, interval: 300 });
  await one.up({ ...home, importId: "1" });
  await expect(two.preview({ ...home, importId: "1", account: "other" })).rejects.toThrow(
    /Monitor 1 does not exist/,
  );
  await two.up({ ...home, interval: 300, importId: "100", account: "other" });
  one.nextRun();
  await expect(one.up({ ...home, importId: "1", account: "other" })).rejects.toThrow(
    /has the option import, and its change of account would replace it\. Remove the option import first\./,
  );
  expect([first.monitors.size, second.monitors.size]).toEqual([1, 1]);
  expect([...first.writes(), ...second.writes()]).toEqual([]);
});
