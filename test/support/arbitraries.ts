import fc from "fast-check";

import { dialectChoices, type Dialect } from "../../provider/emulator";
import type { Inputs } from "./model";

/** The names in a table, with their type. */
export const namesOf = <Table extends object>(table: Table) => Object.keys(table) as (keyof Table)[];

const firstSurrogate = 0xd800;
const surrogates = 0x800;

/** Any character, as a unit of strings; fast-check's own unit "binary" first makes a table of all of them. */
export const anyCharacter: fc.Arbitrary<string> = fc.integer({ min: 0, max: 0x10ffff - surrogates }).map(
  (number) => String.fromCodePoint(number < firstSurrogate ? number : number + surrogates),
  (text) => {
    const number = (text as string).codePointAt(0) ?? 0;
    return number < firstSurrogate ? number : number - surrogates;
  },
);

const words = fc.oneof(
  fc.constantFrom(
    "a",
    "a & b",
    "a &amp; b",
    "<b>\"q\" 'q'</b>",
    "ünï ☂",
    "0",
    "false",
    "null",
    "1e3",
    "x=y&z=%20+",
    "two\nlines",
    "&copy; 2",
    "&lt;",
  ),
  fc.stringMatching(/^[a-zA-Z&;<>"'#0-9é]{1,12}$/),
);
const host = fc.constantFrom(
  ..."example.com Example.COM a.example:8443 user:Pa55@x.example xn--bcher-kva.example".split(" "),
);
const path = fc.constantFrom("", ..."/ /A /a /a/ /a?b=1&c=2 ?q=&copy=1 #f /a%20b /ü?x=<y>".split(" "));
const link = fc
  .tuple(fc.constantFrom("http", "https", "HTTPS"), host, path)
  .map(([scheme, at, rest]) => `${scheme}://${at}${rest}`);
const moment = fc
  .date({ min: new Date("2001-01-01T00:00:00Z"), max: new Date("2090-01-01T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 19));
const days = fc.constantFrom(0, 1, 2, 3, 7, 14, 30, 60);
const channel = fc
  .integer({ min: 1, max: 9 })
  .chain((id) => fc.constantFrom<number | string>(id, String(id)));
const headers = fc.uniqueArray(
  fc.record({
    key: fc.constantFrom("X-A", "x-b", "Accept", "X-Long-Name", "cookie"),
    value: words.filter((one) => !one.includes("\n")),
  }),
  { selector: ({ key }) => key.toLowerCase(), maxLength: 3 },
);
const conditions = fc.oneof(
  fc.record({ alertCondition: fc.constantFrom("url_text", "url_no_text"), alertTextLookup: words }),
  fc.record({ alertCondition: fc.constant("url_unavailable"), alertTextLookup: words }, { requiredKeys: [] }),
);
const windows = fc.oneof(
  fc.constant({}),
  fc
    .uniqueArray(moment, { minLength: 2, maxLength: 2 })
    .map((pair) => pair.sort())
    .chain(([start = "", end = ""]) =>
      fc.record(
        { maintenanceStartAt: fc.constant(start), maintenanceEndAt: fc.constant(end) },
        { requiredKeys: [] },
      ),
    ),
);

/** What a person may declare of a monitor. */
export const monitorInputs: fc.Arbitrary<Inputs> = fc
  .tuple(
    fc.record({ name: words, url: link, interval: fc.constantFrom(60, 180, 300, 600, 900, 1800, 3600) }),
    conditions,
    windows,
    fc.record(
      {
        alertChannelIds: fc.uniqueArray(channel, { maxLength: 4, selector: String }),
        requestMethod: fc.constantFrom("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"),
        requestHeaders: headers,
        requestAuthUsername: fc.oneof(words, fc.constant("")),
        requestAuthPassword: words,
        cacheBuster: fc.boolean(),
        sslAlertDays: days,
        domainAlertDays: days,
        pause: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  )
  .map((parts) => Object.assign({}, ...parts) as Inputs);

/** What a person may declare of a domain. */
export const domainInputs: fc.Arbitrary<Inputs> = fc.record(
  {
    name: fc.constantFrom("one.example", "One.Example", "two.example", "three.example"),
    homepageUrl: fc.oneof(link, fc.constant("")),
    notFoundUrl: link,
  },
  { requiredKeys: ["name"] },
);

/** Fields that records do not show: none, most of the time. */
export const hiddenFields: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<string[]>([]) },
  fc.subarray(["alert_channel_ids", "request_headers", "ssl_alert_days"], { minLength: 1 }),
);

/** Every way of answering, but for offsets in dates, which are refused by design. */
export const dialects: fc.Arbitrary<Partial<Dialect>> = fc
  .record(
    {
      ...Object.fromEntries(
        Object.entries(dialectChoices).map(([option, choices]) => [
          option,
          fc.constantFrom<unknown>(...choices.filter((choice) => choice !== "+02:00")),
        ]),
      ),
      hidden: hiddenFields,
    },
    { requiredKeys: [] },
  )
  .map((dialect) => dialect as Partial<Dialect>)
  // Nobody can know that a server has ignored an empty value if no record shows the field.
  .filter(
    ({ emptyLists = "", emptyDays, ignoreInvalid = false, hidden = [] }) =>
      hidden.length === 0 ||
      !(
        emptyLists.startsWith("brackets") ||
        emptyDays === "ignored" ||
        (emptyDays === "refused" && ignoreInvalid)
      ),
  );
