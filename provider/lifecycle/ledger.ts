import { randomUUID } from "node:crypto";

import type { ApiRecord } from "../api/answer";
import type { Clock } from "../api/clock";
import type { Operation } from "../api/operation";

/** If more than this many records are missing and none is found, nothing counts as gone. */
export const mostGone = 3;
/** Milliseconds without news of another record after which a verdict is given. */
const quiet = 1000;

/** What is known of one record in this run. */
interface Entry {
  /** State has it for a resource that is managed. */
  isInState: boolean;
  /** The key, as a hash, with which state was made, if state says. */
  stateKey: string | undefined;
  /** The list of its kind does not hold it. */
  isMissing: boolean;
  /** The provider changed it, or tried to, so that a list may be older. */
  isWritten: boolean;
  /** It was deleted or found gone, so that nothing of it is left. */
  isEnded: boolean;
  /** Which resource has got it in this run by create, adoption or import. */
  takenBy: string | undefined;
  /** Which resource has the option `import` with its id. */
  importedBy: string | undefined;
  /** The resources in state that have it. */
  readonly claims: Map<string, Claim>;
  /** The resources in state that had it and are replaced in this run, each as its inputs name it. */
  readonly replaced: Map<string, string | undefined>;
}

/**
 * What an adopted record is claimed by: its resource, and which time. With `up --replace` nothing is compared, so a create may
 * adopt the record of the very resource that it replaces, and then one of the two is deleted.
 */
export function adoptionClaim(resource: string | undefined): string {
  const once = randomUUID();
  return resource === undefined ? once : `${resource}#${once}`;
}

const adoptionMark = /#[0-9a-f-]{36}$/;

/** The claimant of a resource that state does not name: it neither imported nor adopted its record. */
export const unnamed = "";

/**
 * What this process knows of the records of one account, of all kinds: one resource per record, one record per resource.
 * `check` and `diff` of the lifecycle change nothing else.
 */
export class Ledger {
  private readonly kinds = new Map<string, RecordsOfKind>();
  private readonly waiting = new Set<() => void>();
  private isFound = false;
  /** How many requests about records that state knows are not answered yet. */
  private open = 0;
  /** Too many were missing and none was found in time, so later verdicts need not wait. */
  private isDoubtful = false;

  constructor(private readonly clock: Clock) {}

  of(plural: string): RecordsOfKind {
    let records = this.kinds.get(plural);
    if (!records) this.kinds.set(plural, (records = new RecordsOfKind(this)));
    return records;
  }

  /** A record that state knows was found: address and key belong to this stack. */
  find(): void {
    this.isFound = true;
    this.tell();
  }

  /** Lets nobody decide before this is known, however slow the server is. */
  async awaiting<T>(answer: Promise<T>): Promise<T> {
    this.open++;
    try {
      return await answer;
    } finally {
      this.open--;
      this.tell();
    }
  }

  /** Lets everybody who waits for evidence look again. */
  tell(): void {
    for (const look of this.waiting) look();
    this.waiting.clear();
  }

  /**
   * Waits until it is known whether the missing records are those of this stack: until one that state knows is found, or
   * until every request is answered and no other record is heard of for a second.
   */
  async evidence(operation: Operation): Promise<"found" | "none" | "too many missing" | "no time"> {
    for (;;) {
      if (this.isFound) return "found";
      if (this.isDoubtful) return "too many missing";
      const heard = new AbortController();
      const look = (): void => {
        heard.abort();
      };
      this.waiting.add(look);
      const signal = AbortSignal.any([heard.signal, ...(operation.waitSignal ? [operation.waitSignal] : [])]);
      if (this.open > 0) await aborted(signal);
      else await this.clock.sleep(quiet, signal).catch(() => undefined);
      this.waiting.delete(look);
      if (operation.waitSignal?.aborted) return "no time";
      if (heard.signal.aborted || this.open > 0) continue;
      this.isDoubtful = this.missing > mostGone;
      return this.isDoubtful ? "too many missing" : "none";
    }
  }

  private get missing(): number {
    return [...this.kinds.values()].reduce((sum, records) => sum + records.missing, 0);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => {
      resolve();
    });
  });
}

/** How often a resource was read by a refresh, and how often it was compared. */
interface Claim {
  reads: number;
  diffs: number;
  /** The resource as its inputs name it. */
  resource?: string | undefined;
}

/** Whether the program has the resource: a refresh compares each one that it has read once, whether or not it does. */
const isDeclared = ({ reads, diffs }: Claim): boolean => diffs > reads;

/** The part of the ledger that is about one kind of record. */
export class RecordsOfKind {
  private readonly entries = new Map<string, Entry>();
  /** Ids of the option `import` that are spent for a resource: it has that record, or the one that has replaced it. */
  private readonly done = new Set<string>();
  /** Ids of the option `import` whose record, or the one that has replaced it, ends or has ended in this run. */
  private readonly spent = new Set<string>();
  private readonly forImport = new Map<string, ApiRecord>();

  constructor(private readonly ledger: Ledger) {}

  get missing(): number {
    let count = 0;
    for (const { isMissing } of this.entries.values()) if (isMissing) count++;
    return count;
  }

  /** State has the record for a resource. */
  expect(id: string, stateKey: string | undefined): void {
    const entry = this.entry(id);
    if (!entry.isInState) this.ledger.tell();
    entry.isInState = true;
    entry.stateKey ??= stateKey;
  }

  isInState(id: string): boolean {
    return this.entries.get(id)?.isInState === true;
  }

  stateKeyOf(id: string): string | undefined {
    return this.entries.get(id)?.stateKey;
  }

  /** The API has shown the record. */
  see(id: string): void {
    if (this.isInState(id)) this.ledger.find();
  }

  /** The list of this kind does not hold the record. `listed` says which records it holds. */
  miss(id: string, listed: (id: string) => boolean): void {
    if (!this.isInState(id)) return;
    this.entry(id).isMissing = true;
    if ([...this.entries].some(([other, { isInState }]) => isInState && listed(other))) this.ledger.find();
    this.ledger.tell();
  }

  write(id: string): void {
    this.entry(id).isWritten = true;
  }

  isWritten(id: string): boolean {
    return this.entries.get(id)?.isWritten === true;
  }

  /** The record is about to be deleted, so it is too late to import it. */
  beginEnd(id: string): void {
    this.spent.add(id);
  }

  /** The record was not deleted after all. */
  revokeEnd(id: string): void {
    if (!this.isEnded(id)) this.spent.delete(id);
  }

  /** The record was deleted, or is gone; so is what `importId` was imported as. */
  end(id: string, importId?: string): void {
    this.entry(id).isEnded = true;
    this.spent.add(id);
    if (importId !== undefined) this.spent.add(importId);
  }

  isEnded(id: string): boolean {
    return this.entries.get(id)?.isEnded === true;
  }

  /** A resource has got the record in this run: it has created, adopted or imported it. */
  take(id: string, resource: string | undefined): void {
    const entry = this.entry(id);
    entry.takenBy = resource ?? unnamed;
    entry.isEnded = false;
  }

  /** A resource does not have the record after all. */
  giveBack(id: string): void {
    this.entry(id).takenBy = undefined;
  }

  isTaken(id: string): boolean {
    return this.entries.get(id)?.takenBy !== undefined;
  }

  /** Whether some resource has the record, as far as this process has heard. */
  isHeld(id: string): boolean {
    return this.isInState(id) || this.isTaken(id);
  }

  /** Whether some resource has the record, or is to import it. */
  isClaimed(id: string): boolean {
    return this.isHeld(id) || this.entries.get(id)?.importedBy !== undefined;
  }

  /** A resource has the option `import` with this id; the one that had it first keeps it, and is returned. */
  nameImport(id: string, resource: string): string {
    return (this.entry(id).importedBy ??= resource);
  }

  /** What a check has read of a record that is to be imported; the import follows at once. */
  keepForImport(record: ApiRecord): void {
    this.forImport.set(record.id, record);
  }

  /** What a check has read of a record, for one import. */
  takeForImport(id: string): ApiRecord | undefined {
    const record = this.forImport.get(id);
    this.forImport.delete(id);
    return record;
  }

  /** The record that a resource was to import does not exist. */
  giveUpImport(id: string, resource: string | undefined): void {
    const entry = this.entry(id);
    if (entry.importedBy === resource) entry.importedBy = undefined;
  }

  /** Nothing is left to import for a resource in state, under whichever id it has now. */
  finishImport(id: string, resource: string | undefined): void {
    this.done.add(JSON.stringify([id, resource]));
  }

  /** Whether a create with the option `import` is a replacement's, and makes a new record. */
  isSpent(id: string, resource: string | undefined): boolean {
    return this.spent.has(id) || this.done.has(JSON.stringify([id, resource]));
  }

  /** A resource in state was read by a refresh. */
  noteRead(id: string, claimant: string): void {
    this.claim(id, claimant).reads++;
  }

  /**
   * A resource in state was compared with what the program, or a refresh, says of it, and keeps its record.
   *
   * @param resource the resource as its inputs name it
   * @returns another one that is in the program and has the record or imports it, if this one is in the program
   */
  noteDiff(id: string, claimant: string, resource: string | undefined): string | undefined {
    const own = this.claim(id, claimant);
    own.diffs++;
    own.resource = resource;
    if (!isDeclared(own)) return undefined;
    const { importedBy } = this.entry(id);
    if (importedBy !== undefined && importedBy !== claimant && importedBy !== resource) return importedBy;
    return this.declaredHolder(id, (other) => other === claimant || other === resource);
  }

  /** The resource of the program that has a record, if that is not the one that is asked for. */
  holderOf(id: string, resource: string | undefined): string | undefined {
    return this.declaredHolder(id, (other) => other === resource);
  }

  private declaredHolder(id: string, isOwn: (claimant: string) => boolean): string | undefined {
    const { takenBy, claims } = this.entry(id);
    const isOthers = ([other, claim]: [string, Claim]): boolean => !isOwn(other) && isDeclared(claim);
    const holder = takenBy !== undefined && !isOwn(takenBy) ? takenBy : [...claims].find(isOthers)?.[0];
    return holder?.replace(adoptionMark, "");
  }

  /** A resource in state is about to be replaced, and so gives its record up. */
  noteReplacement(id: string, claimant: string, resource: string | undefined): void {
    this.entry(id).replaced.set(claimant, resource);
  }

  /** A resource gives its record up. Whether another one has it, or is about to import it. */
  release(id: string, claimant: string): boolean {
    const { takenBy, importedBy, claims, replaced } = this.entry(id);
    const resource = claims.get(claimant)?.resource ?? replaced.get(claimant);
    claims.delete(claimant);
    if (takenBy !== undefined && takenBy !== claimant) return true;
    // State of version 0.1.0 has no more than the resource's name as its claim.
    const isOwnImport =
      importedBy === undefined ||
      importedBy === claimant ||
      importedBy === resource ||
      importedBy.endsWith(`::${claimant}`);
    return !isOwnImport || claims.size > 0;
  }

  private claim(id: string, claimant: string): Claim {
    const { claims } = this.entry(id);
    let claim = claims.get(claimant);
    if (!claim) claims.set(claimant, (claim = { reads: 0, diffs: 0 }));
    return claim;
  }

  private entry(id: string): Entry {
    let entry = this.entries.get(id);
    if (!entry) {
      entry = {
        isInState: false,
        stateKey: undefined,
        isMissing: false,
        isWritten: false,
        isEnded: false,
        takenBy: undefined,
        importedBy: undefined,
        claims: new Map(),
        replaced: new Map(),
      };
      this.entries.set(id, entry);
    }
    return entry;
  }
}
