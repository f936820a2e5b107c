import { decodeHTMLStrict } from "entities/decode";

import { message, quote, UptimeError, type Message } from "../api/errors";
import { shownNames, type Definition, type Field } from "../definitions/field";
import { parse, UnreadableError } from "../definitions/codecs";
import { secretKeys } from "../definitions/keys";
import type { Properties } from "../common/marks";
import { excerpt } from "../common/text";
import { mapLeaves, isObject } from "../common/values";
import type { InputProblem } from "../lifecycle/validate";

/** Replaces a text that holds a secret. */
const redacted = "(the server repeats a secret)";
/** A shorter secret occurs in ordinary words, so it is found only as a whole value. */
const leastLength = 4;
/** No real server encodes what it repeats more often than this. */
const maxPasses = 5;

/** Removes secrets from what leaves this process. */
export class Redactor {
  /** @param secrets the API keys in use, and other strings that must not be shown */
  constructor(private readonly secrets: Iterable<string>) {}

  /** A redactor that knows these secrets, and those in a resource's properties. */
  static forResource(
    secrets: Iterable<string>,
    definition: Definition,
    ...properties: readonly Properties[]
  ): Redactor {
    return new Redactor([...secrets, ...secretsIn(definition, ...properties)]);
  }

  /** The message of an error for a person. Quotes are shortened, and left out if they repeat a secret. */
  error(error: unknown): string {
    if (error instanceof UptimeError) return this.message(error.parts);
    return this.message([quote(error instanceof Error ? error.message : String(error))]);
  }

  /** A message for a person, like {@link error}. */
  message(text: string | Message): string {
    if (typeof text === "string") return text.toWellFormed();
    const detector = new SecretDetector(this.secrets);
    const parts = text.map((part) => {
      if (typeof part === "string") return part;
      return detector.finds(part.text) ? redacted : excerpt(part.text);
    });
    return parts.join("").toWellFormed();
  }

  /** A problem of an input, with the input's name in the text. */
  problem({ property, reason }: InputProblem): string {
    return this.message(message`${property} ${reason}`);
  }

  /**
   * Attributes for state. Fields with the name of a secret field are left out at any depth, and a value that repeats their
   * value or another secret is replaced.
   */
  attributes(definition: Definition, attributes: Properties): Properties {
    const known = new Set(this.secrets);
    // A short secret counts only in quotes, so numbers need them too.
    const all = JSON.stringify(attributes, (_name, value: unknown) =>
      typeof value === "number" ? String(value) : value,
    );
    const secretFields = secretFieldsIn(definition, all);
    const rest = secretFields.size > 0 ? withoutFields(secretFields, attributes, known) : attributes;
    const detector = new SecretDetector(known);
    if (!detector.finds(all)) return rest;
    const cleanText = (text: string): string => (detector.finds(text) ? redacted : text);
    const cleanLeaf = (leaf: unknown): unknown => {
      if (typeof leaf === "string") return cleanText(leaf);
      return typeof leaf === "number" && detector.has(String(leaf)) ? redacted : leaf;
    };
    return mapLeaves(rest, cleanLeaf, cleanText);
  }
}

/** The secret fields whose names occur in the JSON, by these names. */
function secretFieldsIn({ fields }: Definition, json: string): ReadonlyMap<string, Field> {
  const named = Object.values(fields).flatMap((field) =>
    field.secret ? shownNames(field).map((name) => [name, field] as const) : [],
  );
  return new Map(named.filter(([name]) => json.includes(`"${name}"`)));
}

/** Attributes without these fields. Adds the fields' values to the known secrets. */
function withoutFields(
  secretFields: ReadonlyMap<string, Field>,
  attributes: Properties,
  known: Set<string>,
): Properties {
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(without);
    return isObject(value) ? withoutFields(secretFields, value, known) : value;
  };
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => {
      const field = secretFields.get(name);
      if (!field) return [[name, without(value)]];
      for (const secret of secretsShown(field, value)) known.add(secret);
      return [];
    }),
  );
}

/** The secret strings in a field that a record shows; all its strings if it cannot be parsed. */
function secretsShown(field: Field, raw: unknown): Iterable<string> {
  try {
    return secretsOf(parse(field, raw));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    return stringsIn(raw);
  }
}

/** All strings in a value, and its numbers as strings. */
export function stringsIn(value: unknown): string[] {
  const strings: string[] = [];
  mapLeaves(value, (leaf) => ["string", "number"].includes(typeof leaf) && strings.push(String(leaf)));
  return strings;
}

/** The secret strings in a resource's properties: passwords, and the values of headers, not their names. */
function secretsIn(definition: Definition, ...properties: readonly Properties[]): string[] {
  const keys = secretKeys(definition);
  return properties.flatMap((source) => keys.flatMap((key) => [...secretsOf(source[key])]));
}

/** The secret strings in the value of a secret field; a header's also without its scheme. */
function secretsOf(value: unknown): Set<string> {
  if (typeof value === "string") return new Set([value, value.replace(/^(?:Basic|Bearer) +/i, "")]);
  if (Array.isArray(value)) return new Set(value.flatMap((entry) => [...secretsOf(entry)]));
  return isObject(value) ? secretsOf(value.value) : new Set();
}

/** A secret in the forms in which it is searched for. */
interface Secret {
  readonly value: string;
  /** Without escapes, and with its white space folded. */
  readonly plain: string;
  /** See {@link base64Of}. */
  readonly base64: readonly string[];
}

/** Finds secrets in texts, also if a server has encoded them. Takes time in proportion to the text. */
class SecretDetector {
  private readonly secrets: readonly Secret[];

  constructor(secrets: Iterable<string>) {
    const values = [...secrets].map((secret) => secret.toWellFormed()).filter((value) => value !== "");
    this.secrets = values.map((value) => ({
      value,
      plain: foldSpaces(decodeEscapes(value)).trim(),
      base64: base64Of(value),
    }));
  }

  has(text: string): boolean {
    return this.secrets.some(({ value }) => value === text);
  }

  finds(text: string): boolean {
    if (this.secrets.length === 0) return false;
    if (this.has(text)) return true;
    const source = text.toWellFormed();
    const decoded = decodeEscapes(source);
    const plain = foldSpaces(decoded);
    const base64 = decoded.replaceAll("-", "+").replaceAll("_", "/");
    const isChanged = plain !== source;
    return this.secrets.some((secret) => {
      if (secret.value.length < leastLength) return isWholeIn(plain, secret.plain);
      if (source.includes(secret.value) || secret.base64.some((part) => base64.includes(part))) return true;
      if (secret.plain.length >= leastLength) return plain.includes(secret.plain);
      // Unescaped, the secret is so short that it may be a word.
      return (
        isWholeIn(plain, secret.plain) || (isChanged && secret.plain !== "" && plain.includes(secret.plain))
      );
    });
  }
}

/** Whether a text is the secret, or has it in quotes, unless that is the name of a JSON property. */
function isWholeIn(text: string, secret: string): boolean {
  if (secret === "") return false;
  if (text.trim() === secret) return true;
  return ['"', "'", "`"].some((mark) => {
    const quoted = `${mark}${secret}${mark}`;
    let at = text.indexOf(quoted);
    while (at >= 0 && /^ ?:/.test(text.slice(at + quoted.length, at + quoted.length + 2)))
      at = text.indexOf(quoted, at + 1);
    return at >= 0;
  });
}

/**
 * The Base64 digits of a secret inside a longer text, such as after a user's name. There are three forms, because three bytes
 * make four digits; digits that also depend on the surrounding text are left out.
 */
function base64Of(secret: string): string[] {
  const encodings = new Set([
    Buffer.from(secret).toString("hex"),
    Buffer.from(secret, "latin1").toString("hex"),
  ]);
  return [...encodings].flatMap((hex) =>
    [0, 1, 2].map((before) => {
      const bytes = Buffer.from("00".repeat(before) + hex, "hex");
      const digits = bytes.toString("base64").replace(/=+$/, "");
      return digits.slice(before === 0 ? 0 : before + 1, bytes.length % 3 === 0 ? undefined : -1);
    }),
  );
}

/** One space for any white space, and for the `+` of a form. */
const foldSpaces = (text: string): string => text.replace(/[\s\p{Cc}+]+/gu, " ");

const escapes = new RegExp(
  [
    String.raw`\\u([0-9a-f]{4})`,
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
 * Decodes the escapes of JSON, URLs and HTML, also if a text was escaped several times. Removes all backslashes, because
 * their number does not show how often it was escaped.
 */
function decodeEscapes(text: string): string {
  let result = text;
  for (let pass = 0; pass < maxPasses && /[\\%&]/.test(result); pass++)
    result = result.replace(/\\(?=\\)/g, "").replace(escapes, (escape: string, hex: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
      if (escape.startsWith("\\")) return escape === "\\" ? "" : " ";
      if (escape.startsWith("&")) return decodeHTMLStrict(escape);
      if (escape.length === 3) return String.fromCharCode(parseInt(escape.slice(1), 16));
      return Buffer.from(escape.replaceAll("%", ""), "hex").toString();
    });
  return result;
}
