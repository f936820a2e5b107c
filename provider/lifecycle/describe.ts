import type { ApiRecord } from "../api/answer";
import { joinMessages, message, quote, quoteId, type Message, type Quote } from "../api/errors";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys } from "../definitions/keys";
import type { Value } from "../definitions/values";
import { unknownOwner } from "./claims";
import { compare } from "./difference";

/** A record in a message: its id, and some of its values, by default those by which a person recognizes it. */
export function describeRecord(
  definition: Definition,
  record: ApiRecord,
  keys: readonly string[] = identityKeys(definition),
): Message {
  const values = keys.flatMap((key) => {
    const field = fieldOf(definition, key);
    const comparison = compare(field, null, record);
    if (field.secret || comparison.outcome !== "differs" || comparison.value === undefined) return [];
    return [quoteValue(comparison.value)];
  });
  const id = quoteId(record.id);
  return values.length > 0 ? message`${id} (${joinMessages(values, ", ")})` : [id];
}

/** A value that a record shows, in a message. */
export function quoteValue(value: Value | undefined): Quote {
  return quote(JSON.stringify(value ?? null));
}

/** A resource in a message: its name, from its owner. */
export function resourceName(owner: string | undefined): string {
  return owner?.replace(/^.*?::/s, "") ?? "";
}

/** Another owner in a message. */
export function describeOwner(owner: string, noun = "resource"): string {
  return owner === unknownOwner ? `another ${noun}` : owner;
}
