import { getOrMake } from "../common/values";
import type { Owner, Owners } from "./owners";
import type { Claim } from "./resource";

/** A resource that has a record, or had it. */
interface Holder {
  readonly owner: Owner | undefined;
  /**
   * - `taken`: this process has given it the record
   * - `in state`: the engine has asked about it
   * - `ended`: its delete has begun
   */
  readonly status: "taken" | "in state" | "ended";
}

/** A resource that asks about a record, by its claim or its owner: its own claim does not count. */
export interface Asker {
  readonly claim?: Claim | undefined;
  readonly owner?: Owner | undefined;
}

/** What this process knows of one record. */
interface Entry {
  readonly holders: Map<Claim, Holder>;
  /** This process has created the record. Any claim that is not among the holders is about an earlier record. */
  isCreated: boolean;
  /** The owners of planned imports: see {@link Ledger.planImport}. */
  readonly plannedImports: Set<Owner>;
  /** The server has shown the record. */
  wasSeen: boolean;
  /** This process changes it or has just created it, so lists that were read before may be outdated. */
  wasChanged: boolean;
}

/**
 * What this process knows of which resources have which records, of one kind and in one account: for each record its claims.
 * A claim is random digits that a resource gets with its record and keeps for life, so it stays the same if the resource
 * gets another name. It lives until the delete of its resource begins. A record is deleted with the last living
 * claim on it.
 *
 * An example: `a` has record 7 in state with the claim 1f0c9a2e. The program replaces `a` by `b` with the option `import` of
 * 7. The check of `b` plans an import, its create takes 7 with a new claim; then the delete of `a` ends 1f0c9a2e, finds the
 * claim of `b`, and leaves the record alone.
 */
export class Ledger {
  private readonly entries = new Map<string, Entry>();
  /** The records that this process has heard of. `gone`: it has deleted them, or has found them gone. */
  private readonly heard = new Map<string, "living" | "gone">();
  /** The records whose delete was sent, and whose result is not known yet. */
  private readonly beingDeleted = new Set<string>();
  /** The records that this process has deleted, and when, on the clock. */
  private readonly deleted = new Map<string, number>();

  constructor(private readonly owners: Owners) {}

  /** A resource in state has the record. */
  hear(id: string, claim: Claim, owner: Owner | undefined): void {
    const { holders } = this.entry(id);
    getOrMake(this.heard, id, () => "living");
    const known = holders.get(claim);
    if (this.isVoid(id, claim) || known?.status === "taken" || known?.status === "ended") return;
    // The owner in a resource's outputs may be older than the one in its inputs, which come later.
    holders.set(claim, { owner: owner ?? known?.owner, status: "in state" });
  }

  /** The program has a resource that is to import the record. */
  planImport(id: string, owner: Owner): void {
    this.entry(id).plannedImports.add(owner);
  }

  /** The record that a resource was to import does not exist. */
  dropImport(id: string, owner: Owner | undefined): void {
    if (owner !== undefined) this.entries.get(id)?.plannedImports.delete(owner);
  }

  /**
   * A resource gets the record: it creates, adopts or imports it.
   *
   * @param options.wasSeen false if the id is unconfirmed
   */
  take(id: string, claim: Claim, owner: Owner | undefined, { isCreated = false, wasSeen = true } = {}): void {
    const entry = this.entry(id);
    // Servers reuse ids. If state has this id, it means an earlier record, which is gone, so its claims end.
    if (isCreated) entry.holders.clear();
    entry.isCreated ||= isCreated;
    entry.holders.set(claim, { owner, status: "taken" });
    if (wasSeen) this.confirm(id);
    if (owner !== undefined) entry.plannedImports.delete(owner);
  }

  /**
   * A resource has got the record, so the id is no longer that of a record which this process has deleted. An id that is still
   * unconfirmed may be given to another create.
   */
  confirm(id: string): void {
    this.deleted.delete(id);
    this.markSeen(id);
  }

  /** The resource that has taken the record does not have it: the record of the answer was not there. */
  release(id: string, claim: Claim): void {
    const entry = this.entry(id);
    // Meanwhile another create may have been answered with the record that has the id.
    if (entry.holders.get(claim)?.status !== "taken") return;
    entry.holders.delete(claim);
    entry.isCreated = false;
    entry.wasSeen = false;
  }

  markSeen(id: string): void {
    this.heard.set(id, "living");
    this.entry(id).wasSeen = true;
  }

  /** This process changes the record, or has just created it. */
  markChanged(id: string): void {
    this.entry(id).wasChanged = true;
  }

  /** The delete of a resource begins, even if its record stays. */
  endClaim(id: string, claim: Claim): void {
    getOrMake(this.heard, id, () => "living");
    if (!this.isVoid(id, claim)) this.entry(id).holders.set(claim, { owner: undefined, status: "ended" });
  }

  /** Runs the delete of a record. A server may use its id again before the delete is answered. */
  async whileDeleting<T>(id: string, run: () => Promise<T>): Promise<T> {
    this.beingDeleted.add(id);
    try {
      return await run();
    } finally {
      this.beingDeleted.delete(id);
    }
  }

  markDeleted(id: string, now: number): void {
    this.markGone(id);
    this.deleted.set(id, now);
  }

  markGone(id: string): void {
    this.entries.delete(id);
    if (this.heard.has(id)) this.heard.set(id, "gone");
  }

  /**
   * Whether another resource has a living claim on the record. A planned import always counts, also that of the resource that asks: if it
   * is replaced, its record must stay for the import.
   */
  hasOtherClaim(id: string, { claim, owner }: Asker = {}): boolean {
    const entry = this.entries.get(id);
    if (!entry) return false;
    if (entry.plannedImports.size > 0) return true;
    return this.othersOn(entry, claim).some((other) => owner === undefined || other.owner !== owner);
  }

  /**
   * Whether a resource has got the record from this process, or is to import it. The resource with this claim does not count. Nor does
   * a resource that only state has, because its record may be gone, nor an import of a record that is being deleted: from then on, the
   * id means a new record.
   */
  isTakenInRun(id: string, claim?: Claim): boolean {
    const entry = this.entries.get(id);
    if (!entry) return false;
    if (this.othersOn(entry, claim).some(({ status }) => status === "taken")) return true;
    return entry.plannedImports.size > 0 && !this.isBeingDeleted(id);
  }

  /** The owner of another resource that the program declares and that has the record, or is to import it. */
  otherDeclaredOwner(id: string, { claim, owner }: Asker): Owner | undefined {
    const entry = this.entries.get(id);
    if (!entry) return undefined;
    const others = this.othersOn(entry, claim).map((other) => other.owner);
    return [...entry.plannedImports, ...others].find(
      (other): other is Owner => other !== owner && this.owners.isDeclared(other),
    );
  }

  /**
   * Whether a claim is void: since it was made, another create of this process has got a record with the same id. So the claim is about an
   * earlier record, which is gone, or about a create whose answer named the id alone.
   */
  isVoid(id: string, claim: Claim): boolean {
    const entry = this.entries.get(id);
    return entry?.isCreated === true && !entry.holders.has(claim);
  }

  /** Whether the server has shown the record to this process, which has not deleted it since. */
  wasSeen(id: string): boolean {
    return this.entries.get(id)?.wasSeen === true;
  }

  isBeingDeleted(id: string): boolean {
    return this.beingDeleted.has(id);
  }

  /** Whether this process has deleted the record, after a time on the clock. */
  isDeleted(id: string, after = -Infinity): boolean {
    return (this.deleted.get(id) ?? -Infinity) > after;
  }

  wasChanged(id: string): boolean {
    return this.entries.get(id)?.wasChanged === true;
  }

  /** Whether this process has heard of a record with this id, even if it is gone now. */
  hasHeardOf(id: string): boolean {
    return this.heard.has(id);
  }

  /** How many records this process has heard of, from state or from the server. */
  get heardCount(): number {
    return this.heard.size;
  }

  /** Whether this process has heard of a record that it has neither deleted nor found gone. */
  get hasHeardOfLivingRecord(): boolean {
    return [...this.heard.values()].includes("living");
  }

  /** The resources with living claims on a record, beside the one with this claim. */
  private othersOn({ holders }: Entry, claim: Claim | undefined): Holder[] {
    const living = [...holders].filter(([other, { status }]) => other !== claim && status !== "ended");
    return living.map(([, holder]) => holder);
  }

  private entry(id: string): Entry {
    return getOrMake(this.entries, id, () => ({
      holders: new Map(),
      isCreated: false,
      plannedImports: new Set(),
      wasSeen: false,
      wasChanged: false,
    }));
  }
}
