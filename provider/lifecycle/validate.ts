import type { Message } from "../api/errors";
import type { Definition, Problem } from "../definitions/field";
import { problemsOfValue } from "../definitions/field-problems";
import { fieldOf, isConfidential } from "../definitions/keys";
import { nearest } from "../common/nearest";
import { hasUnknown } from "../common/values";
import { topLevel } from "./paths";

/** Something that is wrong with an input. The reason may quote the server. */
export interface InputProblem {
  readonly property: string;
  readonly reason: string | Message;
}

/**
 * Everything that is wrong with the declared fields of one resource, each with its property's path and what is allowed.
 *
 * @param isUnchangedInState whether state has a field's value already; then the value is not checked again
 */
export function problemsOf(
  definition: Definition,
  values: Readonly<Record<string, unknown>>,
  isUnchangedInState: (key: string) => boolean = () => false,
): Problem[] {
  const problems: Problem[] = [];
  for (const [key, field] of Object.entries(definition.fields)) {
    const value = values[key];
    if (value === undefined || value === null) {
      if (field.required) problems.push({ property: key, reason: "is required" });
      continue;
    }
    if (isUnchangedInState(key)) continue;
    for (const { path, reason } of problemsOfValue(field, value))
      problems.push({ property: `${key}${path}`, reason });
  }
  for (const key of Object.keys(values))
    if (!Object.hasOwn(definition.fields, key))
      problems.push({ property: key, reason: unknownProperty(definition, key) });
  const malformed = new Set(problems.map(({ property }) => topLevel(property)));
  for (const rule of definition.rules) {
    if (rule.properties.every(isUnchangedInState)) continue;
    if (rule.properties.some((key) => malformed.has(key) || hasUnknown(values[key]))) continue;
    const problem = rule.check(values);
    if (!problem) continue;
    const isShown = !rule.properties.some((key) => isConfidential(fieldOf(definition, key)));
    const others = rule.properties.filter((key) => key !== problem.property).join(" and ");
    const reason = `does not fit ${others} (their values are secret, so they are not shown)`;
    problems.push(isShown ? problem : { ...problem, reason });
  }
  return problems;
}

function unknownProperty(definition: Definition, key: string): string {
  const known = [...Object.keys(definition.fields), "account"];
  const near = known.find((name) => definition.fields[name]?.wire === key) ?? nearest(key, known);
  return `is not a property of ${definition.label}${near ? `; did you mean ${near}?` : `, which has ${known.join(", ")}`}`;
}
