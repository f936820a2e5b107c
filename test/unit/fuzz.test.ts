import fc from "fast-check";

import { parseError, parsePage, parseJson, parseRecord } from "../../provider/api/answer";
import type { ApiRecord } from "../../provider/api/answer";
import { domain } from "../../provider/definitions/domain";
import { messageText } from "../../provider/engine/clean";
import { monitor } from "../../provider/definitions/monitor";
import { anyCharacter } from "../support/arbitraries";
import { sample } from "../support/size";

const runs = sample(100, 2000, 100_000);
const definitions = [monitor, domain] as const;

const names = [
  ...Object.values(monitor.fields).flatMap(({ wire, shownAs = [] }) => [wire, ...shownAs]),
  ...[
    "id",
    "data",
    "monitor",
    "domain",
    "links",
    "next",
    "meta",
    "current_page",
    "last_page",
    "next_page_url",
  ],
  ...["message", "error", "errors", "__proto__", "constructor", "toString", "valueOf", "toJSON", "then"],
];
const key = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, fc.string({ maxLength: 5 }));
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1e308, 2 ** 53, "", "0", "1", "null", "7"),
  fc.constantFrom<unknown>(
    "2030-01-01 00:00:00",
    "0000-00-00",
    "http://[",
    "?page=2",
    "&lt;b&gt;",
    "\u0000\ud800",
  ),
  fc.integer(),
  fc.double(),
  fc.bigInt().map(String),
  fc.string({ maxLength: 12, unit: anyCharacter }),
);
const { any } = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    scalar,
    fc.array(tie("any"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("any")), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

/** Real records, in the forms in which answers hold them, with anything at all in some places. */
const record = fc
  .tuple(
    fc.constantFrom<unknown>(7, "7", 8, null),
    fc.dictionary(fc.constantFrom(...names), any, { maxKeys: 4 }),
  )
  .map(([id, rest]): unknown => ({
    id,
    name: "Home",
    url: "https://example.com/",
    interval: 60,
    alert_condition: "url_unavailable",
    alert_channel_ids: [1],
    request_method: "GET",
    request_headers: [{ key: "A", value: "1" }],
    cache_buster: 0,
    ...rest,
  }));
const answer = fc.oneof(
  any,
  record,
  record.map((data) => ({ data })),
  record.map((one) => ({ monitor: one, domain: one })),
  fc.array(record, { maxLength: 3 }),
  fc
    .tuple(fc.array(record, { maxLength: 3 }), any, any)
    .map(([data, links, meta]) => ({ data, links, meta })),
  fc.tuple(any, any).map(([message, errors]) => ({ message, errors })),
);
/** The text of an answer, sometimes with a few characters lost, doubled or put in. */
const source = fc
  .tuple(
    answer,
    fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.string({ maxLength: 2 })), { maxLength: 2 }),
    fc.nat(3),
  )
  .map(([body, changes, isChanged]) => {
    let text = JSON.stringify(body);
    for (const [at, length, put] of isChanged === 0 ? changes : []) {
      const from = at % (text.length + 1);
      text = text.slice(0, from) + put + text.slice(from + length);
    }
    return text;
  });

function bodyOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    expect(error).toHaveProperty("name", "SyntaxError");
    return undefined;
  }
}

test("whatever an answer is, it is read as something or nothing", () => {
  fc.assert(
    fc.property(source, (text) => {
      const body = bodyOf(text);
      expect(messageText(parseError(body, text).reason, []).length).toBeLessThan(400);
      for (const definition of definitions) {
        const one = parseRecord(body, definition);
        if (one) expect(one.id).not.toBe("");
        parsePage(body, definition)?.records.forEach((entry: ApiRecord) => {
          expect(typeof entry.id).toBe("string");
        });
      }
    }),
    { numRuns: runs },
  );
});
