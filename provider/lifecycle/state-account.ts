import { UptimeError } from "../api/errors";
import { oldSettingsAdvice } from "../api/advice";
import { configCommand, keyFingerprintOf, sourceOf, type Config, type Settings } from "../api/settings";
import type { AccountAccess, OperationScope, RecordScope } from "./record-scope";
import type { Outputs } from "./resource";

/** The address and key that state was made with. */
type AccountInState = Pick<Outputs, "addressHash" | "keyFingerprint">;

/** Whether state was made with the current address and key, or `uptime:sameAccount` says that it is the same account. */
export function isAccountOfState(account: AccountAccess, inState: AccountInState): boolean {
  const { keyFingerprint, settings } = account;
  const fingerprint = fingerprintInState(account, inState);
  const isCurrent = fingerprint === keyFingerprint && isAddressOfState(account, inState);
  return isCurrent || settings.sameAccount.includes(`${fingerprint}=${keyFingerprint}`);
}

/**
 * Whether a resource that leaves a provider is in another account than this: by the address and key in state, and by those that the
 * former provider has since.
 *
 * @param former the former provider's settings; undefined if they are not known
 */
export function leavesAccount(
  account: RecordScope,
  inState: AccountInState,
  former: Settings | undefined,
): boolean {
  if (isAccountOfState(account, inState)) return false;
  if (!former) return true;
  const address = former[account.definition.addressSetting];
  const keyFingerprint = keyFingerprintOf(address, former.apiKey);
  return !isAccountOfState(account, { addressHash: address.hash, keyFingerprint });
}

/** The advice on old settings as the end of a message. */
export function oldSettingsSentences({ options }: OperationScope): string {
  return oldSettingsAdvice(options.mayHaveOldSettings)
    .map((sentence) => ` ${sentence}`)
    .join("");
}

/** A refresh that runs the program reads a resource with its new provider, before Pulumi has replaced it. */
function movedAdvice({ settings }: AccountAccess): string {
  if (settings.providerName === undefined) return "";
  return " If the program has just moved the resource to this provider, run `pulumi up` without `--refresh`.";
}

/** What to do if state was made with another key. */
export function otherKeyAdvice(scope: OperationScope, outputs: Outputs): string {
  return (
    `If the current key belongs to the stack's account, ${adviseSameAccount(scope, outputs)}; ` +
    `otherwise set the key of its account.${movedAdvice(scope)}${oldSettingsSentences(scope)}`
  );
}

export function isAddressOfState(
  { address }: Pick<AccountAccess, "address">,
  { addressHash }: AccountInState,
): boolean {
  return addressHash === undefined || addressHash === address.hash;
}

/** Throws if state was made at another server, where the same ids are other records. */
export function assertSameAddress(scope: OperationScope, outputs: Outputs): void {
  if (isAddressOfState(scope, outputs) || isAccountOfState(scope, outputs)) return;
  const { url, source, otherSource } = scope.address;
  const former = otherSource === undefined ? source : `${source} or ${otherSource}`;
  const hint = movedAdvice(scope) + oldSettingsSentences(scope);
  throw new UptimeError(
    `State was made with another address, not ${url} (${source}), so its ids may mean other records. If the server has ` +
      `moved, ${adviseSameAccount(scope, outputs)}; otherwise set the former address again (${former}).${hint}`,
  );
}

/**
 * The advice for a person who knows that the account in state is the current one. It adds a pair to the pairs that are set
 * and to those of other errors, because people run one command after the other. A pair for an empty account is given alone, because
 * it makes records count as gone.
 */
export function adviseSameAccount(account: AccountAccess, inState: AccountInState): string {
  const { keyFingerprint, namedPairs, settings } = account;
  const fingerprint = fingerprintInState(account, inState);
  const pair = `${fingerprint}=${keyFingerprint}`;
  const others = [...namedPairs].filter((other) => other !== pair && !settings.sameAccount.includes(other));
  if (fingerprint !== keyFingerprint) namedPairs.add(pair);
  const advice = pairsAdvice(settings, [...settings.sameAccount, ...others, pair]);
  return others.length === 0 ? advice : `${advice} (it has the pairs of other errors too)`;
}

export function pairsAdvice(config: Pick<Config, "providerName">, pairs: readonly string[]): string {
  const text = pairs.join(",");
  const command = configCommand(config, "sameAccount", text);
  return command ? `run ${command}` : `set ${sourceOf(config, "sameAccount")} to ${JSON.stringify(text)}`;
}

/** Four hex digits of the address and key that state was made with: the current ones if state does not have them. */
function fingerprintInState(account: AccountAccess, inState: AccountInState): string {
  const { keyFingerprint, addressHash } = inState;
  const ofAddress = isAddressOfState(account, inState) ? undefined : addressHash?.slice(0, 4);
  return keyFingerprint ?? ofAddress ?? account.keyFingerprint;
}
