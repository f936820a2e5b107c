import { UptimeError } from "../api/errors";
import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import { Operation } from "../api/operation";
import type { Address, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import type { Creates } from "./creates";
import type { Evidence } from "./evidence";
import type { Ledger } from "./ledger";
import type { RecordReader } from "./reader";
import type { Options } from "./resource";
import type { ServerTraits } from "./server-traits";

/** The other processes of this run, by the records that their resources have. */
export interface Neighbors {
  /** This process is about to get a record. Throws if another one was first, or if the others cannot be told. */
  tell(record: string): void;
  /** A resource of this process has a record. The others may not be told. */
  mention(record: string): void;
  /** Whether a resource of another process has a record. */
  have(record: string): boolean;
}

/** What the verbs of the lifecycle work with: one kind of record in one account. */
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
  /** What a check has read of records that are to be imported; the import follows at once. */
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

/** A record's name among the processes of a run, of which some may have another key of the same account. */
export function recordName({ address, definition }: Account, id: string): string {
  return `${address.hash} ${definition.plural} ${id}`;
}

/** The same where only one key is meant, because ids may be an account's own. */
export function ownRecordName(account: Account, id: string): string {
  return `${account.keyFingerprint} ${recordName(account, id)}`;
}

/** Tells the other processes that a resource of this one has a record. Returns whether one of them was first. */
export function mentionRecord(account: Account, id: string): boolean {
  const name = ownRecordName(account, id);
  account.neighbors.mention(name);
  return account.neighbors.have(name);
}

/** A resource of this process gets a record that exists. Throws if another process was first, or if it cannot be told. */
export function claimRecord(account: Account, id: string): void {
  const { definition, neighbors } = account;
  neighbors.tell(recordName(account, id));
  if (mentionRecord(account, id))
    throw new UptimeError(
      `${definition.label} ${id} was not adopted or imported, because a resource of another provider has it.`,
    );
}

/** A resource of this process has created a record. Throws if another process has adopted it before the answer came. */
export function noteCreated(account: Account, id: string): void {
  // Another account of the server may have a record of the same id, so only those of this key are asked.
  if (mentionRecord(account, id))
    throw new UptimeError(
      `${account.definition.label} ${id} was created, but a resource of another provider has adopted it meanwhile: two ` +
        "resources that are equal cannot both have it. Give them different names, or remove one.",
    );
}

/** Whether another process of the run has a record, which it has adopted or imported, or has had before. */
export function isElsewhere(account: Account, id: string): boolean {
  const { neighbors } = account;
  return neighbors.have(recordName(account, id)) || neighbors.have(ownRecordName(account, id));
}
