import type { Definition } from "../../definitions/field";
import { isObject, type Value } from "../../common/values";
import { stringLiteral, printable } from "../shared/quoting";

/** A value that the program reads from the stack's configuration. */
export class ConfigValue {
  constructor(
    readonly key: string,
    /** The name of the resource that has it. */
    readonly of: string,
    /** The record's value; undefined if the API does not show it, and then the program runs without it. */
    readonly secret?: string,
  ) {}
}

/** A header whose value is in the stack's configuration. */
export interface SecretHeader {
  readonly key: string;
  readonly value: ConfigValue;
}

export type PropertyValue = Exclude<Value, null> | ConfigValue | readonly SecretHeader[];

export interface ModuleResource {
  readonly definition: Definition;
  readonly name: string;
  readonly id: string;
  readonly properties: ReadonlyMap<string, PropertyValue>;
  /** The reasons for which the provider would refuse it; such a resource is written as a comment. */
  readonly problems: readonly string[];
}

// After an error of `requireSecret` itself, Node.js 20 and 22 take half a minute to end the program.
const secretFunction = [
  "const secret = (key: string): pulumi.Output<string> => {",
  "  const value = config.getSecret(key);",
  "  if (!value) throw new Error(`Run \\`pulumi config set --secret ${key}\\`: the program needs it.`);",
  "  return value;",
  "};",
];

/** The setting that lets Pulumi delete what the program declares. */
export const protectKey = "protect";

/** A module that declares resources of one kind as an object by name. */
export function moduleSource({ label, plural }: Definition, resources: readonly ModuleResource[]): string {
  /** A line that some resources need; a comment if all of these are comments. */
  const neededBy = (some: readonly ModuleResource[], text: string): string[] =>
    some.length === 0 ? [] : [some.every(({ problems }) => problems.length > 0) ? `// ${text}` : text];
  const withSecret = resources.filter((resource) =>
    configValuesOf(resource).some(({ secret }) => secret !== undefined),
  );
  return [
    "// Written by `pulumi-uptime export` from the records in the API. You can edit it.",
    ...neededBy(resources, 'import * as pulumi from "@pulumi/pulumi";'),
    ...neededBy(resources, `import { ${label} } from "pulumi-uptime";`),
    "",
    ...neededBy(resources, "const config = new pulumi.Config();"),
    ...secretFunction.flatMap((line) => neededBy(withSecret, line)),
    "// Pulumi deletes none of these records. To let it, run `pulumi config set protect false` and then `pulumi up`.",
    ...neededBy(resources, `const protect = config.getBoolean("${protectKey}") ?? true;`),
    "",
    `export const ${plural} = {`,
    resources.map((resource) => entryOf(resource).replace(/^/gm, "  ")).join("\n\n"),
    "};",
    "",
  ].join("\n");
}

export function configValuesOf({ properties }: ModuleResource): ConfigValue[] {
  return [...properties.values()].flatMap(configValuesIn);
}

export function configValuesIn(value: PropertyValue): ConfigValue[] {
  if (value instanceof ConfigValue) return [value];
  return isSecretHeaders(value) ? value.map((header) => header.value) : [];
}

function isSecretHeaders(value: PropertyValue): value is readonly SecretHeader[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

function entryOf({ definition, name, id, properties, problems }: ModuleResource): string {
  const entry = [
    `${/^[a-z]\w*$/.test(name) ? name : stringLiteral(name)}: new ${definition.label}(`,
    `  ${stringLiteral(name)},`,
    "  {",
    ...[...properties].map(([key, value]) => `    ${key}: ${expression(value, "    ")},`),
    "  },",
    `  { import: ${stringLiteral(id)}, protect },`,
    "),",
  ];
  if (problems.length === 0) return entry.join("\n");
  const lines = [
    `The ${definition.singular} ${printable(id)} is not managed yet: ${problems.map(printable).join("; ")}.`,
    "Correct it in the API and here, then remove the comment signs.",
    ...entry.join("\n").split("\n"),
  ];
  return lines.map((line) => `// ${line}`).join("\n");
}

function expression(value: PropertyValue, margin: string): string {
  if (value instanceof ConfigValue)
    return `${value.secret === undefined ? "config.getSecret" : "secret"}(${stringLiteral(value.key)})`;
  if (isSecretHeaders(value)) {
    const headers = value.flatMap((header) => [
      `${margin}  {`,
      `${margin}    key: ${stringLiteral(header.key)},`,
      `${margin}    value: ${expression(header.value, "")},`,
      `${margin}  },`,
    ]);
    return ["[", ...headers, `${margin}]`].join("\n");
  }
  if (typeof value === "string") return stringLiteral(value);
  if (Array.isArray(value))
    return `[${value.map((entry) => (typeof entry === "string" ? stringLiteral(entry) : String(entry))).join(", ")}]`;
  return JSON.stringify(value);
}
