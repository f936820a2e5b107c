// `npm run docs` writes what the definitions say into one page per resource and those of the API and the settings; with `--check`
// it only compares.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import ts from "typescript";
import { between, readJson, root, runAsCommand, writeGenerated } from "./shared.mjs";

/** The path of a resource's page. */
const pathOf = ({ singular }) => `docs/${singular}.md`;

/**
 * A resource's page: the present one with its generated parts renewed, or a new one. Everything outside the markers is written
 * by hand and stays.
 * @returns {string}
 */
export function pageOf(definition, { source = sourceOf(definition), present } = {}) {
  const { label, singular, plural } = definition;
  const [one, all] = ["one", "all"].map((count) => built().lookupName(definition, count));
  const columns = built().identityKeys(definition);
  const page = filled(readFileSync(join(root, "tools", "resource-page.md"), "utf8"), {
    ...{ label, singular, plural, one, all },
    example: exampleOf(definition, "example"),
    importExample: exampleOf(definition, "imported", '{ import: "123" }'),
    arguments: argumentsOf(definition, sentencesOf(source)),
    column: columns[0],
    exact: columns.map((column) => `exact ${code(column)}`).join(", "),
  });
  if (present === undefined) return page;
  const parts = [...page.matchAll(/<!-- generated:(\w+) -->(.*?)<!-- \/generated:\1 -->/gs)];
  return withParts(pathOf(definition), present, Object.fromEntries(parts.map(([, ...part]) => part)));
}

/** A text with its placeholders, such as `${label}`, replaced by what these words have for them. */
export function filled(text, words) {
  return text.replace(/\$\{(\w+)\}/g, (placeholder, name) => words[name] ?? placeholder);
}

/** A page with its generated parts renewed. */
function withParts(path, present, parts) {
  return Object.entries(parts).reduce(
    (text, [name, part]) => between(path, text, `generated:${name}`, part.trim()),
    present,
  );
}

/**
 * The comment above each field of a resource, as an editor shows it, without the page that it names.
 * @returns {Map<string, string>}
 */
export function sentencesOf(source) {
  const sentences = new Map();
  const file = ts.createSourceFile("resource.ts", source, ts.ScriptTarget.Latest, true);
  ts.forEachChild(file, (statement) => {
    if (!ts.isVariableStatement(statement)) return;
    const fields = statement.declarationList.declarations.find(({ name }) =>
      name.getText().endsWith("Fields"),
    );
    if (!fields?.initializer || !ts.isObjectLiteralExpression(fields.initializer)) return;
    for (const property of fields.initializer.properties) {
      const [comment] = ts.getJSDocCommentsAndTags(property).filter(ts.isJSDoc);
      const text = ts.getTextOfJSDocComment(comment?.comment);
      const words = text?.replace(/\s+/g, " ").replace(/ \(docs\/\w+\.md\)$/, "");
      if (words) sentences.set(property.name.getText(), words);
    }
  });
  return sentences;
}

function argumentsOf({ label, singular, fields }, sentences) {
  const entries = Object.entries(fields).map(([key, field]) => {
    const sentence = sentences.get(key);
    if (!sentence) throw new Error(`${label}.${key} has no comment that says what it means.`);
    // The default has a place of its own here.
    const meaning = sentence.replace(field.default === undefined ? "" : / Default \S+\.$/, "");
    const facts = [typeOf(field), ...remarksOf(key, field, singular)].join(" · ");
    return [`### ${key}`, facts, meaning, ...exampleValueOf(key, field, meaning)].join("\n\n");
  });
  return entries.join("\n\n");
}

/** An argument with a value, unless its comment has an example or its type suggests none. */
function exampleValueOf(key, field, meaning) {
  if (field.type === "text" || /for example/i.test(meaning)) return [];
  const chosen = field.allowed?.find((value) => value !== field.default && value !== 0);
  const value = JSON.stringify(chosen ?? sampleOf(key, field))
    .replaceAll(",", ", ")
    .replace(/"(\w+)":/g, "$1: ")
    .replaceAll("{", "{ ")
    .replaceAll("}", " }")
    .replaceAll('"…"', 'config.requireSecret("token")');
  return [`Example: ${code(`${key}: ${value}`)}`];
}

function settingsOf({ settingDeclarations, meaningOf }) {
  const entries = Object.entries(settingDeclarations).map(([name, setting]) => {
    const facts = [setting.required ? "required" : `default ${defaultOf(setting)}`];
    if (setting.secret) facts.push("secret");
    if (setting.environment) facts.push(`environment ${code(setting.environment)}`);
    if (setting.type === "accounts")
      facts.push(`environment ${code(`${settingDeclarations.apiKey.environment}_NAME`)}`);
    const meaning = [meaningOf(name), setting.details ?? ""].join(" ").trim();
    return `### uptime:${name}\n\n${facts.join(" · ")}\n\n${meaning}`;
  });
  return entries.join("\n\n");
}

/** The versions of Node.js that CI tests, and until when they are supported. */
export const nodeVersions = () => readJson(".github/node-versions.json");

function supportOf(versions) {
  return versions.map(({ version, until }) => `- Node.js ${version}: until ${until}`).join("\n");
}

function defaultOf({ default: preset, defaultsTo }) {
  if (defaultsTo) return code(`uptime:${defaultsTo}`);
  return preset === undefined || Array.isArray(preset) ? "none" : code(preset);
}

/** The fields of a resource as forms and records have them. */
function wireFieldsOf({ label, fields }) {
  const entries = Object.values(fields).map((field) => {
    const remarks = [
      [field.required, "required on create"],
      [field.default !== undefined, `default ${code(wireValueOf(field.default))}`],
      [field.fixed, "not in an update"],
      [field.updateOnly, "in an update only"],
    ];
    const facts = [wireFormOf(field), ...remarks.flatMap(([applies, remark]) => (applies ? [remark] : []))];
    return `- ${code(field.wire)}: ${facts.join("; ")}`;
  });
  return `### ${label}\n\n${entries.join("\n")}`;
}

const wireValueOf = (value) => (typeof value === "boolean" ? Number(value) : value);

/** What a form may have under a field's name. */
function wireFormOf({ type, wire, allowed }) {
  if (allowed) return [allowed.slice(0, -1).map(code).join(", "), code(allowed.at(-1))].join(" or ");
  const forms = {
    boolean: "`0` or `1`",
    dateTime: "date and time such as `2030-01-31T22:00:00`",
    idList: `ids, each sent as ${code(`${wire}[]`)}`,
    headerList: `pairs, sent as ${code(`${wire}[0][key]`)} and ${code(`${wire}[0][value]`)}, the next with \`1\``,
    url: "URL",
  };
  return forms[type] ?? "string";
}

const types = {
  text: "string",
  hostname: "string",
  url: "string",
  integer: "number",
  choice: "string",
  boolean: "boolean",
  dateTime: "string",
  idList: "list of numbers or numeric strings",
  headerList: "list of `{ key, value }`",
};

function typeOf({ type }) {
  if (!(type in types)) throw new Error(`tools/docs.mjs has no word for the type ${type}.`);
  return types[type];
}

function remarksOf(key, field, singular) {
  const remarks = [
    [field.required, "required"],
    [field.default !== undefined, `default \`${field.default}\``],
    [field.secret, "secret"],
    [field.fixed, `a change replaces the ${singular}`],
    [field.updateOnly, "set by an update after the create"],
    [field.wire !== key, `\`${field.wire}\` in the API`],
  ];
  return remarks.flatMap(([applies, remark]) => (applies ? [remark] : []));
}

/** The least that declares a resource, its required arguments, laid out as prettier does. */
function exampleOf({ label, fields }, name, options) {
  const values = Object.entries(fields).filter(([, { required }]) => required);
  const lines = values.map(([key, field]) => `${key}: ${JSON.stringify(sampleOf(key, field))}`);
  if (lines.length < 2)
    return `new ${label}("${name}", { ${lines.join("")} }${options ? `, ${options}` : ""});`;
  const args = (indent) => ["{", ...lines.map((line) => `  ${line},`), "}"].join(`\n${indent}`);
  if (!options) return `new ${label}("${name}", ${args("")});`;
  return `new ${label}(\n  "${name}",\n  ${args("  ")},\n  ${options},\n);`;
}

function sampleOf(key, { type, allowed }) {
  if (allowed) return allowed[0];
  const samples = {
    text: "Home page",
    hostname: "shop.example",
    url: "https://www.shop.example/",
    boolean: true,
    dateTime: "2030-01-31T22:00:00",
    idList: [1],
    headerList: [{ key: "X-Token", value: "…" }],
  };
  return samples[type] ?? key;
}

function code(value) {
  return `\`${value}\``;
}

/** The declaration of a resource. */
export function sourceOf({ singular }) {
  return readFileSync(join(root, "provider", "definitions", `${singular}.ts`), "utf8");
}

/** What the build has of provider/definitions, the only list of resources and settings. */
export function built() {
  const load = createRequire(import.meta.url);
  const folder = join(root, "dist", "provider");
  const [all, { lookupName }, { identityKeys }, settings] = [
    "definitions/index",
    "common/pulumi",
    "definitions/keys",
    "definitions/settings",
  ].map((name) => load(join(folder, `${name}.js`)));
  return { definitions: all.definitions, identityKeys, lookupName, settings };
}

function main(args) {
  const { definitions, settings } = built();
  for (const definition of definitions)
    writeGenerated(pathOf(definition), (present) => pageOf(definition, { present }), args);
  const others = {
    "docs/api.md": { fields: definitions.map(wireFieldsOf).join("\n\n") },
    "docs/settings.md": { settings: settingsOf(settings) },
    "docs/troubleshooting.md": { nodes: supportOf(nodeVersions()) },
  };
  for (const [path, parts] of Object.entries(others))
    writeGenerated(path, (present) => withParts(path, present, parts), args);
}

runAsCommand(import.meta.url, main);
