import { compareIds, type ApiRecord } from "../../api/record";
import { KeyRefusedError, UnreachableError } from "../../api/errors";
import type { Settings } from "../../api/settings";
import { counted, safeName } from "../../common/text";
import { isLoopback } from "../../common/url";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { identityKeys } from "../../definitions/keys";
import { findSample } from "../../lifecycle/complete-records";
import { identityIn, readableValue, shows } from "../../lifecycle/difference";
import { beginOperation, type OperationScope } from "../../lifecycle/record-scope";
import { failed, ok, warning, type Finding } from "../shared/finding";
import { listOf } from "../shared/quoting";
import { reasonOf, withProgress, type CommandContext } from "../shared/terminal";
import { twinsAmong } from "./namesakes";

/** Reports findings, which a person sees at once. */
export type ReportFindings = (...findings: readonly Finding[]) => void;

/** Checks the settings of an account, and its server with each kind of record. */
export async function examineAccount(
  name: string | undefined,
  settings: Settings,
  { session, stderr }: CommandContext,
  reportAll: ReportFindings,
): Promise<void> {
  const prefix = name === undefined ? "" : `Account ${safeName(name)}: `;
  const report: ReportFindings = (...findings) => {
    reportAll(...findings.map((one) => ({ ...one, text: prefix + one.text })));
  };
  report(...addressFindings(settings));
  const isOneServer = settings.baseUrl.url === settings.monitorsBaseUrl.url;
  for (const definition of definitions)
    try {
      const found = await withProgress(stderr, (show) => {
        show(`Reading ${definition.plural} …`);
        return checkServer(beginOperation(session.connect(definition, settings)));
      });
      report(...found);
    } catch (error) {
      report(failed(`${definition.plural}-request`, reasonOf(error, session)));
      // A server that refuses the key for one kind of record refuses it for all; a 403 may be about this kind only.
      if (isOneServer && (error instanceof KeyRefusedError || error instanceof UnreachableError)) break;
    }
}

function addressFindings({ baseUrl, monitorsBaseUrl, apiKeySource }: Settings): Finding[] {
  const addresses = new Map([baseUrl, monitorsBaseUrl].map(({ source, url }) => [source, url]));
  return [
    ...[...addresses].map(([source, url]) =>
      url.startsWith("http://") && !isLoopback(new URL(url).hostname)
        ? warning(
            "plain-http",
            `${source} is ${url}: plain http exposes the API key to anyone on the network path. Use https://.`,
          )
        : ok("address", `${source} is ${url}`),
    ),
    ok("api-key", `The API key comes from ${apiKeySource}`),
  ];
}

/** Reads the records of one kind: what the server does not show of them, which ids they use. Throws if the server refuses it. */
async function checkServer(scope: OperationScope): Promise<Finding[]> {
  const { collection, definition, operation } = scope;
  const { plural, fields } = definition;
  const findings: Finding[] = [];
  const add = (code: string, text: string): void => {
    findings.push(ok(`${plural}-${code}`, `${plural}: ${text}`));
  };
  const listed: ApiRecord[] = [];
  for await (const page of collection.list(operation)) for (const record of page) listed.push(record);
  const sample = await findSample(scope, listed);
  add("count", sample ? counted(listed.length, "record") : "no records yet");
  if (!sample) return findings;
  const { record, missingInList } = sample;
  if (missingInList.length > 0)
    add("list-fields", `lists leave out ${missingInList.join(", ")}, so records are read one by one`);
  const hidden = Object.keys(fields).filter((key) => {
    const field = fields[key];
    return field && !field.writeOnly && !shows(field, record);
  });
  if (hidden.length > 0)
    add(
      "hidden-fields",
      `record ${record.id} does not show ${hidden.join(", ")}; a field that is never shown cannot be compared`,
    );
  for (const text of usedIds(definition, listed)) add("ids", text);
  // Not their names: a program may have them as secrets.
  const twins = twinsAmong(listed, (one) => identityIn(definition, one)).map((group) => {
    const ids = group.map(({ id }) => id);
    return ids.sort(compareIds).join(" and ");
  });
  const same = identityKeys(definition).join(" and ");
  if (twins.length > 0)
    findings.push(warning("account-twins", `${plural}: records with the same ${same}: ${listOf(twins)}`));
  return findings;
}

/** The ids of other things that records have, such as alert channels, and how many records have each; the most used first. */
function usedIds(definition: Definition, listed: readonly ApiRecord[]): string[] {
  const fields = Object.entries(definition.fields).filter(([, { type }]) => type === "idList");
  return fields.flatMap(([key, field]) => {
    const counts = new Map<string, number>();
    for (const record of listed) {
      const ids = readableValue(field, record);
      for (const id of Array.isArray(ids) ? ids : [])
        counts.set(String(id), (counts.get(String(id)) ?? 0) + 1);
    }
    const ids = [...counts]
      .sort(([a, count], [b, other]) => other - count || compareIds(a, b))
      .map(([id, count]) => `${id} (${counted(count, definition.singular)})`);
    return ids.length > 0 ? [`the ${key} in use: ${listOf(ids, 20)}`] : [];
  });
}
