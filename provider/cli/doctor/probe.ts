import { compareIds, type ApiRecord } from "../../api/answer";
import { Operation } from "../../api/operation";
import { counted } from "../../common/text";
import { isObject, tryParseJson } from "../../common/values";
import { shownNames, type Definition } from "../../definitions/field";
import { identityKeys } from "../../definitions/keys";
import type { Redactor } from "../../engine/redactor";
import { findSample } from "../../lifecycle/complete-records";
import { identityIn, readableValue, shows } from "../../lifecycle/difference";
import type { RecordScope } from "../../lifecycle/record-scope";
import { ok, warning, type Finding } from "../shared/finding";
import { listOf } from "../shared/quoting";
import { twinsAmong } from "./namesakes";

/** Reads the records of one kind: what the server does not show of them, which ids they use. Throws if the server refuses it. */
export async function checkServer(scope: RecordScope, redactor: Redactor): Promise<Finding[]> {
  const { collection, definition } = scope;
  const { plural, fields } = definition;
  const operation = new Operation(scope);
  const findings: Finding[] = [];
  const add = (code: string, text: string): void => {
    findings.push(ok(`${plural}-${code}`, `${plural}: ${text}`));
  };
  const listed: ApiRecord[] = [];
  for await (const page of collection.list(operation)) listed.push(...page);
  const sample = await findSample(scope, listed, operation);
  add("count", sample ? counted(listed.length, "record") : "no records yet");
  if (!sample) return findings;
  const { record, leftOut } = sample;
  if (leftOut.length > 0)
    add("list-fields", `lists leave out ${leftOut.join(", ")}, so records are read one by one`);
  const hidden = Object.keys(fields).filter((key) => {
    const field = fields[key];
    return field && !field.writeOnly && !shows(field, record);
  });
  if (hidden.length > 0)
    add(
      "hidden-fields",
      `record ${record.id} does not show ${hidden.join(", ")}; a field that is never shown cannot be compared`,
    );
  for (const { key, ids } of usedIds(definition, listed, redactor))
    add("ids", `the ${key} in use: ${listOf(ids, 20)}`);
  const twins = twinsAmong(listed, (one) => identityIn(definition, one));
  // Not their names: a program may have them as secrets.
  const lists = twins.map((group) =>
    group
      .map(({ id }) => id)
      .sort(compareIds)
      .join(" = "),
  );
  const same = identityKeys(definition).join(" and ");
  if (lists.length > 0)
    findings.push(warning("account-twins", `${plural}: records with the same ${same}: ${listOf(lists)}`));
  return findings;
}

/** The ids of other things that records have, such as alert channels, and how many records have each; the most used first. */
function usedIds(
  definition: Definition,
  listed: readonly ApiRecord[],
  redactor: Redactor,
): { key: string; ids: string[] }[] {
  const fields = Object.entries(definition.fields).filter(([, { type }]) => type === "idList");
  return fields.flatMap(([key, field]) => {
    const counts = new Map<string, number>();
    const names = new Map<string, string>();
    for (const record of listed) {
      const ids = readableValue(field, record);
      for (const id of Array.isArray(ids) ? ids : [])
        counts.set(String(id), (counts.get(String(id)) ?? 0) + 1);
      const raw = record.raw[shownNames(field).find((name) => name in record.raw) ?? ""];
      const entries = typeof raw === "string" ? tryParseJson(raw) : raw;
      for (const entry of Array.isArray(entries) ? entries : [])
        if (isObject(entry) && typeof entry.name === "string") names.set(String(entry.id), entry.name);
    }
    const ids = [...counts]
      .sort(([a, count], [b, other]) => other - count || compareIds(a, b))
      .map(([id, count]) => {
        const name = names.get(id);
        const records = counted(count, definition.singular);
        return `${id} (${name === undefined ? "" : `${JSON.stringify(redactor.value(name))}, `}${records})`;
      });
    return ids.length > 0 ? [{ key, ids }] : [];
  });
}
