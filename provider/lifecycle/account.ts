import { MissingError, UptimeError } from "../api/errors";
import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import { Operation } from "../api/operation";
import type { Address, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import type { Creates } from "./creates";
import { shownIdentity } from "./difference";
import type { Evidence } from "./evidence";
import type { Ledger } from "./ledger";
import type { RecordReader } from "./reader";
import type { Options } from "./resource";
import type { ServerTraits } from "./server-traits";

/** The other processes of this run. They tell each other the names of the records that their resources have. */
export interface Neighbors {
  /** A resource of this process takes a record that exists. Throws if another process was first, or cannot be told. */
  claim(name: string): void;
  /**
   * A resource of this process has a record. Whether the others hear of it is not certain.
   *
   * @param claim in state, if it has the record there
   */
  hold(name: string, claim?: string): void;
  /**
   * Whether another process was the first to claim or to hold a record.
   *
   * @param claim of the resource that asks: what another process holds of the same state does not count
   */
  have(name: string, claim?: string): boolean;
}

/** One kind of record in one account, with all that the verbs of the lifecycle need. */
export interface Account {
  readonly definition: Definition;
  readonly settings: Settings;
  readonly address: Address;
  /** Four hex digits of address and key: see {@link Outputs.keyFingerprint}. */
  readonly keyFingerprint: string;
  readonly collection: Collection;
  readonly ledger: Ledger;
  readonly evidence: Evidence;
  readonly reader: RecordReader;
  readonly traits: ServerTraits;
  readonly creates: Creates;
  /** Records that a check has read because they are to be imported; the import follows at once. */
  readonly checkedImports: Map<string, ApiRecord>;
  readonly neighbors: Neighbors;
  readonly clock: Clock;
}

/** The account of that name, undefined for the one without a name. Throws if its settings are not usable. */
export type Connect = (name: string | undefined) => Account;

/** An operation of the engine on a record of an account. */
export function operationOf({ clock }: Account, options: Options = {}): Operation {
  return new Operation({ ...options, clock });
}

/** A record for the processes that have the same key. */
function nameByKey(account: Account, id: string): string {
  return `${account.keyFingerprint} ${idOnServer(account, id)}`;
}

/** A record for all processes: two keys may be of one account, or of two that both have the id. */
function nameOnServer(account: Account, record: ApiRecord): string {
  return `${idOnServer(account, record.id)} ${shownIdentity(account.definition, record)}`;
}

function idOnServer({ address, definition }: Account, id: string): string {
  return `${address.hash} ${definition.plural} ${id}`;
}

/**
 * A resource of this process has a record. Returns whether one of another process with the same key has it too.
 *
 * @param claim in state, if it has the record there
 */
export function holdRecord(account: Account, id: string, claim?: string): boolean {
  const name = nameByKey(account, id);
  account.neighbors.hold(name, claim);
  return account.neighbors.have(name);
}

/** A resource of this process takes a record that exists. Throws if another process was first, or cannot be told. */
export function claimRecord(account: Account, record: ApiRecord): void {
  const { neighbors } = account;
  neighbors.hold(idOnServer(account, record.id));
  neighbors.claim(nameOnServer(account, record));
  neighbors.claim(nameByKey(account, record.id));
}

/** A resource of this process has created a record. Throws if another process has adopted it before the answer came. */
export function holdCreated(account: Account, id: string): void {
  if (holdRecord(account, id))
    throw new UptimeError(
      `${account.definition.label} ${id} was created, but a resource of another provider has adopted it meanwhile: two ` +
        "resources that are equal cannot both have it. Give them different names, or remove one.",
    );
}

/** Whether a resource of another process has a record, or has claimed it with another key. */
export function isElsewhere(account: Account, record: ApiRecord): boolean {
  return isElsewhereByKey(account, record.id) || account.neighbors.have(nameOnServer(account, record));
}

/** Whether a resource of another process with the same key has a record. */
export function isElsewhereByKey(account: Account, id: string, claim?: string): boolean {
  return account.neighbors.have(nameByKey(account, id), claim);
}

/**
 * Whether a resource of another process has the record of a resource in state. Its new provider may hold it for the same
 * resource, which is replaced. The record is read if a process with another key has claimed such an id.
 */
export async function isHeldElsewhere(
  account: Account,
  id: string,
  claim: string,
  operation: Operation,
): Promise<boolean> {
  if (isElsewhereByKey(account, id, claim)) return true;
  if (!account.neighbors.have(idOnServer(account, id))) return false;
  try {
    return account.neighbors.have(nameOnServer(account, await account.reader.show(id, operation)));
  } catch (error) {
    if (error instanceof MissingError) return false;
    throw error;
  }
}
