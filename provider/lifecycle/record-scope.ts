import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import type { Address, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import type { Evidence } from "./evidence";
import type { Ledger } from "./ledger";
import type { PendingCreates } from "./pending-creates";
import type { RecordReader } from "./reader";
import type { ServerTraits } from "./server-traits";

/** What the processes of a run tell each other: the names of the records that their resources own. */
export interface RunNote {
  /** Reserves an existing record for a resource of this process. Throws if another process was first, or cannot learn of it. */
  reserve(name: string): void;
  /**
   * Notes that a resource of this process owns a record. The other processes may not learn of it.
   *
   * @param claim the resource's claim, if it has the record in state
   */
  noteOwner(name: string, claim?: string): void;
  /**
   * Whether another process was the first to reserve a record or to note its owner.
   *
   * @param claim the claim of the resource that asks: with the same claim, the other process has the same resource
   */
  isOwnedElsewhere(name: string, claim?: string): boolean;
}

/** One kind of record at one address with one key, and everything that the lifecycle's verbs need to work on it. */
export interface RecordScope {
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
  readonly creates: PendingCreates;
  /** Records that a check has read for an import, which follows soon. */
  readonly checkedImports: Map<string, ApiRecord>;
  readonly runNote: RunNote;
  readonly clock: Clock;
  /** Aborts when Pulumi is interrupted. */
  readonly interruption: AbortSignal;
}

/** Connects to the account of that name; undefined is the one without a name. Throws if its settings cannot be used. */
export type Connect = (name: string | undefined) => RecordScope;
