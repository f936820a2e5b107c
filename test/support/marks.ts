// How Pulumi marks values. Not imported from the provider, so that no test repeats a mistake of its.

/** The value that stands for one that is not known yet. */
export const engineUnknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The property that tells a marked value from a plain one. */
export const sigKey = "4dabf18193072939515e22adb298388d";

/** What marks a secret. */
export const secretMark = { [sigKey]: "1b47061264138c4ac30d75fd1eb44270" };

/** A value that is marked as secret. */
export const secret = (value: unknown) => ({ ...secretMark, value });

export const isMarked = (value: unknown): value is { readonly value: unknown } =>
  typeof value === "object" && value !== null && sigKey in value;
