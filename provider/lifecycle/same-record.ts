import type { ApiRecord } from "../api/record";
import { message, quoteId, quoteValue, RecordMismatchError, UptimeError } from "../api/errors";
import { oldSettingsAdvice } from "../api/failed-attempt";
import { configCommand, keyFingerprintOf, sourceOf, type Config, type Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { fieldOf, fixedKeys, identityKeys, isConfidential } from "../definitions/keys";
import { compare, differences, managedValue, shows, wantedValues, type WantedValues } from "./difference";
import type { Account, RecordScope } from "./record-scope";
import type { Inputs, RequestOptions, Outputs } from "./resource";

/** Whether state was made with the current address and key, or `uptime:sameAccount` says that it is the same account. */
export function isAccountOfState(account: Account, outputs: Outputs): boolean {
  const { keyFingerprint, settings } = account;
  const fingerprint = fingerprintInState(account, outputs);
  const isCurrent = fingerprint === keyFingerprint && isAddressOfState(account, outputs);
  return isCurrent || settings.sameAccount.includes(`${fingerprint}=${keyFingerprint}`);
}

/** Whether state was made in this account, so that only the account's name in `uptime:accounts` has changed. */
export function isRecordedAccount(account: Account, outputs: Outputs): boolean {
  const { addressHash, keyFingerprint } = outputs;
  return addressHash !== undefined && keyFingerprint !== undefined && isAccountOfState(account, outputs);
}

/**
 * Whether a resource that leaves a provider is in another account than this: by the address and key in state, and by those that the
 * former provider has since. Undefined: not known.
 */
export function isAnotherAccount(
  account: RecordScope,
  outputs: Outputs,
  former: Settings | undefined,
): boolean {
  if (isAccountOfState(account, outputs)) return false;
  if (!former) return true;
  const address = former[account.definition.addressSetting];
  const keyFingerprint = keyFingerprintOf(address, former.apiKey);
  return !isAccountOfState(account, { ...outputs, addressHash: address.hash, keyFingerprint });
}

/** The advice on old settings as the end of a message. */
export function oldSettingsHint(mayHaveOldSettings?: boolean): string {
  return oldSettingsAdvice(mayHaveOldSettings)
    .map((sentence) => ` ${sentence}`)
    .join("");
}

/** Whether state was made at this address. */
export function isAddressOfState({ address }: Pick<Account, "address">, { addressHash }: Outputs): boolean {
  return addressHash === undefined || addressHash === address.hash;
}

/** Throws if state was made at another server, where the same ids are other records. */
export function assertSameAddress(
  account: Account,
  outputs: Outputs,
  { mayHaveOldSettings }: RequestOptions,
): void {
  if (isAddressOfState(account, outputs) || isAccountOfState(account, outputs)) return;
  const { url, source, otherSource } = account.address;
  const former = otherSource === undefined ? source : `${source} or ${otherSource}`;
  const hint = oldSettingsHint(mayHaveOldSettings);
  throw new UptimeError(
    `State was made with another address, not ${url} (${source}), so its ids may mean other records. If the server has ` +
      `moved, ${adviseSameAccount(account, fingerprintInState(account, outputs))}; otherwise set the former address again (${former}).${hint}`,
  );
}

/**
 * The advice for a person who knows that the account with these digits is the current one. It adds a pair to the pairs that are set
 * and to those of other errors, because people run one command after the other. A pair for an empty account is given alone, because
 * it makes records count as gone.
 */
export function adviseSameAccount({ keyFingerprint, namedPairs, settings }: Account, digits: string): string {
  const pair = `${digits}=${keyFingerprint}`;
  const others = [...namedPairs].filter((other) => other !== pair && !settings.sameAccount.includes(other));
  if (digits !== keyFingerprint) namedPairs.add(pair);
  const advice = adviseOnPairs(settings, [...settings.sameAccount, ...others, pair]);
  return others.length === 0 ? advice : `${advice} (it has the pairs of other errors too)`;
}

export function adviseOnPairs(config: Pick<Config, "providerName">, pairs: readonly string[]): string {
  const text = pairs.join(",");
  const command = configCommand(config, "sameAccount", text);
  return command ? `run ${command}` : `set ${sourceOf(config, "sameAccount")} to ${JSON.stringify(text)}`;
}

/** Four hex digits of the address and key that state was made with: the current ones if state does not have them. */
export function fingerprintInState(account: Account, outputs: Outputs): string {
  const { keyFingerprint, addressHash } = outputs;
  const ofAddress = isAddressOfState(account, outputs) ? undefined : addressHash?.slice(0, 4);
  return keyFingerprint ?? ofAddress ?? account.keyFingerprint;
}

/**
 * Throws if a record may not be the one in state: a field that no update changes differs, or the key is another one and the name or URL
 * differs. If only the answer to its create has shown its id, name and URL decide, because the id may be a job's, and somebody else's
 * record may have it by now.
 *
 * @param declared what the program declares; by default what state has
 */
export function assertSameRecord(
  scope: RecordScope,
  outputs: Outputs,
  record: ApiRecord,
  { mayHaveOldSettings }: RequestOptions = {},
  declared: Pick<Inputs, "values"> = outputs,
): void {
  const { address, definition } = scope;
  const { label } = definition;
  const keys = identityKeys(definition);
  const isAsInState = (key: string): boolean =>
    compare(fieldOf(definition, key), managedValue(outputs.values, key), record).outcome === "same";
  if (!isAccountOfState(scope, outputs) && !keys.every(isAsInState))
    throw new UptimeError(
      message`State was made with another API key, and ${label} ${quoteId(record.id)} has a
        ${keys.join(" or ")} that differs from state, so it may be another account's and is left alone. If the current
        key belongs to the stack's account, ${adviseSameAccount(scope, fingerprintInState(scope, outputs))};
        otherwise set the key of its account.${oldSettingsHint(mayHaveOldSettings)}`,
    );
  const isAlikeIn = ({ values }: Pick<Inputs, "values">): boolean =>
    isAlike(definition, wantedValues(definition, values), record);
  if (outputs.isIdUnconfirmed && !isAlikeIn(outputs) && !isAlikeIn(declared))
    throw new RecordMismatchError(
      message`${label} ${quoteId(record.id)} seems to be another record than the one in state, so it is left alone. Run
        \`pulumi state delete URN\`. If it is the right record, then declare its values, and name its id with the option import.`,
    );
  const fixed = wantedValues(definition, outputs.values, (_, field) => field.fixed === true);
  const [differing] = differences(definition, fixed, record);
  if (!differing) return;
  const { key, field, wanted, actual } = differing;
  const described = isConfidential(field)
    ? `a ${key} in the API that differs from state`
    : message`the ${key} ${quoteValue(actual)} in the API and ${quoteValue(wanted)} in state`;
  throw new RecordMismatchError(
    message`${label} ${quoteId(record.id)} has ${described}: it is another record, so nothing is done to it.
      Check that ${address.source} and the key belong to this stack; if the record was really renamed, remove
      it from state with \`pulumi state delete URN\`.`,
  );
}

/** Whether a record must be read, and compared with state, before it is written. */
export function mustCompareFirst(scope: RecordScope, outputs: Outputs): boolean {
  const hasFixedKey = fixedKeys(scope.definition).length > 0;
  return hasFixedKey || !isAccountOfState(scope, outputs) || outputs.isIdUnconfirmed === true;
}

/** A record is alike if it has the same name or URL, or one that the server may have made of ours, or if it shows neither. */
export function isAlike(definition: Definition, wanted: WantedValues, record: ApiRecord): boolean {
  const keys = identityKeys(definition);
  if (!keys.some((key) => shows(fieldOf(definition, key), record))) return true;
  return keys.some((key) => {
    const field = fieldOf(definition, key);
    const value = wanted.get(key) ?? null;
    const comparison = compare(field, value, record);
    if (comparison.outcome === "same") return true;
    if (comparison.outcome === "notShown" || typeof value !== "string") return false;
    const { value: actual } = comparison;
    if (typeof actual !== "string" || actual === "") return false;
    return field.type === "url"
      ? lettersAndDigits(withoutFragment(value)) === lettersAndDigits(actual)
      : isMadeOf(actual, value);
  });
}

/** Whether a server may have made one name of another: cut it short, or left out `www.`, repeated spaces or letter case. */
function isMadeOf(actual: string, name: string): boolean {
  const [ours, theirs] = [lettersAndDigits(name), lettersAndDigits(actual)];
  // A name may have neither, such as an emoji.
  if (theirs === "") return name.startsWith(actual);
  return name.startsWith(actual) || (ours.includes(theirs) && theirs.length * 2 >= ours.length);
}

const withoutFragment = (url: string): string => url.replace(/#.*/s, "");

/** The letters and digits of a text, in lower case. */
const lettersAndDigits = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
