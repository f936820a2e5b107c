import { hasPassword, withoutLogin } from "../../common/url";
import type { RequestHeader, Value } from "../../common/values";
import { identityKeys } from "../../definitions/keys";
import { freeName, slug } from "../shared/quoting";
import type { DeclarableRecord } from "../shared/records";
import { ConfigValue, type ModuleResource, type PropertyValue, type SecretHeader } from "./module-source";

/**
 * A record as a module declares it, with its secrets replaced by values of the stack's configuration.
 *
 * @param names the names of other resources, to which its own is added
 * @param configKeys the keys in the configuration, to which its own are added
 * @param isProgram its URLs with a password are secrets too; Pulumi itself writes the code of other languages
 */
export function moduleResource(
  declarable: DeclarableRecord,
  account: string | undefined,
  names: Set<string>,
  configKeys: Set<string>,
  isProgram: boolean,
): ModuleResource {
  const { definition, record, values } = declarable;
  const name = reserveName(names, resourceName(declarable, names, isProgram));
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
  const hasPasswordInUrl = [...values.values()].some(hasPassword);
  return { definition, id: record.id, name, properties, hasPasswordInUrl };
}

function isHeaders(value: Exclude<Value, null>): value is readonly RequestHeader[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "object");
}

/** A readable name for a record, from its name or URL. The id tells records of equal names apart. */
function resourceName(
  { definition, record, values }: DeclarableRecord,
  taken: ReadonlySet<string>,
  isProgram: boolean,
): string {
  const noun = definition.singular;
  const withId = (text: string): string => `${text}-${slug(record.id) || "x"}`;
  const found = identityKeys(definition)
    .map((key) => withoutLogin(values.get(key)))
    .map((value) => (typeof value === "string" ? slug(namingPart(value)) : ""))
    .find((text) => text !== "");
  if (found === undefined) return withId(noun);
  // If code that Pulumi writes refers to a resource whose name begins with a digit, it writes none at all.
  const readable = !isProgram && /^\d/.test(found) ? `${noun}-${found}` : found;
  return [readable, withId(readable)].find((name) => !taken.has(name)) ?? withId(noun);
}

/** Of a URL only its host and path, which name what is there: what is before them may be a password, and the query a token. */
function namingPart(text: string): string {
  return text.replace(/^(?:[a-z][a-z\d+.-]*:)?\/\/(?:[^/?#]*@)?([^?#]*).*$/is, "$1");
}

/** Gives a name that is free, if necessary with a number. */
function reserveName(taken: Set<string>, wanted: string): string {
  const name = freeName(wanted, (one) => taken.has(one));
  taken.add(name);
  return name;
}
