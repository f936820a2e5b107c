import { UptimeError, type Message } from "../api/errors";
import type { OperationOptions } from "../api/operation";
import type { Value } from "../common/values";
import type { Owner } from "./owners";

/** A declared resource as `check` returns it. The engine keeps it in state. */
export interface Inputs {
  /** Fields by property. Null is "managed as empty"; `notYetKnown` stands for a value that is not known yet. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The account by its name in `uptime:accounts`; undefined for the default account. */
  readonly account?: string | undefined;
  /** The id of the record that the resource is to import. */
  readonly importId?: string | undefined;
}

/**
 * Random digits that a resource gets with its record and keeps for life, even if its name, provider or front changes. They
 * tell two resources with one record apart.
 */
export type Claim = string & { readonly brand: "claim" };

/** A resource in state. */
export interface Outputs {
  /** The managed fields by property. Only managed fields have a key; null is "managed as empty". */
  readonly values: Readonly<Record<string, Value>>;
  /** The record's fields that are not managed, under the API's own names; with its secrets, until a front encodes them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly account?: string | undefined;
  /** The id that the resource was imported with, kept while the program has the option, to recognize an import that is done. */
  readonly importId?: string | undefined;
  /** A short hash of the address that the record is at. */
  readonly addressHash?: string | undefined;
  /** Four hex digits of a hash of address and API key. */
  readonly keyFingerprint?: string | undefined;
  /** Undefined in old state, and for a record that is only read. */
  readonly claim?: Claim | undefined;
  /**
   * The last write failed half-way, so nobody knows whether the record has the values in state. This stays set until a write succeeds
   * or a read shows every managed field; until then each diff is an update.
   */
  readonly isPartial?: boolean | undefined;
  /** Only the answer to the create has shown the id, which may be that of something else, such as a job. */
  readonly isIdUnconfirmed?: boolean | undefined;
  /** The resource has adopted or once imported its record, which another key of the account may have made. */
  readonly tookExisting?: boolean | undefined;
  /** The record is only read, not managed. */
  readonly isReadOnly?: boolean | undefined;
}

/** Something that is wrong with an input. The reason may quote the server. */
export interface InputProblem {
  readonly property: string;
  readonly reason: string | Message;
}

/** A resource after an operation. */
export interface OperationResult {
  readonly id: string;
  readonly outputs: Outputs;
  /** A line for a person, such as which record was adopted. */
  readonly announcement?: Message | undefined;
  /** For a create: a record like the new one that a killed run may have made, unless it is gone by the end of the run. */
  readonly namesake?: { readonly text: Message; readonly isStillFree: () => boolean } | undefined;
}

/** The record exists, but a later step failed: state must keep its id. */
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

/** The rest of an operation, besides the inputs: the engine's options, and what the front knows of the run. */
export interface RequestOptions extends OperationOptions {
  readonly ignoreChanges?: readonly string[] | undefined;
  readonly replaceOnChanges?: readonly string[] | undefined;
  /** Undefined in old state. In the outputs of a dynamic resource it may be the owner before a rename. */
  readonly owner?: Owner | undefined;
}
