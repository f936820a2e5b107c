/** Letters that Unicode does not split into a letter and a mark, with what people write instead. */
const spelled: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

const longest = 40;

/** A string as lower-case ASCII words joined by `-`; empty if it has none. */
export function slug(text: string, limit = longest): string {
  const plain = text
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => spelled[letter] ?? "")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  if (words.length <= limit) return words;
  const cut = words.slice(0, limit + 1);
  // Between words, unless that would lose most of it.
  return cut.lastIndexOf("-") > limit / 2
    ? cut.slice(0, cut.lastIndexOf("-"))
    : cut.slice(0, limit).replace(/-$/, "");
}
