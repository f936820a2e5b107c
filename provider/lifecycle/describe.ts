import type { ApiRecord } from "../api/record";
import { joinMessages, message, quoteId, quoteValue, type Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys, isConfidential } from "../definitions/keys";
import { withoutLogin } from "../common/url";
import { readableValue } from "./difference";

/** A record in a message: its id, and some of its values, by default those by which a person recognizes it. */
export function describeRecord(
  definition: Definition,
  record: ApiRecord,
  keys: readonly string[] = identityKeys(definition),
): Message {
  const values = keys.flatMap((key) => {
    const field = fieldOf(definition, key);
    const value = readableValue(field, record);
    if (isConfidential(field) || value === undefined) return [];
    return [quoteValue(withoutLogin(value))];
  });
  const id = quoteId(record.id);
  return values.length > 0 ? message`${id} (${joinMessages(values, ", ")})` : [id];
}

export function describeRecords(
  definition: Definition,
  records: readonly ApiRecord[],
  keys?: readonly string[],
): Message {
  const described = records.map((record) => describeRecord(definition, record, keys));
  return joinMessages(described, ", ");
}
