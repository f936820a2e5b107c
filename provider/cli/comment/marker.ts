import { hexHash, reviewHashLength } from "../../common/hash";
import type { ApplyAction, ApplyActions } from "./apply-actions";

/** What programs read in the comment's first line. */
export interface Marker {
  readonly title: string;
  readonly commit?: string | undefined;
  /** It is missing if not everything is known that an apply would do. */
  readonly digest?: string | undefined;
  /** The hashes of the changes, if there is room for them. */
  readonly changeHashes?: string | undefined;
}

const start = "<!-- pulumi-uptime comment v2 ";

export function markerLine({ title, commit, digest, changeHashes }: Marker): string {
  const values = { title: encodeTitle(title), commit: commit && encodeURIComponent(commit), digest };
  const words = Object.entries({ ...values, changes: changeHashes }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  return `${start}${words.join(" ")} -->`;
}

/** A title without spaces, and readable if it is `PROJECT/STACK`. */
export function encodeTitle(title: string): string {
  return encodeURIComponent(title.toWellFormed()).replaceAll("%2F", "/");
}

/** The marker in a comment's first line, with its title as {@link encodeTitle} writes it; undefined if it has none. */
export function markerIn(body: string): Marker | undefined {
  const [line = ""] = body.split(/\r?\n/, 1);
  if (!line.startsWith(start)) return undefined;
  const words = new Map(
    [...line.matchAll(/ (\w+)=(\S*)/g)].map(([, word = "", value]) => [word, value] as const),
  );
  return {
    title: words.get("title") ?? "",
    // Somebody else may have written the comment, and it is printed.
    commit: words.get("commit")?.match(/^[\w-]{1,64}$/)?.[0],
    digest: words.get("digest"),
    changeHashes: words.get("changes"),
  };
}

/** A hash of all that an apply does and runs; `none` if it writes nothing. Its first half is that of the code, known before a preview. */
export function digestOf({ writes, code }: ApplyActions): string {
  return writes.length === 0 ? "none" : `${partialDigest(code)}${partialDigest(writes)}`;
}

/** Half of a digest: the hash of the writes or of the code. */
export function partialDigest(actions: readonly ApplyAction[]): string {
  const hashes = actions.map(({ hash }) => hash).sort();
  return hexHash(hashes.join(), 16);
}

/** The digest in a text; undefined if there is none. Somebody may have pasted it with what was around it. */
export function digestIn(text: string): string | undefined {
  return /^[\s.`"']*((?:[\da-f]{16}){1,2})[\s.`"']*$/i.exec(text)?.[1]?.toLowerCase();
}

/** The parts of a comment that the hashes of its changes may have, so that the rest can be read: with those of leftovers, and without. */
const [leftoversShare, hashesShare] = [1 / 4, 1 / 3];

/**
 * All hashes, joined, for the comment's first line. If there is no room for all, those of what a failed run leaves are left out.
 *
 * @param programCode the code that the program declares, as far as the preview shows it: it is in state after an apply
 * @param limit the most characters of the comment
 * @returns undefined if there is no room
 */
export function hashesText(
  { writes, code }: ApplyActions,
  programCode: readonly string[],
  limit: number,
): string | undefined {
  const textOf = (hashes: readonly string[]): string => [...new Set(hashes)].sort().join("");
  const hashes = [...[...writes, ...code].map(({ hash }) => hash), ...programCode];
  const all = textOf([...hashes, ...writes.flatMap(({ leftovers = [] }) => leftovers)]);
  if (all.length <= limit * leftoversShare) return all;
  const alone = textOf(hashes);
  return alone.length <= limit * hashesShare ? alone : undefined;
}

export function hashesIn(text: string): string[] {
  return text.match(new RegExp(`.{${reviewHashLength}}`, "g")) ?? [];
}
