import type { Definition } from "../definitions/field";
import type { Value } from "../definitions/kinds";

/** What a program declares of a resource, after `check`; an engine front keeps and compares it. */
export interface Inputs {
  /** Fields by property. Null is "managed as empty"; `unknown` stands for what is not known yet. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The account by its name in `uptime:accounts`; undefined for the one that has no name. */
  readonly account?: string | undefined;
  /** The id of the record that the resource is to import. */
  readonly importId?: string | undefined;
}

/** What state holds of a resource. */
export interface Outputs {
  /** The managed fields by property: the keys say what is managed; null is "managed as empty". */
  readonly values: Readonly<Record<string, Value>>;
  /** Everything else that the record showed, under the API's own names. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly account?: string | undefined;
  /** The id that the resource was imported with, kept to recognise an import that is done. */
  readonly importId?: string | undefined;
  /** A short hash of the address that the record is at. */
  readonly server?: string | undefined;
  /** Four hex digits of a hash of address and API key. */
  readonly key?: string | undefined;
  /** The resource that imported or adopted the record: see {@link Options.resource}. */
  readonly claim?: string | undefined;
  /** The last operation failed half-way, so these may differ from what was asked for. */
  readonly isPartial?: boolean | undefined;
  /** The record is only read, not managed. */
  readonly isReadOnly?: boolean | undefined;
}

/** A resource after an operation. */
export interface State {
  readonly id: string;
  readonly outputs: Outputs;
}

/** What the engine says of a resource beside its inputs. */
export interface Options {
  readonly ignoreChanges?: readonly string[] | undefined;
  readonly replaceOnChanges?: readonly string[] | undefined;
  /** The time for this operation in milliseconds, if a person has set one. */
  readonly timeout?: number | undefined;
  /**
   * What tells the resource from all others of the stack: its URN, or the chain of its parents' types and its name.
   * Undefined if the engine does not tell, which it must for a resource that imports or adopts.
   */
  readonly resource?: string | undefined;
  /** Ends the operation early: the engine was interrupted. */
  readonly cancel?: AbortSignal | undefined;
}

/** The properties that are managed: those that the values name. */
export function managedIn(definition: Definition, values: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(definition.fields).filter((key) => values[key] !== undefined);
}

/** The values of managed properties, as they are to be. */
export function wantedIn(
  definition: Definition,
  values: Readonly<Record<string, unknown>>,
  only: (key: string) => boolean = () => true,
): Map<string, Value> {
  const keys = managedIn(definition, values).filter(only);
  return new Map(keys.map((key) => [key, valueOf(values, key)]));
}

/** Checked inputs and outputs hold nothing but values. */
export function valueOf(values: Readonly<Record<string, unknown>>, key: string): Value {
  return (values[key] ?? null) as Value;
}

/** A resource's name in a message: the last part of its URN, or of the chain of types that it is known by. */
export function nameOf(resource: string | undefined): string {
  return resource?.split("::").at(-1) ?? "";
}
