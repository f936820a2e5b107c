import type { Definition } from "../../definitions/field";
import type { Value } from "../../definitions/values";
import { isObject } from "../../definitions/values";
import type { Name } from "./names";
import { stringLiteral, visible } from "../shared/quoting";

/** A value that the program reads from the stack's configuration. */
export class ConfigValue {
  constructor(
    readonly key: string,
    /** Whether the program runs without it. */
    readonly optional: boolean,
    /** What the record has; undefined if the API does not show it. */
    readonly secret?: string,
  ) {}
}

/** A header whose value is in the stack's configuration. */
export interface SecretHeader {
  readonly key: string;
  readonly value: ConfigValue;
}

/** What a program declares for a property. */
export type PropertyValue = Exclude<Value, null> | ConfigValue | readonly SecretHeader[];

/** A resource that a module declares. */
export interface ModuleResource extends Name {
  readonly definition: Definition;
  readonly id: string;
  readonly properties: ReadonlyMap<string, PropertyValue>;
  /** Why the provider would refuse it; such a resource is written as a comment. */
  readonly problems: readonly string[];
}

/** A module that declares resources. What only refused resources need is a comment, as they are. */
export function moduleSource(resources: readonly ModuleResource[]): string {
  const active = resources.filter(({ problems }) => problems.length === 0);
  /** A line that some of the resources need. */
  const lineFor = (isNeeded: (resource: ModuleResource) => boolean, text: string): string[] =>
    active.some(isNeeded) ? [text] : resources.some(isNeeded) ? [`// ${text}`] : [];
  const labelsOf = (some: readonly ModuleResource[]): string[] => [
    ...new Set(some.map(({ definition }) => definition.label).sort()),
  ];
  const used = labelsOf(active);
  const unused = labelsOf(resources).filter((label) => !used.includes(label));
  const classes = (names: readonly string[]): string =>
    `import { ${names.join(", ")} } from "pulumi-uptime";`;
  const usesConfig = (resource: ModuleResource): boolean => configValuesOf(resource).length > 0;
  const head = [
    "// Written by `pulumi-uptime export` from the records in the API. You can edit it.",
    ...lineFor(usesConfig, 'import * as pulumi from "@pulumi/pulumi";'),
    ...(used.length > 0 ? [classes(used)] : []),
    ...(unused.length > 0 ? [`// ${classes(unused)}`] : []),
  ];
  return `${[
    head.join("\n"),
    ...lineFor(usesConfig, "const config = new pulumi.Config();"),
    ...resources.map((resource) =>
      resource.problems.length === 0 ? statementOf(resource) : commentOf(resource),
    ),
    // Without an import or export a file is not a module.
    ...(active.length === 0 ? ["export {};"] : []),
  ].join("\n\n")}\n`;
}

/** What a resource reads from the configuration. */
export function configValuesOf({ properties }: Pick<ModuleResource, "properties">): ConfigValue[] {
  return [...properties.values()].flatMap((value) => {
    if (value instanceof ConfigValue) return [value];
    return isSecretHeaders(value) ? value.map((header) => header.value) : [];
  });
}

function isSecretHeaders(value: PropertyValue): value is readonly SecretHeader[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

function statementOf({ definition, identifier, name, id, properties }: ModuleResource): string {
  return [
    `export const ${identifier} = new ${definition.label}(`,
    `  ${stringLiteral(name)},`,
    "  {",
    ...[...properties].map(([key, value]) => `    ${key}: ${expression(value, "    ")},`),
    "  },",
    `  { import: ${stringLiteral(id)}, protect: true },`,
    ");",
  ].join("\n");
}

function commentOf(resource: ModuleResource): string {
  const { definition, id, problems } = resource;
  const lines = [
    `The ${definition.singular} ${visible(id)} is not managed yet: ${problems.map(visible).join("; ")}.`,
    "Correct it in the API and here, then remove the comment signs.",
    ...statementOf(resource).split("\n"),
  ];
  return lines.map((line) => `// ${line}`).join("\n");
}

function expression(value: PropertyValue, margin: string): string {
  if (value instanceof ConfigValue)
    return `config.${value.optional ? "getSecret" : "requireSecret"}(${stringLiteral(value.key)})`;
  if (isSecretHeaders(value)) {
    const entry = `${margin}  `;
    const lines = value.flatMap((header) => [
      `${entry}{`,
      `${entry}  key: ${stringLiteral(header.key)},`,
      `${entry}  value: ${expression(header.value, entry)},`,
      `${entry}},`,
    ]);
    return ["[", ...lines, `${margin}]`].join("\n");
  }
  if (typeof value === "string") return stringLiteral(value);
  if (Array.isArray(value))
    return `[${value.map((entry) => (typeof entry === "string" ? stringLiteral(entry) : String(entry))).join(", ")}]`;
  return JSON.stringify(value);
}
