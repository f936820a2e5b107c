import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import type { Address, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import type { Creates } from "./baseline";
import type { Evidence } from "./evidence";
import type { Ledger } from "./ledger";
import type { RecordReader } from "./reader";
import type { ServerTraits } from "./server-traits";

/** What the processes of a run tell each other: the names of the records that their resources have. */
export interface RunNote {
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
  readonly creates: Creates;
  /** Records that a check has read for an import, which follows soon. */
  readonly checkedImports: Map<string, ApiRecord>;
  readonly runNote: RunNote;
  readonly clock: Clock;
}

/** Connects to the account of that name; undefined is the one without a name. Throws if its settings cannot be used. */
export type Connect = (name: string | undefined) => RecordScope;
