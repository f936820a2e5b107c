import { isObject } from "../definitions/kinds";
import type { Value } from "../definitions/kinds";
import type { Definition } from "../definitions/field";
import { visible } from "./terminal";

/** A value that the program takes from the stack's configuration. */
export class Setting {
  constructor(
    readonly key: string,
    /** Whether the program runs without it. */
    readonly optional: boolean,
  ) {}
}

/** A header whose value is in the stack's configuration. */
export interface SecretHeader {
  readonly key: string;
  readonly value: Setting;
}

/** What a property of a program is declared as. */
export type Declared = Exclude<Value, null> | Setting | readonly SecretHeader[];

/** A resource of a program that is about to be written. */
export interface Resource {
  readonly definition: Definition;
  readonly id: string;
  readonly name: string;
  readonly identifier: string;
  readonly properties: ReadonlyMap<string, Declared>;
  /** Why the provider would refuse it; such a resource is written as a comment. */
  readonly problems: readonly string[];
}

/** The text is as prettier would write it in lines of this length. */
const width = 110;
/** Prettier never breaks a line after so short a key. */
const shortKey = 4;

/** A module that declares resources. */
export function moduleOf(resources: readonly Resource[]): string {
  const active = resources.filter(({ problems }) => problems.length === 0);
  const parts = resources.map((resource) =>
    resource.problems.length === 0 ? statementOf(resource) : commentOf(resource),
  );
  const head = [
    "// Written by `pulumi-uptime export` from what is at the API. It is yours to change.",
    ...importsOf(active, resources),
  ];
  const config = "const config = new pulumi.Config();";
  if (active.some(usesConfig)) parts.unshift(config);
  else if (resources.some(usesConfig)) parts.unshift(`// ${config}`);
  // Without a statement it would not be a module.
  if (active.length === 0) parts.push("export {};");
  return `${[head.join("\n"), ...parts].join("\n\n")}\n`;
}

/** What the resources need; what only those in comments need is in a comment too. */
function importsOf(active: readonly Resource[], all: readonly Resource[]): string[] {
  const sdk = 'import * as pulumi from "@pulumi/pulumi";';
  const classesIn = (some: readonly Resource[]): string[] =>
    [...new Set(some.map(({ definition }) => definition.label))].sort();
  const used = classesIn(active);
  const classImport = (names: readonly string[]): string =>
    `import { ${names.join(", ")} } from "pulumi-uptime";`;
  const unused = classesIn(all).filter((name) => !used.includes(name));
  return [
    ...(active.some(usesConfig) ? [sdk] : all.some(usesConfig) ? [`// ${sdk}`] : []),
    ...(used.length > 0 ? [classImport(used)] : []),
    ...(unused.length > 0 ? [`// ${classImport(unused)}`] : []),
  ];
}

function usesConfig({ properties }: Resource): boolean {
  return [...properties.values()].some((value) => settingsIn(value).length > 0);
}

/** What a value takes from the configuration. */
export function settingsIn(value: Declared): Setting[] {
  if (value instanceof Setting) return [value];
  return isHeaders(value) ? value.map(({ value: setting }) => setting) : [];
}

function isHeaders(value: Declared): value is readonly SecretHeader[] {
  return Array.isArray(value) && value.every(isObject) && value.length > 0;
}

function statementOf({ definition, identifier, name, id, properties }: Resource): string {
  return [
    `export const ${identifier} = new ${definition.label}(`,
    `  ${quoted(name)},`,
    "  {",
    ...[...properties].flatMap(([key, value]) => property(4, key, value)),
    "  },",
    `  { import: ${quoted(id)}, protect: true },`,
    ");",
  ].join("\n");
}

function commentOf(resource: Resource): string {
  const { definition, id, problems } = resource;
  const reasons = problems.map(visible).join("; ");
  return [
    `// The ${definition.singular} ${id} is not managed yet: ${reasons}.`,
    "// Mend it at the API and here, then take these comment signs away.",
    ...statementOf(resource)
      .split("\n")
      .map((line) => `// ${line}`),
  ].join("\n");
}

function property(indent: number, key: string, value: Declared): string[] {
  const margin = " ".repeat(indent);
  const line = (text: string): string => `${margin}${key}: ${text},`;
  if (value instanceof Setting) {
    const call = value.optional ? "config.getSecret" : "config.requireSecret";
    const whole = line(`${call}(${quoted(value.key)})`);
    if (whole.length <= width) return [whole];
    return [`${margin}${key}: ${call}(`, `${margin}  ${quoted(value.key)},`, `${margin}),`];
  }
  if (isHeaders(value))
    return [
      `${margin}${key}: [`,
      ...value.flatMap((header) => [
        `${margin}  {`,
        ...property(indent + 4, "key", header.key),
        ...property(indent + 4, "value", header.value),
        `${margin}  },`,
      ]),
      `${margin}],`,
    ];
  if (typeof value === "string") {
    const whole = line(quoted(value));
    const [least, most] = columns(whole);
    if (key.length <= shortKey || most <= width) return [whole];
    if (least > width) return [`${margin}${key}:`, `${margin}  ${quoted(value)},`];
    // Here it depends on the width of letters that are no ASCII.
    return [`${margin}// prettier-ignore`, whole];
  }
  if (Array.isArray(value)) return list(indent, key, value);
  return [line(JSON.stringify(value))];
}

/** On one line where it fits. Numbers alone fill lines, anything else has one of its own. */
function list(indent: number, key: string, values: readonly unknown[]): string[] {
  const texts = values.map((value) => (typeof value === "string" ? quoted(value) : String(value)));
  const margin = " ".repeat(indent);
  const whole = `${margin}${key}: [${texts.join(", ")}],`;
  if (whole.length <= width) return [whole];
  const lines: string[] = [];
  let line = "";
  for (const text of texts) {
    const longer = line === "" ? `${margin}  ${text},` : `${line} ${text},`;
    const fits = longer.length <= width && values.every((value) => typeof value === "number");
    if (line !== "" && !fits) lines.push(line);
    line = line !== "" && fits ? longer : `${margin}  ${text},`;
  }
  return [`${margin}${key}: [`, ...lines, line, `${margin}],`];
}

/** The least and the most columns that a line may take. */
function columns(line: string): [least: number, most: number] {
  const ascii = line.replace(/[^\x20-\x7e]/g, "").length;
  return [ascii, ascii + 2 * (line.length - ascii)];
}

/** A text in quotes, in double ones unless that takes more escapes. */
export function quoted(text: string): string {
  const count = (mark: string): number => text.split(mark).length - 1;
  const mark = count('"') > count("'") ? "'" : '"';
  return mark + visible(text.replaceAll("\\", "\\\\")).replaceAll(mark, `\\${mark}`) + mark;
}
