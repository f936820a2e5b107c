import { slug } from "../shared/quoting";

/**
 * Gives a record a readable name that no other resource has.
 *
 * @param taken the names that are given already
 * @param noun what the record is, in one lower-case word
 * @param id the record's id: it tells records of equal names apart
 * @param texts the record's texts to take the name from, the best first
 */
export function reserveResourceName(
  taken: Set<string>,
  noun: string,
  id: string,
  texts: readonly string[],
): string {
  const withId = (text: string): string => `${text}-${slug(id) || "x"}`;
  // In YAML, `0x1f` is a number.
  const readable = texts
    .map((text) => slug(namingPart(text)))
    .find((text) => !/^(?:|0[box][\da-f]+)$/.test(text));
  return readable === undefined
    ? reserveName(taken, withId(noun))
    : reserveName(taken, readable, withId(readable), withId(noun));
}

/** Of a URL only its host and path, which name what is there: what is before them may be a password, and the query a token. */
function namingPart(text: string): string {
  return text.replace(/^(?:[a-z][a-z\d+.-]*:)?\/\/(?:[^/?#]*@)?([^?#]*).*$/is, "$1");
}

/** Gives the first name that is free; if none is, the last one with a number. */
export function reserveName(taken: Set<string>, ...names: readonly [string, ...string[]]): string {
  let name = names.find((one) => !taken.has(one));
  for (let number = 2; name === undefined; number++) {
    const numbered = `${names.at(-1) ?? ""}-${number}`;
    if (!taken.has(numbered)) name = numbered;
  }
  taken.add(name);
  return name;
}
