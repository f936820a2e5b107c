import { message, unfinished, UptimeError } from "../api/errors";
import type { MissingError } from "../api/errors";
import type { ApiRecord } from "../api/answer";
import type { Listing } from "../api/listing";
import type { Operation } from "../api/operation";
import { oldSettings } from "../api/client";
import { keyHash } from "../api/settings";
import { identityOf } from "./difference";
import { agrees } from "./evidence";
import type { Options, Outputs } from "./resource";
import type { Account } from "./account";

/** Whether the present address and key are those with which state was made. */
export function isAccountOfState(
  { keyFingerprint, settings }: Account,
  { keyFingerprint: ofState, serverHash }: Outputs,
): boolean {
  if (settings.sameAccount || ofState === undefined || ofState === keyFingerprint) return true;
  const former = settings.movedFrom.find(({ hash }) => hash === serverHash);
  return former !== undefined && keyHash(former, settings.apiKey) === ofState;
}

/** The ids of another server mean other records. */
export function assertSameServer(
  { address, settings }: Account,
  { serverHash }: Outputs,
  { mayHaveOldSettings }: Options,
): void {
  if (serverHash === undefined || serverHash === address.hash) return;
  if (settings.movedFrom.some(({ hash }) => hash === serverHash)) return;
  const hint = mayHaveOldSettings ? ` If you have already corrected it: ${oldSettings}.` : "";
  throw new UptimeError(
    `State was made with another address, not ${address.url} (${address.source}), so its ids may mean other records. If the ` +
      `server has moved, run \`pulumi config set uptime:movedFrom OLD-ADDRESS\`; otherwise change ${address.source} back.${hint}`,
  );
}

/** State has a record under an id, which the ledger and later verdicts must know. */
export function noteState({ definition, evidence, ledger }: Account, id: string, outputs: Outputs): void {
  ledger.note(id, { is: "in state" });
  evidence.expect(definition, id, outputs.values);
}

/** Returns if a missing record is gone; otherwise throws why that cannot be said. */
export async function proveGone(
  account: Account,
  id: string,
  outputs: Outputs,
  missing: MissingError,
  operation: Operation,
): Promise<void> {
  const { definition, evidence, settings } = account;
  const { label, plural } = definition;
  const answer = unfinished(missing);
  const list = await listWithout(account, id, missing, operation);
  const sameAccount =
    "If the account is the one that state means, run `pulumi config set uptime:sameAccount true`";
  if (!isAccountOfState(account, outputs)) {
    for (const other of evidence.idsOf(definition)) {
      const listed = list.get(other);
      if (listed) evidence.see(definition, listed);
    }
    if (!evidence.isFound)
      throw new UptimeError(
        message`${label} ${id} does not exist for the present API key, state was made with another key or address, and no record that state knows has been found, so it may be in another account (${answer}). ${sameAccount}; otherwise set the key of its account.`,
        { cause: missing },
      );
  } else if (list.size === 0 && evidence.idsOf(definition).length > 1 && !settings.sameAccount)
    throw new UptimeError(
      message`${label} ${id} does not exist (${answer}), and the list of ${plural} is empty, which looks like another account, so nothing is removed from state: check ${account.address.source} (${account.address.url}) and the API key. ${sameAccount}.`,
      { cause: missing },
    );
}

/** The list, which must not hold a record that is missing at its own address. */
export async function listWithout(
  { clock, definition, reader }: Account,
  id: string,
  missing: MissingError,
  operation: Operation,
): Promise<Listing> {
  const missedAt = clock.now();
  let list = await reader.wholeList(operation, id);
  if (list.get(id) && list.begun <= missedAt) list = await reader.wholeList(operation, id, missedAt);
  if (!list.get(id)) return list;
  const { plural, singular } = definition;
  throw new UptimeError(
    message`${unfinished(missing)}, but the list of ${plural} holds ${id}. If the ${singular} is to go, remove the resource from the program: deleting it works.`,
    { cause: missing },
  );
}

/** Under another key, a record with another name (a monitor: and another URL) is another account's. */
export function assertAgrees(account: Account, outputs: Outputs, record: ApiRecord): void {
  if (isAccountOfState(account, outputs) || agrees(account.definition, outputs.values, record)) return;
  const { label } = account.definition;
  const names = identityOf(account.definition);
  throw new UptimeError(
    message`State was made with another API key, and ${label} ${record.id} has another ${names.join(" and another ")} than state, so it may be another account's: nothing is done to it. If the account is the one that state means, run \`pulumi config set uptime:sameAccount true\`; otherwise set the key of its account.`,
  );
}
