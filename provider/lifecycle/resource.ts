import { UptimeError, type Message } from "../api/errors";
import type { Value } from "../definitions/values";

/** A declared resource, after `check`; an engine front keeps and compares it. */
export interface Inputs {
  /** Fields by property. Null is "managed as empty"; `unknown` stands for what is not known yet. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The account by its name in `uptime:accounts`; undefined for the one that has no name. */
  readonly account?: string | undefined;
  /** The id of the record that the resource is to import. */
  readonly importId?: string | undefined;
}

/** Identifies a resource among the owners of its record. State keeps the claim of a resource that adopted or imported it. */
export type Claim = string & { readonly brand: "claim" };

/** A resource in state. */
export interface Outputs {
  /** The managed fields by property: the keys say what is managed; null is "managed as empty". */
  readonly values: Readonly<Record<string, Value>>;
  /** Everything else that the record showed, under the API's own names; with its secrets, until a front encodes them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly account?: string | undefined;
  /** The id that the resource was imported with, kept to recognize an import that is done. */
  readonly importId?: string | undefined;
  /** A short hash of the address that the record is at. */
  readonly serverHash?: string | undefined;
  /** Four hex digits of a hash of address and API key. */
  readonly keyFingerprint?: string | undefined;
  /** The resource's claim, if it has imported or adopted the record. */
  readonly claim?: Claim | undefined;
  /** The last operation failed half-way, so the record may differ from the inputs. */
  readonly isPartial?: boolean | undefined;
  /** The record is only read, not managed. */
  readonly isReadOnly?: boolean | undefined;
}

/** A resource after an operation. */
export interface State {
  readonly id: string;
  readonly outputs: Outputs;
}

/** The record exists, but what followed failed: state must keep its id. */
export class PartialFailureError extends UptimeError {
  constructor(
    readonly id: string,
    readonly outputs: Outputs,
    given: Message,
    options?: ErrorOptions,
  ) {
    super(given, options);
  }
}

/** Everything that the engine passes about a resource besides its inputs. */
export interface EngineOptions {
  readonly ignoreChanges?: readonly string[] | undefined;
  readonly replaceOnChanges?: readonly string[] | undefined;
  /** The time for this operation in milliseconds, if a person has set one. */
  readonly timeout?: number | undefined;
  /**
   * Identifies the resource in the stack, by the types of its parents, its own type and its name. Undefined if the engine
   * does not pass it; it does for every resource that imports or adopts.
   */
  readonly owner?: string | undefined;
  /**
   * Set by the plugin, whose engine passes every URN: the owner then also identifies a resource that created its record. The
   * dynamic host gets no owner for such a resource, so there two of them cannot be told apart.
   */
  readonly isOwnerCertain?: boolean | undefined;
  /** The program declares the resource; false for a `diff` of a refresh. Default true. */
  readonly isDeclared?: boolean | undefined;
  /** The settings may be those of the last `up`, because no program has run in this process. */
  readonly mayHaveOldSettings?: boolean | undefined;
  /** The resource's URN, if the engine passes it. */
  readonly urn?: string | undefined;
}
