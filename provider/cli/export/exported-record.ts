import type { ApiRecord } from "../../api/answer";
import { parseUrl } from "../../common/url";
import type { RequestHeader } from "../../common/values";
import type { Definition } from "../../definitions/field";
import { mustBeDeclared } from "../../definitions/codecs";
import { identityKeys } from "../../definitions/keys";
import type { Value } from "../../common/values";
import { Redactor } from "../../engine/redactor";
import { shownValues } from "../../lifecycle/difference";
import { problemsOf, type InputProblem } from "../../lifecycle/validate";
import { slug } from "../shared/quoting";
import { ConfigValue, type ModuleResource, type PropertyValue, type SecretHeader } from "./module-source";
import { giveFree, giveName } from "./names";

/** A record with the values that a program has to declare so that it matches. */
export interface ExportedRecord {
  readonly definition: Definition;
  readonly record: ApiRecord;
  /** By property. Secrets are in the clear. */
  readonly values: ReadonlyMap<string, Exclude<Value, null>>;
  /** The reasons for which the provider would refuse it. */
  readonly problems: readonly string[];
}

/**
 * The values of a record that a program has to declare: all that are shown, not empty, and not the default. A zero that means
 * empty is declared too, so that a later edit of it is drift.
 *
 * @param escaped whether the server shows strings HTML-escaped
 * @param secrets the API keys in use, which no problem may quote
 */
export function exportedOf(
  definition: Definition,
  record: ApiRecord,
  escaped: boolean,
  secrets: ReadonlySet<string>,
): ExportedRecord {
  const unreadable: InputProblem[] = [];
  const shown = shownValues(definition, record, {
    escaped,
    refuse: (property, reason) => unreadable.push({ property, reason }),
  });
  const values = new Map<string, Exclude<Value, null>>();
  for (const [key, value] of shown) {
    const field = definition.fields[key];
    if (!field || field.writeOnly || value === null) continue;
    if (mustBeDeclared(field, value) || (value === 0 && field.zeroIsEmpty)) values.set(key, value);
  }
  const refused = problemsOf(definition, Object.fromEntries(values)).filter(
    ({ property }) => !unreadable.some((problem) => problem.property === property),
  );
  const redactor = Redactor.forResource(secrets, definition, Object.fromEntries(shown));
  const problems = [...unreadable, ...refused].map((one) => redactor.problem(one).replace(/\.$/, ""));
  return { definition, record, values, problems };
}

/**
 * A record as a module declares it, with its secrets replaced by values of the stack's configuration.
 *
 * @param isProgram its URLs with a password are secrets too; Pulumi itself writes the code of other languages
 */
export function moduleResource(
  { definition, record: { id }, values, problems }: ExportedRecord,
  account: string | undefined,
  names: Set<string>,
  configKeys: Set<string>,
  isProgram: boolean,
): ModuleResource {
  const texts = identityKeys(definition)
    .map((key) => values.get(key))
    .filter((value) => typeof value === "string");
  const name = giveName(names, definition.singular, id, texts);
  const properties = new Map<string, PropertyValue>(account === undefined ? [] : [["account", account]]);
  for (const [key, value] of values) {
    const isSecret = definition.fields[key]?.secret === true || (isProgram && hasPassword(value));
    properties.set(key, isSecret ? secretValue(name, key, value, configKeys) : value);
    // The API does not show whether there is a password.
    for (const [secretKey, { goesWith }] of Object.entries(definition.fields))
      if (goesWith === key)
        properties.set(
          secretKey,
          new ConfigValue(giveFree(configKeys, `${name}-${lastWord(secretKey)}`), true),
        );
  }
  return { definition, id, name, properties, problems };
}

/** Whether a value is a URL with a password. */
export function hasPassword(value: unknown): boolean {
  return typeof value === "string" && Boolean(parseUrl(value)?.password);
}

/** The last word of a property's name, in lower case. */
function lastWord(property: string): string {
  return property.replace(/^.*(?=[A-Z])/, "").toLowerCase();
}

function secretValue(
  name: string,
  property: string,
  value: Exclude<Value, null>,
  configKeys: Set<string>,
): ConfigValue | SecretHeader[] {
  if (isHeaders(value))
    return value.map(({ key, value: secret }) => ({
      key,
      value: new ConfigValue(giveFree(configKeys, `${name}-${slug(key, 24) || "header"}`), false, secret),
    }));
  const secret = typeof value === "string" ? value : JSON.stringify(value);
  return new ConfigValue(giveFree(configKeys, `${name}-${slug(property)}`), false, secret);
}

function isHeaders(value: Exclude<Value, null>): value is readonly RequestHeader[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "object");
}
