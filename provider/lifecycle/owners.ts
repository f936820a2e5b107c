import { hexHash } from "../common/hash";

/** Identifies a resource in its stack: 8 hex digits of a hash of its URN suffix. */
export type Owner = string & { readonly brand: "owner" };

/** The resources that the program declares: those that this run has checked. */
export class Owners {
  private readonly urnSuffixes = new Map<Owner, string>();

  declare(urnSuffix: string): void {
    this.urnSuffixes.set(ownerOf(urnSuffix), urnSuffix);
  }

  isDeclared(owner: Owner | undefined): owner is Owner {
    return this.urnSuffixOf(owner) !== undefined;
  }

  /** The URN suffix of a declared resource; undefined for others. */
  urnSuffixOf(owner: Owner | undefined): string | undefined {
    return owner === undefined ? undefined : this.urnSuffixes.get(owner);
  }

  /** A resource in a message: its URN suffix. */
  describe(owner: Owner | undefined): string {
    return this.urnSuffixOf(owner) ?? "another resource";
  }

  /** A declared resource in a message: its name alone. */
  resourceName(owner: Owner | undefined): string {
    return this.urnSuffixOf(owner)?.replace(/^.*?::/s, "") ?? "";
  }
}

/** The owner with this URN suffix. An owner, which `check` has made before, stays as it is. */
export function ownerOf(urnSuffixOrOwner: string): Owner {
  if (/^[0-9a-f]{8}$/.test(urnSuffixOrOwner)) return urnSuffixOrOwner as Owner;
  return hexHash(urnSuffixOrOwner, 8) as Owner;
}
