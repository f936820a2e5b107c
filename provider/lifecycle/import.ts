import type { ApiRecord } from "../api/answer";
import { shownOf } from "./attributes";
import { isEmpty, isShown, reconcile } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import { UptimeError } from "../api/errors";
import type { Definition, Field, Problem } from "../definitions/field";
import { names, passedOptionsIn } from "../engine/options";
import { isUnknown } from "../engine/marks";

type Properties = Readonly<Record<string, unknown>>;

/**
 * How a resource's inputs differ from the record that it shall take over, and which of them the record does not show.
 * What is not known yet, and what `ignoreChanges` names, is not compared.
 *
 * @param isDeclared whether the program declares a property, or it has its default
 */
export function compare(
  definition: Definition,
  inputs: Properties,
  record: ApiRecord,
  isDeclared: (key: string) => boolean = () => true,
): { problems: Problem[]; unseen: string[] } {
  const { ignoreChanges } = passedOptionsIn(inputs);
  const there = `the ${definition.singular} ${record.id}`;
  const problems: Problem[] = [];
  const unseen: string[] = [];
  for (const [key, field] of Object.entries(definition.fields)) {
    const value = inputs[key];
    if (value === undefined || isUnknown(value) || names(ignoreChanges, key)) continue;
    const shown = field.writeOnly ? undefined : shownOf(field, record);
    if (!shown) {
      if (!isEmpty(value)) unseen.push(key);
      continue;
    }
    const found = valueIn(field, value as Value, shown.value);
    if (found === undefined) continue;
    const reason = field.secret
      ? `differs from what ${there} has (both are secret, so neither is shown)`
      : isDeclared(key)
        ? `is ${JSON.stringify(value)} in the program and ${found} at ${there}`
        : `is not declared, so it would be ${JSON.stringify(value)}, its default, and is ${found} at ${there}`;
    problems.push({
      property: key,
      reason: `${reason}, which is to be imported as it is: declare what is there, or change it there first`,
    });
  }
  return { problems, unseen };
}

/** What a record shows of a field, for a message, where that is not what is wanted. */
function valueIn(field: Field, wanted: Value, raw: unknown): string | undefined {
  try {
    return isShown(field, wanted, raw) ? undefined : JSON.stringify(reconcile(field, undefined, raw));
  } catch (error) {
    // Not a value that such a field can have.
    if (error instanceof UptimeError) return JSON.stringify(raw).slice(0, 100);
    throw error;
  }
}

/**
 * Which resource of this run has which record of an account. An import must not take another resource's record; a
 * replacement must not import the record that it is about to delete, or has deleted; and a record that was handed over
 * from one resource to another must not be deleted with the first. Resources are told apart by the names that come with
 * the option `import`.
 */
export class Holders {
  /** Records that state has for resources of the program, and the names of those that have the option. */
  private readonly managed = new Map<string, string | undefined>();
  /** Records that the option names, and the resource that has it. */
  private readonly named = new Map<string, string>();
  /** Records in state that were imported, and the resource that did it. */
  private readonly imported = new Map<string, string | undefined>();
  /** Imports that are done, each with its resource. */
  private readonly done = new Set<string>();
  private readonly adopted = new Set<string>();
  private readonly deleted = new Set<string>();
  /** What was read to check an import; the import itself follows at once. */
  private readonly verified = new Map<string, ApiRecord>();

  /** Whether a record belongs to some resource, as far as this process has seen. */
  isHeld(id: string): boolean {
    return this.managed.has(id) || this.named.has(id) || this.adopted.has(id);
  }

  /** A resource has the option. */
  name(id: string, resource: string): void {
    if (!this.named.has(id)) this.named.set(id, resource);
  }

  /** The resource that has the option for a record, where that is another one. */
  namedByAnother(id: string, resource: string | undefined): string | undefined {
    const other = this.named.get(id);
    return other === resource ? undefined : other;
  }

  /** State has a record for a resource of the program. */
  manage(id: string, resource: string | undefined): void {
    this.managed.set(id, resource);
  }

  isManagedByAnother(id: string, resource: string | undefined): boolean {
    return this.managed.has(id) && this.managed.get(id) !== resource;
  }

  /** State has a record for a resource that has imported it. */
  keepImported(id: string, resource: string | undefined): void {
    this.imported.set(id, resource);
  }

  /** State has a resource whose import is done, under whichever id it has now. */
  finish(id: string, resource: string | undefined): void {
    this.done.add(doneKey(id, resource));
  }

  /** Whether nothing is left to import, so that a create is a replacement's and makes a new record. */
  isSpent(id: string, resource: string | undefined): boolean {
    return this.deleted.has(id) || this.done.has(doneKey(id, resource));
  }

  verify(record: ApiRecord): void {
    this.verified.set(record.id, record);
  }

  takeVerified(id: string): ApiRecord | undefined {
    const record = this.verified.get(id);
    this.verified.delete(id);
    return record;
  }

  /** A create of this process has taken over a record that was there before. */
  adopt(id: string): void {
    this.adopted.add(id);
  }

  /** Whether a record that a resource in state had belongs to another one now. */
  isHandedOver(id: string, resource: string | undefined): boolean {
    return this.adopted.has(id) || (this.imported.has(id) && this.imported.get(id) !== resource);
  }

  delete(id: string): void {
    this.deleted.add(id);
  }
}

const doneKey = (id: string, resource = ""): string => JSON.stringify([id, resource]);
