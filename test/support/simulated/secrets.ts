import { decodeHTML } from "entities";
import fc from "fast-check";

import { namesOf } from "../arbitraries";
import type { Properties } from "../calls";
import { echoes } from "../echoes";

const letters = Array.from("QXZJKVW");
const specials = Array.from("/|<>&\"'ü +%\\;#=😀é-");

/** Of any four characters in a row, two are from {@link letters}, so no part of it occurs in our own texts. */
export const secret: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(
      fc.tuple(fc.constantFrom(...letters), fc.constantFrom(...letters), fc.constantFrom(...specials, "")),
      { minLength: 2, maxLength: 5 },
    ),
    fc.constantFrom(...letters),
  )
  .map(([parts, last]) => parts.flat().join("") + last);

/** The secrets among declared values. */
export function secretsOf(args: Properties): string[] {
  const headers = (args.requestHeaders ?? []) as { value: string }[];
  const values = headers.map(({ value }) => value);
  return typeof args.requestAuthPassword === "string" ? [...values, args.requestAuthPassword] : values;
}

/** How the body of an error repeats what was sent. */
export const echo = fc.record({
  form: fc.constantFrom(...namesOf(echoes)),
  padding: fc.oneof(fc.constant<number>(0), fc.integer({ min: 180, max: 300 })),
  // The field of the JSON body that holds the text; empty: the text is the body.
  field: fc.constantFrom<string>("message", "error", "errors", "other", ""),
});
export type Echo = typeof echo extends fc.Arbitrary<infer One> ? Readonly<One> : never;

/** The body of an error that repeats secrets. */
export function repeated({ form, padding, field }: Echo, secrets: readonly string[]): string {
  const said = `${"x".repeat(padding)} ${secrets.map(echoes[form]).join(" ")}`;
  if (field === "") return said;
  // These forms are escaped for JSON already.
  const quoted = form.startsWith("in JSON") ? `"${said}"` : JSON.stringify(said);
  return field === "errors" ? `{"errors":{"name":[${quoted}]}}` : `{"${field}":${quoted}}`;
}

/** The texts in properties of a resource, apart from those that state encrypts. */
export function publicTexts({ requestHeaders: _, requestAuthPassword: __, ...rest }: Properties): string[] {
  return textsIn(rest);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => [key, ...textsIn(entry)]);
}

/** A part of a secret that can be read in a text, if there is one. */
export function leakIn(text: string, secrets: readonly string[]): string | undefined {
  const all = readings(text);
  return secrets
    .map((whole) => Array.from(whole))
    .flatMap((characters) => characters.slice(3).map((_, at) => characters.slice(at, at + 4).join("")))
    .find((part) => all.some((reading) => reading.includes(part)));
}

/** A text as it is, and as it reads when it is decoded in one of the usual ways. */
function readings(text: string): string[] {
  const fromJson = text.replace(/\\(?:u([\da-f]{4})|(.))/gi, (_, code?: string, one?: string) =>
    code === undefined ? (one ?? "") : String.fromCharCode(parseInt(code, 16)),
  );
  const fromUrl = text.replace(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
  const fromBase64 = (text.match(/[A-Za-z0-9+/_-]{6,}={0,2}/g) ?? []).map((run) =>
    Buffer.from(run, "base64").toString(),
  );
  return [text, decodeHTML(text), fromJson, fromUrl, fromUrl.replaceAll("+", " "), ...fromBase64];
}
