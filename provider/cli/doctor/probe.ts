import type { ApiRecord } from "../../api/answer";
import { Operation } from "../../api/operation";
import { counted } from "../../definitions/text";
import { readSample } from "../../lifecycle/complete-records";
import { shows } from "../../lifecycle/difference";
import type { RecordScope } from "../../lifecycle/record-scope";
import { ok, type Finding } from "../shared/finding";

/** Reads one kind of record, and says which fields the server does not show. Throws what the server refuses. */
export async function checkServer(scope: RecordScope): Promise<Finding[]> {
  const { collection, definition } = scope;
  const { client } = collection;
  const { plural, fields } = definition;
  const operation = new Operation(scope);
  const fine = (code: string, text: string): Finding => ok(`${plural}-${code}`, `${plural}: ${text}`);
  const listed: ApiRecord[] = [];
  for await (const page of collection.list(operation)) listed.push(...page);
  const sample = await readSample(scope, listed, operation);
  if (!sample) return [fine("count", "no records yet")];
  const { record, leftOut } = sample;
  const findings = [fine("count", counted(listed.length, "record"))];
  if (leftOut.length > 0)
    findings.push(
      fine(
        "list-fields",
        `lists leave out ${client.withoutKey(leftOut.join(", "))}, so records are read one by one`,
      ),
    );
  const hidden = Object.keys(fields).filter((key) => {
    const field = fields[key];
    return field && !field.writeOnly && !shows(field, record);
  });
  if (hidden.length > 0)
    findings.push(
      fine(
        "hidden-fields",
        `record ${client.withoutKey(record.id)} does not show ${hidden.join(", ")}; a field that is never shown cannot be compared`,
      ),
    );
  return findings;
}
