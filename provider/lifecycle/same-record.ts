import type { ApiRecord } from "../api/answer";
import { AnotherRecordError, message, quoteId, UptimeError } from "../api/errors";
import { oldSettings } from "../api/failed-attempt";
import { keyFingerprintOf, type Address, type Settings } from "../api/settings";
import { fixedKeys, identityKeys } from "../definitions/keys";
import { quoteValue } from "./describe";
import { differences, wantedValues } from "./difference";
import { sharesIdentity } from "./evidence";
import type { RecordScope } from "./record-scope";
import type { EngineOptions, Outputs } from "./resource";

/** Whether state was made with the present address and key, or the settings say that it is the same account. */
export function isAccountOfState(
  { keyFingerprint, settings }: RecordScope,
  { keyFingerprint: ofState, serverHash }: Outputs,
): boolean {
  if (settings.sameAccount || ofState === undefined || ofState === keyFingerprint) return true;
  const former = settings.movedFrom.find(({ hash }) => hash === serverHash);
  return former !== undefined && keyFingerprintOf(former, settings.apiKey) === ofState;
}

/** Whether state was made at this address, or at one in `uptime:movedFrom`. */
export function isServerOfState(
  address: Address,
  { movedFrom }: Settings,
  serverHash: string | undefined,
): boolean {
  return serverHash === undefined || [address, ...movedFrom].some(({ hash }) => hash === serverHash);
}

/** Throws if state was made at another server, where the same ids are other records. */
export function assertSameServer(
  { address, settings }: RecordScope,
  { serverHash }: Outputs,
  { mayHaveOldSettings }: EngineOptions,
): void {
  if (isServerOfState(address, settings, serverHash)) return;
  const hint = mayHaveOldSettings ? ` If you have already corrected it: ${oldSettings}.` : "";
  throw new UptimeError(
    `State was made with another address, not ${address.url} (${address.source}), so its ids may mean other records. If the ` +
      `server has moved, run \`pulumi config set uptime:movedFrom OLD-ADDRESS\`; otherwise change ${address.source} back.${hint}`,
  );
}

/** Throws if a record may not be the one in state: a field that no update changes differs, or the account may be another. */
export function assertSameRecord(scope: RecordScope, outputs: Outputs, record: ApiRecord): void {
  const { address, definition } = scope;
  const { label } = definition;
  if (!isAccountOfState(scope, outputs) && !sharesIdentity(definition, outputs.values, record))
    throw new UptimeError(
      message`State was made with another API key, and ${label} ${quoteId(record.id)} has another ${identityKeys(definition).join(" and another ")} than state, so it may be another account's: nothing is done to it. If the present key belongs to the stack's account, run \`pulumi config set uptime:sameAccount true\`; otherwise set the key of its account.`,
    );
  const fixed = fixedKeys(definition);
  const fixedValues = wantedValues(definition, outputs.values, (key) => fixed.includes(key));
  const [first] = differences(definition, fixedValues, record);
  if (!first) return;
  const { key, wanted, actual } = first;
  throw new AnotherRecordError(
    message`${label} ${quoteId(record.id)} has the ${key} ${quoteValue(actual)} in the API and ${quoteValue(wanted)} in state: it is another record, so nothing is done to it. Check that ${address.source} and the key belong to this stack; if the record was really renamed, remove it from state with \`pulumi state delete URN\`.`,
  );
}
