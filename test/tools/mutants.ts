/**
 * Rules of field semantics, each broken on purpose by one edit of the provider's code. `mutation.test.ts` shows that the
 * tests notice every one of them.
 */
export interface Mutant {
  /** The rule that is broken. */
  readonly rule: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

const mutant = (file: string, rule: string, from: string, to: string): Mutant => ({ rule, file, from, to });

export const mutants: readonly Mutant[] = [
  mutant(
    "lifecycle.ts",
    "a documented default is filled in",
    "if (field.default !== undefined) inputs",
    "if (false) inputs",
  ),
  mutant(
    "lifecycle.ts",
    "a removed field is managed as empty",
    "else if (key in oldInputs) inputs[key] = null;",
    "",
  ),
  mutant(
    "lifecycle.ts",
    "null is not declared",
    "value !== undefined && value !== null",
    "value !== undefined",
  ),
  mutant("lifecycle.ts", "a field that is declared anew is a change", "!(key in outputs) ||", ""),
  mutant("lifecycle.ts", "a value not known yet is a change", "isUnknown(inputs[key]) ||", ""),
  mutant("lifecycle.ts", "a domain's name replaces it", "this.field(key).replace === true ||", ""),
  mutant("lifecycle.ts", "replaceOnChanges replaces", "|| touches(replaceOnChanges, key)", ""),
  mutant("lifecycle.ts", "pause is not sent on create", "!late.includes(key)", "true"),
  mutant("lifecycle.ts", "pause is set after the create", "const settled = isDone", "const settled = true"),
  mutant(
    "lifecycle.ts",
    "a failure after the create keeps the id",
    "throw new PartialFailure(\n        id,",
    "throw new UptimeError(\n        id +",
  ),
  mutant("lifecycle.ts", "a pause that failed is not taken as done", "outputs[key] = null;", "void key;"),
  mutant("lifecycle.ts", "an ignored field is not sent", "!ignored.includes(key) &&", ""),
  mutant(
    "lifecycle.ts",
    "what the API resets is sent as it is there",
    "if (field.resetByUpdate && shown)",
    "if (false && shown)",
  ),
  mutant(
    "lifecycle.ts",
    "the outputs' keys say what is managed",
    "properties[key] !== undefined",
    "properties[key] != null",
  ),
  mutant(
    "lifecycle.ts",
    "what is shown otherwise is drift",
    "outputs[key] = shown ? ",
    "outputs[key] = false && shown ? ",
  ),
  mutant(
    "lifecycle.ts",
    "a password is not compared",
    "const shown = field.writeOnly ? undefined : shownOf(field, record);",
    "const shown = shownOf(field, record);",
  ),
  mutant(
    "lifecycle.ts",
    "a domain under another name is another record",
    "if (!shown || isShown",
    "if (true || isShown",
  ),
  mutant("lifecycle.ts", "another address is refused", "known === hash ||", "known !== '' ||"),
  mutant(
    "lifecycle.ts",
    "a delete of what is gone is success",
    "if (error instanceof Gone) return undefined;",
    "",
  ),
  mutant(
    "writer.ts",
    "a value that was not stored is an error",
    "if (lost.length === 0) {",
    "if (lost.length >= 0) {",
  ),
  mutant(
    "writer.ts",
    "a written password is not compared",
    "field.writeOnly ? undefined : shownOf",
    "shownOf",
  ),
  mutant("writer.ts", "a secret is not printed", "if (field.secret) return", "if (false) return"),
  mutant("writer.ts", "the form of empty that worked is kept", "this.forms = forms;", ""),
  mutant(
    "writer.ts",
    "a refused form of empty is followed by another",
    "tried = advance(tried, this.emptyOnes(values, error));",
    "tried = undefined;",
  ),
  mutant(
    "writer.ts",
    "an ignored form of empty is followed by another",
    "return this.update(id, values, deadline, next);",
    "void next;",
  ),
  mutant(
    "writer.ts",
    "equal creates take one record each",
    "!isOlder(id) && !this.taken.has(id)",
    "!isOlder(id)",
  ),
  mutant(
    "writer.ts",
    "a record that was there before is not taken",
    "!isOlder(id) && !this.taken.has(id)",
    "!this.taken.has(id)",
  ),
  mutant(
    "writer.ts",
    "an answer without the fields is followed by a read",
    "answered && this.isWhole(values, answered) ? answered",
    "answered ? answered",
  ),
  mutant(
    "codec.ts",
    "booleans: absent is false",
    "(declared ?? false) === (other ?? false)",
    "declared === other",
  ),
  mutant(
    "codec.ts",
    "alert days: 0 is empty where managed as empty",
    "|| (field.zeroIsEmpty === true && other === 0)",
    "",
  ),
  mutant("codec.ts", "empty is not something", "!isEmpty(other) && codecs", "codecs"),
  mutant(
    "codec.ts",
    "entities are decoded in what comes back",
    "|| equal(field, declared, parse(field, decodeEntities(raw)))",
    "",
  ),
  mutant(
    "codec.ts",
    "what is shown as declared counts before decoding",
    "equal(field, declared, parse(field, raw)) ||",
    "",
  ),
  mutant("codec.ts", "the declared spelling stays", "    ? declared\n", "    ? parse(field, raw)\n"),
  mutant(
    "codec.ts",
    "an empty text is sent as `field=`",
    '[[[wire, ""]]];\n\nconst text',
    "[[]];\n\nconst text",
  ),
  mutant("codec.ts", "letter case of a domain's name", "a.toLowerCase() === b.toLowerCase()", "a === b"),
  mutant("codec.ts", "letter case of a URL's host", "+ host.toLowerCase() +", "+ host +"),
  mutant("codec.ts", "letter case of a URL's scheme", "scheme.toLowerCase() +", "scheme +"),
  mutant("codec.ts", "letter case of a URL's path is real", ": `/${rest}`);", ": `/${rest}`).toLowerCase();"),
  mutant("codec.ts", "the slash of an empty URL path", 'rest.startsWith("/") ? rest : `/${rest}`', "rest"),
  mutant(
    "codec.ts",
    "numbers as strings",
    'typeof raw === "string" && /^-?\\d+$/.test(raw) ? Number(raw) : raw;\n    if',
    "raw;\n    if",
  ),
  mutant("codec.ts", "a date under paused_at", 'return !raw.startsWith("0000");', "return false;"),
  mutant("codec.ts", "booleans on the wire are 1 and 0", 'value ? "1" : "0"', "String(value)"),
  mutant(
    "codec.ts",
    "an empty boolean is sent as 0",
    'empty: (wire) => [[[wire, "0"]]],',
    "empty: emptyText,",
  ),
  mutant("codec.ts", "dates with T or a blank", "[T ](", "[T]("),
  mutant("codec.ts", "dates with fractions", "(?:\\.\\d+)?(?:Z", "(?:Z"),
  mutant("codec.ts", "dates with Z", "(?:Z|\\+00:?00)?$", "(?:\\+00:?00)?$"),
  mutant("codec.ts", "dates with +00:00", "(?:Z|\\+00:?00)?$", "(?:Z)?$"),
  mutant("codec.ts", "channels as objects", "isObject(entry) ? entry.id : entry", "entry"),
  mutant(
    "codec.ts",
    "order of channels",
    '.replace(/^0+(?=\\d)/, "")))].sort().join();',
    '.replace(/^0+(?=\\d)/, "")))].join();',
  ),
  mutant("codec.ts", "a channel id's leading zeros", '.replace(/^0+(?=\\d)/, "")', ""),
  mutant(
    "codec.ts",
    "order of headers",
    "JSON.stringify([key.toLowerCase(), value])).sort()",
    "JSON.stringify([key.toLowerCase(), value]))",
  ),
  mutant("codec.ts", "letter case of a header's name", "[key.toLowerCase(), value]", "[key, value]"),
  mutant(
    "codec.ts",
    "letter case of a header's value is real",
    "[key.toLowerCase(), value]",
    "[key.toLowerCase(), value.toLowerCase()]",
  ),
  mutant(
    "codec.ts",
    "an empty header is none",
    'headersOf(raw).filter(({ key, value }) => key !== "" || value !== "")',
    "headersOf(raw)",
  ),
  mutant(
    "attributes.ts",
    "attributes leave out what is managed",
    "field.secret || managed.includes(key)",
    "field.secret",
  ),
  mutant(
    "attributes.ts",
    "attributes leave out secret fields",
    "field.secret || managed.includes(key)",
    "managed.includes(key)",
  ),
  mutant("attributes.ts", "texts equal to a secret are blotted out", "secrets.has(value) || ", ""),
  mutant("attributes.ts", "keys of the engine are renamed", "key === markKey ? `${key}_` : key", "key"),
  mutant("collection.ts", "PUT where PATCH is refused", 'this.updateMethod = "PUT";', "throw error;"),
  mutant("collection.ts", "gone is proven by the list", "if (listing.get(id))", "if (false)"),
  mutant(
    "reader.ts",
    "the list is tried before it is believed",
    "this.isWhole && this.agrees",
    "this.agrees",
  ),
  mutant("reader.ts", "what is written is read anew", "|| this.collection.isWritten(id)", ""),
  mutant(
    "reader.ts",
    "a difference is asked for by id",
    "return isShown(field, value, shown.value);",
    "return true;",
  ),
  mutant("reader.ts", "a handful is read by id", "this.asked.size <= handful ||", ""),
  mutant("reader.ts", "a name that was there must be there", "names.every((name) =>", "names.some((name) =>"),
  mutant(
    "reader.ts",
    "a list that fails is not asked again",
    "this.isWhole = false;\n      return undefined;",
    "return undefined;",
  ),
  mutant("listing.ts", "a list gets old", "Date.now() - this.asked < maxAge", "true"),
  mutant(
    "listing.ts",
    "no page is read that cannot hold the record",
    "distance < 0n ? 0 :",
    "distance < 0n ? 1 :",
  ),
  mutant(
    "answer.ts",
    "numbers beyond 2^53 are exact text",
    "return isExact ? token",
    'return isExact || source !== "" ? token',
  ),
  mutant("dynamic-provider.ts", "errors name no secret", "message = without(form, message)", "void form"),
  mutant(
    "monitor.ts",
    "what the API resets by an update is marked",
    'default: "GET",\n    resetByUpdate: true,',
    'default: "GET",',
  ),
];
