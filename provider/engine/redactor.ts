import { isDeepStrictEqual } from "node:util";

import { plainFieldName, plainName } from "../api/server-spelling";
import { message, quote, UptimeError, type Message } from "../api/errors";
import type { Definition, Field } from "../definitions/field";
import { secretFieldsByName } from "../definitions/keys";
import { parseValue, UnexpectedValueError } from "../definitions/codecs";
import type { Properties } from "../common/marks";
import {
  withoutJson,
  cutPeriod,
  escapeCommands,
  escapeInvisible,
  excerpt,
  excerptScanLength,
  plainLine,
  shorten,
} from "../common/text";
import { isObject, mapLeaves, tryParseJson } from "../common/values";
import type { InputProblem } from "../lifecycle/resource";
import { SecretDetector } from "./secret-detector";
import { secretsInHeader, secretsOf, stringsIn } from "./secret-strings";

const redacted = "(the server repeats a secret)";

/**
 * An error travels in HTTP headers: percent-encoded once, and up to twice in Base64. All three take 17 bytes at most for a character.
 * What has 64 KiB or more never arrives, nor does the id in it.
 */
const maxMessageCharacters = 3000;

/** What {@link excerpt} removes from a text, and what is invisible in it. It may split a secret, so secrets are looked for without it. */
const markup = /<[^<>]*>|[\p{Cc}\p{Cf}]/gu;

/** Removes secrets from what leaves this process. */
export class Redactor {
  /** @param secrets the API keys in use, and other strings that must not be shown */
  constructor(private readonly secrets: Iterable<string>) {}

  /** The message of an error for a person. Quotes are shortened, and left out if they repeat a secret. */
  error(error: unknown): string {
    if (error instanceof UptimeError) return this.message(error.parts);
    return this.message([quote(error instanceof Error ? error.message : String(error))]);
  }

  message(message: Message): string {
    const detector = new SecretDetector(this.secrets);
    const parts = message.map((part) => {
      if (typeof part === "string") return part;
      // The rest is not shown, and a server may send megabytes.
      const source = part.text.slice(0, excerptScanLength + detector.reach);
      const readings = [source, source.replace(markup, ""), plainLine(source)];
      if (readings.some((text) => detector.findsIn(text))) return redacted;
      const words = part.kind === "page" ? withoutJson(source) : source;
      const shown = part.kind === "value" ? shorten(escapeInvisible(words), 300) : excerpt(words);
      return part.isWithoutPeriod ? cutPeriod(shown) : shown;
    });
    return escapeCommands(cutMiddle(parts.join("").toWellFormed()));
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
    return detector.findsIn(all) ? replaceSecrets(detector, rest) : rest;
  }

  /** A value that a record shows; what repeats a secret in it is replaced. */
  value(value: unknown): unknown {
    return replaceSecrets(new SecretDetector(this.secrets), value);
  }
}

/** Cuts a message that is too long in its middle, because its end says what to do. */
function cutMiddle(text: string): string {
  if (text.length <= maxMessageCharacters) return text;
  const end = text.slice(-maxMessageCharacters / 4);
  return `${shorten(text, maxMessageCharacters - end.length)} ${end}`.toWellFormed();
}

function replaceSecrets<T>(detector: SecretDetector, value: T): T {
  const cleanText = (text: string): string => (detector.findsIn(text) ? redacted : text);
  const cleanLeaf = (leaf: unknown): unknown => {
    if (typeof leaf === "string") return cleanText(leaf);
    return typeof leaf === "number" && detector.isSecret(String(leaf)) ? redacted : leaf;
  };
  return mapLeaves(value, cleanLeaf, cleanText);
}

/** The secret fields whose names occur in the JSON, by their {@link plainName}. */
function secretFieldsIn(definition: Definition, json: string): ReadonlyMap<string, Field> {
  const fields = secretFieldsByName(definition).map(([name, field]) => [plainName(name), field] as const);
  const plain = plainName(json);
  return new Map(fields.filter(([name]) => isNamedIn(plain, name)));
}

/** Whether a name is in JSON, both plain. In JSON text in a string, the quotes are escaped. */
const isNamedIn = (json: string, name: string): boolean =>
  new RegExp(`"${name}(?:\\[[^"]*|\\\\*)"`).test(json);

/** Attributes without these fields. Adds the fields' values to the known secrets. */
function withoutFields(
  secretFields: ReadonlyMap<string, Field>,
  attributes: Properties,
  known: Set<string>,
): Properties {
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(without);
    if (isObject(value)) return withoutFields(secretFields, value, known);
    // Some servers show JSON text, as their database stores it, which may have cut it.
    if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
    const parsed = tryParseJson(value);
    if (parsed !== undefined) return isDeepStrictEqual(without(parsed), parsed) ? value : redacted;
    const plain = plainName(value);
    return [...secretFields.keys()].some((name) => isNamedIn(plain, name)) ? redacted : value;
  };
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => {
      const field = secretFields.get(plainFieldName(name));
      if (!field) return [[name, without(value)]];
      // In a form, the name of a header has a field of its own.
      if (name.endsWith("[key]")) return [];
      for (const secret of secretsShown(field, value)) known.add(secret);
      return [];
    }),
  );
}

/** The secret strings in a field that a record shows; all its strings if it cannot be parsed. */
function secretsShown(field: Field, raw: unknown): Iterable<string> {
  try {
    return secretsOf(field, parseValue(field, raw));
  } catch (error) {
    if (!(error instanceof UnexpectedValueError)) throw error;
    return stringsIn(raw).flatMap(secretsInHeader);
  }
}
