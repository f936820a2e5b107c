import { message, quoteValue, UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { equalValues, inDeclaredOrder, misplacedHeaders } from "../definitions/codecs";
import { fieldOf, fixedKeys, identityKeys, managedKeys } from "../definitions/keys";
import { hasUnknown } from "../common/values";
import { managedValue } from "./difference";
import { pathsInclude, pathsTouch } from "./paths";
import type { OperationScope, RecordScope } from "./record-scope";
import type { Inputs, Outputs } from "./resource";
import { assertSameAddress } from "./state-account";

export interface Changes {
  /** Properties; "account" and "importId" may be among them. */
  readonly changed: readonly string[];
  /** Properties that only a replacement can change. */
  readonly replaces: readonly string[];
  /**
   * Whether a replacement must delete the old record first. Otherwise its create would adopt that record, or be refused because its name is
   * taken: a monitor with `uptime:adoptExisting` that keeps its name and URL, for example. It is set even if `replaces` is empty, because
   * the engine may replace for reasons that it does not tell the plugin, such as `replaceOnChanges`.
   */
  readonly deleteBeforeReplace: boolean;
}

/**
 * Compares the declared inputs with state. Throws if state was made at another address.
 *
 * @param isMoved whether the declared account differs from that of state, and not only in its name
 */
export function diff(
  scope: OperationScope,
  id: string,
  outputs: Outputs,
  inputs: Inputs,
  isMoved: boolean,
): Changes {
  assertSameAddress(scope, outputs);
  const { definition } = scope;
  const { ignoreChanges, replaceOnChanges } = scope.options;
  // The engine replaces ignored inputs by the old ones, but the outputs may hold what was set by hand since then.
  const differing = changedKeys(definition, outputs, inputs);
  const changed = differing.filter((key) => !pathsInclude(ignoreChanges, key));
  const isImportDone = [undefined, id, outputs.importId].includes(inputs.importId);
  const replacing = [...(isMoved ? ["account"] : []), ...(isImportDone ? [] : ["importId"])];
  const renamedAccount = !isMoved && inputs.account !== outputs.account ? ["account"] : [];
  const isFixed = (key: string): boolean => {
    const [before, declared] = [managedValue(outputs.values, key), managedValue(inputs.values, key)];
    // A new order alone is no update, so state may have an older one than the program.
    const ordered = hasUnknown(declared) ? before : inDeclaredOrder(declared, before);
    return fixedKeys(definition).includes(key) || pathsTouch(replaceOnChanges, key, ordered, declared);
  };
  // An import must not be replaced, so a value that is not known yet does not count: the engine leaves out the values of dependencies
  // that it is about to replace.
  const isImport = inputs.importId !== undefined;
  return {
    changed: [...changed, ...renamedAccount, ...replacing],
    replaces: [
      ...changed.filter((key) => isFixed(key) && !(isImport && hasUnknown(inputs.values[key]))),
      ...replacing,
    ],
    deleteBeforeReplace: !isMoved && keepsIdentity(scope, differing),
  };
}

/** Throws if a resource that the program imports would be replaced: the replacement would import the record again. */
export function assertImportStays(
  { definition, options, owners }: OperationScope,
  { importId }: Inputs,
  { replaces }: Changes,
): void {
  const { owner } = options;
  const [key] = replaces;
  if (importId === undefined || key === undefined || !owners.isDeclared(owner)) return;
  throw new UptimeError(
    `${definition.label} ${owners.resourceName(owner)} has the option import, and ${key === "importId" ? "another record" : `its change of ${key}`} would replace it. Remove the option import first.`,
  );
}

/**
 * Throws if an ignored value would be sent under the name of another header. Pulumi takes an ignored part from the same place of the list
 * in state: if somebody has deleted the first of two headers, `requestHeaders[0].value` would give the first one the value of the second.
 */
export function assertIgnoredValuesStay(
  { definition, options, owners }: OperationScope,
  outputs: Outputs,
  inputs: Inputs,
  { changed, replaces }: Changes,
): void {
  const { ignoreChanges, owner } = options;
  // To a replacement Pulumi sends the program's own values.
  if (replaces.length > 0 || !owners.isDeclared(owner)) return;
  for (const key of changed) {
    if (hasUnknown(inputs.values[key])) continue;
    const misplaced = misplacedHeaders(managedValue(outputs.values, key), managedValue(inputs.values, key));
    const found = misplaced.find(({ place, former, present }) =>
      pathsTouch(ignoreChanges, key, { [place]: { value: former } }, { [place]: { value: present } }),
    );
    if (found)
      throw new UptimeError(
        message`${definition.label} ${owners.resourceName(owner)}: ${key}[${found.place}] is ${quoteValue(found.former)} in state
          and ${quoteValue(found.present)} in the program, so ignoreChanges would give
          ${quoteValue(found.present)} the value of ${quoteValue(found.former)}. Keep the headers in ignored places in the order of
          state, or take the part out of ignoreChanges.`,
      );
  }
}

/** Whether the replacement would adopt the old record, which has the same name, or be refused as its duplicate. */
function keepsIdentity({ definition, settings }: RecordScope, differing: readonly string[]): boolean {
  const keys = settings.adoptExisting ? identityKeys(definition) : fixedKeys(definition);
  return keys.length > 0 && !keys.some((key) => differing.includes(key));
}

/** The managed properties of outputs that differ from inputs. */
export function changedKeys(definition: Definition, { values: old }: Outputs, { values }: Inputs): string[] {
  return managedKeys(definition, values).filter((key) => {
    if (!(key in old) || hasUnknown(values[key])) return true;
    const [declared, before] = [managedValue(values, key), managedValue(old, key)];
    // In a record, 0 days and no days are equal, because the API may store either. If the program changes one to the other, the
    // update is sent.
    return (declared === 0) !== (before === 0) || !equalValues(fieldOf(definition, key), declared, before);
  });
}
