/** A string as lower-case ASCII words joined by `-`; empty if it has none. */
export function slug(text: string, limit = 40): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "");
  return words.slice(0, limit).replace(/-$/, "");
}
