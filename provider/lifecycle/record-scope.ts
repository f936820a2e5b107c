import type { ApiRecord } from "../api/record";
import type { Collection } from "../api/collection";
import { Operation, type RunContext } from "../api/operation";
import type { Address, Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import type { Claims } from "./claims";
import type { Ledger } from "./ledger";
import type { Owners } from "./owners";
import type { RunCreates } from "./run-creates";
import type { RecordReader } from "./reader";
import type { RequestOptions } from "./resource";

/** The settings by which this process reaches an account, with the digits that tell it apart from the one that state was made with. */
export interface AccountAccess {
  readonly settings: Settings;
  readonly address: Address;
  /** Four hex digits of address and key: see `Outputs.keyFingerprint`. */
  readonly keyFingerprint: string;
  /** The pairs of `sameAccount` that errors of this process have named. */
  readonly namedPairs: Set<string>;
}

/** What this process knows of one kind of record at one address with one key, and how it reads and writes them. */
export interface SharedScope {
  /** Each record at its own address: `get` throws NotFoundError if there is none, `find` returns undefined. */
  readonly collection: Collection;
  /** The same records, from the list if that shows enough of them. */
  readonly reader: RecordReader;
  readonly ledger: Ledger;
  readonly claims: Claims;
  readonly creates: RunCreates;
  /** Records that a check has read for an import, which follows soon. */
  readonly checkedImports: Map<string, ApiRecord>;
}

/** What the lifecycle's verbs need to work on one kind of record in one account. */
export interface RecordScope extends AccountAccess, SharedScope, RunContext {
  /** The kind of record. For a resource, `SharedFront.begin` sets a definition that knows which inputs are secret; all else is shared. */
  readonly definition: Definition;
  readonly owners: Owners;
}

/** What one operation works with: the records of its account, its options, and its time and requests. */
export interface OperationScope extends RecordScope {
  readonly options: RequestOptions;
  readonly operation: Operation;
}

export function beginOperation(scope: RecordScope, options: RequestOptions = {}): OperationScope {
  return { ...scope, options, operation: new Operation(scope, options) };
}

/** Connects to the account of that name; undefined is the default account. Throws if its settings cannot be used. */
export type Connect = (name: string | undefined) => RecordScope;
