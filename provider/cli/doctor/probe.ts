import { parsePage, parseRecord } from "../../api/answer";
import type { Answer } from "../../api/client";
import { Operation } from "../../api/operation";
import { counted } from "../../api/text";
import type { Account } from "../../lifecycle/account";
import { shows } from "../../lifecycle/difference";
import { failed, ok, warning } from "../shared/finding";
import type { Finding } from "../shared/finding";

/** A clock that is further off, in milliseconds, makes maintenance windows and certificates confusing. */
const clockLimit = 60_000;

/** Whether the server answers with one kind of record, and what it does not show of them. Throws what it refuses. */
export async function checkServer({ collection, definition, address }: Account): Promise<Finding[]> {
  const { plural, singular, fields } = definition;
  const operation = new Operation();
  const get = (path: string, query = new URLSearchParams()): Promise<Answer> =>
    collection.client.send({ method: "GET", path: `/api/v1/${plural}${path}`, query, operation });
  const fine = (code: string, text: string): Finding => ok(`${plural}-${code}`, `${plural}: ${text}`);
  const wrong = (code: string, text: string): Finding => failed(`${plural}-${code}`, `${plural}: ${text}`);

  const list = await get("", new URLSearchParams({ sort_by: "id", sort: "desc", per_page: "10" }));
  const page = parsePage(list.body, definition);
  if (!page)
    return [
      wrong(
        "list",
        `${list.request} was not answered with a list. Check that ${address.source} is the address of the API.`,
      ),
    ];
  const findings = clockFindings(list);
  const [first] = page.records;
  if (!first) return [...findings, fine("count", "no records yet")];
  let count = 0;
  for await (const records of collection.list(operation)) count += records.length;
  findings.push(fine("count", counted(count, "record")));

  const shown = await get(`/${encodeURIComponent(first.id)}`);
  const record = parseRecord(shown.body, definition);
  if (record?.id !== first.id)
    return [...findings, wrong("record", `${shown.request} was not answered with that ${singular}.`)];
  const missing = Object.keys(record.shown).filter((name) => !(name in first.shown));
  if (missing.length > 0)
    findings.push(
      fine("list-fields", `lists leave out ${missing.join(", ")}, so records are read one by one`),
    );
  const hidden = Object.entries(fields).filter(([, field]) => !field.writeOnly && !shows(field, record));
  if (hidden.length > 0)
    findings.push(
      fine(
        "hidden-fields",
        `record ${record.id} does not show ${hidden.map(([key]) => key).join(", ")}; a field that is never shown cannot be compared`,
      ),
    );
  return findings;
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
