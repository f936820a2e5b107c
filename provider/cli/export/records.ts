import { compareIds, type ApiRecord } from "../../api/answer";
import { Operation } from "../../api/operation";
import type { Field } from "../../definitions/field";
import { completeRecords } from "../../lifecycle/complete-records";
import type { RecordScope } from "../../lifecycle/record-scope";
import { withProgress, type CommandContext } from "../shared/terminal";
import { exportedOf, type ExportedRecord } from "./exported-record";

/**
 * Reads the records of one kind, or those that the API finds by a text, the oldest first.
 *
 * @param needed see {@link completeRecords}
 */
export async function readDeclared(
  scope: RecordScope,
  search: string | undefined,
  { stderr, session }: CommandContext,
  needed: readonly Field[] = [],
): Promise<ExportedRecord[]> {
  const { definition, collection } = scope;
  const records = await withProgress(stderr, async (show) => {
    show(`Reading ${definition.plural} …`);
    const operation = new Operation(scope);
    const listed: ApiRecord[] = [];
    for await (const page of collection.list(operation, search === undefined ? {} : { search })) {
      listed.push(...page);
      show(`Reading ${definition.plural}: ${listed.length} …`);
    }
    return completeRecords(scope, listed, operation, needed);
  });
  const escaped = isEscaped(records);
  return [...records]
    .sort((a, b) => compareIds(a.id, b.id))
    .map((record) => exportedOf(definition, record, escaped, session.secrets));
}

/**
 * Whether the server may show strings HTML-escaped: no string has a character that would be escaped. Otherwise `&nbsp;` is
 * what the record has, such as the text that a monitor looks for in a page, and an update must not send a space in its place.
 */
function isEscaped(records: readonly ApiRecord[]): boolean {
  return !records.some(({ raw }) =>
    Object.values(raw).some((value) => typeof value === "string" && /[<>"]|&(?!#?\w+;)/.test(value)),
  );
}
