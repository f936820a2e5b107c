import { domainToASCII } from "node:url";

import { isRecordOf } from "../api/answer";
import type { ApiRecord } from "../api/answer";
import { joined, message, UptimeError } from "../api/errors";
import type { Message } from "../api/errors";
import type { Operation } from "../api/operation";
import { recordName } from "./account";
import type { Account } from "./account";
import type { CreatedRecord } from "./creates";
import { compare, differences, fieldOf, identityOf, quoteValue, shows, valueIn } from "./difference";
import type { Difference, Values } from "./difference";
import { describe } from "./lost-create";

/** A record with the name of what is declared, and how it differs otherwise. */
interface Namesake {
  readonly record: ApiRecord;
  readonly differences: readonly Difference[];
}

/**
 * The one record with the same name (a monitor: and URL) that no resource has and that is equal in everything that is sent
 * and shown: it becomes the resource's. Throws if there are such records and it is not certain which one is meant.
 */
export async function adopt(
  account: Account,
  values: Values,
  claim: string,
  operation: Operation,
): Promise<CreatedRecord | undefined> {
  const { definition, ledger, neighbors, reader, traits } = account;
  const isFree = ({ id }: ApiRecord): boolean =>
    ledger.standing(id) === "free" && !neighbors.have(recordName(account, id));
  const names = identityOf(definition);
  const hasName = (record: ApiRecord): boolean =>
    names.every(
      (key) => compare(fieldOf(definition, key), values.get(key) ?? null, record).outcome === "same",
    );
  const byName = await existingByName(account, operation);
  const found: Namesake[] = [];
  for (const brief of byName.get(nameKey(values.get(names[0] ?? ""))) ?? []) {
    if (!isFree(brief) || (names.every((key) => shows(fieldOf(definition, key), brief)) && !hasName(brief)))
      continue;
    const record = traits.isWhole(brief) ? brief : await reader.show(brief.id, operation);
    if (isRecordOf(definition, record) && hasName(record))
      found.push({ record, differences: differences(definition, values, record) });
  }
  const free = found.filter(({ record }) => isFree(record));
  const equal = free.filter((one) => one.differences.length === 0);
  const [only] = equal;
  if (only && equal.length === 1) {
    ledger.note(only.record.id, { is: "taken", owner: claim });
    neighbors.tell(recordName(account, only.record.id));
    return { id: only.record.id, record: only.record };
  }
  if (free.length === 0) return undefined;
  const { plural, singular } = definition;
  const same = names.join(" and ");
  const others = free.map(
    (one) => message`${definition.singular} ${describe(definition, one.record)} ${differing(one)}`,
  );
  const reason =
    equal.length > 1
      ? `several ${plural} are equal to what is declared (${equal.map(({ record }) => record.id).join(", ")}), so it is not known which one to adopt`
      : message`none with the same ${same} is equal: ${joined(others, "; ")}`;
  throw new UptimeError(
    message`uptime:adoptExisting is set, and ${reason}. Nothing was created. Declare what is there, name the id with the option import, use another ${same}, or run once with uptime:adoptExisting set to false to create another ${singular}.`,
  );
}

/** The records that were there before the first create of this process, by name. */
function existingByName(
  account: Account,
  operation: Operation,
): Promise<ReadonlyMap<string, readonly ApiRecord[]>> {
  const { creates } = account;
  return operation.inTime(
    (creates.existing ??= readByName(account, operation).catch((error: unknown) => {
      creates.existing = undefined;
      throw error;
    })),
  );
}

async function readByName(
  { collection, definition }: Account,
  operation: Operation,
): Promise<ReadonlyMap<string, readonly ApiRecord[]>> {
  const byName = new Map<string, ApiRecord[]>();
  const field = fieldOf(definition, identityOf(definition)[0] ?? "");
  for await (const page of collection.list(operation))
    for (const record of page) {
      const key = nameKey(valueIn(field, record));
      byName.set(key, [...(byName.get(key) ?? []), record]);
    }
  return byName;
}

/** The same string for names that mean the same, whether or not the field is a domain's name. */
function nameKey(name: unknown): string {
  const text = typeof name === "string" ? name : "";
  return domainToASCII(text) || text.toLowerCase();
}

function differing({ differences }: Namesake): Message {
  const parts = differences.map(({ key, field, wanted, shown, problem }) => {
    if (field.secret) return [`${key} differs`];
    if (problem !== undefined) return [`${key} cannot be compared`];
    return message`${key} is ${quoteValue(shown)} and would be ${JSON.stringify(wanted)}`;
  });
  return message`(${joined(parts, ", ")})`;
}
