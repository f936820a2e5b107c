import { idNumber, type ApiRecord } from "../api/answer";
import type { LostAnswerError, Message } from "../api/errors";
import type { FallbackForms } from "../definitions/codecs";
import type { Baseline } from "./baseline";
import type { Owner } from "./owners";
import type { Claim } from "./resource";
import type { WantedValues } from "./difference";

export interface PlannedCreate {
  readonly wanted: WantedValues;
  readonly owner: Owner | undefined;
  readonly baseline: Baseline;
}

export interface SentCreate extends PlannedCreate {
  /** The record has a higher id than this; undefined if ids are not in order. */
  readonly highestIdBefore: bigint | undefined;
  /** How often it was sent. */
  readonly sendCount: number;
  /** The previous send's lost answer, if there was one. */
  readonly earlierLostAnswer: LostAnswerError | undefined;
}

export interface LostCreate extends SentCreate {
  readonly lostAnswer: LostAnswerError;
  /** It is sent again if two looks find nothing; otherwise looks go on for a minute. */
  readonly mayResend: boolean;
}

/** The record of a create: created, adopted, or found after its answer was lost. */
export interface CreatedRecord {
  readonly id: string;
  readonly claim: Claim;
  /** The record as it was last seen; undefined if only its id is known. */
  readonly record?: ApiRecord | undefined;
  readonly isAdopted?: boolean;
  /** What to do if its id, which only an answer has shown, is not the record's. */
  readonly advice?: Message | undefined;
  readonly fallbackForms?: FallbackForms | undefined;
}

/** What the creates of one kind of record in one account must know of each other. */
export class RunCreates {
  private baseline: Promise<Baseline> | undefined;
  /** The highest id that is known; undefined if new ids are not always higher. */
  highestKnownId: bigint | undefined;
  /** Creates that are not answered yet. */
  readonly inFlight = new Set<Promise<unknown>>();
  /** The last create of each name (and URL). Creates of one name wait for each other. */
  readonly turns = new Map<string, Promise<unknown>>();
  /** Creates whose answer was lost and that are being looked for. */
  readonly lostCreates = new Set<LostCreate>();
  /** The ids that were kept although only the answer to a create has shown them, and what that create wanted. */
  readonly unconfirmedIds = new Map<string, { readonly claim: Claim; readonly wanted: WantedValues }>();

  /** The records that were there before the first create. They are read once; if that fails, the next create reads them. */
  readBaselineOnce(read: () => Promise<Baseline>): Promise<Baseline> {
    return (this.baseline ??= read().then(
      (baseline) => {
        this.highestKnownId = baseline.highestId;
        return baseline;
      },
      (error: unknown) => {
        this.baseline = undefined;
        throw error;
      },
    ));
  }

  /** Notes the id of a new record. */
  rememberId(id: string, baseline: Baseline): void {
    const number = idNumber(id);
    if (this.highestKnownId === undefined) return;
    // If it is lower than known ones, or not a number, ids no longer show which records are new.
    if (number === undefined || number < (baseline.highestId ?? -1n)) this.highestKnownId = undefined;
    else if (number > this.highestKnownId) this.highestKnownId = number;
  }
}
