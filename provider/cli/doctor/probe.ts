import { parsePage, parseRecord } from "../../api/answer";
import type { Answer } from "../../api/client";
import { Operation } from "../../api/operation";
import { counted } from "../../api/text";
import type { Definition } from "../../definitions/field";
import { isObject } from "../../definitions/values";
import type { Account } from "../../lifecycle/account";
import { shows } from "../../lifecycle/difference";
import { failed, failure, ok, warning } from "../shared/finding";
import type { Finding } from "../shared/finding";

/** A clock that is further off, in milliseconds, makes maintenance windows and certificates confusing. */
const clockLimit = 60_000;

/** How the server answers to one kind of record. */
export async function checkServer(account: Account, keys: Iterable<string>): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    for await (const finding of probe(account)) findings.push(finding);
  } catch (error) {
    findings.push(failure(`${account.definition.plural}-request`, error, keys));
  }
  return findings;
}

async function* probe({ collection, definition, address }: Account): AsyncGenerator<Finding, void> {
  const { plural, singular, fields } = definition;
  const operation = new Operation();
  const get = (path: string, query = new URLSearchParams()): Promise<Answer> =>
    collection.client.send({ method: "GET", path: `/api/v1/${plural}${path}`, query, operation });
  const fine = (code: string, text: string): Finding => ok(`${plural}-${code}`, `${plural}: ${text}`);
  const wrong = (code: string, text: string): Finding => failed(`${plural}-${code}`, `${plural}: ${text}`);

  const list = await get("", new URLSearchParams({ sort_by: "id", sort: "desc", per_page: "10" }));
  const page = parsePage(list.body, definition);
  if (!page) {
    yield wrong(
      "list",
      `${list.request} was not answered with a list. Check that ${address.source} is the address of the API.`,
    );
    return;
  }
  yield fine("list", `the list is ${shapeOf(list.body, definition)}, and ${pagingOf(list.body)}`);
  yield* clockFindings(list);
  const [first] = page.records;
  if (!first) {
    yield fine("count", "no records yet");
    return;
  }
  let count = 0;
  for await (const records of collection.list(operation)) count += records.length;
  yield fine("count", counted(count, "record"));

  const shown = await get(`/${encodeURIComponent(first.id)}`);
  const record = parseRecord(shown.body, definition);
  if (record?.id !== first.id) {
    yield wrong("record", `${shown.request} was not answered with that ${singular}.`);
    return;
  }
  yield fine("record", `a record is ${shapeOf(shown.body, definition)}`);
  const missing = Object.keys(record.shown).filter((name) => !(name in first.shown));
  yield fine(
    "list-fields",
    missing.length === 0
      ? "lists show whole records"
      : `lists leave out ${missing.join(", ")}, so records are read one by one`,
  );
  const hidden = Object.entries(fields).filter(([, field]) => !field.writeOnly && !shows(field, record));
  if (hidden.length > 0)
    yield fine(
      "hidden-fields",
      `record ${record.id} does not show ${hidden.map(([key]) => key).join(", ")}; a field that is never shown cannot be compared`,
    );
}

/** Where in an answer the records are. */
function shapeOf(body: unknown, { singular }: Definition): string {
  if (isObject(body) && "data" in body) return "under `data`";
  return isObject(body) && singular in body && !("id" in body) ? `under \`${singular}\`` : "bare";
}

/** How a list names its next page. */
function pagingOf(body: unknown): string {
  if (!isObject(body)) return "has no paging";
  if (isObject(body.links) && "next" in body.links) return "`links.next` is its next page";
  const meta = isObject(body.meta) ? body.meta : body;
  if ("next_page_url" in meta || "next_page_url" in body) return "`next_page_url` is its next page";
  return "current_page" in meta && "last_page" in meta ? "`meta` holds its page numbers" : "has no paging";
}

function clockFindings({ date }: Answer): Finding[] {
  const apart = date === undefined ? NaN : Date.now() - Date.parse(date);
  if (Number.isNaN(apart) || Math.abs(apart) <= clockLimit) return [];
  const seconds = Math.round(Math.abs(apart) / 1000);
  const side = apart > 0 ? "ahead of" : "behind";
  return [
    warning(
      "clock",
      `This machine's clock is ${seconds} seconds ${side} the server's. Maintenance windows follow the server's clock.`,
    ),
  ];
}
