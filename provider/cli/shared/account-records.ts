import { compareIds } from "../../api/answer";
import type { ApiRecord } from "../../api/answer";
import { ApiError } from "../../api/errors";
import { Operation } from "../../api/operation";
import type { Account } from "../../lifecycle/account";
import { completeRecords } from "../../lifecycle/records";
import { withProgress } from "./terminal";
import type { OutputStream } from "./terminal";

/** Which records of an account are wanted. */
export interface RecordFilter {
  readonly search?: string | undefined;
  readonly searchBy?: string | undefined;
  readonly statusPage?: string | undefined;
}

/** The records of one kind, the oldest first. */
export async function readRecords(
  account: Account,
  stderr: OutputStream,
  { search, searchBy, statusPage }: RecordFilter = {},
): Promise<readonly ApiRecord[]> {
  const { definition } = account;
  const filter = {
    ...(search !== undefined && { search, ...(searchBy !== undefined && { search_by: searchBy }) }),
    ...(statusPage !== undefined && { status_page_id: statusPage }),
  };
  const records = await withProgress(stderr, async (show) => {
    show(`Reading ${definition.plural} …`);
    const operation = new Operation();
    const listed: ApiRecord[] = [];
    for await (const page of account.collection.list(operation, filter)) {
      listed.push(...page);
      show(`Reading ${definition.plural}: ${listed.length} …`);
    }
    return completeRecords(account, operation, listed);
  });
  return oldestFirst(records);
}

export function oldestFirst(records: readonly ApiRecord[]): readonly ApiRecord[] {
  return [...records].sort((a, b) => compareIds(a.id, b.id));
}

/** Whether the server may show strings HTML-escaped: no string in the records has a character that would be escaped. */
export function isEscaped(records: readonly ApiRecord[]): boolean {
  return !records.some(({ shown }) =>
    Object.values(shown).some((value) => typeof value === "string" && /[<>"]|&(?!#?\w+;)/.test(value)),
  );
}

/** Whether an error says that the API does not accept the key, so that no other request of the account is worth sending. */
export function isKeyRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
