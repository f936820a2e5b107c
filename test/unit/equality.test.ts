import { equalValues } from "../../provider/definitions/codecs";
import { compare, shownValue } from "../../provider/lifecycle/difference";
import type { Value } from "../../provider/common/values";
import { domain } from "../../provider/definitions/domain";
import type { Field } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";
import { errorOf, shownText } from "../support/client";

function field(property: string): Field {
  const found = property === "domain" ? domain.fields.name : monitor.fields[property];
  if (!found) throw new Error(`no field ${property}`);
  return found;
}

/** A record that shows a value under the field's name. */
const showing = (of: Field, value: unknown) => ({ id: "1", raw: { [of.wire]: value } });

/** What a record that shows a value is to a declared one. */
function compared(of: Field, declared: Value, shown: unknown) {
  // A password is never compared with what is shown, but equality means the same for it.
  return compare({ ...of, writeOnly: false }, declared, showing(of, shown));
}

const header = (key: string, value: string) => ({ key, value });

test("a field that a record shows under several names has the value of the one that is not empty", () => {
  const pause = field("pause");
  const paused_at = "2026-01-01T00:00:00Z";
  for (const raw of [
    { pause: null, paused_at: "Thu, 01 Jan 2026 00:00:00 GMT" },
    { pause: null, paused_at: { date: "2026-01-01 00:00:00.000000", timezone_type: 3, timezone: "UTC" } },
    { pause: null, paused_at },
    { pause: false, paused_at },
    { pause: 1, paused_at: null },
  ])
    expect(compare(pause, false, { id: "1", raw })).toMatchObject({ outcome: "differs", value: true });
  const raw = { pause: false, paused_at: null };
  expect(compare(pause, false, { id: "1", raw })).toMatchObject({ outcome: "same" });
});

test("a secret that a server hides, as a whole or in part, is not shown", () => {
  const headers = field("requestHeaders");
  for (const shown of [
    [header("A", "1"), header("Authorization", "********")],
    { A: "••••" },
    { A: "**" },
    [header("A", "Bea****")],
    [header("A", "[FILTERED]")],
    { A: "<redacted>" },
    [{ key: "A" }],
    [{ name: "A", value: null }],
    [{ Key: "A", Value: null }],
    { A: null },
    { A: [null] },
    { A: [] },
    [["A", null]],
    '[{"key":"A","value":null}]',
  ])
    expect(compare(headers, [header("A", "1")], showing(headers, shown))).toEqual({ outcome: "notShown" });
  // An empty list that was sent as one header without a name, and `Accept: */*`, are shown.
  const empty = showing(headers, [{ key: null, value: null }]);
  expect(compare(headers, [header("A", "1")], empty)).toMatchObject({ outcome: "differs", value: [] });
  const accept = [header("Accept", "*/*")];
  expect(compare(headers, accept, showing(headers, accept))).toMatchObject({ outcome: "same" });
  expect(compare(field("name"), "a", showing(field("name"), "****"))).toMatchObject({ outcome: "differs" });
});

/** Declared, and what a record shows, which a person would call the same. */
const same: [property: string, declared: Value, shown: unknown][] = [
  ["alertChannelIds", [1, 2, 3], [3, 1, 2]],
  ["alertTextLookup", "Shop", { String: "Shop", Valid: true }],
  ["alertTextLookup", "Shop", { Valid: true, String: "Shop" }],
  ["alertTextLookup", null, { String: "Shop", Valid: false }],
  ["sslAlertDays", null, { Int32: 0, Valid: false }],
  ["alertChannelIds", [1, 2], ["2", "1"]],
  ["alertChannelIds", ["1", "002"], [{ id: 2, name: "Ops" }, { id: "1" }]],
  ["alertChannelIds", ["9007199254740993"], ["9007199254740993"]],
  ["alertChannelIds", ["9007199254740993"], "[9007199254740993]"],
  ["requestHeaders", [header("A", "9007199254740993")], '{"A":9007199254740993}'],
  ["requestHeaders", [header("A", "is NaN")], '{"A":"is NaN"}'],
  ["requestHeaders", [header("A", "\ufffd")], String.raw`[{"key":"A","value":"\ud83d"}]`],
  ["alertChannelIds", [1, 2], { 0: 1, 2: 2 }],
  ["alertChannelIds", null, []],
  ["alertChannelIds", [], null],
  ["alertChannelIds", null, ""],
  ["alertChannelIds", [], [null]],
  ["alertChannelIds", null, [""]],
  ["requestHeaders", [header("A", "1"), header("B", "2")], [header("b", "2"), header("a", "1")]],
  ["requestHeaders", [header("A", "1"), header("B", "2")], { b: "2", A: "1" }],
  ["requestHeaders", [header("A", "1")], { 3: header("A", "1") }],
  ["requestHeaders", [header("key", "1")], { key: "1" }],
  ["requestHeaders", [header("A", "1")], [header("A", "1"), header("", "")]],
  ["requestHeaders", [header("A", "a & b")], [header("A", "a &amp; b")]],
  ["requestHeaders", [header("A", "5")], { A: 5 }],
  ["requestHeaders", [header("A", "1")], [{ name: "A", value: "1" }]],
  ["requestHeaders", [header("A", "1")], [{ Key: "A", Value: "1" }]],
  ["requestHeaders", [header("A", "1")], { 0: { Name: "A", Value: "1" } }],
  [
    "requestHeaders",
    [header("A", "1"), header("B", "2")],
    [
      ["B", "2"],
      ["A", "1"],
    ],
  ],
  ["requestHeaders", [header("A", "1"), header("A", "2"), header("B", "")], { A: ["1", "2"], B: [""] }],
  ["alertChannelIds", [1, 2], "2,1"],
  ["alertChannelIds", [1, 2], "2, 1"],
  ["alertChannelIds", [1, 2], "{2,1}"],
  ["alertChannelIds", null, "{}"],
  ["alertChannelIds", [1], "1"],
  ["alertChannelIds", null, [0]],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31T22:00"],
  [
    "maintenanceStartAt",
    "2030-01-31T22:00:00",
    { date: "2030-01-31 22:00:00.000000", timezone_type: 3, timezone: "UTC" },
  ],
  ["pause", true, "YES"],
  ["pause", true, "t"],
  ["pause", false, "off"],
  ["pause", false, "-0001-11-30 00:00:00"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31 22:00:00+00"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31T22:00:00-00:00"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31 22:00:00 UTC"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31T22:00:00Z[UTC]"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31 22:00:00.0 +00:00:00"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "Thu, 31 Jan 2030 22:00:00 GMT"],
  ["requestHeaders", null, {}],
  ["requestHeaders", null, [header("", "")]],
  ["requestHeaders", [header("A", 'say "hi"')], '[{"key":"A","value":"say &quot;hi&quot;"}]'],
  ["alertCondition", "url_unavailable", null],
  ["alertCondition", "url_unavailable", ""],
  ["alertCondition", null, "url_unavailable"],
  ["requestMethod", "GET", null],
  ["requestMethod", "GET", ""],
  ["requestMethod", null, "GET"],
  ["cacheBuster", false, 0],
  ["cacheBuster", false, "0"],
  ["cacheBuster", false, null],
  ["cacheBuster", true, 1],
  ["cacheBuster", true, "1"],
  ["cacheBuster", true, "true"],
  ["cacheBuster", true, "1.00"],
  ["cacheBuster", false, "0.00"],
  ["cacheBuster", true, "Y"],
  ["cacheBuster", false, "N"],
  ["pause", null, false],
  ["pause", false, null],
  ["pause", null, "0"],
  ["pause", true, "2030-01-01T00:00:00Z"],
  ["pause", false, "0000-00-00 00:00:00"],
  ["pause", false, "0001-01-01T00:00:00Z"],
  ["interval", 60, "60"],
  ["sslAlertDays", 7, "7"],
  ["sslAlertDays", null, 0],
  ["sslAlertDays", null, "0"],
  ["sslAlertDays", null, ""],
  ["sslAlertDays", 0, 0],
  ["sslAlertDays", 0, null],
  ["sslAlertDays", 0, false],
  ["domainAlertDays", null, false],
  ["interval", 60, "60.0"],
  ["interval", 60, "60.00"],
  ["alertChannelIds", [1, 2], "[1,2]"],
  ["alertChannelIds", [1, 2], '[2, "1"]'],
  ["requestHeaders", [header("A", "1")], '[{"key":"a","value":"1"}]'],
  ["requestHeaders", [header("A", "1")], '{"A":"1"}'],
  ["requestHeaders", [header("A", "1")], "[{&quot;key&quot;:&quot;A&quot;,&quot;value&quot;:&quot;1&quot;}]"],
  ["alertChannelIds", [1, 2], "[&quot;1&quot;,&quot;2&quot;]"],
  ["pause", true, 1700000000],
  ["pause", true, "1700000000"],
  ["url", "https://b\u00fccher.example/", "https://xn--bcher-kva.example/"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31 22:00:00"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31T22:00:00.000000Z"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31T22:00:00+00:00"],
  ["maintenanceStartAt", null, ""],
  ["maintenanceStartAt", null, 0],
  ["maintenanceStartAt", null, "0000-00-00 00:00:00"],
  ["maintenanceStartAt", null, "0000-00-00T00:00:00.000000Z"],
  ["maintenanceStartAt", null, "0001-01-01T00:00:00Z"],
  ["maintenanceStartAt", null, "-000001-11-30T00:00:00.000000Z"],
  ["alertTextLookup", "a & <b>", "a &amp; &lt;b&gt;"],
  ["alertTextLookup", "a &amp; b", "a &amp; b"],
  ["alertTextLookup", "a &amp; b", "a &amp;amp; b"],
  ["alertTextLookup", "it's", "it&#039;s"],
  ["alertTextLookup", "", null],
  ["alertTextLookup", null, ""],
  ["alertTextLookup", "5", 5],
  ["domain", "Example.com", "example.COM"],
  ["domain", "b\u00fccher.example", "xn--bcher-kva.example"],
  ["domain", "xn--bcher-kva.example", "B\u00dcCHER.example"],
  ["url", "https://Example.COM", "https://example.com/"],
  ["url", "HTTPS://example.com?a=1", "https://example.com/?a=1"],
  ["url", "https://example.com/?a=1&b=2", "https://example.com/?a=1&amp;b=2"],
  ["url", "https://example.com/?a=1&copy=2", "https://example.com/?a=1&copy=2"],
];

/** What is a real difference, however small. */
const different: [property: string, declared: Value, shown: unknown][] = [
  ["alertChannelIds", [1, 2], [1, 2, 3]],
  ["alertChannelIds", [1], []],
  ["alertChannelIds", null, [1]],
  ["alertChannelIds", ["9007199254740993"], ["9007199254740992"]],
  ["alertChannelIds", ["9007199254740992"], "[9007199254740993]"],
  ["alertChannelIds", [1, 23], [12, 3]],
  ["alertChannelIds", [100], [10]],
  ["requestHeaders", [header("A", "x")], [header("A", "X")]],
  ["requestHeaders", [header("A", "1")], [header("A", "1"), header("A", "1")]],
  ["requestHeaders", [header("A", "1"), header("B", "2")], [header("A", "2"), header("B", "1")]],
  ["requestHeaders", [header("A", "1")], []],
  ["requestHeaders", null, { A: "" }],
  ["requestHeaders", [header("A", "1")], [header("A", "1"), header("", "x")]],
  ["cacheBuster", true, null],
  ["cacheBuster", false, 1],
  ["pause", null, true],
  ["interval", 60, 600],
  ["sslAlertDays", 7, 0],
  ["sslAlertDays", 7, false],
  ["sslAlertDays", null, 7],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31T22:00:01"],
  ["maintenanceStartAt", "2030-01-31T22:00:01", "2030-01-31T22:00"],
  [
    "maintenanceStartAt",
    "2030-01-31T22:00:00",
    { date: "2030-01-31 22:00:00.000000", timezone_type: 3, timezone: "Europe/Berlin" },
  ],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "Thu, 31 Jan 2030 23:00:00 GMT"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "22:00 GMT"],
  ["requestHeaders", [header("A", "1")], [["A", "1", "2"]]],
  ["alertChannelIds", [12], "1,2"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "2030-01-31T22:00:00+02:00"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "from 2030-01-31T22:00:00"],
  ["maintenanceStartAt", "2030-01-31T22:00:00", null],
  ["maintenanceStartAt", "2030-01-31T22:00:00", "0000-00-00 00:00:00"],
  ["maintenanceStartAt", null, "0001-01-01 00:00:01"],
  ["maintenanceStartAt", null, "1970-01-01 00:00:00"],
  ["alertTextLookup", "a", "A"],
  ["alertTextLookup", "a", "a b"],
  ["alertTextLookup", "a & b", "a &amp;amp; b"],
  ["alertTextLookup", "0", null],
  ["alertCondition", "url_text", "URL_TEXT"],
  ["requestMethod", "GET", "get"],
  ["requestAuthUsername", "bob", "Bob"],
  ["url", "https://example.com/a", "https://example.com/A"],
  ["url", "https://example.com/a", "https://example.com/a/"],
  ["url", "https://example.com/", "http://example.com/"],
  ["url", "https://Bob@example.com/", "https://bob@example.com/"],
  ["url", "https://example.com/", "https://example.com:443/"],
  ["url", "https://example.com/", "example.com"],
  ["url", "https://example.com/?a=B", "https://example.com/?a=b"],
  ["name", "Shop", "shop"],
  ["domain", "example.com", "example.org"],
  ["domain", "b\u00fccher.example", "buecher.example"],
];

test.each(same)(
  "%s declared as %j equals %j in the API, and stays as declared",
  (property, declared, shown) => {
    expect(compared(field(property), declared, shown)).toEqual({ outcome: "same", value: declared });
  },
);

test.each(different)("%s declared as %j differs from %j in the API", (property, declared, shown) => {
  const comparison = compared(field(property), declared, shown);
  expect(comparison.outcome).toBe("differs");
  expect(comparison).not.toHaveProperty("value", declared);
});

test("one level of HTML entities is decoded, in the API's values only and not in declared ones", () => {
  expect(equalValues(field("alertTextLookup"), "a & b", "a &amp; b")).toBe(false);
  const comparison = compared(field("alertTextLookup"), "x", "a &amp;amp; b");
  expect(comparison).toEqual({ outcome: "differs", value: "a &amp; b" });
});

test("ids are numbers wherever these hold them", () => {
  const { value } = compared(field("alertChannelIds"), [1], ["7", "9007199254740993"]) as { value: Value };
  expect(value).toEqual([7, "9007199254740993"]);
});

test.each([
  ["interval", "often", 'interval as "often", but a whole number'],
  ["interval", 1.5, "interval as 1.5, but a whole number"],
  ["interval", "6e1", 'interval as "6e1", but a whole number'],
  ["interval", ["60"], 'interval as ["60"], but a whole number'],
  ["interval", true, "interval as true, but a whole number"],
  ["alertChannelIds", "1;2", 'alert_channel_ids as "1;2", but a list'],
  ["alertChannelIds", "[1", 'alert_channel_ids as "[1", but a list'],
  ["alertChannelIds", [{ name: "Ops" }], "but a list of ids"],
  ["alertChannelIds", [{ toString: "Ops" }], "but a list of ids"],
  ["alertChannelIds", ["7a"], "but a list of ids"],
  ["alertChannelIds", ["a7"], "but a list of ids"],
  ["alertChannelIds", [1.5], "but a list of ids"],
  ["alertChannelIds", [["7"]], "but a list of ids"],
  ["requestHeaders", ["A: canary"], "request_headers as something else, but a list of headers"],
  ["requestHeaders", [[]], "request_headers as something else"],
  ["requestHeaders", ["ab"], "request_headers as something else"],
  ["cacheBuster", "maybe", 'cache_buster as "maybe", but true, false'],
  ["pause", "since 2030-01-01", 'pause as "since 2030-01-01", but true, false'],
  ["pause", ["2030-01-01"], 'pause as ["2030-01-01"], but true, false'],
  ["pause", "t1700000000", 'pause as "t1700000000", but true, false'],
  ["pause", "1700000000 s", 'pause as "1700000000 s", but true, false'],
  ["pause", ["1700000000"], 'pause as ["1700000000"], but true, false'],
  ["name", { first: "a" }, "but a string"],
])("a record that shows %s as %j is an error", async (property, shown, message) => {
  const read = Promise.resolve().then(() => shownValue(field(property), showing(field(property), shown)));
  expect(shownText(await errorOf(read))).toContain(message);
});
