import { domain } from "../../provider/definitions/domain";
import { Lifecycle } from "../../provider/lifecycle/lifecycle";
import { monitor } from "../../provider/definitions/monitor";
import { unknownValue } from "../../provider/engine/marks";

const offline = () => {
  throw new Error("check and diff must not need the API");
};
const monitors = new Lifecycle(monitor, offline);
const domains = new Lifecycle(domain, offline);
const valid = { name: "Home", url: "https://example.com/", interval: 60 };

const refused = (inputs: object): Record<string, string> =>
  Object.fromEntries(
    monitors.check({}, { ...valid, ...inputs }).problems.map(({ property, reason }) => [property, reason]),
  );

test("valid inputs are taken, and documented defaults are filled in", () => {
  expect(monitors.check({}, valid)).toEqual({
    inputs: { ...valid, alertCondition: "url_unavailable", requestMethod: "GET", cacheBuster: false },
    problems: [],
  });
});

test("a URL with letters such as ü is taken, and still is when thousands have been checked", () => {
  // As the engine hands it over, one byte to a letter.
  const { url } = JSON.parse('{ "url": "https://m\\u00fcnch.example/" }') as { url: string };
  const results = Array.from({ length: 5000 }, (_, index) => {
    refused({ url: `https://example.com/${index}` });
    return refused({ url });
  });
  expect(results.filter(({ url: reason }) => reason !== undefined)).toEqual([]);
});

test("a removed field is managed as empty, and stays so; one with a default goes back to it", () => {
  const first = monitors.check({}, { ...valid, pause: true, sslAlertDays: 7, requestMethod: "POST" }).inputs;
  const second = monitors.check(first, valid).inputs;
  expect(second).toEqual({
    ...valid,
    alertCondition: "url_unavailable",
    requestMethod: "GET",
    cacheBuster: false,
    pause: null,
    sslAlertDays: null,
  });
  expect(monitors.check(second, valid).inputs).toEqual(second);
  expect(monitors.check(second, { ...valid, pause: null, sslAlertDays: 3 }).inputs).toEqual({
    ...second,
    sslAlertDays: 3,
  });
});

test("null is not declared: a default takes its place, and a field without one is not managed", () => {
  const inputs = { ...valid, alertCondition: null, requestMethod: undefined, sslAlertDays: null };
  expect(monitors.check({}, inputs).inputs).toEqual(monitors.check({}, valid).inputs);
});

test("a field that is declared anew is a change, even when its value is that of an empty one", () => {
  const { inputs } = monitors.check({}, valid);
  const declared = { pause: false, requestAuthUsername: "", alertChannelIds: [], sslAlertDays: 0 };
  expect(monitors.diff("1", inputs, { ...inputs, ...declared }).changed.sort()).toEqual(
    Object.keys(declared).sort(),
  );
});

test.each([
  [{ interval: 61 }, { interval: /^must be one of 60, 180, .*3600, not 61; the nearest is 60$/ }],
  [{ interval: "60" }, { interval: /not "60"; the nearest is 60$/ }],
  [
    { interval: undefined, url: null },
    { interval: /^is required$/, url: /^is required$/ },
  ],
  [{ alertCondition: "url_unavailble" }, { alertCondition: /the nearest is "url_unavailable"$/ }],
  [{ requestMethod: "get" }, { requestMethod: /the nearest is "GET"$/ }],
  [{ requestMethod: { a: 1 } }, { requestMethod: /, not that$/ }],
  [{ sslAlertDays: 5 }, { sslAlertDays: /must be one of 0, 1, 2, 3, 7, 14, 30, 60, not 5/ }],
  [{ domainAlertDays: 10000 }, { domainAlertDays: /the nearest is 60$/ }],
  [{ cacheBuster: 1 }, { cacheBuster: /^must be true or false$/ }],
  [{ pause: "true" }, { pause: /^must be true or false$/ }],
  [{ name: "" }, { name: /^must not be empty$/ }],
  [{ name: " a" }, { name: /^must not begin or end with blanks$/ }],
  [{ name: 5 }, { name: /^must be a text$/ }],
  [{ url: "example.com" }, { url: /^must be an absolute URL that begins with http/ }],
  [{ url: "https://" }, { url: /absolute URL/ }],
  [{ url: "https://a b/" }, { url: /absolute URL/ }],
  [{ url: "ftp://example.com" }, { url: /absolute URL/ }],
  [
    { alertChannelIds: [1, "x", -1, 1.5] },
    { "alertChannelIds[1]": /id of an alert channel/, "alertChannelIds[2]": /./, "alertChannelIds[3]": /./ },
  ],
  [{ alertChannelIds: "1" }, { alertChannelIds: /^must be a list of ids/ }],
  [
    { requestHeaders: [{ key: "X Y", value: "a\r\nB: c" }] },
    { "requestHeaders[0].key": /name of a header/, "requestHeaders[0].value": /one line/ },
  ],
  [{ requestHeaders: { "X-A": "b" } }, { requestHeaders: /list of \{ key, value \}/ }],
  [{ requestHeaders: [{ key: "A" }] }, { "requestHeaders[0].value": /./ }],
  [
    { requestHeaders: [{ name: "A", value: "b" }] },
    { "requestHeaders[0].key": /./, "requestHeaders[0]": /key, value/ },
  ],
  [{ maintenanceStartAt: "2030-02-30T00:00:00" }, { maintenanceStartAt: /date that exists/ }],
  [{ maintenanceStartAt: "2030-02-20 00:00:00" }, { maintenanceStartAt: /YYYY-MM-DDTHH:MM:SS/ }],
  [{ maintenanceStartAt: "2030-02-20T00:00:00+02:00" }, { maintenanceStartAt: /time zone is not supported/ }],
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
])("%j is refused, property by property", (inputs, expected) => {
  const problems = refused(inputs);
  expect(Object.keys(problems).sort()).toEqual(Object.keys(expected).sort());
  for (const [property, reason] of Object.entries(expected)) expect(problems[property]).toMatch(reason);
});

test("all problems of a resource are told at once", () => {
  expect(
    Object.keys(refused({ name: "", url: "x", interval: 1, sslAlertDays: 5, nonsense: 1 })),
  ).toHaveLength(5);
});

test("a secret's value is not in the reason for which it is refused", () => {
  const problems = refused({
    requestAuthPassword: " canary-1 ",
    requestHeaders: [{ key: "canary 2", value: "canary\n3" }],
  });
  expect(Object.keys(problems)).toHaveLength(3);
  expect(JSON.stringify(problems)).not.toContain("canary");
});

test.each(Object.keys(monitor.fields))(
  "%s may be unknown in a preview, and shows as a change",
  (property) => {
    const inputs = { ...valid, [property]: unknownValue };
    const checked = monitors.check({}, inputs);
    expect(checked.problems).toEqual([]);
    expect(monitors.diff("1", { ...checked.inputs, [property]: "old" }, checked.inputs).changed).toEqual([
      property,
    ]);
  },
);

test("parts of lists may be unknown, while the known parts are checked", () => {
  const lists = {
    alertChannelIds: [unknownValue, 5],
    requestHeaders: [{ key: "A", value: unknownValue }, unknownValue, { key: unknownValue, value: "x" }],
  };
  expect(refused(lists)).toEqual({});
  expect(Object.keys(refused({ ...lists, alertChannelIds: [unknownValue, "x"] }))).toEqual([
    "alertChannelIds[1]",
  ]);
  const { inputs } = monitors.check({}, { ...valid, ...lists });
  expect(monitors.diff("1", { ...inputs, alertChannelIds: [], requestHeaders: [] }, inputs).changed).toEqual([
    "alertChannelIds",
    "requestHeaders",
  ]);
});

test("rules between fields wait until all of them are known", () => {
  expect(refused({ alertCondition: "url_text", alertTextLookup: unknownValue })).toEqual({});
  expect(refused({ alertCondition: unknownValue })).toEqual({});
  expect(refused({ maintenanceStartAt: unknownValue, maintenanceEndAt: "2030-02-19T00:00:00" })).toEqual({});
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
  (name) => {
    expect(domains.check({}, { name }).problems.map(({ property }) => property)).toContain("name");
  },
);

test("replaceOnChanges replaces for what it names, whole or in part", () => {
  const outputs = monitors.check({}, { ...valid, requestHeaders: [{ key: "A", value: "1" }] }).inputs;
  const replaces = (paths: string[], change: object): string[] =>
    monitors.diff("1", outputs, { ...outputs, ...change, __options: { replaceOnChanges: paths } }).replaces;
  expect(replaces(["interval"], { interval: 300 })).toEqual(["interval"]);
  expect(replaces(["interval"], { name: "Other" })).toEqual([]);
  expect(replaces(["*"], { name: "Other" })).toEqual(["name"]);
  expect(replaces(["requestHeaders[0].value"], { requestHeaders: [] })).toEqual(["requestHeaders"]);
});
