import type { ApiRecord } from "../api/record";
import { message, messageOf, NotFoundError, quoteId, UptimeError } from "../api/errors";
import type { Value } from "../common/values";
import type { Definition } from "../definitions/field";
import { fieldOf, managedKeys } from "../definitions/keys";
import { shownValue, managedValue, wantedValues } from "./difference";
import { assertGone } from "./gone";
import { outputsOf, partialOutputsOf } from "./outputs";
import { pathsInclude } from "./paths";
import type { OperationScope } from "./record-scope";
import { PartialFailureError, type Inputs, type Outputs, type OperationResult } from "./resource";
import { unconfirmedIdAdvice, assertSameRecord, mustCompareFirst } from "./same-record";
import { assertSameAddress } from "./state-account";
import { NotStoredError, sendUpdate } from "./write";

/** Sends all managed fields, and makes sure that they are stored. */
export async function update(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
  inputs: Inputs,
): Promise<OperationResult> {
  const { claims, collection, definition, operation, options } = scope;
  assertSameAddress(scope, outputs);
  claims.hear(id, outputs, options.owner);
  claims.assertNotVoid(id, outputs);
  const ignored = managedKeys(definition, inputs.values).filter((key) =>
    pathsInclude(options.ignoreChanges, key),
  );
  const { claim, tookExisting } = outputs;
  try {
    const isReset = ignored.some((key) => fieldOf(definition, key).resetByUpdate);
    const mustRead = isReset || mustCompareFirst(scope, outputs);
    const current = mustRead ? await collection.get(id, operation) : undefined;
    if (current) assertSameRecord(scope, outputs, current, inputs);
    const wanted = wantedOnUpdate(definition, inputs, ignored, current);
    const record = await sendUpdate(scope, { id, claim }, wanted);
    return { id, outputs: outputsOf(scope, inputs, record, { claim, tookExisting }) };
  } catch (error) {
    const reason = error instanceof NotFoundError ? await explainNotFound(scope, id, outputs, error) : error;
    // If the record is gone for certain, nothing was updated.
    const hasFailedHalfway = reason instanceof NotStoredError || operation.mayHaveEffect;
    if (reason instanceof GoneError || !hasFailedHalfway) throw reason;
    throw partialFailure(scope, id, outputs, inputs, reason);
  }
}

/** The record of an update does not exist for certain. */
class GoneError extends UptimeError {}

/** The error of an update that was answered with 404, which may also be about something else, such as a missing channel. */
async function explainNotFound(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
  missing: NotFoundError,
): Promise<unknown> {
  const { label, singular } = scope.definition;
  const wayOut = outputs.isIdUnconfirmed
    ? unconfirmedIdAdvice(scope, id)
    : [
        `Run \`pulumi up --refresh --run-program\`: it removes the ${singular} from state and creates it again.`,
      ];
  try {
    if (await scope.collection.find(id, scope.operation)) return missing;
    await assertGone(scope, id, outputs, missing);
  } catch (unsure) {
    return unsure;
  }
  return new GoneError(message`${label} ${quoteId(id)} does not exist (${missing}). ${wayOut}`, {
    cause: missing,
  });
}

/** The failure of an update that has changed the record, or may have. */
function partialFailure(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
  declared: Inputs,
  error: unknown,
): PartialFailureError {
  const { definition } = scope;
  const kept = { claim: outputs.claim, tookExisting: outputs.tookExisting };
  if (error instanceof NotStoredError)
    return new PartialFailureError(
      id,
      partialOutputsOf(scope, declared, error.record, kept),
      message`The ${definition.label} ${quoteId(id)} was updated, but ${error}`,
      { cause: error },
    );
  // State keeps the previous values; it is not known whether the record still has them.
  const values = Object.fromEntries(
    managedKeys(definition, declared.values).map((key) => [key, managedValue(outputs.values, key)]),
  );
  return new PartialFailureError(
    id,
    partialOutputsOf(scope, { ...declared, values }, { id, raw: {} }, kept),
    message`${messageOf(error)}. The ${definition.singular} may have been updated: the next \`pulumi up\`
      sends the update again.`,
    { cause: error },
  );
}

/** All managed values but the ignored ones. An ignored field that an update would reset is sent as the record has it now. */
function wantedOnUpdate(
  definition: Definition,
  { values }: Inputs,
  ignored: readonly string[],
  current: ApiRecord | undefined,
): Map<string, Value> {
  const wanted = wantedValues(definition, values, (key) => !ignored.includes(key));
  for (const key of ignored) {
    const field = fieldOf(definition, key);
    const value = field.resetByUpdate && current ? shownValue(field, current) : undefined;
    if (value !== undefined) wanted.set(key, value ?? field.default ?? null);
  }
  return wanted;
}
