import { message, quoteId, UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { equal } from "../definitions/field-types";
import { fieldOf, fixedKeys, identityKeys, managedKeys } from "../definitions/keys";
import { isUnknown } from "../definitions/unknown";
import { sharedClaim, claimOf, unknownOwner } from "./claims";
import { describeOwner } from "./describe";
import { valueOf } from "./difference";
import { rememberState } from "./evidence";
import { pathsInclude, pathsTouch } from "./paths";
import type { RecordScope } from "./record-scope";
import type { Claim, Inputs, EngineOptions, Outputs } from "./resource";
import { assertSameServer } from "./same-record";

export interface Changes {
  /** Properties; "account" and "importId" may be among them. */
  readonly changed: readonly string[];
  /** Those that only a replacement can change. */
  readonly replaces: readonly string[];
  /**
   * Whether the old record must be deleted before a replacement is created, which would find it, or be refused because of it.
   * This is set even if nothing here replaces: the engine may have other reasons, such as `replaceOnChanges`, which the
   * plugin is not told.
   */
  readonly isInTheWay: boolean;
}

/**
 * Compares the declared inputs with state, and notes in the ledger that the resource owns the record. Throws if another
 * resource owns it too, or if state was made at another address.
 */
export function diff(
  scope: RecordScope,
  id: string,
  outputs: Outputs,
  inputs: Inputs,
  options: EngineOptions,
): Changes {
  assertSameServer(scope, outputs, options);
  const { definition, ledger, note } = scope;
  const { ignoreChanges, isDeclared = true, owner, replaceOnChanges } = options;
  // The engine replaces ignored inputs by the old ones, but the outputs may hold what was set by hand since then.
  const differing = changedKeys(definition, outputs, inputs);
  const changed = differing.filter((key) => !pathsInclude(ignoreChanges, key));
  const moved = [
    ...(inputs.account === outputs.account ? [] : ["account"]),
    ...(isImportDone(id, outputs, inputs) ? [] : ["importId"]),
  ];
  const fixed = fixedKeys(definition);
  const replaces = [
    ...changed.filter((key) => fixed.includes(key) || pathsTouch(replaceOnChanges, key)),
    ...moved,
  ];
  const isReplaced = replaces.length > 0;
  rememberState(scope, id, outputs);
  if (inputs.importId !== undefined && isImportDone(id, outputs, inputs))
    ledger.add(inputs.importId, { is: "imported before", owner });
  const claim = claimOf(outputs, options);
  if (isReplaced) ledger.add(id, { is: "replaced", claim, owner });
  else ledger.add(id, { is: "owned", claim, owner, isDeclared });
  if (!isReplaced && isDeclared) {
    note.addOwned(id, sharedClaim(outputs));
    assertOnlyOwner(scope, id, claim, owner);
  }
  const isInTheWay =
    inputs.account === outputs.account &&
    (inputs.importId === id || keepsIdentity(scope, (key) => !differing.includes(key)));
  return { changed: [...changed, ...moved], replaces, isInTheWay };
}

/** Whether the replacement would adopt the old record, which has the same name, or be refused as its duplicate. */
function keepsIdentity({ definition, settings }: RecordScope, stays: (key: string) => boolean): boolean {
  const keys = settings.adoptExisting ? identityKeys(definition) : fixedKeys(definition);
  return keys.length > 0 && keys.every(stays);
}

/** The managed properties of outputs that differ from inputs. */
export function changedKeys(definition: Definition, { values: old }: Outputs, { values }: Inputs): string[] {
  return managedKeys(definition, values).filter(
    (key) =>
      !(key in old) ||
      isUnknown(values[key]) ||
      !equal(fieldOf(definition, key), valueOf(values, key), valueOf(old, key)),
  );
}

function isImportDone(id: string, outputs: Outputs, { account, importId }: Inputs): boolean {
  if (importId === undefined) return true;
  // In another account the same id is another record.
  if (account !== outputs.account) return true;
  return importId === id || importId === outputs.importId;
}

/** Throws if another resource of the program owns the record too. */
function assertOnlyOwner(
  { definition, ledger, note }: RecordScope,
  id: string,
  claim: Claim,
  owner: string | undefined,
): void {
  const other =
    ledger.otherOwner(id, { claim, owner }, { importers: true }) ??
    (note.isOwnedElsewhere(id) ? unknownOwner : undefined);
  if (other === undefined) return;
  throw new UptimeError(
    message`${definition.label} ${quoteId(id)} belongs to ${owner ?? "this resource"}, and ${describeOwner(other)} has it too:
      one of them has adopted or imported what the other one manages. Remove one of the two from the program.`,
  );
}
