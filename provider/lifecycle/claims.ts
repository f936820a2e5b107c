import { randomBytes } from "node:crypto";

import type { ApiRecord } from "../api/record";
import { message, quoteId, UptimeError, type Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import type { Asker, Ledger } from "./ledger";
import type { Owner, Owners } from "./owners";
import type { Claim, Outputs } from "./resource";
import type { Deleter, RecordNote } from "./run-note";

/** The claim of every resource whose state is older than claims and has none. */
const oldClaim = "" as Claim;

function claimOf({ claim }: Pick<Outputs, "claim">): Claim {
  return claim ?? oldClaim;
}

export function newClaim(): Claim {
  return randomBytes(4).toString("hex") as Claim;
}

/**
 * Which resources have which records, of one kind and in one account. The ledger has what this process knows, the note what the
 * other processes of the run have told.
 */
export class Claims {
  constructor(
    private readonly ledger: Ledger,
    private readonly note: RecordNote,
    private readonly owners: Owners,
    private readonly definition: Definition,
  ) {}

  /** Whether another resource has the record, or is to import it. */
  hasOtherClaim(id: string, record?: ApiRecord, asker?: Asker): boolean {
    return this.ledger.hasOtherClaim(id, asker) || this.note.hasOtherClaim(id, record);
  }

  /**
   * Whether a resource of this process has got the record in this run, or is to import it, or another process with the same key has it.
   * The resource with this claim does not count.
   */
  isTakenInRun(id: string, claim?: Claim): boolean {
    return this.ledger.isTakenInRun(id, claim) || this.note.isTakenInRun(id);
  }

  /** Whether this run deletes a record, or has deleted it. With the record, deletes by a process with another key count too. */
  isDeleted(id: string, record?: ApiRecord): boolean {
    return this.ledger.isDeleted(id) || this.note.isDeleted(id, record);
  }

  /**
   * Whether a resource could adopt the record: no other one has it, and this run does not delete it.
   *
   * @param owner the resource that asks, whose replacement can adopt the record that it has in state
   */
  isFree(record: ApiRecord, owner?: Owner): boolean {
    return !this.hasOtherClaim(record.id, record, { owner }) && !this.isDeleted(record.id, record);
  }

  /**
   * Whether a new record may have the id by now: this run has deleted the old record, or has begun to. A delete that another process
   * has begun counts too, because no process tells when it ends.
   */
  mayBeUsedAgain(id: string): boolean {
    const { ledger, note } = this;
    return ledger.isDeleted(id) || ledger.isBeingDeleted(id) || note.isDeletedElsewhere(id);
  }

  /** Whether this run knows a record with this id already. An answer to a create that names the id is then not about a new record. */
  existedBefore(id: string): boolean {
    return this.ledger.wasSeen(id) || this.note.hasCreate(id);
  }

  /** Whether a resource's claim is void: this run has created another record with the id, so the resource's own record is gone. */
  isVoid(id: string, outputs: Pick<Outputs, "claim">): boolean {
    const claim = claimOf(outputs);
    return this.ledger.isVoid(id, claim) || this.note.isCreatedElsewhere(id, claim);
  }

  /** Throws if {@link isVoid}. */
  assertNotVoid(id: string, outputs: Pick<Outputs, "claim">): void {
    const { label, singular } = this.definition;
    if (this.isVoid(id, outputs))
      throw new UptimeError(
        message`The record of this ${label} is gone: the server has given its id ${quoteId(id)} to a ${singular}
          that this run has created. Run \`pulumi state delete URN\` for this resource, and \`pulumi up\` again.`,
      );
  }

  /** Another resource that the program declares and that has the record, or is to import it. */
  otherDeclaredOwner(id: string, owner?: Owner): Owner | undefined {
    return this.ledger.otherDeclaredOwner(id, { owner });
  }

  /** Notes that a resource in state has the record. */
  hear(id: string, outputs: Outputs, owner: Owner | undefined): void {
    this.ledger.hear(id, claimOf(outputs), owner);
  }

  /**
   * Notes that a resource of the program keeps its record in state. Throws if another resource of the program has the record
   * too, for example because `b` has adopted the record of `a`.
   */
  keep(id: string, outputs: Outputs, owner: Owner | undefined): void {
    if (!this.owners.isDeclared(owner)) return;
    this.assertNotVoid(id, outputs);
    const { label, singular } = this.definition;
    if (this.isDeleted(id))
      throw new UptimeError(
        message`Another resource with ${label} ${quoteId(id)} was deleted in this run, so
          ${this.owners.describe(owner)} may have no record now. Run \`pulumi up --refresh --run-program\`, which creates the ${singular} again if
          it is gone.`,
      );
    const claim = claimOf(outputs);
    const isElsewhere = this.note.keep(id, claim, outputs);
    const rival = this.ledger.otherDeclaredOwner(id, { claim, owner });
    if (rival === undefined && !isElsewhere) return;
    const other = rival === undefined ? "a resource of another provider" : this.owners.describe(rival);
    throw new UptimeError(
      message`${label} ${quoteId(id)} is managed by both ${this.owners.describe(owner)} and
        ${other}. Remove one of them from the program: the record stays. If one resource's record
        is gone, and the server has given its id to the other resource's record, run \`pulumi state delete URN\` for the
        resource whose record is gone.`,
    );
  }

  /** A resource adopts or imports a record: see {@link RecordNote.take}. */
  take(record: ApiRecord, owner: Owner | undefined, claim = newClaim()): Claim {
    this.note.take(record, claim);
    this.ledger.take(record.id, claim, owner);
    return claim;
  }

  /** A create was answered with the id of a new record. {@link tellCreated} follows once the record is known to be the create's. */
  takeCreated(id: string, owner: Owner | undefined, wasSeen: boolean): Claim {
    const claim = newClaim();
    this.ledger.take(id, claim, owner, { isCreated: true, wasSeen });
    return claim;
  }

  /** Tells the other processes of a created record: see {@link RecordNote.tellCreated}. */
  tellCreated(id: string, claim: Claim, record: ApiRecord | undefined): void {
    this.note.tellCreated(id, claim, record);
  }

  /**
   * A resource gets the record of its create, whose answer was lost.
   *
   * @param record undefined if its id is unconfirmed
   */
  takeFound(id: string, owner: Owner | undefined, record: ApiRecord | undefined): Claim {
    const claim = this.takeCreated(id, owner, record !== undefined);
    this.note.tellFound(id, claim, record);
    return claim;
  }

  /**
   * A resource's delete begins, which ends its claim. Returns who deletes the record: nobody if another resource has it.
   *
   * @param findRecord is called if another account may have the same record
   */
  async beginDelete(
    id: string,
    outputs: Outputs,
    findRecord: () => Promise<ApiRecord | undefined>,
  ): Promise<Deleter> {
    const claim = claimOf(outputs);
    const record = this.note.mayBeAnotherRecord(id, outputs) ? await findRecord() : undefined;
    // The rest runs without a pause, so that no other resource of this process takes the record meanwhile.
    this.ledger.endClaim(id, claim);
    return this.ledger.hasOtherClaim(id, { claim })
      ? "nobody"
      : this.note.beginDelete(id, claim, outputs, record);
  }

  /** The message that the record of a deleted resource stays, and for whom. */
  describeStay(id: string): Message {
    const rival = this.owners.describe(this.otherDeclaredOwner(id));
    return message`${this.definition.label} ${quoteId(id)} was not deleted, because ${rival} still manages it.`;
  }
}
