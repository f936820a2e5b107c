import { message, MissingError, NotStoredError, unfinished, UptimeError } from "../api/errors";
import { PartialFailureError } from "./resource";
import type { ApiRecord } from "../api/answer";
import { Operation } from "../api/operation";
import type { Account } from "./account";
import { fieldOf, managedIn, valueIn, wantedIn } from "./difference";
import { assertAgrees, assertSameServer, isAccountOfState, noteState } from "./gone";
import { outputsOf } from "./outputs";
import { pathsInclude } from "./paths";
import { assertSameRecord } from "./read";
import type { Inputs, Options, Outputs, State } from "./resource";
import { sendUpdate } from "./write";

/** Sends all managed fields, and makes sure that they are stored. */
export async function update(
  account: Account,
  id: string,
  outputs: Outputs,
  inputs: Inputs,
  options: Options,
): Promise<State> {
  const { definition, reader } = account;
  const { label } = definition;
  const operation = new Operation({ ...options, clock: account.clock });
  assertSameServer(account, outputs, options);
  noteState(account, id, outputs);
  const ignored = managedIn(definition, inputs.values).filter((key) =>
    pathsInclude(options.ignoreChanges, key),
  );
  // What the resource was imported as is known by its state from then on.
  const { claim, importId = inputs.importId } = outputs;
  const after = { ...inputs, importId };
  try {
    const mustRead = isIdentified(account) || !isAccountOfState(account, outputs) || ignored.length > 0;
    const current = mustRead ? await reader.show(id, operation) : undefined;
    if (current) assertOwnRecord(account, outputs, current);
    const wanted = wantedIn(
      definition,
      inputs.values,
      (key, field) => !ignored.includes(key) && field.replace !== true,
    );
    for (const key of ignored) {
      const field = fieldOf(definition, key);
      const value = field.resetByUpdate && current ? valueIn(field, current) : undefined;
      if (value !== undefined) wanted.set(key, value);
    }
    const settled = await sendUpdate(account, id, wanted, operation);
    return { id, outputs: outputsOf(account, after, settled, { claim }) };
  } catch (error) {
    if (error instanceof MissingError)
      throw new UptimeError(
        message`${label} ${id} does not exist (${unfinished(error)}). Run \`pulumi up --refresh --run-program\`: it removes the ${label} from state and creates it again.`,
        { cause: error },
      );
    if (error instanceof NotStoredError)
      throw new PartialFailureError(
        id,
        outputsOf(account, after, error.record, { claim, isPartial: true }),
        message`The ${label} ${id} was updated, but ${error}`,
        { cause: error },
      );
    throw error;
  }
}

/** Whether a field identifies the record, so that one with another value is another record. */
export function isIdentified({ definition }: Account): boolean {
  return Object.values(definition.fields).some((field) => field.replace);
}

/** Throws if a record is not the one that state means. */
export function assertOwnRecord(account: Account, outputs: Outputs, record: ApiRecord): void {
  assertAgrees(account, outputs, record);
  assertSameRecord(account, outputs, record);
}
