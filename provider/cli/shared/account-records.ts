import type { ApiRecord } from "../../api/answer";
import { Operation } from "../../api/operation";
import type { Account } from "../../lifecycle/account";
import { readAll } from "../../lifecycle/records";
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
  const records = await withProgress(stderr, (show) => {
    show(`Reading ${definition.plural} …`);
    return readAll(account, new Operation(), filter, (count) => {
      show(`Reading ${definition.plural}: ${count} …`);
    });
  });
  // Ids are numbers of any size: of two, the longer is the larger.
  return [...records].sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1));
}
