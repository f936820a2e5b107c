import { domain } from "../../provider/definitions/domain";
import type { Connect } from "../../provider/lifecycle/record-scope";
import { check } from "../../provider/lifecycle/check";
import { diff } from "../../provider/lifecycle/diff";
import { monitor } from "../../provider/definitions/monitor";
import type { Definition } from "../../provider/definitions/field";
import { readSettings } from "../../provider/api/settings";
import { unknownValue } from "../../provider/definitions/marks";
import { messageText } from "../../provider/engine/clean";
import {
  decodeDeclaration,
  encodeInputs,
  decodeInputs,
  decodeOptions,
  decodeOutputs,
} from "../../provider/engine/request";
import type { Properties } from "../../provider/engine/request";
import { Session } from "../../provider/lifecycle/session";

/** Nothing listens there, so that whatever asks the API fails. */
const config = {
  get: (key: string) => ({ "uptime:baseUrl": "http://127.0.0.1:9", "uptime:apiKey": "key" })[key],
};

/** A kind of resource, with properties as a dynamic provider has them. */
class Checked {
  private readonly connect: Connect;

  constructor(private readonly definition: Definition) {
    this.connect = new Session().connector(definition, (account) => readSettings(config, {}, account));
  }

  async check(
    olds: Properties,
    news: Properties,
  ): Promise<{ inputs: Properties; problems: readonly { property: string; reason: string }[] }> {
    const { inputs, problems } = await check(this.definition, this.connect, decodeDeclaration(olds, news));
    const texts = problems.map(({ property, reason }) => ({ property, reason: messageText(reason, []) }));
    return { inputs: encodeInputs(inputs, news), problems: texts };
  }

  diff(id: string, olds: Properties, news: Properties): { changed: string[]; replaces: string[] } {
    const outputs = decodeOutputs(this.definition, olds);
    const { changed, replaces } = diff(
      this.connect(undefined),
      id,
      outputs,
      decodeInputs(news),
      decodeOptions(news),
    );
    return { changed: [...changed], replaces: [...replaces] };
  }
}

const monitors = new Checked(monitor);
const domains = new Checked(domain);
const valid = { name: "Home", url: "https://example.com/", interval: 60 };

const refused = async (inputs: object): Promise<Record<string, string>> => {
  const { problems } = await monitors.check({}, { ...valid, ...inputs });
  expect(new Set(problems.map(({ property }) => property)).size).toBe(problems.length);
  return Object.fromEntries(problems.map(({ property, reason }) => [property, reason]));
};

test("valid inputs are taken, and documented defaults are filled in", async () => {
  expect(await monitors.check({}, valid)).toEqual({
    inputs: { ...valid, alertCondition: "url_unavailable", requestMethod: "GET", cacheBuster: false },
    problems: [],
  });
});

test("a URL with letters such as ü is taken, and still is when thousands have been checked", async () => {
  // As the engine hands it over, one byte to a letter.
  const { url } = JSON.parse('{ "url": "https://m\\u00fcnch.example/" }') as { url: string };
  const results = Array.from({ length: 5000 }, async (_, index) => {
    await refused({ url: `https://example.com/${index}` });
    return refused({ url });
  });
  expect((await Promise.all(results)).filter(({ url: reason }) => reason !== undefined)).toEqual([]);
});

test("a removed field is managed as empty, and stays so; one with a default goes back to it", async () => {
  const first = (await monitors.check({}, { ...valid, pause: true, sslAlertDays: 7, requestMethod: "POST" }))
    .inputs;
  const second = (await monitors.check(first, valid)).inputs;
  expect(second).toEqual({
    ...valid,
    alertCondition: "url_unavailable",
    requestMethod: "GET",
    cacheBuster: false,
    pause: null,
    sslAlertDays: null,
  });
  expect((await monitors.check(second, valid)).inputs).toEqual(second);
  expect((await monitors.check(second, { ...valid, pause: null, sslAlertDays: 3 })).inputs).toEqual({
    ...second,
    sslAlertDays: 3,
  });
});

test("null is not declared: a default takes its place, and a field without one is not managed", async () => {
  const inputs = { ...valid, alertCondition: null, requestMethod: undefined, sslAlertDays: null };
  const { inputs: checked } = await monitors.check({}, inputs);
  expect(checked).toEqual((await monitors.check({}, valid)).inputs);
});

test("a field that is declared anew is a change, even when its value is that of an empty one", async () => {
  const { inputs } = await monitors.check({}, valid);
  const declared = { pause: false, requestAuthUsername: "", alertChannelIds: [], sslAlertDays: 0 };
  expect(monitors.diff("1", inputs, { ...inputs, ...declared }).changed.sort()).toEqual(
    Object.keys(declared).sort(),
  );
});

test.each([
  [{ interval: 61 }, { interval: /^must be one of 60, 180, .*3600, not 61; the nearest is 60$/ }],
  [{ interval: "60" }, { interval: /^is the string "60"; write 60 without quotes$/ }],
  [{ interval: "5m" }, { interval: /not "5m"$/ }],
  [{ interval: "3600" }, { interval: /^is the string "3600"; write 3600 without quotes$/ }],
  [{ interval: [60] }, { interval: /not \[60\]$/ }],
  [
    { interval: undefined, url: null },
    { interval: /^is required$/, url: /^is required$/ },
  ],
  [{ alertCondition: "url_unavailble" }, { alertCondition: /the nearest is "url_unavailable"$/ }],
  [{ requestMethod: "get" }, { requestMethod: /the nearest is "GET"$/ }],
  [{ requestMethod: { a: 1 } }, { requestMethod: /, not \{"a":1\}$/ }],
  [{ sslAlertDays: 5 }, { sslAlertDays: /must be one of 0, 1, 2, 3, 7, 14, 30, 60, not 5/ }],
  [{ domainAlertDays: 10000 }, { domainAlertDays: /the nearest is 60$/ }],
  [{ cacheBuster: 1 }, { cacheBuster: /^must be true or false, not 1$/ }],
  [{ pause: "true" }, { pause: /^must be true or false, not "true"$/ }],
  [{ name: "" }, { name: /^must not be empty$/ }],
  [{ name: " a" }, { name: /^must not begin or end with spaces, not " a"$/ }],
  [{ name: 5 }, { name: /^must be a string, not 5$/ }],
  [{ url: "example.com" }, { url: /^must be an absolute URL that begins with http/ }],
  [{ url: "https://" }, { url: /absolute URL/ }],
  [{ url: "https://a b/" }, { url: /absolute URL/ }],
  [{ url: "ftp://example.com" }, { url: /absolute URL/ }],
  [{ url: "https://[" }, { url: /absolute URL/ }],
  [
    { alertChannelIds: [1, "x", -1, 1.5, "a7", "7a", ["7"]] },
    Object.fromEntries([1, 2, 3, 4, 5, 6].map((index) => [`alertChannelIds[${index}]`, /must be an id/])),
  ],
  [{ alertChannelIds: "1" }, { alertChannelIds: /^must be a list of ids/ }],
  [
    { requestHeaders: [{ key: "X Y", value: "a\r\nB: c" }] },
    { "requestHeaders[0].key": /name of a header/, "requestHeaders[0].value": /one line/ },
  ],
  [{ requestHeaders: { "X-A": "b" } }, { requestHeaders: /list of \{ key, value \}/ }],
  [{ requestHeaders: [{ key: "A" }] }, { "requestHeaders[0].value": /./ }],
  [{ requestHeaders: ["A: b"] }, { "requestHeaders[0]": /^must be \{ key, value \}, both strings$/ }],
  [
    { requestHeaders: [{ key: "A", value: "b " }] },
    { "requestHeaders[0].value": /begin or end with spaces/ },
  ],
  [
    { requestHeaders: [{ name: "A", value: "b" }] },
    { "requestHeaders[0].key": /./, "requestHeaders[0].name": /key and value/ },
  ],
  [{ maintenanceStartAt: "2030-02-30T00:00:00" }, { maintenanceStartAt: /date that exists/ }],
  [{ maintenanceStartAt: "2030-02-20 00:00:00" }, { maintenanceStartAt: /YYYY-MM-DDTHH:MM:SS/ }],
  [{ maintenanceStartAt: "2030-02-20T00:00" }, { maintenanceStartAt: /YYYY-MM-DDTHH:MM:SS/ }],
  [{ maintenanceStartAt: "2030-02-20T00:00:00.000" }, { maintenanceStartAt: /YYYY-MM-DDTHH:MM:SS/ }],
  [
    { maintenanceStartAt: "2030-02-20T00:00:00+02:00" },
    { maintenanceStartAt: /without a time zone, not "2030-02-20T00:00:00\+02:00"$/ },
  ],
  [
    { maintenanceStartAt: "2030-02-20T00:00:00", maintenanceEndAt: "2030-02-19T00:00:00" },
    {
      maintenanceEndAt:
        /^must be later than maintenanceStartAt \(2030-02-20T00:00:00\), not 2030-02-19T00:00:00$/,
    },
  ],
  [{ alertCondition: "url_text" }, { alertTextLookup: /must be set when alertCondition is "url_text"/ }],
  [{ alertCondition: "url_no_text", alertTextLookup: "" }, { alertTextLookup: /must be set/ }],
  [{ intervall: 60 }, { intervall: /^is not a property of Monitor; did you mean interval\?$/ }],
  [{ alert_channel_ids: [1] }, { alert_channel_ids: /did you mean alertChannelIds\?$/ }],
  [{ colour: "red" }, { colour: /^is not a property of Monitor, which has name, url, interval, / }],
])("%j is refused, property by property", async (inputs, expected) => {
  const problems = await refused(inputs);
  expect(Object.keys(problems).sort()).toEqual(Object.keys(expected).sort());
  for (const [property, reason] of Object.entries(expected)) expect(problems[property]).toMatch(reason);
});

test("all problems of a resource are told at once", async () => {
  expect(
    Object.keys(await refused({ name: "", url: "x", interval: 1, sslAlertDays: 5, nonsense: 1 })),
  ).toHaveLength(5);
});

test("a long value is cut after a hundred characters", async () => {
  const text = (length: number): string => `${"a".repeat(length - 3)} `;
  expect((await refused({ name: text(100) })).name).toMatch(/, not "a{97} "$/);
  expect((await refused({ name: text(101) })).name).toMatch(/, not "a{98} …$/);
});

test("a secret's value is not in the reason for which it is refused", async () => {
  const problems = await refused({
    requestAuthPassword: " canary-1 ",
    requestHeaders: [{ key: "canary 2", value: "canary\n3" }],
  });
  expect(Object.keys(problems)).toHaveLength(3);
  const text = await refused({ requestHeaders: "canary" });
  expect(JSON.stringify([problems, text])).not.toContain("canary");
});

test.each(Object.keys(monitor.fields))(
  "%s may be unknown in a preview, and shows as a change",
  async (property) => {
    const inputs = { ...valid, [property]: unknownValue };
    const checked = await monitors.check({}, inputs);
    expect(checked.problems).toEqual([]);
    expect(monitors.diff("1", { ...checked.inputs, [property]: "old" }, checked.inputs).changed).toEqual([
      property,
    ]);
  },
);

test("parts of lists may be unknown, while the known parts are checked", async () => {
  const lists = {
    alertChannelIds: [unknownValue, 5],
    requestHeaders: [{ key: "A", value: unknownValue }, unknownValue, { key: unknownValue, value: "x" }],
  };
  expect(await refused(lists)).toEqual({});
  expect(Object.keys(await refused({ ...lists, alertChannelIds: [unknownValue, "x"] }))).toEqual([
    "alertChannelIds[1]",
  ]);
  const { inputs } = await monitors.check({}, { ...valid, ...lists });
  expect(monitors.diff("1", { ...inputs, alertChannelIds: [], requestHeaders: [] }, inputs).changed).toEqual([
    "alertChannelIds",
    "requestHeaders",
  ]);
});

test("rules between fields wait until all of them are known", async () => {
  expect(await refused({ alertCondition: "url_text", alertTextLookup: unknownValue })).toEqual({});
  expect(await refused({ alertCondition: unknownValue })).toEqual({});
  expect(
    await refused({ maintenanceStartAt: unknownValue, maintenanceEndAt: "2030-02-19T00:00:00" }),
  ).toEqual({});
});

test("a domain's new name replaces it, known or not; a new letter case is no change", () => {
  const old = { name: "a.example", attributes: {} };
  expect(domains.diff("1", old, { name: "b.example" })).toEqual({ changed: ["name"], replaces: ["name"] });
  expect(domains.diff("1", old, { name: unknownValue })).toEqual({ changed: ["name"], replaces: ["name"] });
  expect(domains.diff("1", old, { name: "A.Example" })).toEqual({ changed: [], replaces: [] });
  expect(domains.diff("1", old, { name: "a.example", homepageUrl: "https://a.example/" })).toEqual({
    changed: ["homepageUrl"],
    replaces: [],
  });
});

test.each(["a b", "https://a.example", "a.example/x", "a.example:80", ""])(
  "%j is no name of a domain",
  async (name) => {
    expect((await domains.check({}, { name })).problems.map(({ property }) => property)).toContain("name");
  },
);

test("replaceOnChanges replaces for what it names, whole or in part", async () => {
  const outputs = (await monitors.check({}, { ...valid, requestHeaders: [{ key: "A", value: "1" }] })).inputs;
  const replaces = (paths: string[], change: object): string[] =>
    monitors.diff("1", outputs, { ...outputs, ...change, __options: { replaceOnChanges: paths } }).replaces;
  expect(replaces(["interval"], { interval: 300 })).toEqual(["interval"]);
  expect(replaces(["interval"], { name: "Other" })).toEqual([]);
  expect(replaces(["*"], { name: "Other" })).toEqual(["name"]);
  expect(replaces(["requestHeaders[0].value"], { requestHeaders: [] })).toEqual(["requestHeaders"]);
});
