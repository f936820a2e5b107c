import { pageIn, recordIn } from "../../api/answer";
import type { Answer } from "../../api/client";
import { Operation } from "../../api/operation";
import { UptimeError } from "../../api/errors";
import type { Definition } from "../../definitions/field";
import { isObject } from "../../definitions/kinds";
import { told } from "../../engine/clean";
import { shows } from "../../lifecycle/difference";
import type { Account } from "../../lifecycle/account";
import type { Finding } from "../shared/finding";
import { counted } from "../../api/text";

/** A clock that is further off, in milliseconds, makes maintenance windows and certificates confusing. */
const clockLimit = 60_000;

/** How the server answers to one kind of record. */
export async function checkServer(
  { collection, address }: Account,
  keys: ReadonlySet<string>,
): Promise<Finding[]> {
  const { definition } = collection;
  const { plural, singular } = definition;
  const finding = (code: string, level: Finding["level"], text: string): Finding => ({
    code: `${plural}-${code}`,
    level,
    text: `${plural}: ${text}`,
  });
  const operation = new Operation();
  const findings: Finding[] = [];
  try {
    const query = new URLSearchParams({ sort_by: "id", sort: "desc", per_page: "10" });
    const path = `/api/v1/${plural}`;
    const answer = await collection.client.send({ method: "GET", path, query, operation });
    const page = pageIn(answer.body, definition);
    if (!page) {
      return [
        finding(
          "list",
          "failed",
          `${answer.request} was not answered with a list. Check that ${address.source} is the address of the API.`,
        ),
      ];
    }
    findings.push(
      finding("list", "ok", `the list is ${shapeOf(answer.body, definition)}, and ${pagingOf(answer.body)}`),
      ...clockFindings(answer),
    );
    const [first] = page.records;
    if (!first) return [...findings, finding("count", "ok", "no records yet")];
    let count = 0;
    for await (const records of collection.list(operation)) count += records.length;
    findings.push(finding("count", "ok", counted(count, "record")));

    const shown = await collection.client.send({
      method: "GET",
      path: `${path}/${encodeURIComponent(first.id)}`,
      operation,
    });
    const record = recordIn(shown.body, definition);
    if (record?.id !== first.id)
      return [
        ...findings,
        finding("record", "failed", `${shown.request} was not answered with that ${singular}.`),
      ];
    findings.push(finding("record", "ok", `a record is ${shapeOf(shown.body, definition)}`));

    const missing = Object.keys(record.shown).filter((name) => !(name in first.shown));
    findings.push(
      missing.length === 0
        ? finding("list-fields", "ok", "lists show whole records")
        : finding(
            "list-fields",
            "ok",
            `lists leave out ${missing.join(", ")}, so records are read one by one`,
          ),
    );
    const hidden = Object.entries(definition.fields).flatMap(([key, field]) =>
      field.writeOnly || shows(field, record) ? [] : [key],
    );
    if (hidden.length > 0)
      findings.push(
        finding(
          "hidden-fields",
          "ok",
          `record ${record.id} does not show ${hidden.join(", ")}; a field that is never shown cannot be compared`,
        ),
      );
    return findings;
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    return [...findings, { code: `${plural}-request`, level: "failed", text: told(error, keys) }];
  }
}

/** Where in an answer the records are. */
function shapeOf(body: unknown, definition: Definition): string {
  if (!isObject(body)) return "bare";
  if ("data" in body) return "under `data`";
  return definition.singular in body && !("id" in body) ? `under \`${definition.singular}\`` : "bare";
}

/** How a list names its next page. */
function pagingOf(body: unknown): string {
  if (!isObject(body)) return "has no paging";
  if (isObject(body.links) && "next" in body.links) return "`links.next` is its next page";
  const meta = isObject(body.meta) ? body.meta : body;
  if ("next_page_url" in meta || "next_page_url" in body) return "`next_page_url` is its next page";
  if ("current_page" in meta && "last_page" in meta) return "`meta` holds its page numbers";
  return "has no paging";
}

function clockFindings({ date }: Answer): Finding[] {
  const apart = date === undefined ? NaN : Date.now() - Date.parse(date);
  if (Number.isNaN(apart) || Math.abs(apart) <= clockLimit) return [];
  const seconds = Math.round(Math.abs(apart) / 1000);
  return [
    {
      code: "clock",
      level: "warning",
      text: `This machine's clock is ${seconds} seconds ${apart > 0 ? "ahead of" : "behind"} the server's. Maintenance windows follow the server's clock.`,
    },
  ];
}
