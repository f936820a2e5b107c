import type { Definition } from "../../definitions/field";
import { isObject, type Value } from "../../common/values";
import { stringLiteral } from "../shared/quoting";

/** A value that the program reads from the stack's configuration. */
export class ConfigValue {
  constructor(
    readonly key: string,
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
  readonly hasPasswordInUrl: boolean;
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
  const hasSecret = resources.flatMap(configValuesOf).some(({ secret }) => secret !== undefined);
  return [
    "// Written by `pulumi-uptime export` from the records in the API. You can edit it.",
    'import * as pulumi from "@pulumi/pulumi";',
    `import { ${label} } from "pulumi-uptime";`,
    "",
    "const config = new pulumi.Config();",
    ...(hasSecret ? secretFunction : []),
    "// Pulumi deletes none of these records. To let it, run `pulumi config set protect false` and then `pulumi up`.",
    `const protect = config.getBoolean("${protectKey}") ?? true;`,
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

function entryOf({ definition, name, id, properties }: ModuleResource): string {
  return [
    `${/^[a-z]\w*$/.test(name) ? name : stringLiteral(name)}: new ${definition.label}(`,
    `  ${stringLiteral(name)},`,
    "  {",
    ...[...properties].map(([key, value]) => `    ${key}: ${expression(value, "    ")},`),
    "  },",
    `  { import: ${stringLiteral(id)}, protect },`,
    "),",
  ].join("\n");
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
