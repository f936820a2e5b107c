import { decodeHTMLStrict } from "entities/decode";

/** A shorter secret occurs in ordinary words, so it is found only as a whole value. */
const minLength = 4;
/** No resource has more secrets. To look for all that a hostile server shows would take hours. */
const maxSecrets = 2000;
/** No real server encodes what it repeats more often than this. */
const maxPasses = 5;
/** The most characters for one character of a secret: `\u0041` in JSON that was escaped several times. */
const maxEscapeCharacters = 64;

/**
 * Finds secrets in texts, in any letter case, and even if a server has encoded them. Takes time in proportion to the text;
 * docs/security.md names the encodings.
 */
export class SecretDetector {
  /** The most characters that a secret takes, however a server encodes it. */
  readonly reach: number;
  private readonly secrets: readonly ReturnType<typeof formsOf>[];
  /** There are too many to look for, so every text counts as one that repeats a secret. */
  private readonly isOverfull: boolean;

  constructor(secrets: Iterable<string>) {
    const values = new Set(Array.from(secrets, (secret) => secret.toWellFormed()));
    this.reach =
      maxEscapeCharacters * Array.from(values).reduce((most, { length }) => Math.max(most, length), 0);
    this.isOverfull = values.size > maxSecrets;
    const known = this.isOverfull ? [] : [...values];
    this.secrets = known.filter((value) => value !== "").map(formsOf);
  }

  isSecret(text: string): boolean {
    const folded = foldCase(text);
    return this.isOverfull || this.secrets.some(({ value }) => value === folded);
  }

  findsIn(text: string): boolean {
    if (this.secrets.length === 0) return this.isOverfull;
    const source = text.toWellFormed();
    const decoded = decodeEscapes(source);
    const spaced = foldSpaces(decoded);
    const [given, plain] = [foldCase(source), foldCase(spaced)];
    // Mail and old tools break Base64 into lines.
    const digits = decoded
      .replace(/[\s\p{Cc}]+/gu, "")
      .replaceAll("-", "+")
      .replaceAll("_", "/");
    return this.secrets.some((secret) => {
      if (secret.value === given) return true;
      if (secret.value.length < minLength) return isWholeIn(plain, secret.plain);
      if (given.includes(secret.value) || secret.base64.some((part) => digits.includes(part))) return true;
      if ([...secret.hex, ...secret.broken].some((part) => plain.includes(part))) return true;
      if (secret.plain.length >= minLength) return plain.includes(secret.plain);
      // Unescaped, the secret is so short that it may be a word.
      const isChanged = spaced !== source;
      return (
        isWholeIn(plain, secret.plain) || (isChanged && secret.plain !== "" && plain.includes(secret.plain))
      );
    });
  }
}

/** A secret in the forms in which it is searched for; those in which letters have a case are in upper case. */
function formsOf(value: string) {
  const bytes = Array.from(new Set([hexOf(value, "utf8"), hexOf(value, "latin1")]));
  return {
    value: foldCase(value),
    /** Without escapes, and with its white space folded. */
    plain: foldCase(foldSpaces(decodeEscapes(value)).trim()),
    hex: bytes.map(foldCase),
    base64: bytes.flatMap(base64Of),
    broken: brokenForms(value).map((form) => foldCase(foldSpaces(form))),
  };
}

const hexOf = (text: string, encoding: "utf8" | "latin1"): string =>
  Buffer.from(text, encoding).toString("hex");

/** What is left of letters outside ASCII if they are sent in one encoding and read in another, or composed in another way. */
function brokenForms(value: string): string[] {
  const isAscii = (letter: string): boolean => letter <= "\x7f";
  const letters = Array.from(value);
  // Only if enough of it is ASCII: otherwise `????` would be a secret.
  if (letters.every(isAscii) || letters.filter(isAscii).length < minLength) return [];
  return [
    Buffer.from(value, "latin1").toString(),
    Buffer.from(value).toString("latin1"),
    letters.map((letter) => (isAscii(letter) ? letter : "?")).join(""),
    value.normalize("NFC"),
    value.normalize("NFD"),
  ];
}

/** To upper case, because lower case depends on the letters around one: Σ becomes σ or ς. */
const foldCase = (text: string): string => text.toUpperCase();

/** Whether a text is the secret, or has it in quotes, unless that is the name of a JSON property. */
function isWholeIn(text: string, secret: string): boolean {
  if (secret === "") return false;
  if (text.trim() === secret) return true;
  return ['"', "'", "`"].some((mark) => {
    const [, ...rests] = text.split(`${mark}${secret}${mark}`);
    return rests.some((rest) => !/^ ?:/.test(rest));
  });
}

/**
 * The Base64 digits of a secret inside a longer text, such as after a user's name. There are three forms, because three bytes
 * make four digits; digits that also depend on the surrounding text are left out.
 */
function base64Of(hex: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.from("00".repeat(before) + hex, "hex");
    const digits = bytes.toString("base64").replace(/=+$/, "");
    return digits.slice(before === 0 ? 0 : before + 1, bytes.length % 3 === 0 ? undefined : -1);
  });
}

/** One space for any white space, and for the `+` of a form. */
const foldSpaces = (text: string): string => text.replace(/[\s\p{Cc}+]+/gu, " ");

const escapes = new RegExp(
  [
    String.raw`\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))`,
    String.raw`\\[bfnrt]?`,
    // The bytes of one character in UTF-8, or a single byte.
    "%[c-d][0-9a-f]%[89ab][0-9a-f]",
    "%e[0-9a-f](?:%[89ab][0-9a-f]){2}",
    "%f[0-7](?:%[89ab][0-9a-f]){3}",
    "%[0-9a-f]{2}",
    "&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);",
  ].join("|"),
  "gi",
);

/**
 * Decodes the escapes of JSON, URLs and HTML, even if a text was escaped several times. Removes all backslashes, because
 * their number does not show how often it was escaped.
 */
function decodeEscapes(text: string): string {
  let result = text;
  for (let pass = 0; pass < maxPasses && /[\\%&]/.test(result); pass++)
    result = result
      .replace(/\\(?=\\)/g, "")
      .replace(escapes, (escape: string, unit: string | undefined, byte: string | undefined) => {
        const code = unit ?? byte;
        if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
        if (escape.startsWith("\\")) return escape === "\\" ? "" : " ";
        if (escape.startsWith("&")) return decodeHTMLStrict(escape);
        if (escape.length === 3) return String.fromCharCode(parseInt(escape.slice(1), 16));
        return Buffer.from(escape.replaceAll("%", ""), "hex").toString();
      });
  return result;
}
