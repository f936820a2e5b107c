import { slug } from "../shared/slug";

/** Names that a variable at the top of a module cannot have, or had better not. */
const reserved = new Set(
  (
    "abstract any arguments as async await boolean break case catch class config const constructor continue debugger " +
    "declare default delete do else enum eval export exports extends false finally for function global globalThis if " +
    "implements import in instanceof interface let module namespace never new null number object package private " +
    "protected prototype public pulumi require return static string super switch symbol then this throw true try type " +
    "typeof undefined unknown var void while with yield"
  ).split(" "),
);

/** A resource's name in Pulumi, and the variable that holds it. */
export interface Name {
  readonly name: string;
  readonly identifier: string;
}

/** Gives each record a readable name that no other resource has. */
export class Names {
  private readonly names: Set<string>;
  private readonly identifiers: Set<string>;

  /** @param taken the names of the program's resources */
  constructor(taken: Iterable<string> = []) {
    this.names = new Set(taken);
    this.identifiers = new Set([...this.names].map((name) => camelCase(slug(name, name.length))));
  }

  /**
   * @param kind what the record is, in one lower-case word
   * @param id the record's id: it tells records of equal names apart
   * @param texts what to name it after, the best first
   */
  give(kind: string, id: string, ...texts: readonly string[]): Name {
    const readable = texts.map((text) => slug(text)).find((text) => text !== "");
    const suffix = slug(id) || "x";
    const candidates = readable === undefined ? [] : [readable, `${readable}-${suffix}`];
    candidates.push(`${kind}-${suffix}`);
    for (let number = 2; ; number++) {
      for (const name of candidates) {
        const identifier = identifierOf(name, kind);
        if (this.names.has(name) || this.identifiers.has(identifier)) continue;
        this.names.add(name);
        this.identifiers.add(identifier);
        return { name, identifier };
      }
      candidates.push(`${kind}-${suffix}-${number}`);
    }
  }
}

function identifierOf(name: string, kind: string): string {
  const camel = camelCase(name);
  if (/^\d/.test(camel)) return kind + camel;
  return reserved.has(camel) ? camel + kind.replace(/^./, (first) => first.toUpperCase()) : camel;
}

function camelCase(words: string): string {
  return words.replace(/-+([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** Gives a secret a key of the stack's configuration that nothing else uses. */
export function giveKey(taken: Set<string>, wanted: string): string {
  let key = wanted;
  for (let number = 2; taken.has(key); number++) key = `${wanted}-${number}`;
  taken.add(key);
  return key;
}
