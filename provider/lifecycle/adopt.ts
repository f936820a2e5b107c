import type { ApiRecord } from "../api/record";
import { joinMessages, message, quoteValue, UptimeError, type Message } from "../api/errors";
import { sourceOf } from "../api/settings";
import { hasUniqueName, identityKeys, nameKeyOf } from "../definitions/keys";
import { searchKeyOf, namelessKey, type Baseline } from "./baseline";
import { describeRecord, describeRecords } from "./describe";
import { differences, isSecretDifference, showsAll } from "./difference";
import type { Difference, WantedValues } from "./difference";
import type { ObtainedRecord, PlannedCreate } from "./run-creates";
import type { OperationScope, RecordScope } from "./record-scope";

/** No server cuts names to fewer characters, and shorter names often are the beginning of others: `m-1` and `m-10`. */
const minCutLength = 32;

/** No server cuts names to more characters. The limit saves memory, because a text has as many beginnings as characters. */
const maxCutLength = 1000;

/** A record with the declared name, and the fields in which it differs. */
interface Namesake {
  readonly record: ApiRecord;
  readonly differing: readonly Difference[];
}

/**
 * Adopts the one record that has the same name (and URL, for a monitor), that no other resource has, and that is equal in every
 * field that a create sends and the record shows. Undefined if there is no record of that name. Throws if there are some and
 * none is equal, or several are.
 */
export async function adopt(
  scope: OperationScope,
  planned: PlannedCreate,
): Promise<(ObtainedRecord & { readonly record: ApiRecord }) | undefined> {
  const { claims, definition } = scope;
  const { owner } = scope.options;
  if (planned.baseline.isImplausiblyEmpty)
    throw new UptimeError(
      `The list of ${definition.plural} is empty, although this run knows of some, so nothing was created. If they are gone, ` +
        `run \`pulumi up --refresh --run-program\`; otherwise try again. A refresh skips a resource whose replacement is not ` +
        `finished: for that one, run once with ${sourceOf(scope.settings, "adoptExisting")} set to false.`,
    );
  const isFree = (record: ApiRecord): boolean => claims.isFree(record, owner);
  const found = await namesakesOf(scope, planned, isFree);
  // Another create may have adopted one while the records were read.
  const free = found.filter(({ record }) => isFree(record));
  const equal = free.filter(({ differing }) => differing.length === 0);
  const [chosen] = equal;
  if (chosen && equal.length === 1) {
    const { record } = chosen;
    return { id: record.id, record, claim: claims.take(record, owner), tookExisting: true };
  }
  if (free.length === 0) return undefined;
  throw noAdoptionError(scope, free, equal);
}

/** The error if there are records with the same name, and either none of them is equal or several are. */
function noAdoptionError(
  { definition, settings }: RecordScope,
  free: readonly Namesake[],
  equal: readonly Namesake[],
): UptimeError {
  const { plural, singular } = definition;
  const same = identityKeys(definition).join(" and ");
  const setting = sourceOf(settings, "adoptExisting");
  const others = free.map(
    (one) => message`${singular} ${describeRecord(definition, one.record)} ${describeDifferences(one)}`,
  );
  const equalRecords = equal.map(({ record }) => record);
  const reason =
    equal.length > 1
      ? message`several ${plural} are equal to what is declared (${describeRecords(definition, equalRecords, [])}), so the
          provider cannot tell which one to adopt`
      : message`no ${singular} with the same ${same} is equal to what is declared: ${joinMessages(others, "; ")}`;
  const wayOut = hasUniqueName(definition)
    ? `or use another ${same}`
    : `use another ${same}, or run once with ${setting} set to false to create another ${singular}`;
  return new UptimeError(
    message`${setting} is set, and ${reason}. Nothing was created. Declare what is there, name the id with the
      option import, ${wayOut}.`,
  );
}

/**
 * The records that were there before the first create of this process and have the same name (and URL, for a monitor); if there
 * are none, those with a name that the server may have cut short, which are never equal.
 */
export async function namesakesOf(
  scope: OperationScope,
  { wanted, baseline: { byName, recordsByOwnAddress } }: PlannedCreate,
  isFree: (record: ApiRecord) => boolean,
): Promise<readonly Namesake[]> {
  const nameKey = nameKeyOf(scope.definition);
  const otherKeys = identityKeys(scope.definition).filter((key) => key !== nameKey);
  const findNamed = (names: readonly string[], sharedKeys: readonly string[]): Promise<Namesake[]> => {
    const listed = names.flatMap((one) => byName.get(one) ?? []).filter(isFree);
    return readNamesakes(scope, wanted, listed, recordsByOwnAddress, sharedKeys);
  };
  const name = wanted.get(nameKey);
  const namesakes = await findNamed([searchKeyOf(name), namelessKey], [nameKey, ...otherKeys]);
  if (namesakes.length > 0 || otherKeys.length === 0) return namesakes;
  const whole = typeof name === "string" ? name : "";
  const lengths = Math.min(whole.length, maxCutLength + 1);
  const beginnings = Array.from({ length: lengths }, (_, length) => whole.slice(0, length));
  const shortenedNames = beginnings.filter(({ length }) => length >= minCutLength).map(searchKeyOf);
  return findNamed([...new Set(shortenedNames)], otherKeys);
}

/** The listed records that share these values, as their own addresses show them. */
async function readNamesakes(
  { collection, definition, operation }: OperationScope,
  wanted: WantedValues,
  listed: readonly ApiRecord[],
  known: Baseline["recordsByOwnAddress"],
  sharedKeys: readonly string[],
): Promise<Namesake[]> {
  const shared = new Map(sharedKeys.map((key) => [key, wanted.get(key) ?? null]));
  const found: Namesake[] = [];
  for (const one of listed) {
    if (differences(definition, shared, known.get(one.id) ?? one).length > 0) continue;
    const record = await collection.find(one.id, operation);
    if (record) known.set(one.id, record);
    if (record && showsAll(definition, shared, record))
      found.push({ record, differing: differences(definition, wanted, record) });
  }
  return found;
}

function describeDifferences({ differing }: Namesake): Message {
  const parts = differing.map((difference) => {
    const { key, wanted, actual, problem } = difference;
    if (isSecretDifference(difference)) return [`${key} differs`];
    if (problem !== undefined) return [`${key} cannot be compared`];
    return message`${key} is ${quoteValue(actual)} and would be ${quoteValue(wanted)}`;
  });
  return message`(${joinMessages(parts, ", ")})`;
}
