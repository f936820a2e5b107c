import { domain } from "../../provider/definitions/domain";
import { engineUnknown } from "../../provider/common/marks";
import { monitor } from "../../provider/definitions/monitor";
import { parseUrl } from "../../provider/common/url";
import { FrontSession } from "../../provider/engine/front-session";
import { hosted, revealed, type HostedProvider, type Properties } from "../support/calls";
import { defaults, home as valid } from "../support/monitors";

/** Nothing listens there, so what asks the API fails. */
const settings = { "uptime:baseUrl": "http://127.0.0.1:9", "uptime:apiKey": "key" };
const [monitors, domains] = [monitor, domain].map((one) => hosted(one, settings, new FrontSession())) as [
  HostedProvider,
  HostedProvider,
];

async function check(provider: HostedProvider, olds: Properties, news: Properties) {
  const { inputs, failures = [] } = await provider.check(olds, news);
  const problems = failures.map(({ reason }) => {
    const [property = "", ...words] = reason.split(" ");
    return { property, reason: words.join(" ") };
  });
  return { inputs: revealed(inputs), problems };
}

const refused = async (inputs: object): Promise<Record<string, string>> => {
  const { problems } = await check(monitors, {}, { ...valid, ...inputs });
  expect(new Set(problems.map(({ property }) => property)).size).toBe(problems.length);
  return Object.fromEntries(problems.map(({ property, reason }) => [property, reason]));
};

test("valid inputs are accepted, documented defaults are filled in, and null counts as not declared", async () => {
  const nulls = { ...valid, alertCondition: null, requestMethod: undefined, sslAlertDays: null };
  for (const inputs of [valid, nulls])
    expect(await check(monitors, {}, inputs)).toEqual({ inputs: { ...valid, ...defaults }, problems: [] });
});

test.each(["maintenanceStartAt", "maintenanceEndAt"])("%s may be empty", async (key) => {
  const date = "2030-02-20T00:00:00";
  expect(await refused({ maintenanceStartAt: date, maintenanceEndAt: date, [key]: "" })).toEqual({});
});

test("a URL with letters such as ü is accepted, also after thousands of others", async () => {
  // As the engine hands it over, one byte to a letter.
  const { url } = JSON.parse('{ "url": "https://m\\u00fcnch.example/" }') as { url: string };
  expect(await refused({ url })).toEqual({});
  for (let index = 0; index < 20_000; index++) parseUrl(`https://example.com/${index}`);
  expect(await refused({ url })).toEqual({});
});

test("a removed field is managed as empty from then on, and one with a default goes back to it", async () => {
  const checked = async (olds: Properties, news: Properties) => (await check(monitors, olds, news)).inputs;
  const first = await checked({}, { ...valid, pause: true, sslAlertDays: 7, requestMethod: "POST" });
  const second = await checked(first, valid);
  expect(second).toEqual({ ...valid, ...defaults, pause: null, sslAlertDays: null });
  expect(await checked(second, valid)).toEqual(second);
  const third = await checked(second, { ...valid, pause: null, sslAlertDays: 3 });
  expect(third).toEqual({ ...second, sslAlertDays: 3 });
});

test("declaring a field is a change, even with the value of an empty one", async () => {
  const { inputs } = await check(monitors, {}, valid);
  const declared = { pause: false, requestAuthUsername: "", alertChannelIds: [], sslAlertDays: 0 };
  for (const [key, value] of Object.entries(declared))
    expect(await monitors.diff("1", inputs, { ...inputs, [key]: value })).toMatchObject({ changes: true });
});

test("declaring the empty value of a field that was removed, and is managed as empty, is no change", async () => {
  const { inputs } = await check(monitors, {}, valid);
  for (const [key, value] of Object.entries({ pause: false, requestAuthUsername: "", alertChannelIds: [] })) {
    const old = { ...inputs, [key]: null };
    expect(await monitors.diff("1", old, { ...inputs, [key]: value })).toMatchObject({ changes: false });
  }
});

// What a person is likely to mistake is in docs/errors.md, whose test compares each message.
test.each([
  [{ interval: 61 }, { interval: /^must be one of 60, 180, .*3600, not 61; the nearest is 60$/ }],
  [{ url: 5 }, { url: /^must be a string, not 5$/ }],
  [{ interval: 120 }, { interval: /not 120; the nearest is 60$/ }],
  [{ interval: 290 }, { interval: /not 290; the nearest is 300$/ }],
  [{ alertCondition: "url_has_text" }, { alertCondition: /, not "url_has_text"$/ }],
  [{ interval: "5m" }, { interval: /not "5m"$/ }],
  [{ interval: [60] }, { interval: /not \[60\]$/ }],
  [{ interval: NaN }, { interval: /, not NaN$/ }],
  [{ interval: "" }, { interval: /^must be one of 60, .*3600, not ""$/ }],
  [{ interval: 1e300 }, { interval: /not 1e\+300; the nearest is 3600$/ }],
  [{ sslAlertDays: -Infinity }, { sslAlertDays: /not -Infinity; the nearest is 0$/ }],
  [{ alertCondition: "url_unavailble" }, { alertCondition: /the nearest is "url_unavailable"$/ }],
  [{ requestMethod: { a: 1 } }, { requestMethod: /, not \{"a":1\}$/ }],
  [{ sslAlertDays: 5 }, { sslAlertDays: /must be one of 0, 1, 2, 3, 7, 14, 30, 60, not 5/ }],
  [{ domainAlertDays: 10000 }, { domainAlertDays: /the nearest is 60$/ }],
  [{ cacheBuster: 1 }, { cacheBuster: /^must be true or false, not 1$/ }],
  [{ url: "https://" }, { url: /absolute URL/ }],
  [{ url: "https://a b/" }, { url: /absolute URL/ }],
  [{ url: "https://a.example/b c" }, { url: /absolute URL/ }],
  [{ url: "ftp://example.com" }, { url: /absolute URL/ }],
  [{ url: "https://[" }, { url: /absolute URL/ }],
  [
    { alertChannelIds: [1, "x", -1, 1.5, "a7", "7a", ["7"], 0, "00", "1e3"] },
    Object.fromEntries(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => [`alertChannelIds[${index}]`, /must be an id/]),
    ),
  ],
  [
    { requestHeaders: [{ key: "X Y", value: "a\r\nB: c" }] },
    { "requestHeaders[0].key": /name of a header/, "requestHeaders[0].value": /one line/ },
  ],
  [{ requestHeaders: [null] }, { "requestHeaders[0]": /^must be \{ key, value \}/ }],
  [{ requestHeaders: ["A: b"] }, { "requestHeaders[0]": /^must be \{ key, value \}/ }],
  [{ requestHeaders: [{ key: "A" }] }, { "requestHeaders[0].value": /./ }],
  [
    { requestHeaders: [{ name: "A", value: "b" }] },
    { "requestHeaders[0].key": /./, "requestHeaders[0].name": /key and value/ },
  ],
  [{ maintenanceStartAt: "2030-02-20 00:00:00" }, { maintenanceStartAt: /YYYY-MM-DDTHH:MM:SS/ }],
  [{ maintenanceStartAt: "2030-02-20T00:00" }, { maintenanceStartAt: /YYYY-MM-DDTHH:MM:SS/ }],
  [{ maintenanceStartAt: "2030-02-20T00:00:00.000" }, { maintenanceStartAt: /YYYY-MM-DDTHH:MM:SS/ }],
  [
    { maintenanceStartAt: "2030-02-20T00:00:00+02:00" },
    { maintenanceStartAt: /without a time zone, such as \S+, not "2030-02-20T00:00:00\+02:00"$/ },
  ],
  [{ maintenanceStartAt: "2030-02-30T00:00:00" }, { maintenanceStartAt: /^must be a valid date/ }],
  [{ maintenanceStartAt: "2030-13-01T25:00:00" }, { maintenanceStartAt: /^must be a valid date/ }],
  [
    { maintenanceStartAt: "2030-02-20T00:00:00", maintenanceEndAt: "2030-02-20T00:00:00" },
    { maintenanceEndAt: /^must be later than maintenanceStartAt/ },
  ],
  [{ alertCondition: "url_no_text", alertTextLookup: "" }, { alertTextLookup: /must be set/ }],
  [{ alertCondition: "url_text" }, { alertTextLookup: /must be set/ }],
  [{ alert_channel_ids: [1] }, { alert_channel_ids: /did you mean alertChannelIds\?$/ }],
  [{ acount: "red" }, { acount: /did you mean account\?$/ }],
  [{ constructor: "red" }, { constructor: /^is not a property of Monitor/ }],
  [{ colour: "red" }, { colour: /^is not a property of Monitor, which has name, url, interval, / }],
])("%j is refused, with each property and its reason", async (inputs, expected) => {
  const problems = await refused(inputs);
  expect(Object.keys(problems).sort()).toEqual(Object.keys(expected).sort());
  for (const [property, reason] of Object.entries(expected)) expect(problems[property]).toMatch(reason);
});

test("all problems of a resource are reported at once", async () => {
  const problems = await refused({ name: "", url: "x", interval: 1, sslAlertDays: 5, nonsense: 1 });
  expect(Object.keys(problems)).toHaveLength(5);
});

test("a long value is cut after a hundred characters", async () => {
  const text = (length: number): string => `${"a".repeat(length - 3)} `;
  expect((await refused({ name: text(100) })).name).toMatch(/, not "a{97} "$/);
  expect((await refused({ name: text(101) })).name).toMatch(/, not "a{98} …$/);
});

test("a secret is refused without its value", async () => {
  const problems = await refused({
    requestAuthPassword: " canary-1 ",
    requestHeaders: [{ key: "canary 2", value: "canary\n3" }],
  });
  expect(Object.keys(problems)).toHaveLength(3);
  const text = await refused({ requestHeaders: "canary" });
  expect(JSON.stringify([problems, text])).not.toContain("canary");
});

test("a key in the place of an account or of an import's id is not repeated", async () => {
  const key = "canary-key-of-the-account";
  const news = { ...valid, account: key, importId: `${key} `, __options: { owner: "home" } };
  const { problems } = await check(monitors, {}, news);
  expect(problems.map(({ property }) => property)).toEqual(["account", "import"]);
  for (const { reason } of problems) {
    expect(reason).toContain('"[not shown]"');
    expect(reason).not.toContain("canary");
  }
});

test.each(Object.keys(monitor.fields))(
  "%s may be unknown in a preview, and shows as a change",
  async (property) => {
    const inputs = { ...valid, [property]: engineUnknown };
    const checked = await check(monitors, {}, inputs);
    expect(checked.problems).toEqual([]);
    const old = { ...checked.inputs, [property]: "old" };
    expect(await monitors.diff("1", old, checked.inputs)).toMatchObject({ changes: true });
  },
);

test("parts of lists may be unknown, while the known parts are checked", async () => {
  const lists = {
    alertChannelIds: [engineUnknown, 5],
    requestHeaders: [{ key: "A", value: engineUnknown }, engineUnknown, { key: engineUnknown, value: "x" }],
  };
  expect(await refused(lists)).toEqual({});
  expect(Object.keys(await refused({ ...lists, alertChannelIds: [engineUnknown, "x"] }))).toEqual([
    "alertChannelIds[1]",
  ]);
  const { inputs } = await check(monitors, {}, { ...valid, ...lists });
  for (const key of Object.keys(lists))
    expect(await monitors.diff("1", { ...inputs, [key]: [] }, inputs)).toMatchObject({ changes: true });
});

test.each([
  { alertCondition: "url_text", alertTextLookup: engineUnknown },
  { alertCondition: engineUnknown },
  { maintenanceStartAt: engineUnknown, maintenanceEndAt: "2030-02-19T00:00:00" },
])("a rule between fields is checked once all of them are known: %j", async (inputs) => {
  expect(await refused(inputs)).toEqual({});
});

test.each<[Properties, boolean, string[]]>([
  [{ name: "b.example" }, true, ["name"]],
  [{ name: engineUnknown }, true, ["name"]],
  [{ name: "A.Example" }, false, []],
  [{ name: "a.example", homepageUrl: "https://a.example/" }, true, []],
])(
  "a new name replaces a domain, and a new letter case changes nothing: %j",
  async (news, changes, replaces) => {
    const old = { name: "a.example", attributes: {} };
    expect(await domains.diff("1", old, news)).toMatchObject({ changes, replaces });
  },
);

test.each(["a b", "https://a.example", "a.example/x", "a.example:80", ""])(
  "%j is no domain",
  async (name) => {
    expect((await check(domains, {}, { name })).problems).toMatchObject([{ property: "name" }]);
  },
);

test("replaceOnChanges replaces for a change of a property or a part of it", async () => {
  const requestHeaders = [{ key: "A", value: "1" }];
  const { inputs: outputs } = await check(monitors, {}, { ...valid, requestHeaders });
  for (const [path, change, replaces] of [
    ["interval", { interval: 300 }, ["interval"]],
    ["interval", { name: "Other" }, []],
    ["*", { name: "Other" }, ["name"]],
    ["requestHeaders[0].value", { requestHeaders: [] }, ["requestHeaders"]],
  ] as const) {
    const news = { ...outputs, ...change, __options: { replaceOnChanges: [path] } };
    expect(await monitors.diff("1", outputs, news)).toMatchObject({ replaces });
  }
});

test("a URL that is refused is not shown if it has a password", async () => {
  const { url = "" } = await refused({ url: "ftp://probe:s3cret@shop.example/" });
  expect(url).toMatch(/^must be an absolute/);
  expect(url).not.toContain("s3cret");
});
