import type { ApiRecord } from "../api/record";
import { message, quoteId, UptimeError } from "../api/errors";
import type { Address } from "../api/settings";
import type { Definition } from "../definitions/field";
import { comparableIdentity } from "../definitions/keys";
import { hexHash } from "../common/hash";
import { identityIn, managedValue } from "./difference";
import type { Claim, Outputs } from "./resource";

/** What a line says of a record, and of the resource that has it. */
export const verbs = [
  /** The resource has created the record. */
  "creates",
  /** It adopts or imports the record, which may be refused. After `creates`, it has found the record of its lost create. */
  "takes",
  /** It has the record in state, and the program still declares it. */
  "keeps",
  /** It has the record in state, declared, and has adopted or imported it. */
  "keepsTaken",
  /** The resource is about to be deleted with the record. This ends its claim, and nobody may take the record any more. */
  "deletes",
] as const;
export type NoteVerb = (typeof verbs)[number];

/** Who sends the delete of a record: the first process that announces it; nobody if another resource has the record. */
export type Deleter = "this process" | "another process" | "nobody";

export interface NoteLine {
  readonly verb: NoteVerb;
  /** The hash of the server's address. */
  readonly address: string;
  /** The kind of record and its id. */
  readonly recordKey: string;
  readonly keyFingerprint: string;
  /** As {@link claimText} writes it. */
  readonly claim: string;
  readonly writer: string;
  /** A hash of the record's name and URL, by which a process with another key recognizes it; undefined if they are not known. */
  readonly identity: string | undefined;
}

const isCreate = ({ verb }: NoteLine): boolean => verb === "creates";

/** See `Outputs.isIdUnconfirmed`. */
const isIdUnconfirmed = (line: NoteLine): boolean => isCreate(line) && line.identity === undefined;

const isTake = ({ verb }: NoteLine): boolean => verb === "takes";

const isDelete = ({ verb }: NoteLine): boolean => verb === "deletes";

/** Whether the resource of a line has imported or adopted the record, so that one with another key may have it too. */
const tookExistingRecord = ({ verb }: NoteLine): boolean => verb === "takes" || verb === "keepsTaken";

/** The record in question, by which lines of other keys about the same record are recognized. */
interface Subject {
  /** See {@link NoteLine.identity}. A delete asks for state's and the record's, because the record may have been renamed. */
  readonly identities: readonly (string | undefined)[];
  /** Only a delete sets this. Lines of another address then count too, because one server may have two addresses. */
  readonly isAtAnyAddress?: boolean;
  /** The resource has adopted or imported its record, so another key may have made it. */
  readonly tookExisting: boolean;
}

/**
 * What the processes of one run tell each other: each explicit provider is a process, and so is the host of dynamic resources.
 *
 * All see the lines in one order, because the system appends each line whole to a file on this machine. So each process first adds its
 * line, and then asks who has the record. If two do this at the same time, the later one sees both lines.
 */
export interface RunNote {
  /** Adds a line of this process. Throws if the others cannot learn of it. */
  add(line: Omit<NoteLine, "writer">): void;
  /**
   * The lines of this run about one record, in the order in which they were written, also those of a process that has crashed since
   * this one began. Throws if they cannot be read.
   */
  linesAbout(recordKey: string): readonly NoteLine[];
  /** Whether a line is of this process. */
  isOwn(line: NoteLine): boolean;
}

/** For a process that shares no note: a command, or a lookup in a program. */
export const noNote: RunNote = {
  add: () => undefined,
  linesAbout: () => [],
  isOwn: () => true,
};

/** What the processes of a run tell each other about the records of one kind in one account. */
export class RecordNote {
  constructor(
    private readonly note: RunNote,
    private readonly definition: Definition,
    private readonly address: Address,
    private readonly keyFingerprint: string,
    /** Tells a person that something which goes on without the note may be wrong. */
    private readonly warn: (problem: unknown) => void = () => undefined,
  ) {}

  /** A resource of the program keeps the record that it has in state. Returns whether another process has it too. */
  keep(id: string, claim: Claim, outputs: Outputs): boolean {
    const subject = this.subjectOf(outputs);
    this.tryToAdd(subject.tookExisting ? "keepsTaken" : "keeps", id, claim, subject.identities[0]);
    return this.hasOtherClaimIn(this.linesSinceCreate(id, subject), claim);
  }

  /** A resource has created a record. Throws if one of another process, or with another key, adopted or found it before the answer came. */
  tellCreated(id: string, claim: Claim, record: ApiRecord | undefined): void {
    this.tryToAdd("creates", id, claim, record && (this.identityOf(record) ?? noIdentity));
    const adoption = this.adoptionSinceCreate(id, claim, record);
    if (!adoption) return;
    const { label, singular } = this.definition;
    const isFound = this.linesAbout(id).some((line) => isCreate(line) && line.claim === adoption.claim);
    const other = isFound
      ? message` That resource's own create, whose answer was lost, may have made another ${singular}: the next
          \`pulumi up\` with adoptExisting finds and adopts it.`
      : "";
    throw new UptimeError(
      message`${label} ${quoteId(id)} was created, but a resource of another provider has adopted it meanwhile: two resources that
        are equal cannot both have it. Give them different names, or remove one.${other}`,
    );
  }

  /**
   * A resource has found the record of its lost create. The first line ends older claims on the id. The second one is for a process
   * whose own create has made the record and is answered later: the record has an owner. For example:
   *
   * 1. Process A sends a create, and process B an equal one. The server stores A's as 7, and cuts B's connection.
   * 2. B looks for its record, finds 7, and writes `creates 7` and `takes 7`.
   * 3. A's create is answered with 7. A reads `takes 7`, so its create is an error, and one resource alone has the record.
   */
  tellFound(id: string, claim: Claim, record: ApiRecord | undefined): void {
    const identity = record && this.identityOf(record);
    this.tryToAdd("creates", id, claim, identity);
    if (record) this.tryToAdd("takes", id, claim, identity);
  }

  /**
   * The line by which another process, or this one with another key, has adopted the record before this create of it was answered;
   * undefined if there is none. For example, B has it if the lines are `creates 7` (an earlier record), `takes 7` (by B), `creates 7`
   * (this claim).
   */
  private adoptionSinceCreate(id: string, claim: Claim, record: ApiRecord | undefined): NoteLine | undefined {
    const subject = record && { identities: [this.identityOf(record)], tookExisting: false };
    const all = this.linesAbout(id).filter((line) => this.isAbout(line, subject));
    const own = all.findLastIndex((line) => isCreate(line) && line.claim === claimText(claim));
    const lines = withoutRefused(own === -1 ? all : all.slice(0, own));
    const since = lines.slice(lines.findLastIndex((line) => isCreate(line) || isDelete(line)) + 1);
    return since.find((line) => isTake(line) && !this.isInOurLedger(line));
  }

  /** A resource adopts or imports a record. Throws if another process was first, or cannot learn of it, or if it is deleted. */
  take(record: ApiRecord, claim: Claim): void {
    const { definition } = this;
    this.add("takes", record.id, claim, this.identityOf(record));
    // Here a note that cannot be read is an error, because another process may have the record.
    const all = this.note.linesAbout(this.recordKeyOf(record.id));
    const lines = this.linesSinceCreate(record.id, this.subjectToGet(record), all);
    const [first] = lines;
    // In `takes 7 (ours), deletes 7 (another process)`, a process with our account has read our line, and leaves the record alone. In the
    // opposite order our line is refused, and the record is deleted.
    const isRefused = !lines.some((line) => line.claim === claimText(claim));
    const isDeleted = lines.some((line) => isDelete(line) && (isRefused || !this.hasOurAccount(line)));
    if (!isDeleted && (first === undefined || this.isInOurLedger(first))) return;
    const reason = isDeleted ? "this run deletes" : "a resource of another provider already manages";
    const wayOut = isDeleted
      ? "Run `pulumi up` again, without the option import if the resource has it"
      : "Remove one of the two from the program";
    throw new UptimeError(
      message`Nothing was adopted or imported, because ${reason} ${definition.singular} ${quoteId(record.id)}.
        ${wayOut}.`,
    );
  }

  /** Whether a process with another key or address has a record with this id, which may be another record. */
  mayBeAnotherRecord(id: string, outputs: Outputs): boolean {
    const { tookExisting } = this.subjectOf(outputs);
    return this.linesAbout(id).some(
      (line) => !this.hasOurAccount(line) && !isDelete(line) && (tookExisting || tookExistingRecord(line)),
    );
  }

  /**
   * Announces the delete of a record to the other processes, unless one of them has it for another resource. Returns who deletes
   * it.
   *
   * @param record what the id leads to, if {@link mayBeAnotherRecord}
   */
  beginDelete(id: string, claim: Claim, outputs: Outputs, record: ApiRecord | undefined): Deleter {
    const inState = this.subjectOf(outputs);
    const identities = record && [...inState.identities, this.identityOf(record)];
    const subject = identities && { ...inState, identities, isAtAnyAddress: true };
    if (this.hasOtherClaimIn(this.linesSinceCreate(id, subject), claim)) return "nobody";
    this.tryToAdd("deletes", id, claim, inState.identities[0]);
    // Another process may have written its line between our reading and our line: of two deletes the first one is sent, and a resource
    // that has taken the record keeps it. With another key, the other process may delete an equal record in another account.
    const after = this.linesSinceCreate(id, subject);
    const first = after.find((line) => isDelete(line) && this.hasOurAccount(line));
    if (this.hasOtherClaimIn(after, claim)) return "nobody";
    return first === undefined || this.note.isOwn(first) ? "this process" : "another process";
  }

  /**
   * Whether another process has the record.
   *
   * @param record counts also those with another key that have this record
   */
  hasOtherClaim(id: string, record?: ApiRecord): boolean {
    return this.hasOtherClaimIn(this.linesSinceCreate(id, record && this.subjectToGet(record)));
  }

  /** Whether another process has the record, and not only an unconfirmed id. */
  isTakenInRun(id: string): boolean {
    return this.hasOtherClaimIn(this.linesSinceCreate(id).filter((line) => !isIdUnconfirmed(line)));
  }

  private hasOtherClaimIn(lines: readonly NoteLine[], claim?: Claim): boolean {
    const claims = new Set<string>();
    for (const line of lines) {
      if (isDelete(line)) claims.delete(line.claim);
      else if (!this.isInOurLedger(line)) claims.add(line.claim);
    }
    if (claim !== undefined) claims.delete(claimText(claim));
    return claims.size > 0;
  }

  /** Whether a process of this run deletes the record, or has deleted it. */
  isDeleted(id: string, record?: ApiRecord): boolean {
    return this.linesSinceCreate(id, record && this.subjectToGet(record)).some(isDelete);
  }

  /** Whether another process deletes the record, or has deleted it. */
  isDeletedElsewhere(id: string): boolean {
    return this.linesSinceCreate(id).some((line) => isDelete(line) && !this.isInOurLedger(line));
  }

  /** Whether another process has created a record with this id, so that any other claim on it is void. */
  isCreatedElsewhere(id: string, claim: Claim): boolean {
    const [first] = this.linesSinceCreate(id);
    return (
      first !== undefined && isCreate(first) && !this.note.isOwn(first) && first.claim !== claimText(claim)
    );
  }

  /** Whether another process has created the record, and not only found it, and this run has not deleted it since. */
  hasCreate(id: string): boolean {
    const [first, ...later] = this.linesSinceCreate(id);
    if (first === undefined || !isCreate(first) || this.note.isOwn(first) || isIdUnconfirmed(first))
      return false;
    const isFound = (line: NoteLine): boolean => isTake(line) && line.claim === first.claim;
    return !later.some((line) => isDelete(line) || isFound(line));
  }

  /** The lines about a record, from its last create on: a server may reuse ids, and earlier lines are about the earlier record. */
  private linesSinceCreate(id: string, subject?: Subject, all = this.linesAbout(id)): NoteLine[] {
    const lines = withoutRefused(all.filter((line) => this.isAbout(line, subject)));
    return lines.slice(Math.max(0, lines.findLastIndex(isCreate)));
  }

  /**
   * Whether a line with this id is about the same record. One with our address and key is. With another key or address, the id may
   * be that of a record in another account: then name and URL must be equal, and one of the two resources must have imported or
   * adopted its record. If both have created theirs, these are two records.
   */
  private isAbout(line: NoteLine, subject: Subject | undefined): boolean {
    if (this.hasOurAccount(line)) return true;
    if (!subject || line.identity === undefined || !subject.identities.includes(line.identity)) return false;
    if (tookExistingRecord(line) || isDelete(line))
      return subject.isAtAnyAddress === true || line.address === this.address.hash;
    return subject.tookExisting && line.address === this.address.hash;
  }

  private subjectOf({ values, tookExisting = false }: Outputs): Subject {
    return {
      identities: [hashOfIdentity(comparableIdentity(this.definition, (key) => managedValue(values, key)))],
      tookExisting,
    };
  }

  /** A record that a resource adopts or imports, or finds for its lost create. */
  private subjectToGet(record: ApiRecord): Subject {
    return { identities: [this.identityOf(record)], tookExisting: true };
  }

  private hasOurAccount({ address, keyFingerprint }: NoteLine): boolean {
    return address === this.address.hash && keyFingerprint === this.keyFingerprint;
  }

  /** Whether this process wrote the line with our key, so that our ledger knows it already. */
  private isInOurLedger(line: NoteLine): boolean {
    return this.note.isOwn(line) && this.hasOurAccount(line);
  }

  /** The lines of the note. None if it cannot be read: the run goes on as if it had one process, with a warning. */
  private linesAbout(id: string): readonly NoteLine[] {
    try {
      return this.note.linesAbout(this.recordKeyOf(id));
    } catch (error) {
      this.warn(error);
      return [];
    }
  }

  private add(verb: NoteVerb, id: string, claim: Claim, identity?: string): void {
    const { address, keyFingerprint } = this;
    this.note.add({
      verb,
      address: address.hash,
      recordKey: this.recordKeyOf(id),
      keyFingerprint,
      claim: claimText(claim),
      identity,
    });
  }

  /** Adds a line. A failure is only a warning, because it matters only if another process adopts or imports the record. */
  private tryToAdd(verb: NoteVerb, id: string, claim: Claim, identity?: string): void {
    try {
      this.add(verb, id, claim, identity);
    } catch (error) {
      // A create has had its effect, and a delete is safe without it.
      this.warn(error);
    }
  }

  private recordKeyOf(id: string): string {
    return `${this.definition.plural} ${encodeURIComponent(id)}`;
  }

  private identityOf(record: ApiRecord): string | undefined {
    return hashOfIdentity(identityIn(this.definition, record));
  }
}

/** The identity in the line of a created record that shows no name and URL. If even the record is not known, the line has none. */
const noIdentity = "-";

const hashOfIdentity = (identity: string | undefined): string | undefined =>
  identity && hexHash(identity, 16);

/**
 * The lines without what was refused because others were first: adoptions and imports by {@link RecordNote.take}, and creates by
 * {@link RecordNote.tellCreated}. In `keeps 7 (A), takes 7 (B)` and in `takes 7 (A), creates 7 (B)`, B's resource did not get the
 * record, so only the first line counts.
 */
function withoutRefused(lines: readonly NoteLine[]): NoteLine[] {
  const living = new Map<string, NoteLine>();
  let isDeleted = false;
  return lines.filter((line) => {
    const { claim, address } = line;
    const rivals = [...living.values()].filter((other) => other.address === address);
    if (isCreate(line)) {
      if (!isDeleted && rivals.some((other) => isTake(other) && ledgerOf(other) !== ledgerOf(line)))
        return false;
      living.clear();
      isDeleted = false;
    }
    const isRefused = isDeleted || rivals.some((other) => ledgerOf(other) !== ledgerOf(line));
    if (isTake(line) && isRefused) return false;
    if (isDelete(line)) {
      isDeleted = true;
      living.delete(claim);
    } else living.set(claim, line);
    return true;
  });
}

/** Each key of a process has a ledger of its own. */
const ledgerOf = ({ writer, keyFingerprint }: NoteLine): string => `${writer} ${keyFingerprint}`;

/** State of other versions has other texts as claims. */
const claimText = (claim: Claim): string => encodeURIComponent(claim);
