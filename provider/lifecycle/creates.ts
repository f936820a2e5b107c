import type { ApiRecord } from "../api/answer";
import type { Operation } from "../api/operation";
import type { Values } from "./difference";

/** A record that a create has made, adopted or found. */
export interface CreatedRecord {
  readonly id: string;
  /** The record, if the answer shows it. */
  readonly record?: ApiRecord | undefined;
  readonly status?: number | undefined;
}

/** The records that were there before the first create of this process. */
export interface Baseline {
  /** Whether the part of the list that was read held a record. */
  readonly has: (id: string) => boolean;
  /** The highest id if the list is sorted by ids that are numbers and only fall, so that only higher ones are new. */
  readonly highest: bigint | undefined;
}

/** What the creates of one kind of record in one account know of each other. */
export class Creates {
  baseline: Promise<Baseline> | undefined;
  /** With adoption: what was there before the first create of this process, by name. */
  existing: Promise<ReadonlyMap<string, readonly ApiRecord[]>> | undefined;
  /** Creates that are not answered yet. */
  readonly inFlight = new Set<Promise<unknown>>();
  /** What creates want whose answer was lost, and which are being looked for. */
  readonly searches = new Set<Values>();
  private readonly turns = new Map<string, Promise<unknown>>();
  /** The highest id that a create of this process was answered with. */
  private highest = -1n;
  /** Whether new ids are higher than those before, as far as answers have shown. */
  private areIdsRising = true;

  /** Learns from the id that a create was answered with. */
  learn(id: string, { highest }: Baseline): void {
    const number = numberOf(id);
    if (number === undefined || (highest !== undefined && number < highest)) this.areIdsRising = false;
    else if (number > this.highest) this.highest = number;
  }

  /** The id above which all new records are; undefined if ids do not tell. */
  highestSince({ highest }: Baseline): bigint | undefined {
    if (highest === undefined || !this.areIdsRising) return undefined;
    return highest > this.highest ? highest : this.highest;
  }

  /** Lets creates that send the same go one after the other, so that a lost one is not taken for another. */
  async inTurn<T>(form: string, operation: Operation, create: () => Promise<T>): Promise<T> {
    const before = this.turns.get(form);
    const turn = (async () => {
      if (before) await operation.inTime(Promise.allSettled([before]));
      return create();
    })();
    this.turns.set(form, turn);
    try {
      return await turn;
    } finally {
      if (this.turns.get(form) === turn) this.turns.delete(form);
    }
  }
}

/** An id that is a number; a server may find the record 1 under 01 too. */
export function numberOf(id: string): bigint | undefined {
  return /^\d+$/.test(id) ? BigInt(id) : undefined;
}
