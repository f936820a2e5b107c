import type { ApiRecord } from "../api/answer";
import type { Definition, Problem } from "../definitions/field";
import { isEmpty } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import { isUnknown } from "../definitions/unknown";
import { compare } from "./compare";
import { names } from "./paths";
import type { Inputs } from "./resource";

/** How a program differs from a record that it imports. */
export interface ImportDifferences {
  readonly problems: Problem[];
  /** Properties that the record does not show. */
  readonly unseen: string[];
}

/**
 * Compares checked inputs with the record that they import. What is not known yet, and what `ignoreChanges` names, is not
 * compared.
 *
 * @param isDeclared whether the program declares a property; otherwise it has its default
 */
export function compareImport(
  definition: Definition,
  { values }: Inputs,
  record: ApiRecord,
  ignoreChanges: readonly string[] | undefined,
  isDeclared: (key: string) => boolean = () => true,
): ImportDifferences {
  const there = `${definition.singular} ${record.id}`;
  const problems: Problem[] = [];
  const unseen: string[] = [];
  for (const [key, field] of Object.entries(definition.fields)) {
    const value = values[key];
    if (value === undefined || isUnknown(value) || names(ignoreChanges, key)) continue;
    const shown = compare(field, value as Value, record);
    if (shown.outcome === "hidden" && !isEmpty(value)) unseen.push(key);
    if (shown.outcome !== "differs") continue;
    const [wanted, found] = [JSON.stringify(value), JSON.stringify(shown.value)];
    const reason = field.secret
      ? `differs from what ${there} has (both are secret, so neither is shown)`
      : shown.problem !== undefined
        ? `cannot be compared: ${shown.problem}`
        : isDeclared(key)
          ? `is ${wanted} in the program and ${found} in ${there}`
          : `is not declared, so it would be ${wanted}, its default, and is ${found} in ${there}`;
    problems.push({
      property: key,
      reason: `${reason}. An import changes nothing: declare what is there, or change it there first`,
    });
  }
  return { problems, unseen };
}
