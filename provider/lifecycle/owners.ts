import { hexHash } from "../common/hash";

/** Identifies a resource in its stack: 8 hex digits of a hash of its name, its type and the types of its parents. */
export type Owner = string & { readonly brand: "owner" };

/** The resources that the program declares: those that this run has checked. */
export class Owners {
  /** What a person calls them, such as `my:site:Front$pulumi-nodejs:dynamic/uptime:Monitor::web`. */
  private readonly names = new Map<Owner | undefined, string>();

  /**
   * Notes that the program declares a resource.
   *
   * @param name the end of its URN, after stack and project
   */
  declare(name: string): Owner {
    const owner = ownerOf(name);
    this.names.set(owner, name);
    return owner;
  }

  isDeclared(owner: Owner | undefined): owner is Owner {
    return this.names.has(owner);
  }

  /** The end of the URN of a declared resource. */
  urnSuffixOf(owner: Owner | undefined): string | undefined {
    return this.names.get(owner);
  }

  /** A resource in a message: the end of its URN. */
  describe(owner: Owner | undefined): string {
    return this.names.get(owner) ?? "another resource";
  }

  /** A declared resource in a message: its name alone. */
  resourceName(owner: Owner | undefined): string {
    return this.names.get(owner)?.replace(/^.*?::/s, "") ?? "";
  }
}

/** The owner whose URN ends with these types and this name. What is an owner already, because `check` has made it, stays as it is. */
export function ownerOf(name: string): Owner {
  if (/^[0-9a-f]{8}$/.test(name)) return name as Owner;
  return hexHash(name, 8) as Owner;
}
