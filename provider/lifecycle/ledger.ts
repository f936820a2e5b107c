import { ownerIn, unnamedClaim } from "./claims";
import type { Claim } from "./resource";

/**
 * Something that happens to a record in this run, or that the provider learns about it. A resource owns a record if it has it
 * in state, or has taken it in this run: created, adopted or imported it. Its claim identifies it among the record's owners.
 *
 * A check notes "to be imported"; a read or diff "in state", and then "owned" or "replaced"; a create "taken"; an update
 * "changing"; and a delete "disowned" and, if no other resource owns the record, "ending", "changing" and "ended".
 */
type LedgerEvent =
  /** A resource has the option `import` with its id; the first one counts. */
  | { readonly is: "to be imported"; readonly owner: string }
  /** The record that a resource was to import does not exist. */
  | { readonly is: "not imported"; readonly owner: string | undefined }
  /** The resource was imported with this id in an earlier run. */
  | { readonly is: "imported before"; readonly owner: string | undefined }
  /** Some resource in state owns it. */
  | { readonly is: "in state" }
  /** The resource with this claim owns it in state; `isDeclared` if the program has that resource and keeps the record. */
  | {
      readonly is: "owned";
      readonly claim: Claim;
      readonly owner: string | undefined;
      readonly isDeclared: boolean;
    }
  /** The resource with this claim owns it in state, and is about to be replaced. */
  | { readonly is: "replaced"; readonly claim: Claim; readonly owner: string | undefined }
  /** The resource with this claim is deleted, even if the record stays. */
  | { readonly is: "disowned"; readonly claim: Claim }
  /** A resource has created, adopted or imported it. */
  | { readonly is: "taken"; readonly claim: Claim }
  /** It was not taken after all. */
  | { readonly is: "not taken" }
  /** The provider is about to change it, or has just created it, so lists that were read before may be outdated. */
  | { readonly is: "changing" }
  /** It is about to be deleted, so it is too late to import it. */
  | { readonly is: "ending"; readonly owner: string | undefined }
  /** It was not deleted after all. */
  | { readonly is: "not ended" }
  /** It was deleted, or is gone. If it was imported, `importId` is used up too. */
  | { readonly is: "ended"; readonly owner: string | undefined; readonly importId: string | undefined };

/** Whether a record has an owner, as far as this process knows. */
type Standing = "free" | "to be imported" | "owned" | "ending" | "ended";

/** The claim of a resource in state. */
interface StateClaim {
  owner: string | undefined;
  /** The program has the resource, and it keeps the record. */
  isDeclared: boolean;
}

interface Entry {
  isInState: boolean;
  mayHaveChanged: boolean;
  isEnded: boolean;
  /** The claim of the resource that has taken it. */
  takenBy: Claim | undefined;
  /** The owner that is to import it. */
  importer: string | undefined;
  readonly stateClaims: Map<Claim, StateClaim>;
  /** The owners in state that are replaced in this run, by their claims. */
  readonly replaced: Map<Claim, string | undefined>;
}

/**
 * The claims that a resource may have had before it was renamed. A refresh reads each resource under its old claim. A claim that
 * was never read belongs to a renamed resource, and undeclared ones may be those of its old names.
 */
function formerClaims({ stateClaims }: Entry, claim: Claim): Claim[] {
  if (stateClaims.has(claim)) return [];
  return [...stateClaims].flatMap(([other, { isDeclared }]) => (isDeclared ? [] : [other]));
}

/**
 * What this process knows of the records of one kind in one account: which resource owns which record, and what happened
 * to it in this run. One resource per record, one record per resource.
 */
export class Ledger {
  private readonly entries = new Map<string, Entry>();
  /**
   * Import ids whose record this run deletes or has deleted, with its owners. A create with such an id makes a new record.
   */
  private readonly usedImportIds = new Map<string, Set<string | undefined>>();
  /**
   * Pairs of import id and owner that were imported in an earlier run. A create with such a pair is a replacement, and makes
   * a new record.
   */
  private readonly earlierImports = new Set<string>();

  add(id: string, event: LedgerEvent): void {
    const entry = this.entry(id);
    switch (event.is) {
      case "to be imported":
        entry.importer ??= event.owner;
        return;
      case "not imported":
        if (entry.importer === event.owner) entry.importer = undefined;
        return;
      case "imported before":
        this.earlierImports.add(JSON.stringify([id, event.owner]));
        return;
      case "in state":
        entry.isInState = true;
        return;
      case "owned": {
        if (entry.takenBy === event.claim) entry.takenBy = undefined;
        const known = entry.stateClaims.get(event.claim) ?? { owner: undefined, isDeclared: false };
        entry.stateClaims.set(event.claim, known);
        if (!event.isDeclared) return;
        known.isDeclared = true;
        known.owner = event.owner;
        return;
      }
      case "replaced": {
        if (entry.takenBy === event.claim) entry.takenBy = undefined;
        const known = entry.stateClaims.get(event.claim);
        if (known) known.isDeclared = false;
        entry.replaced.set(event.claim, event.owner);
        return;
      }
      case "disowned":
        for (const former of formerClaims(entry, event.claim)) entry.stateClaims.delete(former);
        entry.stateClaims.delete(event.claim);
        return;
      case "taken":
        entry.takenBy = event.claim;
        entry.isEnded = false;
        return;
      case "not taken":
        entry.takenBy = undefined;
        return;
      case "changing":
        entry.mayHaveChanged = true;
        return;
      case "ending":
        this.useImport(id, event.owner);
        return;
      case "not ended":
        if (!entry.isEnded) this.usedImportIds.delete(id);
        return;
      case "ended":
        entry.isEnded = true;
        this.useImport(id, event.owner);
        if (event.importId !== undefined) this.useImport(event.importId, event.owner);
    }
  }

  standing(id: string): Standing {
    const entry = this.entries.get(id);
    if (!entry) return "free";
    if (entry.isEnded) return "ended";
    if (this.usedImportIds.has(id)) return "ending";
    if (entry.isInState || entry.takenBy !== undefined) return "owned";
    return entry.importer === undefined ? "free" : "to be imported";
  }

  /**
   * Another owner of the record: a resource of the program, or one that has taken the record. It is `unknownOwner` if its name
   * is not known.
   *
   * @param own the resource that asks; without a claim if it does not have the record yet
   * @param options.importers whether one that is only to import the record counts too
   */
  otherOwner(
    id: string,
    own: { readonly claim?: Claim; readonly owner: string | undefined },
    { importers = false }: { readonly importers?: boolean } = {},
  ): string | undefined {
    const entry = this.entries.get(id);
    if (!entry) return undefined;
    const { takenBy, importer, stateClaims } = entry;
    if (importers && importer !== undefined && importer !== own.owner) return importer;
    const declared = [...stateClaims].flatMap(([claim, { isDeclared }]) => (isDeclared ? [claim] : []));
    const claims = takenBy === undefined ? declared : [takenBy, ...declared];
    // A resource that created the record has its name as its claim.
    const other = claims.find((claim) => claim !== own.claim && claim !== own.owner);
    return other === undefined ? undefined : ownerIn(other);
  }

  /**
   * Whether a record must survive the delete of a resource that has it in state, because another one owns it too.
   *
   * | The other resource                      | The record stays                                           |
   * | --------------------------------------- | ---------------------------------------------------------- |
   * | has taken it in this run                | Always: the state that is deleted is older.                |
   * | is to import it                         | Unless it is this one, or is itself being replaced.        |
   * | has it in state                         | Unless it is this one under its former name.               |
   * | is in the program, and the names of     | Always: the two may be different resources.                |
   * | both are unknown                        |                                                            |
   */
  mustStay(id: string, claim: Claim): boolean {
    const entry = this.entries.get(id);
    if (!entry) return false;
    const { takenBy, importer, stateClaims, replaced } = entry;
    const own = stateClaims.get(claim);
    const isTaken = takenBy !== undefined;
    const isOthersImport =
      importer !== undefined &&
      importer !== ownerIn(claim) &&
      importer !== (own?.owner ?? replaced.get(claim)) &&
      // If it was imported in an earlier run, it is being replaced.
      !this.wasImported(id, importer) &&
      // In state of an earlier build the claim may be the resource's name alone.
      !importer.endsWith(`::${claim}`);
    const former = formerClaims(entry, claim);
    const hasOtherOwner = [...stateClaims.keys()].some((other) => other !== claim && !former.includes(other));
    const mayBeOthers = claim === unnamedClaim && own?.isDeclared === true;
    return isTaken || isOthersImport || hasOtherOwner || mayBeOthers;
  }

  /** Whether a create with the option `import` is a replacement, which makes a new record. */
  isImportUsed(importId: string, owner: string | undefined): boolean {
    return this.usedImportIds.get(importId)?.has(owner) === true || this.wasImported(importId, owner);
  }

  /** Which resource is to import a record. */
  importerOf(id: string): string | undefined {
    return this.entries.get(id)?.importer;
  }

  mayHaveChanged(id: string): boolean {
    return this.entries.get(id)?.mayHaveChanged === true;
  }

  private wasImported(importId: string, owner: string | undefined): boolean {
    return this.earlierImports.has(JSON.stringify([importId, owner]));
  }

  private useImport(id: string, owner: string | undefined): void {
    this.usedImportIds.set(id, (this.usedImportIds.get(id) ?? new Set()).add(owner));
  }

  private entry(id: string): Entry {
    let entry = this.entries.get(id);
    if (!entry) {
      entry = {
        isInState: false,
        mayHaveChanged: false,
        isEnded: false,
        takenBy: undefined,
        importer: undefined,
        stateClaims: new Map(),
        replaced: new Map(),
      };
      this.entries.set(id, entry);
    }
    return entry;
  }
}
