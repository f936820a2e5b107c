import { decodeHTMLStrict } from "entities/decode";

/** A string that no text may show. */
interface Secret {
  /** What stands in its place. */
  readonly label: string;
  /** As it is, and with the usual escapes. */
  readonly forms: readonly string[];
  /** See {@link plainForm}. */
  readonly plain: string;
  /** Its bytes, one to a character, in the encodings that Base64 is made of. */
  readonly bytes: readonly string[];
}

/** A part of a text, from one index up to another. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

/** A text with its escapes decoded, and the place in the source that each of its units comes from. */
interface Decoded {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** A shorter secret is part of ordinary words, so it is removed only if it is the whole text, or quoted by itself. */
const leastLength = 4;
/** No real server encodes an echo more often than this. */
const maxPasses = 5;

/**
 * Removes the API key and a resource's secrets from texts, in every form in which a server may repeat them: as they are,
 * with white space folded, with escapes of JSON, HTML, URLs and forms, in Base64, and cut off before `…`.
 *
 * Call it before a text is cut or stripped of tags, because what is left of a secret then is not recognized.
 */
export class Redactor {
  constructor(private readonly secrets: readonly Secret[] = []) {}

  /** A redactor that also removes some more strings. */
  with(values: Iterable<string>, label = "[secret]"): Redactor {
    const more = new Set([...values].flatMap((value) => [value, folded(value)]));
    more.delete("");
    if (more.size === 0) return this;
    return new Redactor([...this.secrets, ...[...more].map((value) => secretOf(value, label))]);
  }

  /** The text without any of the secrets, as well-formed Unicode. */
  text(source: string): string {
    const text = source.toWellFormed();
    if (this.secrets.length === 0) return text;
    const whole = this.secrets.find(({ forms }) => forms.includes(text));
    if (whole) return whole.label;
    const plain = undecoded(text);
    const decoded = decode(plain);
    return replaced(text, [
      ...this.secrets.flatMap((secret) =>
        isShort(secret)
          ? literalSpans(text, secret).filter((span) => isQuoted(text, span))
          : [
              ...literalSpans(text, secret),
              ...encodedSpans(decoded, secret),
              ...cutSpans(plain, secret.forms[0] ?? "", secret.label),
              ...cutSpans(decoded, secret.plain, secret.label),
            ],
      ),
      ...base64Spans(
        text,
        this.secrets.filter((secret) => !isShort(secret)),
      ),
    ]);
  }
}

function secretOf(given: string, label: string): Secret {
  const value = given.toWellFormed();
  const json = JSON.stringify(value).slice(1, -1);
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  return {
    label,
    forms: [...new Set([value, json, json.replaceAll("/", "\\/"), encodeURIComponent(value), form])],
    plain: plainForm(value),
    bytes: [value, Buffer.from(value).toString("latin1")],
  };
}

/** A value as it is after white space was lost on the way. */
const folded = (value: string): string => value.replace(/[\s\p{Cc}]+/gu, " ").trim();

const isShort = ({ forms }: Secret): boolean => (forms[0] ?? "").length < leastLength;

function literalSpans(text: string, { forms, label }: Secret): Span[] {
  return forms.flatMap((form) =>
    occurrences(text, form).map((start) => ({ start, end: start + form.length, label })),
  );
}

/** Whether a part stands in quotes by itself, and is not the name of a JSON property. */
function isQuoted(text: string, { start, end }: Span): boolean {
  const quote = text[start - 1] ?? "";
  return /["'`]/.test(quote) && text[end] === quote && !/^\s*:/.test(text.slice(end + 1, end + 10));
}

function encodedSpans(decoded: Decoded, { plain, label }: Secret): Span[] {
  // White space around a value is often lost on the way.
  const sought = plain.trim().length < leastLength ? plain : plain.trim();
  if (sought === "") return [];
  // Without its backslashes a secret may be part of ordinary words, but not where it takes up as much as a secret.
  return occurrences(decoded.text, sought)
    .map((at) => spanIn(decoded, at, at + sought.length, label))
    .filter(({ start, end }) => end - start >= leastLength);
}

/** The beginning of a secret before the mark of somebody who has cut a text, perhaps within an escape. */
function cutSpans(decoded: Decoded, secret: string, label: string): Span[] {
  const sought = secret.trimStart();
  if (sought.length < leastLength) return [];
  return [...decoded.text.matchAll(cutMark)].flatMap(({ 0: match, 1: mark = "", index }) =>
    // What looks like part of an escape may be part of the secret.
    [index, index + match.length - mark.length].flatMap((end) => {
      const length = beginningAtEnd(decoded.text.slice(Math.max(0, end - sought.length), end), sought);
      return length > 0 ? [spanIn(decoded, end - length, end, label)] : [];
    }),
  );
}

/** The dots, and what is left of an escape before them: the first bytes of a character, or the start of a reference. */
const cutMark = /(?:[\x80-\xff]{0,3}(?:%[0-9a-f]?)?|&[#\w]{0,10}|u[0-9a-f]{0,3})(…|\.{3})/gi;

/** Words are decoded instead of secrets encoded, because the `user` of `user:password` is not known here. */
function base64Spans(text: string, secrets: readonly Secret[]): Span[] {
  return [...text.matchAll(/((?:[\w+/-]|\\+\/|%2[bf])+)(?:=|%3d){0,2}/gi)].flatMap(
    ({ 0: match, 1: word = "", index }) => {
      const base64 = word.replace(/\\+|%2b|%2f/gi, (escape) =>
        /b$/i.test(escape) ? "+" : /f$/i.test(escape) ? "/" : "",
      );
      const end = index + match.length;
      const isCut = /^(?:…|\.{3})/.test(text.slice(end, end + 3));
      // It may be behind a path or a name, so any of its first characters may be where it begins.
      const all = [0, 1, 2, 3].map((skipped) =>
        Buffer.from(base64.slice(skipped), "base64").toString("latin1"),
      );
      const found = secrets.find(({ bytes }) =>
        bytes.some((sought) =>
          all.some((decoded) => decoded.includes(sought) || (isCut && beginningAtEnd(decoded, sought) > 0)),
        ),
      );
      return found ? [{ start: index, end, label: found.label }] : [];
    },
  );
}

function occurrences(text: string, sought: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + 1)) found.push(at);
  return found;
}

/** How many of the first characters of a secret a text ends with; 0 if too few to recognize it. */
function beginningAtEnd(text: string, secret: string): number {
  const beginning = secret.slice(0, leastLength);
  let at = text.indexOf(beginning, text.length - secret.length);
  while (at >= 0 && !secret.startsWith(text.slice(at))) at = text.indexOf(beginning, at + 1);
  return at >= 0 ? text.length - at : 0;
}

function spanIn({ starts, ends }: Decoded, from: number, to: number, label: string): Span {
  return { start: starts[from] ?? 0, end: ends[to - 1] ?? 0, label };
}

/** Parts that overlap become one, so that nothing is left of a secret that another one is part of. */
function replaced(text: string, spans: readonly Span[]): string {
  let result = "";
  let end = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.start >= end) result += text.slice(end, span.start) + span.label;
    end = Math.max(end, span.end);
  }
  return result + text.slice(end);
}

/** What all forms of a string have in common: every escape decoded, no backslash, one space for any white space or `+`. */
function plainForm(value: string): string {
  return decode(undecoded(value)).text;
}

const escapes = new RegExp(
  [
    String.raw`\\+u([0-9a-f]{4})`,
    String.raw`\\+[bfnrt]`,
    String.raw`\\+`,
    // A character in UTF-8, else a byte.
    "%[c-d][0-9a-f]%[89ab][0-9a-f]",
    "%e[0-9a-f](?:%[89ab][0-9a-f]){2}",
    "%f[0-7](?:%[89ab][0-9a-f]){3}",
    "%[0-9a-f]{2}",
    String.raw`&(?:#\d+|#x[0-9a-f]+|[a-z][a-z0-9]*);`,
    String.raw`[\s\p{Cc}+]+`,
  ].join("|"),
  "giu",
);

function undecoded(text: string): Decoded {
  const starts = Array.from({ length: text.length }, (_, index) => index);
  return { text, starts, ends: starts.map((index) => index + 1) };
}

/** Decodes what is encoded, and what is encoded in that, until nothing is left. */
function decode(source: Decoded): Decoded {
  let decoded = source;
  for (let pass = 0; pass < maxPasses; pass++) {
    const next = decodeOnce(decoded);
    if (next.text === decoded.text) break;
    decoded = next;
  }
  return decoded;
}

function decodeOnce({ text, starts, ends }: Decoded): Decoded {
  const parts: string[] = [];
  const newStarts: number[] = [];
  const newEnds: number[] = [];
  let done = 0;
  const copy = (to: number): void => {
    parts.push(text.slice(done, to));
    for (; done < to; done++) {
      newStarts.push(starts[done] ?? 0);
      newEnds.push(ends[done] ?? 0);
    }
  };
  for (const { 0: escape, 1: hex, index } of text.matchAll(escapes)) {
    copy(index);
    done = index + escape.length;
    const meaning = meaningOf(escape, hex);
    parts.push(meaning);
    newStarts.push(...Array<number>(meaning.length).fill(starts[index] ?? 0));
    newEnds.push(...Array<number>(meaning.length).fill(ends[done - 1] ?? 0));
  }
  copy(text.length);
  return { text: parts.join(""), starts: newStarts, ends: newEnds };
}

function meaningOf(escape: string, hex: string | undefined): string {
  if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
  if (escape.startsWith("\\")) return /\w$/.test(escape) ? " " : "";
  if (escape.startsWith("&")) return decodeHTMLStrict(escape);
  if (!escape.startsWith("%")) return " ";
  const bytes = Buffer.from(escape.replaceAll("%", ""), "hex");
  return bytes.toString(bytes.length === 1 ? "latin1" : "utf8");
}
