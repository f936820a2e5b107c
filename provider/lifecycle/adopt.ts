import { isRecordOf, type ApiRecord } from "../api/answer";
import { joinMessages, message, UptimeError, type Message } from "../api/errors";
import type { Operation } from "../api/operation";
import { fieldOf, identityKeys } from "../definitions/keys";
import { comparableName, type Baseline } from "./baseline";
import { newClaim } from "./claims";
import { describeRecord, quoteValue } from "./describe";
import { compare, differences, type Difference, type WantedValues } from "./difference";
import type { CreatedRecord } from "./pending-creates";
import type { RecordScope } from "./record-scope";
import type { Claim } from "./resource";

/** A record with the declared name, and the fields in which it differs. */
interface Namesake {
  readonly record: ApiRecord;
  readonly differing: readonly Difference[];
}

/** A record that a resource has adopted. */
interface AdoptedRecord extends CreatedRecord {
  readonly record: ApiRecord;
  readonly claim: Claim;
}

/**
 * Adopts the one record that has the same name (a monitor: and URL), has no owner, and is equal in every field that
 * a create sends and the record shows. Undefined if there is no record of that name. Throws if there are some and none is
 * equal, or several are.
 */
export async function adopt(
  scope: RecordScope,
  wanted: WantedValues,
  baseline: Baseline,
  owner: string | undefined,
  operation: Operation,
): Promise<AdoptedRecord | undefined> {
  const { definition, ledger, note } = scope;
  const isFree = (record: ApiRecord): boolean =>
    ledger.standing(record.id) === "free" &&
    !note.isOwnedElsewhere(record.id) &&
    !note.isReservedElsewhere(record.id, record);
  const found = await namesakesOf(scope, wanted, baseline, operation, isFree);
  // Another create may have adopted one while the records were read.
  const free = found.filter(({ record }) => isFree(record));
  const { chosen, equal } = chooseNamesake(free, (one) => one.differing.length === 0);
  if (chosen) {
    const { record } = chosen;
    const claim = newClaim(owner);
    note.reserve(record);
    ledger.add(record.id, { is: "taken", claim });
    return { id: record.id, record, claim };
  }
  if (free.length === 0) return undefined;
  const { plural, singular } = definition;
  const same = identityKeys(definition).join(" and ");
  const others = free.map(
    (one) =>
      message`${definition.singular} ${describeRecord(definition, one.record)} ${describeDifferences(one)}`,
  );
  const reason =
    equal.length > 1
      ? message`several ${plural} are equal to what is declared (${joinMessages(
          equal.map(({ record }) => describeRecord(definition, record, [])),
          ", ",
        )}), so it is not known which one to adopt`
      : message`none with the same ${same} is equal: ${joinMessages(others, "; ")}`;
  throw new UptimeError(
    message`uptime:adoptExisting is set, and ${reason}. Nothing was created. Declare what is there, name the id with the option import, use another ${same}, or run once with uptime:adoptExisting set to false to create another ${singular}.`,
  );
}

/** Of the records that have no owner and that have the same name, the one to adopt: the only one that is equal. */
export function chooseNamesake<T>(
  free: readonly T[],
  isEqual: (namesake: T) => boolean,
): { readonly chosen: T | undefined; readonly equal: readonly T[] } {
  const equal = free.filter(isEqual);
  return { chosen: equal.length === 1 ? equal[0] : undefined, equal };
}

/** The records that were there before the first create of this process and have the same name (a monitor: and URL). */
export async function namesakesOf(
  { definition, reader, traits }: RecordScope,
  wanted: WantedValues,
  { byName }: Baseline,
  operation: Operation,
  isFree: (record: ApiRecord) => boolean = () => true,
): Promise<readonly Namesake[]> {
  const keys = identityKeys(definition);
  const identity = new Map(keys.map((key) => [key, wanted.get(key) ?? null]));
  const sharesAll = (record: ApiRecord): boolean =>
    [...identity].every(
      ([key, value]) => compare(fieldOf(definition, key), value, record).outcome === "same",
    );
  const found: Namesake[] = [];
  for (const listed of byName.get(comparableName(identity.get(keys[0] ?? ""))) ?? []) {
    if (!isFree(listed) || differences(definition, identity, listed).length > 0) continue;
    const record = traits.showsAll(listed) ? listed : await reader.readSingle(listed.id, operation);
    if (isRecordOf(definition, record) && sharesAll(record))
      found.push({ record, differing: differences(definition, wanted, record) });
  }
  return found;
}

function describeDifferences({ differing }: Namesake): Message {
  const parts = differing.map(({ key, field, wanted, actual, problem }) => {
    if (field.secret) return [`${key} differs`];
    if (problem !== undefined) return [`${key} cannot be compared`];
    return message`${key} is ${quoteValue(actual)} and would be ${JSON.stringify(wanted)}`;
  });
  return message`(${joinMessages(parts, ", ")})`;
}
