/** Every character as an HTML reference. */
const references = (text: string, form: (code: number) => string): string =>
  Array.from(text, (character) => `&${form(character.codePointAt(0) ?? 0)};`).join("");
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const everyUnit = (text: string, form: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, index) => form(text.charCodeAt(index))).join("");
const hex = (code: number): string => code.toString(16).padStart(4, "0");
const named = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
/** With white space as one blank. */
export const folded = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The ways in which a server may repeat a value. */
export const echoes = {
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
  "in Base64 with line breaks": (text) => base64(`bob:${text}`).replace(/.{5}/g, "$&\r\n"),
  "in Base64 with line breaks in JSON": (text) => json(base64(text).replace(/.{4}/g, "$&\n")),
  "in other letter case": (text) =>
    Array.from(text, (letter) => {
      const upper = letter.toUpperCase();
      return upper === letter ? letter.toLowerCase() : upper;
    }).join(""),
  "in hex": (text) => Buffer.from(text).toString("hex"),
  "in upper-case hex": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  "in JavaScript with every unit escaped": (text) =>
    everyUnit(text, (code) => (code < 256 ? `\\x${hex(code).slice(2)}` : `\\u${hex(code)}`)),
  "in Base64 behind a path": (text) => `/login/${base64(`alice:${text}`)}`,
} satisfies Record<string, (text: string) => string>;
