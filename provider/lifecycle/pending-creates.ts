import type { ApiRecord } from "../api/answer";
import type { EmptyListForm } from "../definitions/field-types";
import type { Baseline } from "./baseline";
import type { Claim } from "./resource";
import type { WantedValues } from "./difference";

/** A create before it is sent. */
export interface PlannedCreate {
  readonly wanted: WantedValues;
  readonly claim: Claim;
  readonly baseline: Baseline;
}

/** The record of a create: created, adopted, or found after its answer was lost. */
export interface CreatedRecord {
  readonly id: string;
  /** The record, if the answer shows it. */
  readonly record?: ApiRecord | undefined;
  readonly status?: number | undefined;
  /** The form in which its empty lists were sent. */
  readonly emptyLists?: EmptyListForm | undefined;
}

/** What the creates of one kind of record in one account must know of each other. */
export class PendingCreates {
  baseline: Promise<Baseline> | undefined;
  /** The highest id that is known; undefined if new ids are not always higher. */
  highestKnownId: bigint | undefined;
  /** Creates that are not answered yet. */
  readonly inFlight = new Set<Promise<unknown>>();
  /** The last create for each form body. Equal creates wait for each other. */
  readonly turns = new Map<string, Promise<unknown>>();
}
