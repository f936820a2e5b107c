import fc from "fast-check";

import { Redactor } from "../../provider/api/redact";
import { excerpt, shorten } from "../../provider/api/text";
import { anyCharacter } from "../support/arbitraries";
import { sample } from "../support/size";

const redacted = (source: string, ...secrets: string[]): string => new Redactor().with(secrets).text(source);

/** Every character as an HTML reference. */
const references = (text: string, form: (code: number) => string): string =>
  Array.from(text, (character) => `&${form(character.codePointAt(0) ?? 0)};`).join("");
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const everyUnit = (text: string, form: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, index) => form(text.charCodeAt(index))).join("");
const hex = (code: number): string => code.toString(16).padStart(4, "0");
const named = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
const folded = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The ways in which a server may repeat a value. */
const echoes: Record<string, (text: string) => string> = {
  "as it is": (text) => text,
  "with white space folded": folded,
  "in JSON": json,
  "in JSON as PHP writes it": (text) =>
    json(text)
      .replaceAll("/", "\\/")
      .replace(/[^\x20-\x7e]/g, (unit) => `\\u${hex(unit.charCodeAt(0))}`),
  "in JSON with every unit escaped": (text) => everyUnit(text, (code) => `\\u${hex(code)}`),
  "in JSON with upper-case escapes": (text) => everyUnit(text, (code) => `\\u${hex(code).toUpperCase()}`),
  "in JSON in JSON": (text) => json(json(text)),
  "in HTML": named,
  "in HTML with &apos;": (text) => named(text).replace(/'/g, "&apos;"),
  "in HTML with &#039;": (text) => named(text).replace(/'/g, "&#039;").replace(/"/g, "&#34;"),
  "in HTML with &#x27;": (text) => named(text).replace(/'/g, "&#x27;").replace(/"/g, "&#X22;"),
  "in decimal references": (text) => references(text, (code) => `#${code}`),
  "in decimal references with leading zeros": (text) => references(text, (code) => `#000${code}`),
  "in hexadecimal references": (text) => references(text, (code) => `#x${code.toString(16)}`),
  "in HTML in JSON": (text) => json(named(text)),
  "in JSON in HTML": (text) => named(json(text)),
  "in a URL": encodeURIComponent,
  "in a URL in lower case": (text) =>
    encodeURIComponent(text).replace(/%../g, (escape) => escape.toLowerCase()),
  "in a URL in a URL": (text) => encodeURIComponent(encodeURIComponent(text)),
  "in a form": (text) => new URLSearchParams([["", text]]).toString().slice(1),
  "in Base64": base64,
  "in Base64 for a URL": (text) => Buffer.from(text).toString("base64url"),
  "in Basic auth": (text) => `Basic ${base64(`bob:${text}`)}`,
  "in Basic auth in JSON": (text) => base64(`bob:${text}`).replaceAll("/", "\\/"),
  "in Base64 behind a path": (text) => `/login/${base64(`alice:${text}`)}`,
};

/** Characters that are in no text of the tests, so that whatever is left of a secret is seen. */
const odd = fc
  .array(fc.constantFrom(...Array.from("ßüñЖ漢😀<>&\"'/\\%+|=;#~ \n\t")), { minLength: 4, maxLength: 12 })
  .map((characters) => characters.join(""))
  .filter((text) => (text.match(/[ßüñЖ漢😀]/gu) ?? []).length > 2 && folded(text).length > 3);

describe.each(Object.entries(echoes))("a secret %s", (_form, echo) => {
  test("is removed whatever it is", () => {
    fc.assert(
      fc.property(odd, (secret) => {
        const shown = redacted(`The value "${echo(secret)}" cannot be used, (${echo(secret)})`, secret);
        expect(shown.split("[secret]")).toHaveLength(3);
        expect(shown).not.toMatch(/[ßüñЖ漢😀]/u);
      }),
      { numRuns: sample(5, 50, 5000) },
    );
  });

  test.each([
    "12|Abc/d+e=",
    "p<ss>'word\"",
    "C:\\temp\\u00",
    "%41bc%",
    "&amp;&#39",
    "a  b\r\nc d",
    "abc\\\\ ",
    "abc\n",
  ])("%j is removed, and nothing beside it", (secret) => {
    const shown = redacted(`It is "${echo(secret)}" now.`, secret);
    expect(shown).toMatch(/^It is "(?:Basic )?\[secret\]\\*" now\.$/);
  });
});

test("a secret that is part of another one leaves nothing of the other", () => {
  for (const echo of Object.values(echoes))
    expect(redacted(`It is "${echo("acme-9f8e7d6c/5b4a")}"`, "acme", "acme-9f8e7d6c/5b4a", "5b4a")).toMatch(
      /^It is "(?:Basic )?\[secret\]"$/,
    );
});

test("secrets that overlap leave nothing of either", () => {
  expect(redacted("It is abcdefgh.", "abcdef", "defgh")).toBe("It is [secret].");
});

describe("the beginning of a secret where a text was cut", () => {
  test.each([
    ["the key abcdef… is", "the key [secret]… is"],
    ["the key abcd...", "the key [secret]..."],
    ["the key abcdefgh%C3%B…", "the key [secret]%C3%B…"],
    ["the key abcdefgh&quo…", "the key [secret]&quo…"],
    ["the key abc…", "the key abc…"],
    ["the key xyz…", "the key xyz…"],
    ["the key abcdef is", "the key abcdef is"],
  ])("%j becomes %j", (text, expected) => {
    expect(redacted(text, 'abcdefgh"ijkl')).toBe(expected);
  });

  test("is removed from Base64", () => {
    const cut = base64("bob:correct horse battery").slice(0, 20);
    expect(redacted(`Basic ${cut}… is wrong`, "correct horse battery")).toBe("Basic [secret]… is wrong");
  });

  test("is removed whatever the length", () => {
    fc.assert(
      fc.property(odd, fc.nat(12), (secret, length) => {
        const start = secret.trimStart().slice(0, 4 + length);
        expect(redacted(`It begins with ${start}…`, secret)).not.toContain(start);
      }),
    );
  });
});

describe("a secret of one to three characters", () => {
  test.each([
    ["7", "[secret]"],
    ["The monitor 7 has 77 checks.", "The monitor 7 has 77 checks."],
    ['{"id":7,"pin":"7"}', '{"id":7,"pin":"[secret]"}'],
    ["The value '7' is too short.", "The value '[secret]' is too short."],
    ['{"7":"x"}', '{"7":"x"}'],
  ])("is removed only if it is a whole value: %j becomes %j", (text, expected) => {
    expect(redacted(text, "7")).toBe(expected);
  });
});

test("the API key has a name of its own", () => {
  const redactor = new Redactor().with(["12|abc"], "[key]").with(["hunter22"]);
  expect(redactor.text("12%7Cabc 12&#124;abc 12|abc hunter22")).toBe("[key] [key] [key] [secret]");
});

test("other texts do not change, but for what is not well-formed Unicode", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(redacted(text, "a secret that occurs nowhere")).toBe(text.toWellFormed());
    }),
  );
  expect(redacted("a \ud83d b", "secret")).toBe("a \ufffd b");
  expect(redacted("", "", "secret")).toBe("");
});

test("64 KiB, the most that is shown of an answer, are done in a moment", () => {
  const text = "<p>Lorem &amp; ipsum%20dolor \\u0073it… amet</p>\n".repeat(1400);
  const started = performance.now();
  redacted(text, "correct horse battery staple", "p<ss>word", "x".repeat(5000));
  expect(performance.now() - started).toBeLessThan(2000);
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
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.nat(20), (text, most) => {
        const short = shorten(text, most);
        expect(short.isWellFormed()).toBe(true);
        expect(Array.from(short).length).toBeLessThanOrEqual(most + 1);
      }),
    );
    expect(excerpt(`${"x".repeat(299)}😀 and more`)).toBe(`${"x".repeat(299)}😀…`);
  });
});
