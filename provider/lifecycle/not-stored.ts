import type { ApiRecord } from "../api/answer";
import { message, quoteId, quoteValue, UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { fieldOf, fixedKeys, isConfidential } from "../definitions/keys";
import { hexHash } from "../common/hash";
import { fixedDifference, managedValue } from "./difference";
import type { RecordScope } from "./record-scope";
import type { RequestOptions, Inputs, Outputs } from "./resource";

/** The hash for {@link Outputs.notStoredHash}; undefined if the record shows what is declared, or nothing. */
export function hashOfNotStored(
  definition: Definition,
  declared: Inputs["values"],
  record: ApiRecord,
): string | undefined {
  const differing = fixedDifference(definition, declared, record);
  return differing && hashOfValue(differing.wanted);
}

/** Throws if the API would store a declared value differently again, as it did when the resource was created. */
export function assertReplacementHelps(
  { definition, owners }: RecordScope,
  id: string,
  { notStoredHash, values }: Outputs,
  inputs: Inputs,
  { owner }: RequestOptions,
): void {
  if (notStoredHash === undefined || !owners.isDeclared(owner)) return;
  const key = fixedKeys(definition).find((one) => hashOfValue(inputs.values[one]) === notStoredHash);
  if (key === undefined) return;
  const { label, singular } = definition;
  const stored = isConfidential(fieldOf(definition, key))
    ? ""
    : message` (${quoteValue(managedValue(values, key))})`;
  throw new UptimeError(
    message`The API has stored a ${key} that differs from the declared one for ${label} ${quoteId(id)}. Declare the ${key} that
      it has${stored}: a replacement would create another ${singular} like it.`,
  );
}

function hashOfValue(value: unknown): string {
  return hexHash(String(value), 8);
}
