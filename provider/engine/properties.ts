import type { Definition, Field, FieldType } from "../definitions/field";
import { asSecret, specialSigKey, engineUnknown, isEngineUnknown, unwrapSecrets } from "../common/marks";
import type { Properties } from "../common/marks";
import { hiddenNames, type HiddenOptions } from "../common/pulumi";
import { mapLeaves, isEmpty, isObject, hasUnknown, notYetKnown, type Value } from "../common/values";
import type { Declaration } from "../lifecycle/check";
import { ownerOf } from "../lifecycle/owners";
import type { Claim, Inputs, RequestOptions, Outputs } from "../lifecycle/resource";

// The engine sends thousands of requests, so values are checked without a schema library, and what does not change is not copied.

const isText = (value: unknown): value is string => typeof value === "string";
const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** A value if it has the right type. State may be of another version, or edited, so any other value counts as missing. */
const ifValid = <T>(value: unknown, isRight: (value: unknown) => value is T): T | undefined =>
  isRight(value) ? value : undefined;

/** Whether a value fits a type of field. Values of all other types are strings. */
const isValueOfType: Partial<Record<FieldType, (value: unknown) => boolean>> = {
  integer: isNumber,
  boolean: isFlag,
  idList: (value) => Array.isArray(value) && value.every((id) => isText(id) || isNumber(id)),
  headerList: (value) =>
    Array.isArray(value) &&
    value.every((header) => isObject(header) && isText(header.key) && isText(header.value)),
};

/** The hidden options of the program's class, of any types. */
function optionsIn({ [hiddenNames.options]: options }: Properties): {
  [Name in keyof HiddenOptions]?: unknown;
} {
  return isObject(options) ? options : {};
}

/** A program's declaration, with the options that travel beside it. */
export function decodeDeclaration(
  definition: Definition,
  oldInputs: Properties,
  news: Properties,
): Declaration {
  const { account, importId, ...declared } = decodeDeclared(news);
  const inState = decodeInputs(definition, oldInputs);
  const old = Object.keys(oldInputs).length > 0 ? inState : undefined;
  return { declared, account, importId, old, acceptedValues: inState.values, options: decodeOptions(news) };
}

export function decodeDeclared(properties: Properties): Record<string, unknown> {
  return mapLeaves(withoutHidden(properties), (leaf) => (isEngineUnknown(leaf) ? notYetKnown : leaf));
}

/** Decodes inputs that were checked. They may be those in state. */
export function decodeInputs({ fields }: Definition, properties: Properties): Inputs {
  const { account, importId, ...given } = decodeDeclared(properties);
  const isRight = (key: string, value: unknown): boolean => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return !field || hasUnknown(value) || isValueOf(field, value);
  };
  const values = Object.fromEntries(Object.entries(given).filter(([key, value]) => isRight(key, value)));
  return {
    values,
    account: ifValid(account, isText),
    importId: ifValid(importId, isText),
  };
}

export function encodeInputs({ values, account, importId }: Inputs, optionsSource: Properties): Properties {
  return {
    ...mapLeaves(values, (leaf) => (leaf === notYetKnown ? engineUnknown : leaf)),
    ...(account !== undefined && { account }),
    ...(importId !== undefined && { importId }),
    ...encodeOptions(optionsSource),
  };
}

/** State has a hash of the URN suffix instead of the suffix, to stay small. */
function encodeOptions(from: Properties): Properties {
  const options = from[hiddenNames.options];
  const urnSuffix = urnSuffixOrOwnerIn(from);
  if (!isObject(options) || urnSuffix === undefined) return pick(from, hiddenNames.options);
  return { [hiddenNames.options]: { ...options, owner: ownerOf(urnSuffix) } };
}

/** The URN suffix that the class passes or, in state, the owner that `check` has made of it. */
export function urnSuffixOrOwnerIn(properties: Properties): string | undefined {
  return ifValid(optionsIn(properties).owner, isText);
}

/** The inputs that the program has marked as secret: those that any of these properties of a resource name. */
export function secretInputNames(...properties: readonly Properties[]): readonly string[] {
  return [...new Set(properties.flatMap((one) => ifValid(optionsIn(one).secrets, areTexts) ?? []))];
}

/** Decodes a resource in state, or one that only reads and is not in state yet, which has no `attributes`. */
export function decodeOutputs(definition: Definition, properties: Properties): Outputs {
  const { attributes } = properties;
  const values: Record<string, Value> = {};
  for (const [key, field] of Object.entries(definition.fields)) {
    const value = properties[key];
    if (isValueOf(field, value)) values[key] = value;
  }
  return {
    values,
    // They may be large and are not declared, so their values are not checked.
    attributes: isObject(attributes) ? attributes : {},
    // An exported state has the marks of secrets.
    account: ifValid(unwrapSecrets(properties.account), isText),
    importId: ifValid(properties.importId, isText),
    addressHash: ifValid(properties[hiddenNames.addressHash], isText),
    keyFingerprint: ifValid(properties[hiddenNames.keyFingerprint], isText),
    // State of other versions has other texts as claims.
    claim: ifValid(properties[hiddenNames.claim], isText) as Claim | undefined,
    isPartial: ifValid(properties[hiddenNames.isPartial], isFlag),
    isIdUnconfirmed: ifValid(properties[hiddenNames.isIdUnconfirmed], isFlag),
    // An import took an existing record too, and its state has only the id.
    tookExisting: properties[hiddenNames.tookExisting] === true || isText(properties.importId),
    isReadOnly: ifValid(properties[hiddenNames.isReadOnly], isFlag),
  };
}

/** Options that the engine does not pass to a dynamic resource. The program's class puts them into a hidden input. */
export function decodeOptions(
  properties: Properties,
  operation?: keyof NonNullable<HiddenOptions["customTimeouts"]>,
): RequestOptions {
  const { customTimeouts, ignoreChanges, replaceOnChanges } = optionsIn(properties);
  const timeout = operation && isObject(customTimeouts) ? customTimeouts[operation] : undefined;
  const owner = urnSuffixOrOwnerIn(properties);
  return {
    ignoreChanges: ifValid(ignoreChanges, areTexts),
    replaceOnChanges: ifValid(replaceOnChanges, areTexts),
    timeout: isText(timeout) ? parseDuration(timeout) : undefined,
    owner: owner === undefined ? undefined : ownerOf(owner),
  };
}

/** Milliseconds of one unit of a duration. The units below a millisecond set no time. */
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

const durationPart = /(\d+\.?\d*|\.\d+)(ms|s|m|h)/g;

/**
 * A duration in Go's syntax, such as `90s` or `1h30m`, in milliseconds. Undefined if it is not positive, which the engine
 * treats as no duration; it has refused malformed ones.
 */
export function parseDuration(duration: string): number | undefined {
  let total = 0;
  for (const [, amount, unit = ""] of duration.matchAll(durationPart))
    total += Number(amount) * (units[unit] ?? 0);
  return total === 0 || duration.startsWith("-") ? undefined : total;
}

/**
 * Encodes outputs, without marking secrets.
 *
 * @param cleanAttributes removes secrets; not called for attributes that are in state already
 * @param optionsSource the resource's inputs or former outputs, whose hidden options are kept
 */
export function encodeOutputs(
  outputs: Outputs,
  cleanAttributes: (attributes: Outputs["attributes"]) => Properties,
  optionsSource: Properties,
): Properties {
  const { values, attributes, account, importId, addressHash, keyFingerprint, claim } = outputs;
  // What a refresh leaves as it is was cleaned when it was stored.
  const isStored = attributes === optionsSource.attributes;
  return {
    ...escapeEngineMarks(values),
    attributes: isStored ? attributes : escapeEngineMarks(cleanAttributes(attributes)),
    ...(account !== undefined && { account }),
    ...(importId !== undefined && { importId }),
    ...pick(optionsSource, hiddenNames.options),
    ...(addressHash !== undefined && { [hiddenNames.addressHash]: addressHash }),
    ...(keyFingerprint !== undefined && { [hiddenNames.keyFingerprint]: keyFingerprint }),
    ...(claim !== undefined && { [hiddenNames.claim]: claim }),
    ...(outputs.isPartial && { [hiddenNames.isPartial]: true }),
    ...(outputs.isIdUnconfirmed && { [hiddenNames.isIdUnconfirmed]: true }),
    ...(outputs.tookExisting && importId === undefined && { [hiddenNames.tookExisting]: true }),
    ...(outputs.isReadOnly && { [hiddenNames.isReadOnly]: true }),
  };
}

/**
 * Marks secrets, because the engine encrypts only what is marked.
 *
 * @param marked what the program has marked: see {@link secretInputNames}
 */
export function markSecrets(
  { fields }: Definition,
  properties: Properties,
  marked: readonly string[],
): Properties {
  // The engine marks these outputs itself, also empty ones. A mark that we leave out would be printed as a change in a refresh.
  const mayBeEmpty = isInState(properties);
  const isSecret = (key: string, value: unknown): boolean =>
    (fields[key]?.secret === true && (mayBeEmpty || !isEmpty(value))) ||
    (marked.includes(key) && value !== undefined && value !== null);
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, isSecret(key, value) ? asSecret(value) : value]),
  );
}

/** Whether a field can have a value, which may be marked as secret. */
function isValueOf({ type }: Field, value: unknown): value is Value {
  const plain = unwrapSecrets(value);
  return plain === null || (isValueOfType[type] ?? isText)(plain);
}

export function isInState(properties: Properties): boolean {
  // Outputs always have attributes, and inputs never.
  return "attributes" in properties;
}

export function isManaged(properties: Properties): boolean {
  return isInState(properties) && properties[hiddenNames.isReadOnly] !== true;
}

export function withoutHidden(properties: Properties): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !key.startsWith("__")));
}

/** The properties of these names, without those that are undefined. */
export function pick(properties: Properties, ...keys: readonly string[]): Properties {
  return Object.fromEntries(
    keys.flatMap((key) => (properties[key] === undefined ? [] : [[key, properties[key]]])),
  );
}

/** Replaces what the engine would take for one of its own marks, which would fail the operation. */
export function escapeEngineMarks(properties: Properties): Properties {
  return mapLeaves(
    properties,
    (leaf) => (isEngineUnknown(leaf) ? "[unknown]" : leaf),
    (name) => (name === specialSigKey ? `${name}_` : name),
  );
}
