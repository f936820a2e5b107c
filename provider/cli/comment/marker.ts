/** What the comment's first line says to programs. */
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
  const words = [
    `title=${encodeTitle(title)}`,
    ...(commit === undefined ? [] : [`commit=${encodeURIComponent(commit)}`]),
    ...(digest === undefined ? [] : [`digest=${digest}`]),
    ...(changeHashes === undefined ? [] : [`changes=${changeHashes}`]),
  ];
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
