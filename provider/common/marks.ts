import { isObject, tryParseJson } from "./values";

// The engine's marks for special values, such as secrets, in all properties.

/** Inputs or outputs of a resource, as the engine keeps them. */
export type Properties = Readonly<Record<string, unknown>>;

/** A value of any type that is not known yet. */
export const engineUnknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** A value that is not known yet, of any type or of one: a boolean, a number, a list, an asset, an archive, an object. */
const engineUnknowns: readonly string[] = [
  engineUnknown,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];
export const isEngineUnknown = (value: unknown): boolean => engineUnknowns.some((mark) => mark === value);

/** Whether a value, or a part of it, is not known yet, also in JSON text, in which Pulumi's SDKs for C# and Java send settings. */
export function hasEngineUnknown(value: unknown): boolean {
  const json = JSON.stringify([value]);
  return engineUnknowns.some((mark) => json.includes(mark));
}

/** The key that marks a special value, such as a secret or an asset. */
export const specialSigKey = "4dabf18193072939515e22adb298388d";

/** The value of {@link specialSigKey} in a secret. The secret also has its `value`; in state, its `plaintext` (JSON) or `ciphertext`. */
const specialSecretSig = "1b47061264138c4ac30d75fd1eb44270";

export function asSecret(value: unknown): Record<string, unknown> {
  return { [specialSigKey]: specialSecretSig, value };
}

export function isSecret(
  value: unknown,
): value is { readonly plaintext?: unknown; readonly value?: unknown } {
  return isObject(value) && value[specialSigKey] === specialSecretSig;
}

/** Whether a value is secret, or has a secret in it at any depth. */
export function hasSecret(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isSecret(value) || Object.values(value).some(hasSecret);
}

/** Replaces secrets by their plain values, at any depth. Undefined if one is encrypted. */
export function unwrapSecrets(value: unknown): unknown {
  if (isSecret(value)) {
    if (typeof value.plaintext === "string") return tryParseJson(value.plaintext);
    return "ciphertext" in value ? undefined : unwrapSecrets(value.value);
  }
  if (Array.isArray(value)) {
    const entries = value.map(unwrapSecrets);
    return entries.includes(undefined) ? undefined : entries;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, entry]) => [key, unwrapSecrets(entry)] as const);
  return entries.some(([, entry]) => entry === undefined) ? undefined : Object.fromEntries(entries);
}
