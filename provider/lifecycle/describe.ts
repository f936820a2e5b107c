import type { ApiRecord } from "../api/answer";
import { joinMessages, message, quoteId, quoteValue, type Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys, isConfidential } from "../definitions/keys";
import { compare } from "./difference";
import type { Owner, Owners } from "./owners";

/** A record in a message: its id, and some of its values, by default those by which a person recognizes it. */
export function describeRecord(
  definition: Definition,
  record: ApiRecord,
  keys: readonly string[] = identityKeys(definition),
): Message {
  const values = keys.flatMap((key) => {
    const field = fieldOf(definition, key);
    const comparison = compare(field, null, record);
    if (isConfidential(field) || comparison.outcome !== "differs" || comparison.value === undefined)
      return [];
    return [quoteValue(comparison.value)];
  });
  const id = quoteId(record.id);
  return values.length > 0 ? message`${id} (${joinMessages(values, ", ")})` : [id];
}

/** A resource in a message: the end of its URN, or the noun if the program does not declare it. */
export function describeOwner(owners: Owners, owner: Owner | undefined, noun = "another resource"): string {
  return (owner === undefined ? undefined : owners.nameOf(owner)) ?? noun;
}

/** A resource in a message: its name alone. */
export function resourceName(owners: Owners, owner: Owner | undefined): string {
  return describeOwner(owners, owner, "").replace(/^.*?::/s, "");
}
