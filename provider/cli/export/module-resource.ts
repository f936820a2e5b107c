import { hasPassword } from "../../common/url";
import type { RequestHeader, Value } from "../../common/values";
import { identityKeys } from "../../definitions/keys";
import { slug } from "../shared/quoting";
import type { DeclarableRecord } from "../shared/records";
import { ConfigValue, type ModuleResource, type PropertyValue, type SecretHeader } from "./module-source";

/**
 * A record as a module declares it, with its secrets replaced by values of the stack's configuration.
 *
 * @param isProgram its URLs with a password are secrets too; Pulumi itself writes the code of other languages
 */
export function moduleResource(
  { definition, record: { id }, values }: DeclarableRecord,
  account: string | undefined,
  names: Set<string>,
  configKeys: Set<string>,
  isProgram: boolean,
): ModuleResource {
  const texts = identityKeys(definition)
    .map((key) => values.get(key))
    .filter((value) => typeof value === "string");
  const name = reserveResourceName(names, definition.singular, id, texts, isProgram);
  const inConfig = (part: string, secret?: string): ConfigValue =>
    new ConfigValue(reserveName(configKeys, `${name}-${part}`), secret);
  const secretValue = (property: string, value: Exclude<Value, null>): ConfigValue | SecretHeader[] => {
    if (!isHeaders(value))
      return inConfig(slug(property), typeof value === "string" ? value : JSON.stringify(value));
    return value.map((header) => ({
      key: header.key,
      value: inConfig(slug(header.key, 24) || "header", header.value),
    }));
  };
  const properties = new Map<string, PropertyValue>(account === undefined ? [] : [["account", account]]);
  for (const [key, value] of values) {
    const isSecret = definition.fields[key]?.secret === true || (isProgram && hasPassword(value));
    properties.set(key, isSecret ? secretValue(key, value) : value);
    // The API does not show whether there is a password.
    for (const [secretKey, { goesWith }] of Object.entries(definition.fields))
      if (goesWith === key) {
        const lastWord = secretKey.replace(/^.*(?=[A-Z])/, "").toLowerCase();
        properties.set(secretKey, inConfig(lastWord));
      }
  }
  return { definition, id, name, properties };
}

function isHeaders(value: Exclude<Value, null>): value is readonly RequestHeader[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "object");
}

/**
 * Gives a record a readable name that no other resource has.
 *
 * @param taken the names that are given already
 * @param noun what the record is, in one lower-case word
 * @param id the record's id: it tells records of equal names apart
 * @param texts the record's texts to take the name from, the best first
 * @param isProgram Pulumi itself writes the code of other languages: if it refers to a resource whose name begins with a digit, it
 *   writes no code at all
 */
function reserveResourceName(
  taken: Set<string>,
  noun: string,
  id: string,
  texts: readonly string[],
  isProgram: boolean,
): string {
  const withId = (text: string): string => `${text}-${slug(id) || "x"}`;
  const found = texts.map((text) => slug(namingPart(text))).find((text) => text !== "");
  if (found === undefined) return reserveName(taken, withId(noun));
  const readable = !isProgram && /^\d/.test(found) ? `${noun}-${found}` : found;
  return reserveName(taken, readable, withId(readable), withId(noun));
}

/** Of a URL only its host and path, which name what is there: what is before them may be a password, and the query a token. */
function namingPart(text: string): string {
  return text.replace(/^(?:[a-z][a-z\d+.-]*:)?\/\/(?:[^/?#]*@)?([^?#]*).*$/is, "$1");
}

/** Gives the first name that is free; if none is, the last one with a number. */
function reserveName(taken: Set<string>, ...names: readonly [string, ...string[]]): string {
  let name = names.find((one) => !taken.has(one));
  for (let number = 2; name === undefined; number++) {
    const numbered = `${names.at(-1) ?? ""}-${number}`;
    if (!taken.has(numbered)) name = numbered;
  }
  taken.add(name);
  return name;
}
