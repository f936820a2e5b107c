import { idNumber, type ApiRecord } from "../api/record";
import type { Collection } from "../api/collection";
import type { LostAnswerError, Message } from "../api/errors";
import type { Operation } from "../api/operation";
import type { FallbackForms } from "../definitions/codecs";
import { readBaseline, type Baseline } from "./baseline";
import type { WantedValues } from "./difference";
import type { Ledger } from "./ledger";
import type { Claim } from "./resource";

export interface PlannedCreate {
  readonly wanted: WantedValues;
  readonly baseline: Baseline;
}

export interface SentCreate extends PlannedCreate {
  /** The record has a higher id than this; undefined if ids are not in order. */
  readonly highestIdBefore: bigint | undefined;
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
export interface ObtainedRecord {
  readonly id: string;
  readonly claim: Claim;
  /** The record as it was last seen; undefined if only its id is known. */
  readonly record?: ApiRecord | undefined;
  readonly tookExisting?: boolean;
  /** What to do if its id, which is unconfirmed, is not the record's. */
  readonly advice?: Message | undefined;
  readonly fallbackForms?: FallbackForms | undefined;
}

/** What the creates of one kind of record in one account must know of each other. */
export class RunCreates {
  private baseline: Promise<Baseline> | undefined;
  /** The highest id that is known; undefined if new ids are not always higher. */
  highestKnownId: bigint | undefined;
  private readonly inFlight = new Set<Promise<unknown>>();
  /** The last create of each name (and URL). */
  private readonly turns = new Map<string, Promise<unknown>>();
  private readonly lostCreates = new Set<LostCreate>();
  /** The ids that were kept although they are unconfirmed, and what their creates wanted. */
  readonly unconfirmedIds = new Map<string, { readonly claim: Claim; readonly wanted: WantedValues }>();

  constructor(
    private readonly collection: Collection,
    private readonly ledger: Ledger,
  ) {}

  /**
   * The records that were there before the first create. They are read once, and the other creates wait for that; if it fails, the next
   * create reads them.
   */
  async readBaseline(operation: Operation): Promise<Baseline> {
    this.baseline ??= readBaseline(this.collection, this.ledger, operation.forSharedWork()).then(
      (baseline) => {
        this.highestKnownId = baseline.highestId;
        return baseline;
      },
      (error: unknown) => {
        this.baseline = undefined;
        throw error;
      },
    );
    return operation.inTime(this.baseline);
  }

  /** Notes the id of a new record. */
  rememberId(id: string, baseline: Baseline): void {
    const number = idNumber(id);
    if (this.highestKnownId === undefined) return;
    // If it is lower than known ones, or not a number, ids no longer show which records are new.
    if (number === undefined || number < (baseline.highestId ?? -1n)) this.highestKnownId = undefined;
    else if (number > this.highestKnownId) this.highestKnownId = number;
  }

  /** Runs creates of one name (and URL) one after another, so that a lost one cannot be mistaken for its twin. */
  async inTurn<T>(identity: string, operation: Operation, run: () => Promise<T>): Promise<T> {
    const { turns } = this;
    const before = turns.get(identity);
    const turn = (async () => {
      if (before) await operation.inTime(before);
      return run();
    })();
    // If a create times out while it waits, the next one must still wait for those before it.
    const all: Promise<unknown> = Promise.allSettled([before, turn]).then(() => {
      if (turns.get(identity) === all) turns.delete(identity);
    });
    turns.set(identity, all);
    return turn;
  }

  /** Whether a create of this name (and URL) is running, or waits for its turn. */
  isRunning(identity: string): boolean {
    return this.turns.has(identity);
  }

  /** Counts a create as in flight until it is answered. */
  async whileInFlight<T>(create: Promise<T>): Promise<T> {
    this.inFlight.add(create);
    return create.finally(() => this.inFlight.delete(create));
  }

  get hasInFlight(): boolean {
    return this.inFlight.size > 0;
  }

  /** Waits for the answers to all creates that are in flight now. */
  async waitForInFlight(operation: Operation): Promise<void> {
    await operation.inTime(Promise.allSettled(this.inFlight));
  }

  /** Looks for a lost create. Meanwhile, other lost creates know of it, because a record that equals it is probably its own. */
  async whileLost<T>(lostCreate: LostCreate, look: () => Promise<T>): Promise<T> {
    this.lostCreates.add(lostCreate);
    try {
      return await look();
    } finally {
      this.lostCreates.delete(lostCreate);
    }
  }

  /** The other creates whose answers were lost and that are being looked for. */
  otherLostCreates(lostCreate: LostCreate): LostCreate[] {
    return [...this.lostCreates].filter((other) => other !== lostCreate);
  }
}
