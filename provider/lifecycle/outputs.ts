import type { ApiRecord } from "../api/record";
import { message, UptimeError } from "../api/errors";
import { inDeclaredOrder } from "../definitions/codecs";
import { shownNames, type Definition } from "../definitions/field";
import { fieldOf, managedKeys } from "../definitions/keys";
import type { Value } from "../common/values";
import { compare, shownValue, managedValue } from "./difference";
import type { RecordScope } from "./record-scope";
import type { Inputs, Outputs } from "./resource";

interface OutputOptions extends Pick<Outputs, "claim" | "isPartial" | "isIdUnconfirmed" | "tookExisting"> {
  /** The attributes in state, to keep them; by default they are the record's. */
  readonly attributes?: Outputs["attributes"] | undefined;
  /** Whether to throw if a value cannot be read; by default the declared one is kept. */
  readonly isStrict?: boolean;
}

/**
 * Outputs for state. A managed property keeps the declared value if the record shows an equal value or none. Otherwise it gets the
 * record's value.
 */
export function outputsOf(
  scope: RecordScope,
  declared: Inputs | Outputs,
  record: ApiRecord,
  { attributes, isStrict, ...kept }: OutputOptions,
): Outputs {
  const { definition } = scope;
  const values: Record<string, Value> = {};
  for (const key of managedKeys(definition, declared.values)) {
    const field = fieldOf(definition, key);
    const wanted = managedValue(declared.values, key);
    const comparison = compare(field, wanted, record);
    if (comparison.outcome === "differs" && comparison.problem && isStrict)
      throw new UptimeError(message`${comparison.problem}.`);
    values[key] =
      comparison.outcome === "notShown" || comparison.value === undefined
        ? wanted
        : inDeclaredOrder(wanted, comparison.value);
  }
  return {
    values,
    attributes: attributes ?? attributesOf(definition, record, Object.keys(values)),
    account: declared.account,
    importId: declared.importId,
    addressHash: scope.address.hash,
    keyFingerprint: scope.keyFingerprint,
    ...kept,
  };
}

/** {@link partialOutputsOf} keeps no value of a record that is longer, because a server may show values of any size. */
const maxPartialCharacters = 4000;

/**
 * Outputs after an operation that failed half-way. They travel in an HTTP header, of which the engine takes 16 MiB, so they have no
 * attributes, and a long value is the declared one. The next read takes both from the record.
 */
export function partialOutputsOf(
  scope: RecordScope,
  declared: Inputs | Outputs,
  record: ApiRecord,
  options: Pick<OutputOptions, "claim" | "isIdUnconfirmed" | "tookExisting">,
): Outputs {
  const outputs = outputsOf(scope, declared, record, { ...options, attributes: {}, isPartial: true });
  const isLong = (value: Value): boolean => JSON.stringify(value).length > maxPartialCharacters;
  const values = Object.entries(outputs.values).map(([key, value]) => [
    key,
    isLong(value) ? managedValue(declared.values, key) : value,
  ]);
  return { ...outputs, values: Object.fromEntries(values) as Record<string, Value> };
}

/**
 * Outputs of a record that is only read, with all fields. A server may show a write-only field in encrypted form.
 *
 * @param unescape whether to decode HTML entities in strings
 */
export function outputsOfRecord(
  { definition, address, keyFingerprint }: RecordScope,
  record: ApiRecord,
  account: string | undefined,
  unescape: boolean,
): Outputs {
  const fields = Object.entries(definition.fields);
  const values = Object.fromEntries(
    fields.map(([key, field]) => [
      key,
      field.writeOnly ? null : (shownValue(field, record, unescape) ?? null),
    ]),
  );
  const attributes = attributesOf(definition, record, Object.keys(definition.fields));
  return { values, attributes, account, addressHash: address.hash, keyFingerprint, isReadOnly: true };
}

/**
 * Everything that a record shows and that is not managed, unchanged. Secret fields are included even if they are managed,
 * because the front needs them to find their values elsewhere; it removes them. Nulls are left out to keep state small: they
 * mean the same as an absent field.
 */
export function attributesOf(
  definition: Definition,
  record: ApiRecord,
  managed: readonly string[],
): Record<string, unknown> {
  const omitted = new Set<string>();
  for (const [key, field] of Object.entries(definition.fields))
    if (!field.secret && managed.includes(key)) for (const name of shownNames(field)) omitted.add(name);
  return Object.fromEntries(
    Object.entries(record.raw).filter(([name, value]) => value !== null && !omitted.has(name)),
  );
}
