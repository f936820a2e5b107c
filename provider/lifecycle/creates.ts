import { domainToASCII } from "node:url";

import type { ApiRecord } from "../api/answer";
import type { Collection } from "../api/collection";
import type { Operation } from "../api/operation";
import type { Value } from "../definitions/kinds";
import { fieldOf, identityOf, valueIn } from "./difference";
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
  /** The records that may have a name; empty unless creates adopt. */
  readonly named: (name: Value | undefined) => readonly ApiRecord[];
}

/** What the creates of one kind of record in one account know of each other. */
export class Creates {
  /** Creates that are not answered yet. */
  readonly inFlight = new Set<Promise<unknown>>();
  /** What creates want whose answer was lost, and which are being looked for. */
  readonly searches = new Set<Values>();
  private before: Promise<Baseline> | undefined;
  private readonly turns = new Map<string, Promise<unknown>>();
  /** The highest id that a create of this process was answered with. */
  private highest = -1n;
  /** Whether new ids are higher than those before, as far as answers have shown. */
  private areIdsRising = true;

  constructor(
    private readonly collection: Collection,
    private readonly areAdopting: boolean,
  ) {}

  /** What the list holds before the first create of this process. */
  baseline(operation: Operation): Promise<Baseline> {
    this.before ??= this.readBaseline(operation).catch((error: unknown) => {
      this.before = undefined;
      throw error;
    });
    return operation.inTime(this.before);
  }

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

  /**
   * Reads the whole list if a create may adopt a record. Otherwise the first page is enough if it is sorted by ids that
   * fall: then higher ids are new.
   */
  private async readBaseline(operation: Operation): Promise<Baseline> {
    const { definition } = this.collection;
    const nameField = fieldOf(definition, identityOf(definition)[0] ?? "");
    const ids = new Set<string>();
    const byName = new Map<string, ApiRecord[]>();
    let highest: bigint | undefined;
    let previous: bigint | undefined;
    let isFalling = true;
    for await (const page of this.collection.list(operation)) {
      for (const record of page) {
        const number = numberOf(record.id);
        ids.add(String(number ?? record.id));
        isFalling &&= number !== undefined && (previous === undefined || number < previous);
        highest ??= number;
        previous = number;
        if (!this.areAdopting) continue;
        const key = nameKey(valueIn(nameField, record));
        byName.set(key, [...(byName.get(key) ?? []), record]);
      }
      if (isFalling && !this.areAdopting) break;
    }
    return {
      has: (id) => ids.has(String(numberOf(id) ?? id)),
      // Of an empty list nothing tells how it is sorted, but then everything is new.
      highest: isFalling ? (highest ?? -1n) : undefined,
      named: (name) => byName.get(nameKey(name)) ?? [],
    };
  }
}

/** The same string for names that mean the same, whether or not the field is a domain's name. */
function nameKey(name: unknown): string {
  const text = typeof name === "string" ? name : "";
  return domainToASCII(text) || text.toLowerCase();
}

/** An id that is a number; a server may find the record 1 under 01 too. */
export function numberOf(id: string): bigint | undefined {
  return /^\d+$/.test(id) ? BigInt(id) : undefined;
}
