import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Collection } from "../api/collection";
import type { Address, Settings } from "../api/settings";
import type { EmptyListForm } from "../definitions/codecs";
import type { Definition } from "../definitions/field";
import type { Claims } from "./claims";
import type { Ledger } from "./ledger";
import type { Owners } from "./owners";
import type { PendingCreates } from "./pending-creates";
import type { RecordReader } from "./reader";

/** How this server takes what the API does not specify: what this process has found out so far. (docs/api.md) */
export interface AcceptedForms {
  /** The method of updates: PUT after PATCH was answered with 405. */
  updateMethod: "PATCH" | "PUT";
  /** The form of empty lists that worked. */
  emptyLists: EmptyListForm;
}

/** One kind of record at one address with one key, and everything that the lifecycle's verbs need to work on it. */
export interface RecordScope {
  readonly definition: Definition;
  readonly settings: Settings;
  readonly address: Address;
  /** Four hex digits of address and key: see {@link Outputs.keyFingerprint}. */
  readonly keyFingerprint: string;
  readonly collection: Collection;
  readonly claims: Claims;
  readonly ledger: Ledger;
  readonly owners: Owners;
  readonly reader: RecordReader;
  readonly forms: AcceptedForms;
  readonly creates: PendingCreates;
  /** Records that a check has read for an import, which follows soon. */
  readonly checkedImports: Map<string, ApiRecord>;
  readonly clock: Clock;
  /** Aborts when Pulumi is interrupted. */
  readonly interruption: AbortSignal;
}

/** Connects to the account of that name; undefined is the default account. Throws if its settings cannot be used. */
export type Connect = (name: string | undefined) => RecordScope;
