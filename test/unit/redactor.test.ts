import { inspect } from "node:util";

import fc from "fast-check";

import { joinMessages, message, quote, quoteValue, UptimeError } from "../../provider/api/errors";
import { excerpt, shorten } from "../../provider/common/text";
import { withMarkedSecrets } from "../../provider/definitions/keys";
import { monitor } from "../../provider/definitions/monitor";
import { Redactor } from "../../provider/engine/redactor";
import { secretsIn } from "../../provider/engine/secret-strings";
import { anyCharacter } from "../support/arbitraries";
import { echoes, folded } from "../support/echoes";
import { assertProperty } from "../support/property";
import { sample } from "../support/size";

const notice = "(the server repeats a secret)";

/** What is shown of a server's words. */
const shown = (text: string, ...secrets: string[]): string => new Redactor(secrets).message([quote(text)]);

const attributesOf = (attributes: Record<string, unknown>, ...secrets: string[]) =>
  new Redactor(secrets).attributes(monitor, attributes);

/** Characters that are in no text of the tests, so that whatever is left of a secret is seen. */
const odd = fc
  .array(fc.constantFrom(...Array.from("ßüñЖ漢😀<>&\"'/\\%+|=;#~ \n\t")), { minLength: 4, maxLength: 12 })
  .map((characters) => characters.join(""))
  .filter((text) => (text.match(/[ßüñЖ漢😀]/gu) ?? []).length > 2 && folded(text).length > 3);

describe.each(Object.entries(echoes))("a text with a secret %s", (_form, echo) => {
  test("is not shown, whatever the secret is", () => {
    assertProperty(
      fc.property(odd, (secret) => {
        const text = `The value "${echo(secret)}" cannot be used`;
        expect(shown(text, secret)).toBe(notice);
        const cleaned = { text: notice, deep: [{ text: notice }] };
        expect(attributesOf({ text, deep: [{ text }] }, secret)).toEqual(cleaned);
      }),
      { numRuns: sample(5, 30, 5000) },
    );
  });

  test("is not shown if the secret has escapes itself", () => {
    const escapes = ["12|Abc/d+e=", "p<ss>'word\"", "C:\\temp\\u00", "%41bc%", "&amp;&#39"];
    for (const secret of [...escapes, "a  b\r\nc d", "abc\\\\ ", "abc\n"]) {
      expect([secret, shown(`It is "${echo(secret)}" now.`, secret)]).toEqual([secret, notice]);
      expect(attributesOf({ text: echo(secret) }, secret)).toEqual({ text: notice });
    }
  });
});

describe("of a long text, only the beginning is shown and searched", () => {
  // Tags are not shown, so that the excerpt reaches far into the text.
  const tags = "<i>".repeat(1332);

  test.each(Object.entries(echoes))("with a secret across its end, %s", (_, echo) => {
    const secret = "p<ss>'word\"&ü-😀";
    for (const more of ["", "x", "xx", "xxx"]) {
      const text = tags + more + echo(secret) + " no ".repeat(2 ** 18);
      expect(shown(text, secret)).toBe(notice);
    }
  });

  test("without HTML tags, but with signs of comparison", () => {
    expect(excerpt("<p>must be <= 3600 and >= 60</p><!-- x -->")).toBe("must be <= 3600 and >= 60");
  });

  test("without a secret that is far behind it", () => {
    const text = `${"no ".repeat(2 ** 17)}hunter22`;
    expect(shown(text, "hunter22")).toBe(excerpt(text));
  });
});

const long = "correct horse battery ".repeat(5000);
test.each([
  ["with tags in it", "hun<b>ter</b>22", "hunter22"],
  ["with control characters in it", "hun\u0007ter\u000022", "hunter22"],
  ["with invisible characters in it", "h\u200bun\u00adter\u206022", "hunter22"],
  ["with a line break in it", "hunt\ner22", "hunter22"],
  ["with tags in the place of its spaces", "horse<br>battery<b>staple", "horse battery staple"],
  ["of any length", long, long],
  ["that ends in a letter with two lower-case forms, in a longer word", "ABCDΣx", "abcdΣ"],
  ["outside ASCII, read as UTF-8", Buffer.from("Zürich-geheim", "latin1").toString(), "Zürich-geheim"],
  ["in UTF-8, read as Latin-1", Buffer.from("Zürich-geheim").toString("latin1"), "Zürich-geheim"],
  ["outside ASCII, as Latin-1 in a URL", "%FC%F6%E4%DF", "üöäß"],
  ["in Base64, inside a longer text", Buffer.from("user:hunter22:more").toString("base64"), "hunter22"],
  ["outside ASCII, in ASCII", "Z?rich-geheim", "Zürich-geheim"],
  ["outside ASCII, in two parts", "Zürich-geheim".normalize("NFD"), "Zürich-geheim"],
])("a secret %s is not shown", (_, text, secret) => {
  expect(shown(`The value ${text} is taken`, secret)).toBe(notice);
});

test.each(["Xy7!geheim.", "geheim. "])(
  "a secret %j that ends with a period is not shown in a sentence that goes on",
  (secret) => {
    const said = message`It is refused: ${quote(`wrong: ${secret}`)}`;
    expect(new Redactor([secret]).message(message`${said}. Then it ended.`)).toBe(
      `It is refused: ${notice}. Then it ended.`,
    );
    expect(new Redactor([]).message(message`${said}. Then it ended.`)).toBe(
      `It is refused: wrong: ${secret.replace(/\.\s*$/, "")}. Then it ended.`,
    );
  },
);

test.each([
  ["hun%74er22", "no hunter22", false],
  ["%41%42", "The label %2541%2542", false],
  ["%41%42", "The label ABC", true],
  ["token%4", "no token%41", false],
  ["++++", "50%25 off", true],
  ["\\", "\\", false],
])(
  "a secret with escapes in it, %j, is also found decoded, but inside a word only if it is long: %j is shown: %s",
  (secret, text, isShown) => {
    expect(shown(text, secret)).toBe(isShown ? text : notice);
  },
);

test("of a secret with few letters in ASCII, the others are no question marks", () => {
  expect(shown("What?????a", "Жук漢字a")).toBe("What?????a");
});

describe("a secret header", () => {
  const pair = Buffer.from("probe-user:p@ss:word").toString("base64");
  const otherPair = Buffer.from("other-user:0ther:word").toString("base64");
  const headers = [
    "Token abc123def456",
    "ApiKey=0123456789",
    "session=s3ss10nvalue; theme=dark",
    'Digest username="monitor9000"',
    `Basic ${pair}`,
    "Bearer short",
    "key-id-1:s3cretpart|third-part",
    otherPair,
  ];
  const properties = { requestHeaders: headers.map((value) => ({ key: "X-Any", value })) };
  const redactor = new Redactor(secretsIn(monitor, properties));

  test.each([
    ["a token without its scheme", "abc123def456"],
    ["what follows an equals sign", "0123456789"],
    ["a cookie's value", "s3ss10nvalue"],
    ["a part in quotes", "monitor9000"],
    ["the user of a Basic pair", "probe-user"],
    ["the password of a Basic pair", "p@ss:word"],
    ["a pair without its scheme", pair],
    ["what follows a colon", "s3cretpart"],
    ["what follows a bar", "third-part"],
    ["the user of a pair without a scheme", "other-user"],
    ["the password of a pair without a scheme", "0ther:word"],
    ["a short token without its scheme", "short"],
  ])("is found by %s", (_, part) => {
    const text = `Answered 403 to ${part}.`;
    expect(redactor.message([quote(text)])).toBe(notice);
    expect(redactor.attributes(monitor, { text })).toEqual({ text: notice });
  });

  test("is not found by a part of fewer than eight characters", () => {
    expect(redactor.message([quote("The theme is dark.")])).toBe("The theme is dark.");
  });
});

describe("a secret URL", () => {
  const url = "https://me@hooks.example.com/services/T0123456789ABCDEF/x?team=7#top";
  const definition = withMarkedSecrets(monitor, ["url"]);
  const redactor = new Redactor(secretsIn(definition, { url }));

  test.each([
    ["itself", url],
    ["itself without its user", url.replace("me@", "")],
    ["itself without its fragment", url.replace("#top", "")],
    ["itself without both", "https://hooks.example.com/services/T0123456789ABCDEF/x?team=7"],
    ["its path", "/services/T0123456789ABCDEF/x"],
    ["a long step of its path", "T0123456789ABCDEF"],
  ])("is found by %s", (_, text) => {
    expect(redactor.attributes(definition, { text })).toEqual({ text: notice });
  });

  test.each(["services are up", "hooks.example.com", "team 7"])("is not found by %j", (text) => {
    expect(redactor.attributes(definition, { text })).toEqual({ text });
  });
});

test.each([
  ["7", false],
  ["The monitor 7 has 77 checks.", true],
  ['{"id":7,"pin":"7"}', false],
  ["The value '7' is too short.", false],
  ["The value `7` is too short.", false],
  ['{"7":"x"}', true],
])("a secret of one to three characters counts only as a whole value: %j is shown: %s", (text, isShown) => {
  expect(shown(text, "7")).toBe(isShown ? text : notice);
});

describe("an error", () => {
  const cleaned = (thrown: unknown, ...secrets: string[]): string => new Redactor(secrets).error(thrown);
  const error = new UptimeError(
    message`The name "hunter22" was sent to port ${80}
      and answered: ${quote("no hunter22 <b>here</b>")}; ${quote("well\n<i>done</i>")}.`,
  );

  test("keeps our own words, and each of the server's that repeats no secret", () => {
    expect(cleaned(error, "hunter22")).toBe(
      `The name "hunter22" was sent to port 80 and answered: ${notice}; well done.`,
    );
    expect(cleaned(error)).toContain("answered: no hunter22 here; well done.");
  });

  test("that explains another one keeps its words apart too", () => {
    const outer = (inner: Error) => cleaned(new UptimeError(message`It failed: ${inner}`), "hunter22");
    expect(outer(error)).toBe(`It failed: ${cleaned(error, "hunter22")}`);
    expect(outer(new Error("no hunter22"))).toBe(`It failed: ${notice}`);
    expect(cleaned(new TypeError("no hunter22"), "hunter22")).toBe(notice);
    expect(cleaned("thrown", "hunter22")).toBe("thrown");
  });

  test("has no word of the server in its own message and stack", () => {
    expect(error.message).toBe('The name "hunter22" was sent to port 80 and answered: …; ….');
    for (const word of ["here", "done"]) expect(error.stack).not.toContain(word);
    const outer = new UptimeError(message`It failed: ${error} and ${new Error("no hunter22")}`);
    expect(outer.message).toBe(`It failed: ${error.message} and …`);
    expect(error.name).toBe("UptimeError");
    expect(error.stack).toContain("redactor.test");
  });

  test("is shown without its middle if it is so long that it would not arrive", () => {
    const fields = Array.from(
      { length: 500 },
      (_, index) => message`channel ${index}: ${quote("漢".repeat(100))}`,
    );
    const text = new Redactor([]).error(
      new UptimeError(message`Created, but ${joinMessages(fields, "; ")}. Try again.`),
    );
    expect(text).toMatch(/^Created, but channel 0: 漢+; [^]*… [^]*; channel 499: 漢+\. Try again\.$/);
    // As the header grpc-message, and twice in Base64 in grpc-status-details-bin.
    const bytes = encodeURI(text).length + 2 * Buffer.from(text).toString("base64").length;
    expect(bytes).toBeLessThan(2 ** 16);
  });

  test("is printed by Node.js as its stack alone, not with its properties", () => {
    expect(inspect({ error })).toContain("redactor.test");
    for (const word of ["here", "done"]) expect(inspect({ error })).not.toContain(word);
  });
});

describe("attributes", () => {
  test("have no field with the name of a secret one, however deep, and no text or number with a secret", () => {
    const [pin, port, hunter22, url] = [123, 1234, { name: "X-Token" }, "https://example.com/"];
    const copy = { request_headers: [{ key: "X-Token", value: "v" }], url, list: ["hunter22"] };
    const attributes = { request_auth_password: "x", note: "pass hunter22 on", pin, port, copy, hunter22 };
    const cleaned = { note: notice, pin: notice, port, copy: { url, list: [notice] }, [notice]: hunter22 };
    expect(attributesOf(attributes, "hunter22", "123")).toEqual(cleaned);
  });

  test.each([
    ["as a list", [{ key: "X-Token", value: "hunter22" }]],
    ["as a map", { "X-Token": "hunter22" }],
    ["as JSON text", '[{"key":"X-Token","value":"hunter22"}]'],
    ["with a scheme", { Authorization: "Bearer hunter22" }],
    ["as what is no list of headers", [{ "X-Token": "hunter22" }]],
  ])("repeat no secret of the record itself, shown %s", (_, request_headers) => {
    const attributes = { copy: { request_headers }, curl: "-H 'X-Token: hunter22'", header: "X-Token" };
    expect(attributesOf(attributes)).toEqual({ copy: {}, curl: notice, header: "X-Token" });
  });

  test("without a secret stay as they are", () => {
    assertProperty(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), (attributes) => {
        expect(attributesOf(attributes, "a secret that occurs nowhere")).toBe(attributes);
      }),
    );
  });
});

test("other strings stay as they are, except that they become well-formed Unicode", () => {
  assertProperty(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      // See ci-log.test.ts.
      fc.pre(!/##|::/.test(text));
      expect(new Redactor(["a secret that occurs nowhere"]).message([text])).toBe(text.toWellFormed());
      expect(shown(text, "a secret that occurs nowhere")).toBe(excerpt(text));
    }),
  );
  expect(shown("a \ud83d b", "secret")).toBe("a \ufffd b");
  expect(shown("", "", "secret")).toBe("");
});

test("a value of a record keeps what looks like HTML; it is cut, and hides neither secrets, invisible characters nor commands of CI", () => {
  const value = (given: unknown): string => new Redactor(["p<ss>word"]).message([quoteValue(given)]);
  expect(value("a  <b>\u200b</b>")).toBe('"a  <b>\\u200b</b>"');
  expect(value(["x p<ss>word"])).toBe(notice);
  expect(value("##[error]")).toBe('"\\u0023#[error]"');
  expect(value("<".repeat(400))).toBe(`"${"<".repeat(299)}…`);
  expect(new Redactor([]).message(message`${[quoteValue("<i>")]}.`)).toBe('"<i>".');
  expect(value(undefined)).toBe("null");
});

test.each([
  ["ordinary words", "<p>Lorem &amp; ipsum%20dolor \\u0073it… amet</p>\n"],
  ["backslashes", "\\"],
  ["dots", "."],
  ["escapes", "%41"],
  ["escapes of escapes", "%25"],
  ["references", "&amp;"],
  ["references without an end", "&a"],
  ["one letter", "a"],
  ["the beginnings of a secret", "corr"],
  ["most of a secret", "correct horse battery stapl"],
])("a secret is found behind a large text of %s", (_what, part) => {
  const secret = "correct horse battery staple";
  // In steps by the square of the length, a text would take minutes.
  const text = part.repeat(2 ** 17 / part.length) + secret;
  expect(attributesOf({ text }, secret, "p<ss>word", "x".repeat(5000))).toEqual({ text: notice });
});

test("attributes have no field with the name of a secret one in another spelling", () => {
  const copy = { RequestAuthPassword: "hunter22", REQUEST_HEADERS: { "X-Token": "abcdefgh" } };
  const [check, note] = [JSON.stringify(copy), "abcdefgh"];
  expect(attributesOf({ request_auth_password: null, ...copy, check, note })).toEqual({
    check: notice,
    note: notice,
  });
  expect(attributesOf({ deep: [copy], check: check.slice(0, -9) })).toEqual({ deep: [{}], check: notice });
  expect(attributesOf({ deep: { "request-auth-password": "hunter22" }, note })).toEqual({ deep: {}, note });
});

test("attributes have no secret fields of a form", () => {
  const form = { "request_headers[0][key]": "Accept", "request_headers[0][value]": "abcdefgh" };
  const attributes = { form, twice: JSON.stringify(form), accept: "Accept", note: "abcdefgh" };
  expect(attributesOf(attributes)).toEqual({ form: {}, twice: notice, accept: "Accept", note: notice });
});

test("attributes keep JSON text that is nested too deeply to be walked through, unless it names a secret field", () => {
  const deep = (text: string): string => "[".repeat(10_000) + text + "]".repeat(10_000);
  const attributes = { request_headers: [], note: deep(""), check: deep('{"request_headers":"x"}') };
  expect(attributesOf(attributes)).toEqual({ note: attributes.note, check: notice });
});

test("attributes have no JSON text that names a secret field and was cut, beside others that are named elsewhere", () => {
  const attributes = { request_auth_password: "hunter22", log: '{"request_headers":[{"key":"A","value":"b' };
  expect(attributesOf(attributes)).toEqual({ log: notice });
});

test("a secret of nothing but escapes hides no empty text", () => {
  const attributes = { empty: "", quoted: 'it is ""' };
  expect(attributesOf(attributes, "\\\\")).toEqual(attributes);
});

test("attributes have no secret fields in JSON text, and other JSON text stays as it is", () => {
  const check = JSON.stringify({ request_auth_password: "hunter22", deep: [{ request_headers: [] }] });
  const other = '{ "note" : "request_auth_password" }';
  const cleaned = { check: notice, twice: notice, other };
  expect(attributesOf({ check, twice: JSON.stringify(check), other })).toEqual(cleaned);
});

describe("a text that is too long", () => {
  test.each([
    ["abcdef", 6, "abcdef"],
    ["abcdefg", 6, "abcdef…"],
    ["😀😀😀", 3, "😀😀😀"],
    ["😀😀😀😀", 3, "😀😀😀…"],
    ["ab\ud83d", 6, "ab\ufffd"],
  ])("%j is cut between characters at %i", (text, most, expected) => {
    expect(shorten(text, most)).toBe(expected);
  });

  test("is well-formed wherever it is cut", () => {
    assertProperty(
      fc.property(fc.string({ unit: anyCharacter }), fc.nat(20), (text, most) => {
        const short = shorten(text, most);
        expect(short.isWellFormed()).toBe(true);
        expect(Array.from(short).length).toBeLessThanOrEqual(most + 1);
      }),
    );
    expect(excerpt(`${"x".repeat(299)}😀 and more`)).toBe(`${"x".repeat(299)}😀…`);
  });
});
