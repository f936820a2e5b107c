// How Pulumi marks values. Not imported from the provider, so that no test repeats a mistake of its.

/** The value that stands for one that is not known yet. */
export const engineUnknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** All such values: of any type, and of a boolean, a number, a list, an asset, an archive and an object. */
export const engineUnknowns: readonly unknown[] = [
  engineUnknown,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];

/** The property that tells a marked value from a plain one. */
export const sigKey = "4dabf18193072939515e22adb298388d";

/** What marks a secret. */
export const secretMark = { [sigKey]: "1b47061264138c4ac30d75fd1eb44270" };

/** A value that is marked as secret. */
export const secret = (value: unknown) => ({ ...secretMark, value });

export const isMarked = (value: unknown): value is { readonly value: unknown } =>
  typeof value === "object" && value !== null && sigKey in value;
