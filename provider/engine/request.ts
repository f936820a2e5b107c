import type { Definition } from "../definitions/field";
import { isObject } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import { unknown } from "../definitions/unknown";
import type { Declaration } from "../lifecycle/check";
import type { Inputs, Options, Outputs } from "../lifecycle/resource";
import { milliseconds } from "../definitions/duration";
import { cleanAttributes, secretsIn } from "./clean";
import { markKey, unknownValue } from "../definitions/marks";

/** Inputs or outputs of a resource, as the engine keeps them. */
export type Properties = Readonly<Record<string, unknown>>;

/** Options of a resource that Pulumi does not forward to a dynamic provider; the hidden input `__options` holds them. */
export interface PassedOptions {
  readonly ignoreChanges?: readonly string[];
  readonly replaceOnChanges?: readonly string[];
  readonly customTimeouts?: { readonly create?: string; readonly update?: string; readonly delete?: string };
  /** What tells the resource from all others of the stack, if it imports or may adopt a record. */
  readonly resource?: string;
  /** The same in state that version 0.1.0 has left: the resource's name, if it was imported. */
  readonly importer?: string;
}

/** What the program declares, with the options that travel beside it. */
export function declarationIn(olds: Properties, news: Properties): Declaration {
  const { account, importId, ...declared } = declaredIn(news);
  const old = Object.keys(olds).length > 0 ? inputsIn(olds) : undefined;
  return { declared, account, importId, old, options: optionsIn(news) };
}

/** What a program declares, without what a front keeps beside it. */
export function declaredIn(properties: Properties): Record<string, unknown> {
  return withoutHidden(decoded(properties) as Properties);
}

/** Checked inputs. */
export function inputsIn(properties: Properties): Inputs {
  const { account, importId, ...values } = declaredIn(properties);
  return { values, account: stringIn(account), importId: stringIn(importId) };
}

/** Inputs as the engine keeps them. */
export function inputProperties({ values, account, importId }: Inputs, from: Properties): Properties {
  return {
    ...(encoded(values) as Properties),
    ...(account !== undefined && { account }),
    ...(importId !== undefined && { importId }),
    ...hiddenOf(from, ["__options", "__provider"]),
  };
}

/** What state holds; `attributes` are empty in what a program declares to read a record only. */
export function outputsIn(definition: Definition, properties: Properties): Outputs {
  const options = passedOptionsIn(properties);
  const values = Object.fromEntries(
    Object.keys(definition.fields).flatMap((key) =>
      properties[key] === undefined ? [] : [[key, properties[key] as Value]],
    ),
  );
  return {
    values,
    attributes: isObject(properties.attributes) ? properties.attributes : {},
    account: stringIn(properties.account),
    importId: stringIn(properties.importId),
    server: stringIn(properties.__server),
    key: stringIn(properties.__key),
    claim: stringIn(properties.__claim) ?? options.importer,
    isPartial: properties.__partial === true,
    isReadOnly: properties.__readOnly === true,
  };
}

/**
 * Outputs as the engine keeps them; `from` are the inputs or outputs that they follow. Attributes hold neither the
 * resource's secrets nor one of the keys.
 */
export function outputProperties(
  definition: Definition,
  outputs: Outputs,
  from: Properties,
  keys: Iterable<string>,
): Properties {
  const { values, attributes, account, importId, server, key, claim, isPartial, isReadOnly } = outputs;
  const secrets = [...keys, ...secretsIn(definition, values, from)];
  return {
    ...(withoutMarks(values) as Properties),
    attributes: withoutMarks(cleanAttributes(definition, attributes, secrets)),
    ...(account !== undefined && { account }),
    ...(importId !== undefined && { importId }),
    ...hiddenOf(from, ["__options"]),
    ...(server !== undefined && { __server: server }),
    ...(key !== undefined && { __key: key }),
    ...(claim !== undefined && { __claim: claim }),
    ...(isPartial && { __partial: true }),
    ...(isReadOnly && { __readOnly: true }),
  };
}

/** What the engine keeps to itself, and the program's class has passed on. */
export function optionsIn(properties: Properties, operation?: "create" | "update" | "delete"): Options {
  const { ignoreChanges, replaceOnChanges, customTimeouts, resource, importer } = passedOptionsIn(properties);
  const given = operation === undefined ? undefined : customTimeouts?.[operation];
  const timeout = given === undefined ? undefined : milliseconds(given);
  return {
    ignoreChanges,
    replaceOnChanges,
    // To the engine, zero means the default.
    timeout: timeout === 0 ? undefined : timeout,
    resource: resource ?? importer,
  };
}

/** Whether properties are those of a resource that is managed, and not only read. */
export function isManaged(properties: Properties): boolean {
  return "attributes" in properties && properties.__readOnly !== true;
}

function passedOptionsIn({ __options: options }: Properties): PassedOptions {
  return isObject(options) ? options : {};
}

/** Properties without those that Pulumi hides. */
export function withoutHidden(properties: Properties): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !key.startsWith("__")));
}

function hiddenOf(properties: Properties, keys: readonly string[]): Properties {
  return Object.fromEntries(
    keys.flatMap((key) => (properties[key] === undefined ? [] : [[key, properties[key]]])),
  );
}

/** Properties with the engine's form of an unknown value translated to ours. */
function decoded(value: unknown): unknown {
  return translated(value, unknownValue, unknown);
}

function encoded(value: unknown): unknown {
  return translated(value, unknown, unknownValue);
}

function translated(value: unknown, from: unknown, to: unknown): unknown {
  if (value === from) return to;
  if (Array.isArray(value)) return value.map((entry) => translated(entry, from, to));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, translated(entry, from, to)]));
}

/** The API's values without what the engine would take for a mark of its own, which would fail the operation. */
export function withoutMarks(value: unknown): unknown {
  if (value === unknownValue) return "[unknown]";
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key === markKey ? `${key}_` : key, withoutMarks(entry)]),
  );
}

function stringIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
