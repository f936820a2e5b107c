import type { ApiRecord } from "../api/record";
import { message, quoteId, quoteValue, RecordMismatchError, UptimeError, type Message } from "../api/errors";
import { sourceOf } from "../api/settings";
import type { Definition, Field } from "../definitions/field";
import { fieldOf, fixedKeys, identityKeys, isConfidential } from "../definitions/keys";
import type { Value } from "../common/values";
import { compare, differences, managedValue, readableValue, shows, wantedValues } from "./difference";
import type { WantedValues } from "./difference";
import type { OperationScope, RecordScope } from "./record-scope";
import type { Inputs, Outputs } from "./resource";
import { otherKeyAdvice, isAccountOfState } from "./state-account";

/**
 * Throws if a record may not be the one in state: a field that no update changes differs, or the key is another one and the name or URL
 * differs. If its id is unconfirmed, name and URL decide, because somebody else's record may have the id by now.
 *
 * @param declared what the program declares; by default what state has
 */
export function assertSameRecord(
  scope: OperationScope,
  outputs: Outputs,
  record: ApiRecord,
  declared: Pick<Inputs, "values"> = outputs,
): void {
  const { address, definition, settings } = scope;
  const { label, singular } = definition;
  const keys = identityKeys(definition);
  const hasIdentityOf = ({ values }: Pick<Inputs, "values">): boolean =>
    keys.every(
      (key) => compare(fieldOf(definition, key), managedValue(values, key), record).outcome === "same",
    );
  // An update whose answer was lost may have stored the declared name and URL, and state still has the ones of before.
  const isExpected = hasIdentityOf(outputs) || (outputs.isPartial === true && hasIdentityOf(declared));
  if (!isAccountOfState(scope, outputs) && !isExpected)
    throw new UptimeError(
      message`State was made with another API key, and ${label} ${quoteId(record.id)} has a
        ${keys.join(" or ")} that differs from state, so it may be another account's and is left alone.
        ${otherKeyAdvice(scope, outputs)}`,
    );
  const mayBeOf = ({ values }: Pick<Inputs, "values">): boolean =>
    confirmsId(definition, wantedValues(definition, values), record);
  if (outputs.isIdUnconfirmed && !mayBeOf(outputs) && !mayBeOf(declared))
    throw new RecordMismatchError(
      message`${label} ${quoteId(record.id)} seems to be another record than the one in state, so it is left alone. Run
        \`pulumi state delete URN\`. If it is the right record, then declare its values, and name its id with the option import. Otherwise
        set ${sourceOf(settings, "adoptExisting")} for the next \`pulumi up\`, because the ${singular} may exist with another id.`,
    );
  const fixed = wantedValues(definition, outputs.values, (_, field) => field.fixed === true);
  const [differing] = differences(definition, fixed, record);
  if (!differing) return;
  const { key, field, wanted, actual } = differing;
  const described = isConfidential(field)
    ? `a ${key} in the API that differs from state`
    : message`the ${key} ${quoteValue(actual)} in the API and ${quoteValue(wanted)} in state`;
  throw new RecordMismatchError(
    message`${label} ${quoteId(record.id)} has ${described}: it is another record, so nothing is done to it.
      Check that ${address.source} and the key belong to this stack; if the record was really renamed, remove
      it from state with \`pulumi state delete URN\`.`,
  );
}

/** What to do if an unconfirmed id is not the record's. */
export function unconfirmedIdAdvice({ definition, settings }: RecordScope, id: string): Message {
  return message`If ${quoteId(id)} is the id of something else, such as a job, the ${definition.singular} may exist
    with another id: then \`pulumi up --refresh --run-program\` with the setting ${sourceOf(settings, "adoptExisting")}
    finds and adopts it.`;
}

/** Whether a record must be read, and compared with state, before it is written. */
export function mustCompareFirst(scope: RecordScope, outputs: Outputs): boolean {
  const hasFixedKey = fixedKeys(scope.definition).length > 0;
  return hasFixedKey || !isAccountOfState(scope, outputs) || outputs.isIdUnconfirmed === true;
}

/**
 * Compares the name (and URL, for a monitor) of a record with the wanted ones.
 *
 * | result     | what the record shows of them                                                        |
 * | ---------- | ------------------------------------------------------------------------------------ |
 * | `notShown` | nothing                                                                              |
 * | `same`     | nothing that differs                                                                 |
 * | `alike`    | one that differs, but one is ours, or may be what the server has made of ours        |
 * | `differs`  | only what is not ours                                                                |
 */
export function compareIdentity(
  definition: Definition,
  wanted: WantedValues,
  record: ApiRecord,
): "notShown" | "same" | "alike" | "differs" {
  const shown = identityKeys(definition)
    .map((key) => ({ field: fieldOf(definition, key), value: wanted.get(key) ?? null }))
    .filter(({ field }) => shows(field, record));
  if (shown.length === 0) return "notShown";
  const isSame = shown.map(({ field, value }) => compare(field, value, record).outcome === "same");
  if (!isSame.includes(false)) return "same";
  const isAlike = isSame.includes(true) || shown.some(({ field, value }) => isMadeOf(field, record, value));
  return isAlike ? "alike" : "differs";
}

/**
 * Whether a record confirms an unconfirmed id. One that is only alike does not: it may be somebody else's, such as the monitor `m-1`
 * beside `m-10`.
 */
export function confirmsId(definition: Definition, wanted: WantedValues, record: ApiRecord): boolean {
  return ["same", "notShown"].includes(compareIdentity(definition, wanted, record));
}

/** Whether a server may have made what a record shows of our name, which it has cut short, or of our URL, whose signs it has changed. */
function isMadeOf(field: Field, record: ApiRecord, ours: Value): boolean {
  const theirs = readableValue(field, record);
  if (typeof ours !== "string" || typeof theirs !== "string") return false;
  return field.type === "url"
    ? lettersAndDigits(withoutFragment(ours)) === lettersAndDigits(theirs)
    : isMadeOfName(theirs, ours);
}

/** Whether a server may have made one name of another: cut it short, or left out `www.`, repeated spaces or letter case. */
function isMadeOfName(actual: string, name: string): boolean {
  const [ours, theirs] = [lettersAndDigits(name), lettersAndDigits(actual)];
  if (name.startsWith(actual)) return true;
  // A name may have neither, such as an emoji.
  return theirs !== "" && ours.includes(theirs) && theirs.length * 2 >= ours.length;
}

const withoutFragment = (url: string): string => url.replace(/#.*/s, "");

const lettersAndDigits = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
